//! Labelled sequences in memory, and everything that happens to them before a batch.
//!
//! There is one in-memory shape: sequences of `[T, D]` f32 values of equal or unequal length, each
//! with a class or target values. Readers make it, splits index it, normalisation and augmentation
//! change copies of it on their way into a [`Batch`](fastgrnn_core::batch::Batch). Unlike a tensor, it has
//! no padding: a shorter sequence is shorter.
//!
//! [`load()`] takes a known name or a path and looks after the rest: archives, file formats, train
//! and test parts, columns, windows, class names. Files are never trusted: whatever they hold, the
//! result is a [`Dataset`] or a [`DataError`] that names file, place and value.
//!
//! ```
//! use fastgrnn_data::data::{self, Request};
//! let digits = data::load(&Request::new("digits"))?;
//! assert_eq!(digits.train.x.dim(), 8);
//! assert_eq!(digits.train.classes(), 10);
//! # Ok::<(), fastgrnn_data::data::DataError>(())
//! ```

mod archive;
mod array;
mod assemble;
pub mod augment;
pub mod clips;
mod clocks;
mod columns;
mod convert;
mod csv;
mod dataset;
mod declared;
mod dialect;
pub mod doctor;
mod encoding;
mod error;
mod fields;
mod finding;
mod folder;
mod folder_names;
mod folds;
mod idx;
pub mod known;
mod label_sets;
mod labels;
mod load;
mod manifest;
mod missing;
mod name_pattern;
mod names;
pub mod normalize;
mod npy;
mod npz;
mod part;
mod parts;
mod random;
mod recordings;
mod request;
mod sequences;
mod settings;
pub mod spectral;
pub mod speech;
mod spill;
pub mod split;
mod split_problem;
mod test_split;
mod texts;
mod time_blocks;
mod ts;
mod watch;
mod wide;
mod write;

pub use augment::Augment;
pub use dataset::{Dataset, Examples, Labels, SplitBy, Suggestions, Unlabelled};
pub use dialect::Decimal;
pub use encoding::Encoding;
pub use error::DataError;
pub use finding::{Finding, FindingCode, Severity};
pub use folds::CrossValidation;
pub use known::{KnownSet, known_sets};
pub use load::{load, load_bytes, load_unlabelled};
pub use missing::Missing;
pub use normalize::{Normalize, Normalizer};
pub use random::RandomWalks;
pub use request::{Expect, Inherited, LabelKind, Request};
pub use sequences::Sequences;
pub use settings::{
    AudioConfig, AudioRecipe, DataConfig, DataRecipe, SourceConfig, SourceRecipe, TaskKind, TextConfig,
    TextRecipe,
};
pub use spectral::Spectral;
pub use split::validation_split;
pub use split_problem::SplitProblem;
pub use test_split::TestSplitBy;
pub use texts::{LANGUAGE_VAL_SPLIT, text_input};
pub use watch::{ReadProgress, ReadUnit, Watch};
pub use write::{losses, outputs, write};
