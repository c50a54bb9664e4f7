//! What may make a model worse than its scores say.

use serde::Serialize;
use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Probably wrong.
    Warning,
    /// A result would be worthless.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

fastgrnn_core::choice! {
    /// The stable code of a finding.
    FindingCode {
        /// A column that is a clock or a counter was left out.
        #[default]
        ClockColumn = "clock-column",
        /// Rows out of time order were sorted.
        RowsSorted = "rows-sorted",
        /// Rows are out of time order, and times repeat.
        TimesRepeat = "times-repeat",
        /// Time stands still or jumps within a sequence.
        TimeGaps = "time-gaps",
        /// Sequences have different sample rates.
        SampleRates = "sample-rates",
        /// A feature has one value everywhere.
        ConstantFeature = "constant-feature",
        /// No feature ever changes.
        NoSignal = "no-signal",
        /// Two features are the same.
        DuplicateFeature = "duplicate-feature",
        /// A feature changes by less than an f32 can hold.
        LostDigits = "lost-digits",
        /// Steps and features seem exchanged.
        ChannelsFirst = "channels-first",
        /// Whole numbers that look like values to regress are classes.
        NumbersAsClasses = "numbers-as-classes",
        /// A part has no sequence of a class.
        ClassAbsent = "class-absent",
        /// A part has few sequences of a class.
        ClassRare = "class-rare",
        /// A part is too small to measure on.
        SmallPart = "small-part",
        /// Folds of a cross-validation are too small to measure on, or lack classes.
        SmallFolds = "small-folds",
        /// Test sequences are copies of training sequences.
        TrainInTest = "train-in-test",
        /// Training sequences are copies of each other.
        Copies = "copies",
        /// A group is both in training and in test.
        GroupInBoth = "group-in-both",
    }
}

/// Something about data that may make a model worse than its scores say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its code.
    pub code: FindingCode,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, and where.
    pub message: String,
    /// What to do. Settings are named by their keys, in backticks.
    pub remedy: String,
}

impl Finding {
    pub(crate) fn new(
        code: FindingCode,
        severity: Severity,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { code, severity, message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn warning(code: FindingCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message, remedy)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}; {}", self.severity, self.code, self.message, self.remedy)
    }
}
