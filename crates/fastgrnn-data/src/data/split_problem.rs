//! Why a validation part cannot be split off.

/// Why a validation part cannot be split off.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitProblem {
    /// The share of the validation part makes no sense.
    #[error("a share of {fraction} is not at least 0 and below 1")]
    Fraction {
        /// The share.
        fraction: f64,
    },
    /// A split by groups of data without groups.
    #[error("no groups are known; name their column with `group-col`")]
    NoGroups,
    /// No class has two sequences, one for each part.
    #[error("no class has two of the {sequences} sequences; add more sequences")]
    TooFew {
        /// Sequences of all classes.
        sequences: usize,
    },
    /// Everything belongs to one group or recording.
    #[error(
        "all {sequences} sequences belong to one group or recording, which must stay whole; add recordings, or give a test set and `val-split = 0`"
    )]
    OneUnit {
        /// The sequences.
        sequences: usize,
    },
    /// Some class occurs in too few groups or recordings.
    #[error(
        "with {units} groups or recordings kept whole, training would lose a class; every class needs at least two of them"
    )]
    LosesClass {
        /// Groups or recordings.
        units: usize,
    },
}
