//! Ways in which a benchmark can fail.

use fastgrnn_core::net::NetworkError;
use fastgrnn_cuda::CudaError;
use fastgrnn_cuda::params::CohortError;
use fastgrnn_engine::engine::EngineError;
use fastgrnn_model::model::ModelError;
use fastgrnn_model::quantize::QuantizeError;
use std::path::PathBuf;

/// A benchmark that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The given Python, or our own, does not import torch.
    #[error("{} cannot import torch: {why}; give --python another one, or leave it out to have torch installed", python.display())]
    NoTorch {
        /// The Python.
        python: PathBuf,
        /// Its last words.
        why: String,
    },
    /// There is no folder to install torch into.
    #[error(
        "no cache folder is known to install torch into; set HOME, or give --python one that imports torch"
    )]
    NoCache,
    /// A virtual environment could not be made.
    #[error(
        "no virtual environment could be made in {}: {why}; install python3 with venv, \
         or give --python one that imports torch",
        folder.display()
    )]
    Environment {
        /// Where.
        folder: PathBuf,
        /// Why not.
        why: String,
    },
    /// pip failed again and again.
    #[error("torch could not be installed for {}: {why}; check the network, or give --python one that imports torch", python.display())]
    Install {
        /// The Python.
        python: PathBuf,
        /// The last failure.
        why: String,
    },
    /// The Python process did not start.
    #[error("{} did not start: {source}", python.display())]
    Start {
        /// The Python.
        python: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// PyTorch's side failed.
    #[error("PyTorch's side failed: {what}")]
    Torch {
        /// What it said.
        what: String,
    },
    /// PyTorch's side took too long.
    #[error("PyTorch's side did not answer within {seconds} s")]
    Slow {
        /// How long it had.
        seconds: u64,
    },
    /// The budget was spent before.
    #[error("there was no time left; give --budget more seconds")]
    NoTime,
    /// Our network is impossible.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Our engine refused the batch.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The GPU cannot be used, or failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// A GPU does not train such networks.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// The GPU computed a loss that is not a number.
    #[error("the loss of network {network} is {loss} on the GPU")]
    Loss {
        /// Which network.
        network: usize,
        /// Its loss.
        loss: f64,
    },
    /// Our network could not be made integer.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
    /// Our network could not score.
    #[error(transparent)]
    Model(#[from] ModelError),
}
