//! Texts as tokens: what a token is, and which tokens a vocabulary has.
//!
//! ```
//! use fastgrnn_data::text::{Counts, Tokenizer, UNKNOWN};
//! let tokenizer = Tokenizer::default();
//! let mut counts = Counts::default();
//! tokenizer.for_each("Don't stop, don't.", |token| counts.add(token));
//! let vocabulary = counts.vocabulary(3, 1, &[]);
//! assert_eq!(vocabulary.tokens(), [UNKNOWN, "don't", ",", "."]);
//! assert_eq!(vocabulary.index("stop"), 0, "what is not in the vocabulary is unknown");
//! ```

mod tokenizer;
mod vocabulary;

pub use tokenizer::{TokenKind, Tokenizer};
pub use vocabulary::{Counts, END_OF_LINE, UNKNOWN, Vocabulary};
