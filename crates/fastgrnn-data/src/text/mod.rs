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

mod decode;
mod tokenizer;
mod vocabulary;
mod word_vectors;

use serde::{Deserialize, Serialize};

pub use tokenizer::{TokenKind, Tokenizer};
pub use vocabulary::{Counts, END_OF_LINE, UNKNOWN, Vocabulary};
pub use word_vectors::{WordVectors, WordVectorsError};

/// How texts become the numbers of tokens: what a model that reads texts has to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFormat {
    /// Where texts are cut.
    pub tokenizer: Tokenizer,
    /// The number of each token.
    pub vocabulary: Vocabulary,
}

impl TextFormat {
    /// Appends the numbers of the tokens of `text`.
    pub fn encode(&self, text: &str, tokens: &mut Vec<u32>) {
        self.tokenizer.for_each(text, |token| tokens.push(self.vocabulary.index(token)));
    }
}
