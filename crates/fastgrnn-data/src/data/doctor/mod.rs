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

pub use classes::{examine_folds, examine_parts};

use super::{DataError, Dataset, Finding, FindingCode, Labels, Severity};
use fastgrnn_core::settings::Choice;

/// Looks at the sequences and labels of `data`.
pub fn examine(data: &Dataset) -> Vec<Finding> {
    // Tokens are no features, and a text is one sequence, however long it is.
    if data.train.y == Labels::Next {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !data.train.x.has_tokens() {
        findings.extend(features::examine(data));
        findings.extend(shape::examine(data));
    }
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
