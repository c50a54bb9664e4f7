//! Why a model cannot be made integer.

use crate::cells::{CellKind, Nonlinearity};
use crate::data::DataError;
use fastgrnn_runtime::int::ImageError;

/// A model that integers cannot compute, or calibration that does not fit it.
#[derive(Debug, thiserror::Error)]
pub enum QuantizeError {
    /// Nothing to calibrate with.
    #[error("there are no sequences to calibrate with; give training data")]
    NoData,
    /// Calibration data of another width.
    #[error("the calibration data has {found} features a step, the model reads {expected}")]
    Dim {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// One `lsb` or one a feature.
    #[error("{found} values of --input-lsb for {expected} features; give one value, or one for each feature")]
    LsbCount {
        /// Values given.
        found: usize,
        /// Features.
        expected: usize,
    },
    /// A count must be worth something.
    #[error("--input-lsb {value} of feature {feature}: what one count is worth must be a positive number")]
    Lsb {
        /// The feature, from 0.
        feature: usize,
        /// The value given.
        value: f32,
    },
    /// Data that 16-bit counts cannot hold.
    #[error(
        "feature {feature} reaches {largest} in the calibration data: {counts:.0} counts of --input-lsb {lsb}, \
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
    /// Factors of too different sizes.
    #[error(
        "one count of feature {feature} moves the normalised input {ratio:.0} times less than one of feature \
         {other}: the factors have 14 bits; give --input-lsb values that are closer in relation to the \
         features' deviations (or leave it out)"
    )]
    Unbalanced {
        /// The feature with the small factor.
        feature: usize,
        /// The feature with the largest.
        other: usize,
        /// Their ratio.
        ratio: f64,
    },
    /// Normalisation that depends on the time step.
    #[error(
        "the model normalises every time step by itself, which no stream can do; train with --normalize per-feature"
    )]
    PerCoordinate,
    /// A state drawn at random for each sequence.
    #[error(
        "the model starts from random states; an integer model needs a fixed one: train with --initial-state zero"
    )]
    RandomState,
    /// A gate that integers cannot compute in this cell.
    #[error(
        "a {cell} with {gate} gates has no integer arithmetic (see docs/integer-arithmetic.md); \
         train with --gate sigmoid, quantSigm or quantSigm4"
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
        "layer {layer}: no scale of its sums fits ({why}); its weights or what they multiply are too large, \
         or a unit reads too many values: at most 511 in all"
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
