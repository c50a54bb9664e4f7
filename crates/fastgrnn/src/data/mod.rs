//! Labelled sequences in memory, and everything that happens to them before a batch.
//!
//! There is one in-memory shape: sequences of `[T, D]` f32 values of equal or unequal length, each
//! with a class or target values. Readers make it, splits index it, normalisation and augmentation
//! change copies of it on their way into a [`Batch`](crate::batch::Batch). Unlike a tensor, it has
//! no padding: a shorter sequence is shorter.
//!
//! [`load()`] takes a known name or a path and looks after the rest: archives, file formats, train
//! and test parts, columns, windows, class names. Files are never trusted: whatever they hold, the
//! result is a [`Dataset`] or a [`DataError`] that names file, place and value.
//!
//! ```
//! use fastgrnn::data::{self, Request};
//! let digits = data::load(&Request::new("digits"))?;
//! assert_eq!(digits.train.x.dim(), 8);
//! assert_eq!(digits.train.classes(), 10);
//! # Ok::<(), fastgrnn::data::DataError>(())
//! ```

mod archive;
mod array;
pub mod augment;
mod columns;
mod csv;
mod error;
mod folder;
mod idx;
pub mod known;
mod labels;
mod load;
pub mod normalize;
mod npy;
mod npz;
mod part;
mod random;
mod recordings;
mod request;
pub mod spectral;
pub mod speech;
pub mod split;
mod ts;
mod write;

use crate::features::Spec;

pub use augment::Augment;
pub use error::DataError;
pub use known::{KnownSet, known_sets};
pub use load::{load, load_bytes, load_unlabelled};
pub use normalize::{Normalize, Normalizer};
pub use random::RandomWalks;
pub use request::{Expect, Inherited, LabelKind, Request};
pub use spectral::Spectral;
pub use split::{SplitBy, validation_split};
pub use write::{losses, outputs, write};

/// Sequences of `dim` features a step, of equal or unequal length, stored end to end.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences {
    dim: usize,
    values: Vec<f32>,
    offsets: Vec<usize>,
}

impl Sequences {
    /// No sequences yet; `dim` must be at least 1.
    pub fn new(dim: usize) -> Self {
        Self { dim, values: Vec::new(), offsets: vec![0] }
    }

    /// Appends a sequence given as whole steps of `dim` values.
    pub fn push(&mut self, sequence: &[f32]) {
        self.values.extend_from_slice(sequence);
        self.offsets.push(self.values.len() / self.dim);
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Features a step.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Steps of sequence `i`.
    pub fn steps(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// Steps of the longest sequence.
    pub fn max_steps(&self) -> usize {
        (0..self.len()).map(|i| self.steps(i)).max().unwrap_or(0)
    }

    /// Steps of the shortest sequence.
    pub fn min_steps(&self) -> usize {
        (0..self.len()).map(|i| self.steps(i)).min().unwrap_or(0)
    }

    /// Values of sequence `i`, step by step.
    pub fn get(&self, i: usize) -> &[f32] {
        &self.values[self.offsets[i] * self.dim..self.offsets[i + 1] * self.dim]
    }

    /// The same values in `timesteps` steps a sequence, joining or splitting steps.
    pub fn reblocked(mut self, timesteps: usize) -> Result<Self, DataError> {
        let option = || "--timesteps".to_string();
        if timesteps == 0 {
            let problem = "0 steps make no sequence; use 1 or more".into();
            return Err(DataError::Option { option: option(), problem });
        }
        if self.min_steps() != self.max_steps() {
            let (low, high) = (self.min_steps(), self.max_steps());
            let problem = format!("needs sequences of one length, but they have {low} to {high} steps");
            return Err(DataError::Option { option: option(), problem });
        }
        let (steps, dim) = (self.max_steps(), self.dim);
        if !(steps * dim).is_multiple_of(timesteps) || steps == 0 {
            return Err(DataError::Timesteps { timesteps, sequence: 0, steps, dim });
        }
        self.dim = steps * dim / timesteps;
        self.offsets = (0..self.offsets.len()).map(|i| i * timesteps).collect();
        Ok(self)
    }

    /// The sequences at `indices`, in that order.
    pub fn select(&self, indices: &[u32]) -> Self {
        let mut chosen = Self::new(self.dim);
        for &i in indices {
            chosen.push(self.get(i as usize));
        }
        chosen
    }
}

/// What is known about each sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Its class: an index into `names`.
    Class {
        /// Class of each sequence.
        index: Vec<u32>,
        /// Names of the classes.
        names: Vec<String>,
    },
    /// `width` numbers a sequence, for regression.
    Value {
        /// Numbers a sequence.
        width: usize,
        /// All of them, sequence by sequence.
        values: Vec<f32>,
    },
    /// Nothing: input to predict on.
    None,
}

/// Sequences with their labels and, where known, groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// The sequences.
    pub x: Sequences,
    /// What is known about each.
    pub y: Labels,
    /// The group (subject, recording, …) of each, for splits that keep groups whole.
    pub group: Option<Vec<u32>>,
    /// The recording each was cut from, when a window was asked for. Windows of one recording
    /// overlap or touch, so no split may part them, whatever it is asked to do.
    pub recording: Option<Vec<u32>>,
    /// What the source calls each, where it has ids or file names.
    pub ids: Option<Vec<String>>,
}

impl Examples {
    /// Sequences and their labels, without groups.
    pub fn new(x: Sequences, y: Labels) -> Self {
        Self { x, y, group: None, recording: None, ids: None }
    }

    /// The examples at `indices`, in that order.
    pub fn select(&self, indices: &[u32]) -> Self {
        let rows = || indices.iter().map(|&i| i as usize);
        let y = match &self.y {
            Labels::Class { index, names } => {
                Labels::Class { index: rows().map(|i| index[i]).collect(), names: names.clone() }
            }
            Labels::Value { width, values } => {
                let values = rows().flat_map(|i| &values[i * width..(i + 1) * width]).copied().collect();
                Labels::Value { width: *width, values }
            }
            Labels::None => Labels::None,
        };
        let numbers = |of: &Option<Vec<u32>>| of.as_ref().map(|of| rows().map(|i| of[i]).collect());
        Self {
            x: self.x.select(indices),
            y,
            group: numbers(&self.group),
            recording: numbers(&self.recording),
            ids: self.ids.as_ref().map(|ids| rows().map(|i| ids[i].clone()).collect()),
        }
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Number of classes; 0 unless the labels are classes.
    pub fn classes(&self) -> usize {
        match &self.y {
            Labels::Class { names, .. } => names.len(),
            _ => 0,
        }
    }
}

/// What is known about a data set beyond its numbers. Recipes may use it; nothing is guessed for
/// a user's own files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suggestions {
    /// How to split off a validation part.
    pub split: Option<SplitBy>,
    /// Columns that are the three axes of one sensor.
    pub axes: Vec<[usize; 3]>,
    /// The class to be found, where one of two is.
    pub positive: Option<String>,
}

/// A training set and, if there is one, a test set with the same features and classes.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What to call it in reports: a known name or a file name, never a path.
    pub name: String,
    /// To train and validate on.
    pub train: Examples,
    /// To be read once, at the end.
    pub test: Option<Examples>,
    /// Lines for people about what the reader decided, such as a time column left out.
    pub notes: Vec<String>,
    /// Names of the features, where the source has them; `dim` of them.
    pub features: Option<Vec<String>>,
    /// Height and width when each sequence is an image, pixel by pixel or row by row.
    pub image: Option<(usize, usize)>,
    /// Sequences of `train` that are for validation, where the set says which; ascending.
    pub validation: Option<Vec<u32>>,
    /// Background noise to mix into training sequences: recordings with the same features a step,
    /// none of which validation or test sequences hold.
    pub background: Option<Sequences>,
    /// How the features were made from audio, where they were.
    pub audio: Option<Spec>,
    /// What is known about this set, for recipes.
    pub suggested: Suggestions,
}

/// Input to predict on.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlabelled {
    /// The sequences.
    pub x: Sequences,
    /// What to call each: its id, its file name, or its number counted from 0.
    pub ids: Vec<String>,
    /// Names of the features, where the source has them.
    pub features: Option<Vec<String>>,
    /// Lines for people about what the reader decided.
    pub notes: Vec<String>,
}
