//! Why settings are refused.

use fastgrnn_core::format::quantity;
use fastgrnn_core::net::{Loss, NetworkError};
use fastgrnn_core::settings::OutOfRange;
use fastgrnn_data::data::DataError;
use fastgrnn_model::device::LimitsError;
use fastgrnn_model::quantize::QuantizeError;
use fastgrnn_model::settings::GateGainConflict;

/// Tells how many frames of a sequence a crop leaves, if those are fewer.
pub(in crate::train) fn left_by_crop(frames: usize, least: usize) -> String {
    if least < frames { format!(" (`augment crop` leaves {least})") } else { String::new() }
}

/// Settings that do not fit the data, or each other.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Too little to train on.
    #[error("{dataset} has {found} training sequences; at least 2 are needed")]
    TooFew {
        /// The data set.
        dataset: String,
        /// Its sequences.
        found: usize,
    },
    /// A sequence without steps.
    #[error("{dataset}: sequence {index} of the {part} set has no time steps; remove it")]
    EmptySequence {
        /// The data set.
        dataset: String,
        /// `training` or `test`.
        part: &'static str,
        /// The sequence, from 0.
        index: usize,
    },
    /// A sequence that is too short for a step of a network with an input layer.
    #[error(
        "{dataset}: sequence {index} of the {part} set has {}{}, and the stride of `input-layer` is \
         {stride}; use a stride of at most {least}, or leave such sequences out",
        quantity(*frames as u64, "frame"), left_by_crop(*frames, *least)
    )]
    ShortSequence {
        /// The data set.
        dataset: String,
        /// `training` or `test`.
        part: &'static str,
        /// The sequence, from 0.
        index: usize,
        /// Its frames.
        frames: usize,
        /// The least that augmentation leaves of them.
        least: usize,
        /// Frames from one step to the next.
        stride: usize,
    },
    /// Nothing to learn.
    #[error("{dataset} has no labels; name their column with `label-col`")]
    NoLabels {
        /// The data set.
        dataset: String,
    },
    /// Labels and sequences that do not belong together.
    #[error("{dataset}: {what}")]
    Labels {
        /// The data set.
        dataset: String,
        /// What does not fit.
        what: String,
    },
    /// Only one class.
    #[error(
        "every training sequence of {dataset} has the class '{class}'; a classifier needs at least two classes"
    )]
    OneClass {
        /// The data set.
        dataset: String,
        /// The class.
        class: String,
    },
    /// Training and test set differ in shape.
    #[error("{dataset}: the test set {what}")]
    TestMismatch {
        /// The data set.
        dataset: String,
        /// How it differs.
        what: String,
    },
    /// A value outside its declared range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// A value that does not fit the data or another setting.
    #[error("{key} = {value}: {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A class that no training sequence has.
    #[error("{key} names the class '{class}'; the training data has {}", .classes.join(", "))]
    NoSuchClass {
        /// The key.
        key: &'static str,
        /// The class it names.
        class: String,
        /// Those there are.
        classes: Vec<String>,
    },
    /// A loss that cannot be used with these labels.
    #[error("loss {} does not fit {labels}; use {instead}", crate::train::Choice::choice_name(*.loss))]
    Loss {
        /// The loss.
        loss: Loss,
        /// What the labels are.
        labels: &'static str,
        /// Losses that fit.
        instead: &'static str,
    },
    /// A given initial state of the wrong size.
    #[error(
        "initial-state has {found} numbers; the network has {expected} state entries (one number is repeated)"
    )]
    InitialState {
        /// Numbers given.
        found: usize,
        /// Entries of all layers together.
        expected: usize,
    },
    /// A network beyond what a model file holds.
    #[error(
        "a network with {params} parameters (features a step: {input}, outputs: {outputs}) is too large; \
         use a smaller `hidden` or ranks, or `timesteps` to put fewer values into a step"
    )]
    TooLarge {
        /// Features a step.
        input: usize,
        /// Outputs of the head.
        outputs: usize,
        /// All parameters.
        params: usize,
    },
    /// Stages that contradict one another or other settings.
    #[error("stages = {stages}: {what}")]
    Stages {
        /// The stages, as they would be written.
        stages: String,
        /// What is wrong and what to try.
        what: String,
    },
    /// A setting that nothing would read.
    #[error("{key} = {value}: {why}; leave it out, or choose {instead}")]
    Unused {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// Why nothing reads it.
        why: String,
        /// What would.
        instead: String,
    },
    /// A gain for the gate of a cell that has none, or none for one that has.
    #[error(transparent)]
    GateGain(#[from] GateGainConflict),
    /// No validation part can be split off.
    #[error("{source}; {instead}")]
    Split {
        /// Why not.
        source: DataError,
        /// What to try.
        instead: &'static str,
    },
    /// Training would need more memory than a machine has.
    #[error(
        "training on sequences of {steps} steps needs about {} GiB on {threads} threads; cut them with \
         `window` or `timesteps`, or use a smaller `batch` or `hidden`, or fewer threads",
        bytes >> 30
    )]
    Memory {
        /// Steps of the longest sequence.
        steps: usize,
        /// Worker threads.
        threads: usize,
        /// Estimate of the buffers.
        bytes: u64,
    },
    /// The network takes more than it may.
    #[error("a {network} {}; {instead}", .excess.join(" and "))]
    Excess {
        /// Cell and sizes.
        network: String,
        /// What is too much, with the numbers.
        excess: Vec<String>,
        /// What would keep to the limits.
        instead: String,
    },
    /// Limits that contradict each other.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The network has no integer form.
    #[error("quantize = true: {0}")]
    Quantize(#[from] QuantizeError),
    /// The network cannot be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The data refuse a setting.
    #[error(transparent)]
    Data(#[from] DataError),
}

pub(super) fn out_of_range(
    key: &'static str,
    value: impl ToString,
    expected: impl Into<String>,
) -> ConfigError {
    ConfigError::Value { key, value: value.to_string(), expected: expected.into() }
}
