//! Why tables cannot be made again.

use crate::train::TrainError;
use fastgrnn_model::model::ModelError;
use std::io;
use std::path::PathBuf;

/// Why tables cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line of a store that is none.
    #[error("{}, line {line}: {what}; without this line, the others can be read", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A training failed, and not by its settings.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A trained network cannot be measured.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Nothing is left of the tables.
    #[error("the tables have no such row for these data sets")]
    NoRow,
    /// There is nothing to show.
    #[error("{} holds no store of a reproduction; name its folder, or the stores to take over", folder.display())]
    NoStore {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder in place of a store.
    #[error("{} is a folder; name the file of its jobs, such as {}", path.display(), path.join("jobs.jsonl").display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Nothing could be trained or measured.
    #[error("none of the tables has a value: {why}")]
    Nothing {
        /// The first reason.
        why: String,
    },
    /// Somebody asked to stop. Everything that was trained is stored.
    #[error("interrupted; what is finished is stored in {}", folder.display())]
    Interrupted {
        /// The folder.
        folder: PathBuf,
    },
}
