//! Looking for what may make a model worse than its scores say.
//!
//! A reader that leaves out a clock or sorts rows says so in a [`Finding`]; [`examine`] looks at the
//! sequences themselves. Every finding has a stable code, a severity and a remedy. Findings of the
//! severity [`Severity::Error`] stop a training unless their code is allowed.
//!
//! ```
//! use fastgrnn_data::data::{Request, Severity, load};
//! let digits = load(&Request::new("digits"))?;
//! assert!(digits.findings.iter().all(|finding| finding.severity != Severity::Error));
//! # Ok::<(), fastgrnn_data::data::DataError>(())
//! ```

mod classes;
mod copies;
mod features;
mod shape;
pub(crate) mod times;
pub(crate) mod trend;

pub use classes::examine_parts;

use super::{DataError, Dataset};
use fastgrnn_core::settings::Choice;
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

/// Looks at the sequences and labels of `data`.
pub fn examine(data: &Dataset) -> Vec<Finding> {
    let mut findings = features::examine(data);
    findings.extend(shape::examine(data));
    findings.extend(classes::examine(data));
    findings.extend(copies::examine(data));
    findings
}

/// Refuses findings that stop a training, unless `allowed` lists their codes.
pub fn check(findings: &[Finding], allowed: &[String]) -> Result<(), DataError> {
    let names = || -> Vec<&str> { FindingCode::all().into_iter().map(Choice::choice_name).collect() };
    if let Some(unknown) = allowed.iter().find(|code| FindingCode::choose(code).is_none()) {
        let problem = format!("'{unknown}' is not the code of a finding; codes: {}", names().join(", "));
        return Err(DataError::Setting { key: "allow".into(), problem });
    }
    let is_allowed = |finding: &Finding| allowed.iter().any(|code| code == finding.code.choice_name());
    let stops = |finding: &&Finding| finding.severity == Severity::Error && !is_allowed(finding);
    match findings.iter().find(stops) {
        Some(finding) => Err(DataError::Finding(finding.clone())),
        None => Ok(()),
    }
}

/// Names of features by index.
fn feature_name(data: &Dataset, index: usize) -> String {
    match data.features.as_ref().and_then(|names| names.get(index)) {
        Some(name) => format!("'{name}'"),
        None => index.to_string(),
    }
}
