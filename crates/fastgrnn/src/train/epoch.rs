//! What is known about a finished epoch.

use super::margin_scale::MarginScale;
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

/// An epoch is done: also a line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// The seed.
    pub seed: u64,
    /// Which of its trainings.
    pub pass: Pass,
    /// The fold, from 1, with cross-validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
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
    /// Micro F1 on the validation part at its best threshold, of several labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val_micro_f1: Option<f64>,
    /// Perplexity on the validation part, of a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val_perplexity: Option<f64>,
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

/// An epoch of a fold, beside the scores of its validation part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldEpoch {
    /// Mean loss on the validation part.
    pub loss: f64,
    /// Whether the epoch may be chosen.
    pub eligible: bool,
    /// The scale of the network's margins, if there is a positive class.
    pub scale: Option<MarginScale>,
}
