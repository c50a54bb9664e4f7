//! What to read and how: the options of every command that takes data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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

/// A data set by name or path, and how to read it.
///
/// Keys and command-line flags have the same names. A column is named by its header or by its
/// number counted from 0.
///
/// ```
/// use fastgrnn::data::Request;
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
    /// The most bytes to unpack or read.
    pub size_limit: u64,
    /// For [`load_unlabelled`](super::load_unlabelled): features a step the model expects, which
    /// tells a CSV of one row a time step from one of one row a sequence.
    #[serde(skip)]
    pub expect_dim: Option<usize>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            source: String::new(),
            test: None,
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
            expect_dim: None,
        }
    }
}

impl Request {
    /// The data set called `source`, or at that path, read with the defaults.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }
}
