//! Sequences with their labels, and the data set that readers return.

use super::{Finding, Sequences};
use crate::features::Spec;
use crate::text::TextFormat;
use fastgrnn_core::batch::Sets;
use serde::{Deserialize, Serialize};

/// What a validation split keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The proportions of the classes.
    #[default]
    Stratified,
    /// Groups whole.
    Group,
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
    /// Several labels, or none.
    Sets {
        /// The labels of each sequence: indices into `names`, and beyond them into `unseen`.
        sets: Sets,
        /// Names of the labels that are learnt.
        names: Vec<String>,
        /// Names of labels that only this part has, which no model can find; empty in training.
        unseen: Vec<String>,
    },
    /// `width` numbers a sequence, for regression.
    Value {
        /// Numbers a sequence.
        width: usize,
        /// All of them, sequence by sequence.
        values: Vec<f32>,
    },
    /// The token after each step: what a language model learns.
    Next,
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
    /// The recording that each was cut from, if there are windows. Windows of one recording overlap
    /// or touch, so no split separates them.
    pub recording: Option<Vec<u32>>,
    /// First step of each in its recording, and the step after its last, if windows were cut.
    pub span: Option<Vec<[u32; 2]>>,
    /// What the source calls each, where it has ids or file names.
    pub ids: Option<Vec<String>>,
}

impl Examples {
    /// Sequences and their labels, without groups.
    pub fn new(x: Sequences, y: Labels) -> Self {
        Self { x, y, group: None, recording: None, span: None, ids: None }
    }

    /// The examples at `indices`, in that order.
    pub fn select(&self, indices: &[u32]) -> Self {
        let rows = || indices.iter().map(|&i| i as usize);
        let y = match &self.y {
            Labels::Class { index, names } => {
                Labels::Class { index: rows().map(|i| index[i]).collect(), names: names.clone() }
            }
            Labels::Sets { sets, names, unseen } => {
                let mut selected = Sets::default();
                rows().for_each(|i| selected.push(sets.get(i)));
                Labels::Sets { sets: selected, names: names.clone(), unseen: unseen.clone() }
            }
            Labels::Value { width, values } => {
                let values = rows().flat_map(|i| &values[i * width..(i + 1) * width]).copied().collect();
                Labels::Value { width: *width, values }
            }
            Labels::Next => Labels::Next,
            Labels::None => Labels::None,
        };
        let numbers = |of: &Option<Vec<u32>>| of.as_ref().map(|of| rows().map(|i| of[i]).collect());
        Self {
            x: self.x.select(indices),
            y,
            group: numbers(&self.group),
            recording: numbers(&self.recording),
            span: self.span.as_ref().map(|span| rows().map(|i| span[i]).collect()),
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

    /// What the source calls sequence `i`, or its index where the source has no names.
    pub fn id(&self, i: usize) -> String {
        self.ids.as_ref().map_or_else(|| i.to_string(), |ids| ids[i].clone())
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
    /// Lines for people about what the reader decided, such as a column taken as the label.
    pub notes: Vec<String>,
    /// What may make a model worse than its scores say.
    pub findings: Vec<Finding>,
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
    /// How the tokens were made from texts, where they were.
    pub text: Option<TextFormat>,
    /// What is known about this set, for recipes.
    pub suggested: Suggestions,
}

impl Dataset {
    /// A data set of training examples only.
    ///
    /// ```
    /// use fastgrnn_data::data::{Dataset, Examples, Labels, Sequences};
    /// let mut x = Sequences::new(1);
    /// (0..4).for_each(|i| x.push(&[i as f32; 5]));
    /// let y = Labels::Class { index: vec![0, 0, 1, 1], names: vec!["low".into(), "high".into()] };
    /// let train = Examples::new(x, y);
    /// let data = Dataset::new("example", train.clone()).with_test(train);
    /// assert_eq!(data.test.unwrap().len(), 4);
    /// ```
    pub fn new(name: impl Into<String>, train: Examples) -> Self {
        Self {
            name: name.into(),
            train,
            test: None,
            notes: Vec::new(),
            findings: Vec::new(),
            features: None,
            image: None,
            validation: None,
            background: None,
            audio: None,
            text: None,
            suggested: Suggestions::default(),
        }
    }

    /// The data set with a test set.
    pub fn with_test(self, test: Examples) -> Self {
        Self { test: Some(test), ..self }
    }

    /// The data set with names of the features.
    pub fn with_features(self, features: Option<Vec<String>>) -> Self {
        Self { features, ..self }
    }

    /// The data set with notes about how it was read.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// The data set with a validation part: ascending indices into the training examples.
    pub fn with_validation(self, validation: Vec<u32>) -> Self {
        Self { validation: Some(validation), ..self }
    }
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
