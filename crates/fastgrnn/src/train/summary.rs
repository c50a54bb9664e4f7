//! What a run comes to: the JSON of the `train` command.

use super::epoch::EpochReport;
use super::sequence_results::SequenceResults;
use fastgrnn_core::metrics::{Evaluation, Scores};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The name of the device that needs no GPU.
pub(super) const CPU: &str = "cpu";

/// Bytes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// Of the parameters as f32; the length of the device image where the model is quantised.
    pub total: usize,
    /// Of the cells alone, where the model reads texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<usize>,
    /// Of the vectors of tokens, where the model reads texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<usize>,
    /// Tables of the front end that makes features from sound, beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<usize>,
}

/// One seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedResult {
    /// The seed.
    pub seed: u64,
    /// Its model file.
    pub model: PathBuf,
    /// The float model behind it, where it is quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_float: Option<PathBuf>,
    /// Length of the device image, where the model is quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Epochs run before early stopping or the end.
    pub epochs: usize,
    /// The epoch that validation chose; the last one without validation.
    pub best_epoch: usize,
    /// Optimiser steps that the optimiser `rsg` drew, after which the training ended; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<u64>,
    /// Seconds of training and evaluation, over all interruptions. Seeds that were trained at once share the time.
    pub seconds: f64,
    /// What trained it to its end: `cpu`, or the name of a GPU.
    #[serde(default = "cpu")]
    pub device: String,
    /// The float weights on the text they were trained on, of a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Scores>,
    /// On the validation part, at the chosen epoch; always of the training that did not see it. With
    /// cross-validation on all training sequences, each by the network of its fold.
    pub val: Option<Scores>,
    /// The folds of the cross-validation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cv: Vec<FoldResult>,
    /// On the test set.
    pub test: Option<Scores>,
    /// The float model on the test set, where the delivered one is quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_float: Option<Scores>,
    /// Share of the test set on which the float and the quantised model decide alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
}

/// What trained the seeds of versions that did not write it.
fn cpu() -> String {
    CPU.to_owned()
}

/// One fold of a cross-validation, at the chosen epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldResult {
    /// The fold, from 1.
    pub fold: usize,
    /// Sequences that its network was trained on.
    pub train: usize,
    /// On the sequences that were held out.
    pub val: Scores,
}

/// Everything a finished seed leaves behind: its result and what a report needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedRecord {
    /// The numbers of the summary.
    pub result: SeedResult,
    /// Fingerprint of the data it was trained on.
    pub data: String,
    /// The settings that decided the result, as TOML.
    pub settings: String,
    /// All epochs.
    pub history: Vec<EpochReport>,
    /// The validation part in full.
    pub val: Option<Evaluation>,
    /// The test set in full.
    pub test: Option<Evaluation>,
    /// Single sequences of the test set or, without one, of the validation part; nothing without either, and
    /// in the files of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequences: Option<SequenceResults>,
}

/// The scores of the model that a run delivers, which is the best of its seeds on validation data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// Its seed.
    pub seed: u64,
    /// On the validation part; null without one.
    pub val: Option<Scores>,
    /// On the test set; null without one.
    pub test: Option<Scores>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The run folder, absolute.
    pub run: PathBuf,
    /// The model file of the seed best on validation, absolute.
    pub model: PathBuf,
    /// The float model behind it, where it is quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_float: Option<PathBuf>,
    /// The cell's name.
    pub cell: String,
    /// Number of parameters.
    pub params: usize,
    /// Size of the model.
    pub bytes: Bytes,
    /// Epochs planned for each seed.
    pub epochs: usize,
    /// Seconds over all seeds.
    pub seconds: f64,
    /// Means over the seeds on the text they were trained on, of language models: of the float weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Scores>,
    /// Means over the seeds on the validation part, which they share.
    pub val: Option<Scores>,
    /// Sample deviations over the seeds on the validation part; null for a single seed.
    pub val_sd: Option<Scores>,
    /// The folds of the cross-validation, for the seed that is delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cv: Vec<FoldResult>,
    /// Means over the seeds on the test set; null without one.
    pub test: Option<Scores>,
    /// Sample deviations over the seeds on the test set; null for a single seed.
    pub test_sd: Option<Scores>,
    /// Means of the float models on the test set, where the delivered ones are quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_float: Option<Scores>,
    /// The seed whose model is [`model`](Self::model).
    pub best_seed: u64,
    /// The scores of that model itself.
    pub delivered: Delivered,
    /// Every seed.
    pub seeds: Vec<SeedResult>,
    /// The settings that decided the result.
    pub settings: toml::Table,
}
