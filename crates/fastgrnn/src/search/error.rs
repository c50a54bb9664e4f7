//! Why a search fails.

use crate::train::{ConfigError, TrainError};
use fastgrnn_data::data::DataError;
use fastgrnn_model::model::ModelError;
use std::path::PathBuf;

/// A search that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A data set cannot be read.
    #[error("cannot load the data set '{dataset}'")]
    Data {
        /// The data set that was named.
        dataset: String,
        /// Why not.
        source: DataError,
    },
    /// The settings that do not change cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Without validation there is nothing to choose by.
    #[error("a search chooses on the validation part, and `val-split` is 0; set it above 0")]
    NoValidation,
    /// No settings of the space give a network that can be trained.
    #[error("there is no network to search for: {}", .0.join("; "))]
    Nothing(
        /// Why, each reason once.
        Vec<String>,
    ),
    /// Every training of the finals failed.
    #[error("no network could be trained to its end: {0}")]
    NoWinner(
        /// Why the last one was not.
        String,
    ),
    /// Nothing changes.
    #[error(
        "there is nothing to search: the recipe fixes every setting of the usual space; remove some, or declare what to search under [search]"
    )]
    NoSpace,
    /// A folder without a search.
    #[error("{} holds no search", folder.display())]
    NoSearch {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that is to be joined with itself.
    #[error("{} is named twice", folder.display())]
    Twice {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder with another search.
    #[error(
        "{} holds another search: {}; continue it with the settings it was started with, or choose another folder",
        folder.display(), differences.join(", ")
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// Each value that differs, with both.
        differences: Vec<String>,
    },
    /// Two stores that cannot be joined.
    #[error("{}: {what}; only stores of the same search can be merged", path.display())]
    Conflict {
        /// The second store.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// A file of the search is damaged.
    #[error("{}, line {line}: {what}; restore the file, or choose another folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A file or folder could not be written or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Somebody asked to stop. Everything that was trained is in the folder.
    #[error("interrupted; the search in {} can be resumed", folder.display())]
    Interrupted {
        /// The folder.
        folder: PathBuf,
    },
    /// Somebody asked to stop while trials were planned.
    #[error("stopped while trials were planned")]
    Stopped,
    /// A training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A model of the winner cannot be read or does not fit the test part.
    #[error(transparent)]
    Model(#[from] ModelError),
}
