//! What to read and how: the options of every command that takes data.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DataError;
use crate::features::Spec;

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

/// What a trained model needs of the data it is used on; see
/// [`Model::expects`](fastgrnn_model::model::Model::expects).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Features a step.
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
}

/// Which column options were taken over from a model's training rather than asked for now. A
/// column that was taken over may be missing; one that was asked for may not.
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
}

/// Is told how many of how many recordings have been read, now and then.
///
/// ```
/// use fastgrnn_data::data::{Request, Watch};
/// let watch = Watch::new(|done, all| eprintln!("{done} of {all}"));
/// let request = Request { watch: Some(watch), ..Request::new("clips") };
/// # let _ = request;
/// ```
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(usize, usize) + Send + Sync>);

impl Watch {
    /// Calls `tell` from the thread that reads.
    pub fn new(tell: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, done: usize, all: usize) {
        (self.0)(done, all);
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Who watches is no part of what is asked for.
impl PartialEq for Watch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A data set by name or path, and how to read it.
///
/// Keys and command-line flags have the same names. A column is named by its header or by its
/// number counted from 0.
///
/// ```
/// use fastgrnn_data::data::Request;
/// let request = Request { window: Some(50), ..Request::new("walks.csv") };
/// assert_eq!(request.size_limit, 4 << 30);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Request {
    /// A known name, or the path of a file, a folder or an archive.
    pub source: String,
    /// A test set apart from the source.
    pub test: Option<PathBuf>,
    /// Whether there was such a test set in training: recordings are then all to train and validate
    /// on.
    pub test_apart: bool,
    /// Where to look for known sets first.
    pub data_dir: Option<PathBuf>,
    /// Re-block every sequence: its T·D values in this many steps.
    pub timesteps: Option<usize>,
    /// CSV: the column that says which sequence a row belongs to; then a row is a time step.
    pub id_col: Option<String>,
    /// CSV: the column with the class or value.
    pub label_col: Option<String>,
    /// CSV: the column with the group (subject, device, …).
    pub group_col: Option<String>,
    /// CSV: the columns to use as features; empty means all that are left.
    pub columns: Vec<String>,
    /// CSV: columns to leave out.
    pub drop: Vec<String>,
    /// Cut every sequence into windows of this many steps.
    pub window: Option<usize>,
    /// Steps from one window to the next; the window's length unless given.
    pub stride: Option<usize>,
    /// How to understand the labels.
    pub labels: LabelKind,
    /// The most bytes to unpack or read; of a folder of recordings, the most of each.
    pub size_limit: u64,
    /// Recordings: how they become features; the default of [`Spec`] unless given.
    pub features: Option<Spec>,
    /// Recordings: the words that are classes; empty means every folder.
    pub words: Vec<String>,
    /// Recordings: clips of other words, as a share of those of `words`; 0.1 unless given.
    pub unknown_share: Option<f64>,
    /// Recordings: clips of background noise, likewise.
    pub silence_share: Option<f64>,
    /// Recordings: the length that every clip is brought to; 1 unless given.
    pub clip_seconds: Option<f64>,
    /// Recordings: go on without those that cannot be read.
    pub skip_bad: bool,
    /// Recordings: varied copies of each training clip.
    pub audio_copies: usize,
    /// Recordings: the least signal-to-noise ratio of a copy, in dB; 0 to `snr_high` 0 is 5 to 25.
    pub snr_low: f64,
    /// Recordings: the largest.
    pub snr_high: f64,
    /// Who is told how far the reading of recordings is.
    #[serde(skip)]
    pub watch: Option<Watch>,
    /// The model that the data is for, when it is not read to train one.
    #[serde(skip)]
    pub expect: Option<Expect>,
    /// Which column options come from the model's training.
    #[serde(skip)]
    pub inherited: Inherited,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            source: String::new(),
            test: None,
            test_apart: false,
            data_dir: None,
            timesteps: None,
            id_col: None,
            label_col: None,
            group_col: None,
            columns: Vec::new(),
            drop: Vec::new(),
            window: None,
            stride: None,
            labels: LabelKind::Auto,
            size_limit: 4 << 30,
            features: None,
            words: Vec::new(),
            unknown_share: None,
            silence_share: None,
            clip_seconds: None,
            skip_bad: false,
            audio_copies: 0,
            snr_low: 0.0,
            snr_high: 0.0,
            watch: None,
            expect: None,
            inherited: Inherited::default(),
        }
    }
}

impl Request {
    /// The data set called `source`, or at that path, read with the defaults.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Refuses options that say nothing on their own.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        match self.stride {
            Some(stride) if self.window.is_none() => Err(DataError::Option {
                option: "--stride".into(),
                problem: format!("{stride} steps between windows need --window N, their length"),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses options about recordings for `file`, which holds none.
    pub(crate) fn check_no_recordings(&self, file: &str) -> Result<(), DataError> {
        // A model brings the options that it was trained with.
        if self.expect.is_some() {
            return Ok(());
        }
        let given = [
            ("--words", self.words.first().cloned()),
            ("--unknown-share", self.unknown_share.map(|v| v.to_string())),
            ("--silence-share", self.silence_share.map(|v| v.to_string())),
            ("--clip-seconds", self.clip_seconds.map(|v| v.to_string())),
            ("--augment audio-copies", (self.audio_copies > 0).then(|| self.audio_copies.to_string())),
        ];
        match given.into_iter().find_map(|(option, value)| value.map(|value| (option, value))) {
            Some((option, value)) => Err(DataError::Option {
                option: option.into(),
                problem: format!(
                    "'{value}' is about a folder of WAV or FLAC files, but {file} is none; leave it out"
                ),
            }),
            None => Ok(()),
        }
    }

    /// Refuses options about the columns of a table for `file`, which is none.
    pub(crate) fn check_no_columns(&self, file: &str) -> Result<(), DataError> {
        let own = self.inherited;
        let given = [
            ("--id-col", self.id_col.clone().filter(|_| !own.id_col)),
            ("--label-col", self.label_col.clone().filter(|_| !own.label_col)),
            ("--group-col", self.group_col.clone().filter(|_| !own.group_col)),
            ("--columns", self.columns.first().cloned().filter(|_| !own.columns)),
            ("--drop", self.drop.first().cloned().filter(|_| !own.drop)),
        ];
        match given.into_iter().find_map(|(option, value)| value.map(|value| (option, value))) {
            Some((option, value)) => Err(DataError::Option {
                option: option.into(),
                problem: format!("'{value}' names a column of a CSV file, but {file} has none; leave it out"),
            }),
            None => Ok(()),
        }
    }
}
