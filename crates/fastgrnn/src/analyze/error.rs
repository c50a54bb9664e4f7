//! Why a network cannot be analysed.

use fastgrnn_data::data::DataError;
use fastgrnn_model::model::ModelError;

/// A network or data that cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// No sequence to follow.
    #[error("there are no sequences in {dataset} to follow the network along")]
    NoData {
        /// The data set.
        dataset: String,
    },
    /// A language model has one long text in place of sequences.
    #[error(
        "a language model reads one long text; the analysis follows whole sequences, such as those of a classifier"
    )]
    LanguageModel,
    /// Matrices that are too large to be taken apart at every step.
    #[error("layer {layer} has {hidden} units; networks of at most {most} units in a layer can be analysed")]
    TooWide {
        /// The layer, from 0.
        layer: usize,
        /// Its units.
        hidden: usize,
        /// The most that there may be.
        most: usize,
    },
    /// Sequences whose states do not fit into memory in double precision.
    #[error(
        "sequences of {steps} steps are too long to be followed with {hidden} units; cut them with `window`"
    )]
    TooLong {
        /// Steps of the longest sequence.
        steps: usize,
        /// Units of the layers together.
        hidden: usize,
    },
    /// A number of steps that no sequence has.
    #[error("{asked} steps: the longest sequence of {dataset} has {most}; use at most {most}")]
    Steps {
        /// The number.
        asked: usize,
        /// Steps of the longest sequence.
        most: usize,
        /// The data set.
        dataset: String,
    },
    /// The model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A sequence cannot be normalised.
    #[error(transparent)]
    Data(#[from] DataError),
    /// It was asked to stop.
    #[error("the analysis was stopped")]
    Stopped,
}
