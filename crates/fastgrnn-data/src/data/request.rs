//! A request for data: what to read, how, and for which model.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{AudioConfig, DataConfig, DataError, TextConfig, Watch};
use crate::text::TextFormat;

/// How to understand the labels of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelKind {
    /// Text and few distinct integers are classes; other numbers are values to regress.
    #[default]
    Auto,
    /// Classes, whatever they look like.
    Class,
    /// Values to regress.
    Value,
}

/// What a trained model needs of the data it is used on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Features of a time step.
    pub dim: usize,
    /// Their names, where the training data had them: columns are taken by these.
    pub features: Option<Vec<String>>,
    /// Steps of the longest training sequence; 0 when that is not known.
    pub steps: usize,
    /// The classes, in the model's order; empty when the model predicts numbers.
    pub classes: Vec<String>,
    /// Mean of each feature in training; empty when that is not known.
    pub mean: Vec<f32>,
    /// Deviation of each, likewise.
    pub spread: Vec<f32>,
    /// Whether the data has the name of the data that the model was trained on, and is split as then.
    pub is_training_data: bool,
}

/// Which column settings come from a model's training instead of from this request. A column that
/// the training used may be missing; a column that the request names may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// `id_col`
    pub id_col: bool,
    /// `label_col`
    pub label_col: bool,
    /// `group_col`
    pub group_col: bool,
    /// `columns`
    pub columns: bool,
    /// `drop`
    pub drop: bool,
    /// `manifest`
    pub manifest: bool,
}

/// A data set by name or path, and how to read it.
///
/// A column is named by its header or by its number counted from 0.
///
/// ```
/// use fastgrnn_data::data::Request;
/// let request = Request::new("walks.csv").with_data(|data| data.window = Some(50));
/// assert_eq!(request.data.size_limit, 4 << 30);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// A known name, or the path of a file, a folder or an archive.
    pub source: String,
    /// A separate test set.
    pub test: Option<PathBuf>,
    /// Whether training had a separate test set: all recordings are then for training and validation.
    pub test_apart: bool,
    /// How to read it.
    pub data: DataConfig,
    /// How recordings become features.
    pub audio: AudioConfig,
    /// How texts become tokens.
    pub text: TextConfig,
    /// The tokenizer and the vocabulary to use, where training has chosen them.
    pub text_format: Option<TextFormat>,
    /// Varied copies of each training clip.
    pub audio_copies: usize,
    /// The least signal-to-noise ratio of a copy, in dB; if this and `snr_high` are 0, 5 to 25.
    pub snr_low: f64,
    /// The largest signal-to-noise ratio of a copy, in dB.
    pub snr_high: f64,
    /// The share of a single text of a language model that is for validation; a tenth if it is not given.
    pub val_split: Option<f64>,
    /// The seed of the split for testing.
    pub split_seed: u64,
    /// Called while data is read.
    pub watch: Option<Watch>,
    /// The model that the data is for, unless it is read to train one.
    pub expect: Option<Expect>,
    /// Which column settings come from the model's training.
    pub inherited: Inherited,
}

impl Request {
    /// The data set called `source`, or at that path, read with the defaults.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// The request with some data settings changed.
    pub fn with_data(mut self, change: impl FnOnce(&mut DataConfig)) -> Self {
        change(&mut self.data);
        self
    }

    /// The request with some audio settings changed.
    pub fn with_audio(mut self, change: impl FnOnce(&mut AudioConfig)) -> Self {
        change(&mut self.audio);
        self
    }

    /// The request for the files that a manifest lists: its columns are not those of the files.
    pub(crate) fn for_listed_files(&self) -> Self {
        self.clone().with_data(|data| (data.id_col, data.label_col, data.group_col) = (None, None, None))
    }

    /// Refuses settings that have no meaning on their own.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if let (Some(by), None, None) = (self.data.test_split_by, self.data.test_split, &self.expect) {
            return Err(DataError::Needs {
                key: "test-split-by",
                value: by.to_string(),
                needs: "test-split",
            });
        }
        match self.data.stride {
            Some(stride) if self.data.window.is_none() => {
                Err(DataError::Needs { key: "stride", value: stride.to_string(), needs: "window" })
            }
            _ => Ok(()),
        }
    }

    /// Refuses settings about recordings for `file`, which holds none.
    pub(crate) fn check_no_recordings(&self, file: &str) -> Result<(), DataError> {
        // A model brings the settings that it was trained with.
        if self.expect.is_some() {
            return Ok(());
        }
        let number = |value: Option<f64>| value.map(|v| v.to_string());
        let given = [
            ("words", self.audio.chosen_words().first().cloned()),
            ("unknown-share", number(self.audio.unknown_share)),
            ("silence-share", number(self.audio.silence_share)),
            ("clip-seconds", number(self.audio.clip_seconds)),
            ("augment audio-copies", (self.audio_copies > 0).then(|| self.audio_copies.to_string())),
        ];
        match given.into_iter().find_map(|(key, value)| value.map(|value| (key, value))) {
            Some((key, value)) => Err(DataError::NotRecordings { key, value, file: file.into() }),
            None => Ok(()),
        }
    }

    /// Refuses patterns for the names of files for `file`, which is no folder of recordings or tables.
    pub(crate) fn check_no_patterns(&self, file: &str) -> Result<(), DataError> {
        let manifest = self.data.manifest.as_ref().map(|path| path.display().to_string());
        let given = [
            ("label-from", &self.data.label_from),
            ("group-from", &self.data.group_from),
            ("manifest", &manifest),
        ];
        match given.into_iter().find_map(|(key, value)| value.as_ref().map(|value| (key, value))) {
            Some((key, value)) if self.expect.is_none() => Err(DataError::Setting {
                key: key.into(),
                problem: format!(
                    "'{value}' is for a folder of files, and {file} is read as a whole; leave it out"
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses settings about CSV files for `file`, which is none.
    pub(crate) fn check_no_columns(&self, file: &str) -> Result<(), DataError> {
        let (data, own) = (&self.data, self.inherited);
        let given = [
            ("id-col", data.id_col.as_ref().filter(|_| !own.id_col)),
            ("label-col", data.label_col.as_ref().filter(|_| !own.label_col)),
            ("group-col", data.group_col.as_ref().filter(|_| !own.group_col)),
            ("columns", data.chosen_columns().first().filter(|_| !own.columns)),
            ("drop", data.dropped_columns().first().filter(|_| !own.drop)),
        ];
        let given = given.map(|(key, value)| (key, value.cloned()));
        // A model brings the settings that it was trained with.
        let text = match self.expect {
            Some(_) => Vec::new(),
            None => vec![
                ("delimiter", data.delimiter.clone()),
                ("decimal", data.decimal.map(|decimal| decimal.to_string())),
                ("encoding", data.encoding.map(|encoding| encoding.to_string())),
                ("skip-rows", data.skip_rows.map(|rows| rows.to_string())),
            ],
        };
        match given.into_iter().chain(text).find_map(|(key, value)| value.map(|value| (key, value))) {
            Some((key, value)) => Err(DataError::NotATable { key, value, file: file.into() }),
            None => Ok(()),
        }
    }
}
