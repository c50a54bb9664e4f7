//! Why a batch is refused.

use fastgrnn_core::window::Window;

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
    /// Tokens for numbers, or numbers for tokens.
    #[error("the network reads {expected}, but the batch holds the other kind of sequences")]
    Tokens {
        /// `numbers` or `tokens`.
        expected: &'static str,
    },
    /// A token without a vector.
    #[error("sequence {sequence} of the batch has the token {token} but there are {vocabulary} tokens")]
    Vocabulary {
        /// Its index in the batch.
        sequence: usize,
        /// The token.
        token: u32,
        /// Tokens that have a vector.
        vocabulary: usize,
    },
    /// Another window than the network's.
    #[error(
        "the batch has windows of {} frames at a stride of {}, but the network reads {} at a stride of {}",
        found.frames, found.stride, expected.frames, expected.stride
    )]
    Window {
        /// Window of the batch.
        found: Window,
        /// Window of the network.
        expected: Window,
    },
    /// A sequence without steps.
    #[error("sequence {index} of the batch is empty, or shorter than the stride of the network's window")]
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
