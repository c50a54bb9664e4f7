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
    /// Everything belongs to one group.
    #[error("all {sequences} sequences belong to one group, which must stay whole; add groups")]
    OneUnit {
        /// The sequences.
        sequences: usize,
    },
    /// More folds than there is to divide.
    #[error("{folds} folds of {found} {of} cannot be made; `cv` must be at most {found}, or `off`")]
    TooManyFolds {
        /// The folds.
        folds: usize,
        /// How many there are to divide.
        found: usize,
        /// What is divided.
        of: &'static str,
    },
    /// All sequences of a class are in one fold.
    #[error(
        "with {folds} folds, training would lose a class in one of them; every class needs sequences in at least two; `cv = off` splits off one validation part"
    )]
    FoldLosesClass {
        /// The folds.
        folds: usize,
    },
    /// One recording that is too short to be split into blocks of time.
    #[error(
        "all {sequences} windows are cut from one recording, which is too short to give each part of it every class with a gap of one window between them; add recordings, or use a smaller `window`"
    )]
    ShortRecording {
        /// The windows.
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
