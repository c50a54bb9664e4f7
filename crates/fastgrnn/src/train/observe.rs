//! Events of a run, and how to stop it.

use super::epoch::{EpochReport, Pass};
use super::summary::SeedResult;

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
    /// What is counted: `sequence`, or `token` for a language model.
    pub unit: &'static str,
    /// Sequences or tokens to train on.
    pub train: usize,
    /// Sequences or tokens to validate on.
    pub val: usize,
    /// Folds of the cross-validation; 0 without one.
    pub folds: usize,
    /// Sequences or tokens of the test set.
    pub test: usize,
    /// Epochs planned.
    pub epochs: usize,
    /// Epochs that a checkpoint had already done.
    pub resumed_after: usize,
}

/// A batch is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The seed; the first one where several are trained at once.
    pub seed: u64,
    /// Trainings that are under way at once.
    pub together: usize,
    /// Which of its trainings.
    pub pass: Pass,
    /// The fold, from 1, with cross-validation.
    pub fold: Option<usize>,
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
    /// A batch is done, or on a GPU an epoch of all networks that are trained at once.
    fn progress(&mut self, _event: &Progress) {}
    /// An epoch is done.
    fn epoch(&mut self, _report: &EpochReport) {}
    /// A seed is done.
    fn seed_finished(&mut self, _result: &SeedResult) {}
    /// Something that is worth knowing.
    fn note(&mut self, _text: &str) {}
    /// Something is wrong, and the run goes on.
    fn warning(&mut self, _text: &str) {}
    /// Asked after every batch, or on a GPU after every epoch; `true` makes the run write a checkpoint and return.
    fn should_stop(&mut self) -> bool {
        false
    }
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
