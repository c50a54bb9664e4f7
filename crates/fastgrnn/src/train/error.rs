//! Why a run fails.

use super::config::ConfigError;
use super::teacher_error::TeacherError;
use fastgrnn_core::net::NetworkError;
use fastgrnn_core::settings::Setting;
use fastgrnn_cuda::CudaError;
use fastgrnn_cuda::params::CohortError;
use fastgrnn_data::data::DataError;
use fastgrnn_data::text::WordVectorsError;
use fastgrnn_engine::engine::EngineError;
use fastgrnn_model::model::ModelError;
use fastgrnn_model::quantize::QuantizeError;
use std::path::{Path, PathBuf};

/// A run that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The settings do not fit the data.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The network cannot be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The engine refused a batch.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The GPU failed, or there is none.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// Networks cannot be trained together.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// A GPU cannot train this configuration.
    #[error("{what}; use the device cpu")]
    Unsupported {
        /// What it cannot do.
        what: String,
    },
    /// A model could not be written, or a teacher not read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file of word vectors cannot be used.
    #[error("the word vectors {}: {source}", path.display())]
    WordVectors {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: WordVectorsError,
    },
    /// Word vectors of another length than the embedding's.
    #[error(
        "the word vectors {} have {found} numbers each, the embedding has {expected}; use `embedding = {found}`",
        path.display()
    )]
    VectorWidth {
        /// The file.
        path: PathBuf,
        /// Numbers of its vectors.
        found: usize,
        /// Numbers of the embedding's vectors.
        expected: usize,
    },
    /// The teacher does not fit.
    #[error(transparent)]
    Teacher(#[from] TeacherError),
    /// The trained model cannot be made integer.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
    /// Splitting or normalising the data failed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The loss, the gradient or a parameter is no longer a usable number.
    #[error(
        "training diverged: seed {seed}, epoch {epoch}, batch {batch}: {what}. Try `lr = {}`{}, or `start = {try_start}`",
        Setting::text(try_lr), if *.clipped { "" } else { ", `clip = 1`" }
    )]
    Diverged {
        /// The seed.
        seed: u64,
        /// The epoch, from 1.
        epoch: usize,
        /// The batch in that epoch, from 1.
        batch: usize,
        /// What was seen.
        what: String,
        /// A smaller learning rate.
        try_lr: f64,
        /// Whether gradients were clipped.
        clipped: bool,
        /// The other start.
        try_start: &'static str,
        /// The run folder.
        out: PathBuf,
    },
    /// The observer asked to stop. The run is on disk up to the last batch.
    #[error("interrupted in epoch {epoch} of seed {seed}; the run in {} can be resumed", out.display())]
    Interrupted {
        /// The seed that was being trained.
        seed: u64,
        /// The epoch, from 1.
        epoch: usize,
        /// The run folder.
        out: PathBuf,
    },
    /// The run folder holds another run.
    #[error("{} already holds a run; resume it, or choose another folder", out.display())]
    Occupied {
        /// The run folder.
        out: PathBuf,
    },
    /// The run folder of a run that is to be replaced holds files of somebody else.
    #[error("{} also holds {}, which no run writes; nothing was removed: move it away, or choose another folder", out.display(), names.join(", "))]
    OtherFiles {
        /// The run folder.
        out: PathBuf,
        /// Names in it.
        names: Vec<String>,
    },
    /// Another process is training into the folder.
    #[error("{} is in use by another process; wait for it, or choose another folder", out.display())]
    Busy {
        /// The run folder.
        out: PathBuf,
    },
    /// The settings differ from those of the run to continue.
    #[error(
        "the run in {} was started with other settings: {}; resume with the settings it was started with, or choose another folder",
        out.display(), differences.join(", ")
    )]
    ConfigChanged {
        /// The run folder.
        out: PathBuf,
        /// Each differing key with both values.
        differences: Vec<String>,
    },
    /// The data, the teacher or the word vectors differ from those of the run to continue.
    #[error("the data, the teacher or the word vectors are not those that the run in {} was started with; choose another folder to train with them", out.display())]
    DataChanged {
        /// The run folder.
        out: PathBuf,
    },
    /// A file of the run folder is damaged.
    #[error("{}: {what}; delete it to train this seed from its start, or choose another folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
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
}

/// Makes an error of the operating system one about `path`.
pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
    let path = path.to_owned();
    move |source| TrainError::Io { path: path.clone(), source }
}
