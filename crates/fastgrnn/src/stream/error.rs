//! Why a model cannot listen.

use fastgrnn_model::quantize::DetectorProblem;

/// A stream that a model cannot listen to.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The detector does not fit the model.
    #[error(transparent)]
    Detector(#[from] DetectorProblem),
    /// Samples for a model that takes rows.
    #[error(
        "the model does not listen to sound: it reads rows of {dim} features; give it rows, \
         or train it on recordings"
    )]
    NoFrontEnd {
        /// Features of a row.
        dim: usize,
    },
    /// A front end of another width than the network.
    #[error("the model's front end ({spec}) gives {found} features, its network reads {expected}")]
    FrontEnd {
        /// The front end.
        spec: String,
        /// What it gives.
        found: usize,
        /// What the network reads.
        expected: usize,
    },
    /// Counts of another worth than the integer front end's.
    #[error(
        "one count of feature {feature} is worth {lsb} in this model, but {count} in the integer front \
         end; quantize it again without `input-lsb`"
    )]
    Count {
        /// The feature, from 0.
        feature: usize,
        /// What a count is worth in the model.
        lsb: f32,
        /// What it is worth in the front end.
        count: f32,
    },
    /// A frame of another width.
    #[error("a frame of {found} values for a model that reads {expected}")]
    Width {
        /// Values of the frame.
        found: usize,
        /// Values that the model reads.
        expected: usize,
    },
}
