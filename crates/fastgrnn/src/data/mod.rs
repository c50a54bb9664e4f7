//! Labelled sequences in memory, and everything that happens to them before a batch.
//!
//! There is one in-memory shape: sequences of `[T, D]` f32 values of equal or unequal length, each
//! with a class or target values. Readers make it, splits index it, normalisation and augmentation
//! change copies of it on their way into a [`Batch`](crate::batch::Batch).

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

    /// Values of sequence `i`, step by step.
    pub fn get(&self, i: usize) -> &[f32] {
        &self.values[self.offsets[i] * self.dim..self.offsets[i + 1] * self.dim]
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
}
