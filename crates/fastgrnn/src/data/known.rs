//! Data sets known by name.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DataError;

/// A data set known by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownSet {
    /// The name to ask for.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Its licence.
    pub licence: String,
    /// Training sequences.
    pub train: usize,
    /// Test sequences.
    pub test: usize,
    /// Steps a sequence.
    pub steps: usize,
    /// Features a step.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Where it was found; `None` when it is missing or built in.
    pub path: Option<PathBuf>,
    /// Whether it can be loaded now.
    pub found: bool,
    /// Where it is looked for, in order.
    pub looked: Vec<PathBuf>,
}

/// The data sets known by name, and whether each is there.
pub fn known_sets(_data_dir: Option<&Path>) -> Vec<KnownSet> {
    Vec::new()
}

pub(crate) fn unknown(name: &str) -> DataError {
    DataError::UnknownSource { source_name: name.into(), known: "digits".into() }
}
