//! Why a model cannot be made integer.

use fastgrnn_core::cells::{CellKind, Nonlinearity};
use fastgrnn_data::data::DataError;
use fastgrnn_runtime::int::ImageError;

/// A model that integers cannot compute, or calibration that does not fit it.
#[derive(Debug, thiserror::Error)]
pub enum QuantizeError {
    /// A network of several labels.
    #[error("a model of several labels a sequence has no integer form; train it without `quantize`")]
    SeveralLabels,
    /// A cell whose rule is not computed in integers.
    #[error(
        "a network of the cell {cell} has no integer form, because its rule divides by the lengths of complex numbers; \
         use `cell = rnn` with `form-u = rotations`, which has a unitary matrix, too, and is computed in integers"
    )]
    Cell {
        /// The cell.
        cell: CellKind,
    },
    /// A head that reads all states at once.
    #[error(
        "a network whose head reads the mean or the largest of all states has no integer form; use `readout = last`"
    )]
    Pooled,
    /// Numbers for a network that reads texts, or texts for another.
    #[error("the calibration data holds {found}, the model reads {expected}")]
    Kind {
        /// What the data holds.
        found: &'static str,
        /// What the model reads.
        expected: &'static str,
    },
    /// A network that reads texts has no counts.
    #[error(
        "`input-lsb` is what a count of a sensor is worth; a model that reads texts has none: leave it out"
    )]
    LsbOfText,
    /// A step of entries of 4 bits beyond what integers hold.
    #[error(
        "the step of {name} is {step:e}, outside 1e-7 to 4096; use 8 bits for this matrix, or train it again"
    )]
    Step {
        /// The matrix.
        name: String,
        /// Its step.
        step: f32,
    },
    /// Nothing to calibrate with.
    #[error("there are no sequences to calibrate with; give training data")]
    NoData,
    /// Sequences that are too short for a single step.
    #[error(
        "all sequences to calibrate with are shorter than the {stride} frames of a step of the model; give longer ones"
    )]
    Short {
        /// Frames from one step of the model to the next.
        stride: usize,
    },
    /// Calibration data of another width.
    #[error("the calibration data has {found} features a step, the model reads {expected}")]
    Dim {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// One `lsb` or one a feature.
    #[error("{found} values of `input-lsb` for {expected} features; give one value, or one for each feature")]
    LsbCount {
        /// Values given.
        found: usize,
        /// Features.
        expected: usize,
    },
    /// A count must be worth something.
    #[error("`input-lsb = {value}` of feature {feature}: what one count is worth must be a positive number")]
    Lsb {
        /// The feature, from 0.
        feature: usize,
        /// The value given.
        value: f32,
    },
    /// Data that 16-bit counts cannot hold.
    #[error(
        "feature {feature} reaches {largest} in the calibration data: {counts:.0} counts of `input-lsb = {lsb}`, \
         but counts have 16 bits (at most 32767); use at least {least:.2e}"
    )]
    TooManyCounts {
        /// The feature, from 0.
        feature: usize,
        /// The largest value.
        largest: f32,
        /// What one count is worth.
        lsb: f32,
        /// The value in counts.
        counts: f64,
        /// The smallest usable worth.
        least: f64,
    },
    /// Data that counts cannot tell apart.
    #[error(
        "feature {feature} lies between {low} and {high}, which is only {counts:.2} counts of `input-lsb = {lsb}`: \
         give what one count of the sensor is worth in the data's units, or leave it out"
    )]
    TooFewCounts {
        /// The feature, from 0.
        feature: usize,
        /// Its smallest value.
        low: f32,
        /// Its largest value.
        high: f32,
        /// What one count is worth.
        lsb: f32,
        /// Its range in counts.
        counts: f64,
    },
    /// A count that moves the input by far too much or too little.
    #[error(
        "one count of feature {feature} ({lsb} in the data's units) moves the network's input by {worth:.2e}, \
         beyond what a factor of 14 bits can do beside the other features; give another `input-lsb`, \
         or train with `normalize = per-feature`"
    )]
    Worth {
        /// The feature, from 0.
        feature: usize,
        /// What one count is worth.
        lsb: f32,
        /// What it moves the normalised input by.
        worth: f64,
    },
    /// A mean that lies far outside the calibration data.
    #[error(
        "the mean of feature {feature} in training, {mean}, lies far outside the calibration data; \
         calibrate with the data that the model was trained on"
    )]
    Mean {
        /// The feature, from 0.
        feature: usize,
        /// Its mean in training.
        mean: f64,
    },
    /// Weights that bytes cannot hold.
    #[error(
        "the largest weight of {name} is {largest:.2e}, too small for bytes: its input must be very large; \
         train with `normalize = per-feature`"
    )]
    Vanishing {
        /// The matrix.
        name: String,
        /// Its largest weight.
        largest: f32,
    },
    /// Sums of too many products.
    #[error(
        "layer {layer} adds up {found} products at a time; 32-bit sums hold at most {most}: \
         use fewer units or features, or lower ranks"
    )]
    Terms {
        /// The layer.
        layer: usize,
        /// Products of a sum.
        found: usize,
        /// The most.
        most: usize,
    },
    /// Normalisation that depends on the time step.
    #[error(
        "the model normalises every time step by itself, which no stream can do; train with `normalize = per-feature`"
    )]
    PerCoordinate,
    /// A state drawn at random for each sequence.
    #[error(
        "the model starts from random states; an integer model needs a fixed one: train with `initial-state = zero`"
    )]
    RandomState,
    /// A gate that integers cannot compute in this cell.
    #[error(
        "a {cell} with {gate} gates has no integer arithmetic (see docs/integer-arithmetic.md); \
         train with the `gate` sigmoid, quantSigm or quantSigm4"
    )]
    Gate {
        /// The cell.
        cell: CellKind,
        /// Its gate.
        gate: Nonlinearity,
    },
    /// Too many layers.
    #[error("the network has {found} layers, integer models have at most {most}")]
    Layers {
        /// Layers of the network.
        found: usize,
        /// The most.
        most: usize,
    },
    /// Larger than 16-bit sizes.
    #[error("{what} of {found} is more than an integer model can have ({most})")]
    Size {
        /// What.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The most.
        most: usize,
    },
    /// No scale fits.
    #[error(
        "layer {layer}: no scale of its sums fits ({why}); its weights or what they multiply are too large"
    )]
    NoScale {
        /// The layer.
        layer: usize,
        /// What the last try ran into.
        why: String,
    },
    /// The float model explodes on the calibration data.
    #[error(
        "the float model's state became {value} on the calibration data; nothing can be calibrated on that"
    )]
    NotFinite {
        /// The value.
        value: f32,
    },
    /// What was built is no valid image.
    #[error("the integer model is not valid: {0}")]
    Image(#[from] ImageError),
    /// The data cannot be normalised.
    #[error(transparent)]
    Data(#[from] DataError),
}
