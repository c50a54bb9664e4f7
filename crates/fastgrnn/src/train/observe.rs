//! Events of a run, and how to stop it.

use super::summary::SeedResult;
use fastgrnn_model::settings::StageName;
use serde::{Deserialize, Serialize};

/// Which of a seed's two trainings an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// On the training part, to choose an epoch on the validation part.
    Choose,
    /// On all training data, from a fresh start.
    Refit,
}

/// A seed's training begins or continues.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedStarted {
    /// The seed.
    pub seed: u64,
    /// Its place among the seeds of the run, from 0.
    pub index: usize,
    /// Seeds of the run.
    pub of: usize,
    /// Parameters of the network.
    pub params: usize,
    /// Sequences to train on.
    pub train: usize,
    /// Sequences to validate on.
    pub val: usize,
    /// Sequences of the test set.
    pub test: usize,
    /// Epochs planned.
    pub epochs: usize,
    /// Epochs that a checkpoint had already done.
    pub resumed_after: usize,
}

/// A batch is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The seed.
    pub seed: u64,
    /// Which of its trainings.
    pub pass: Pass,
    /// The epoch, from 1.
    pub epoch: usize,
    /// Epochs planned.
    pub epochs: usize,
    /// Batches done in this epoch.
    pub batch: usize,
    /// Batches of an epoch.
    pub batches: usize,
    /// Mean loss of the epoch so far.
    pub loss: f64,
}

/// An epoch is done: also a line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// The seed.
    pub seed: u64,
    /// Which of its trainings.
    pub pass: Pass,
    /// The epoch, from 1.
    pub epoch: usize,
    /// Epochs planned.
    pub epochs: usize,
    /// Learning rate of its last step.
    pub lr: f64,
    /// Mean loss over the epoch's batches, as they were before each update.
    pub train_loss: f64,
    /// Share of right predictions over the same; absent for regression.
    pub train_accuracy: Option<f64>,
    /// Loss on the validation part.
    pub val_loss: Option<f64>,
    /// Accuracy on the validation part; at the best threshold of the positive class, if there is one.
    pub val_accuracy: Option<f64>,
    /// F1 of the positive class on the validation part, at its best threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val_f1: Option<f64>,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// The training stage of its last batch.
    pub stage: StageName,
    /// Whether it could be best: it was validated, the last `project` stage was over and, if
    /// there is one, the `quantized` stage had begun.
    pub eligible: bool,
    /// Seconds this epoch took.
    pub seconds: f64,
}

/// Receives the events of a run. Every method has an empty body by default.
///
/// ```
/// use fastgrnn::train::{EpochReport, Observer};
/// struct Printer;
/// impl Observer for Printer {
///     fn epoch(&mut self, report: &EpochReport) {
///         println!("{} {}", report.epoch, report.train_loss);
///     }
/// }
/// ```
pub trait Observer {
    /// A seed's training begins or continues.
    fn seed_started(&mut self, _event: &SeedStarted) {}
    /// A batch is done. Called for every batch.
    fn progress(&mut self, _event: &Progress) {}
    /// An epoch is done.
    fn epoch(&mut self, _report: &EpochReport) {}
    /// A seed is done.
    fn seed_finished(&mut self, _result: &SeedResult) {}
    /// Asked after every batch; `true` makes the run write a checkpoint and return.
    fn should_stop(&mut self) -> bool {
        false
    }
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
