//! How a command that did not succeed ends: its exit code, its text, its JSON document.

use crate::console::error_lines;
use crate::misuse::is_misuse;
use crate::{interrupt, shell};
use fastgrnn::model::ModelError;
use fastgrnn::train::TrainError;
use serde::Serialize;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The command line or a recipe is wrong: exit code 2.
    Misuse,
    /// The user or the system stopped the command: 128 and the number of the signal.
    Interrupted,
    /// Everything else: exit code 1.
    Failed,
}

/// A command that did not succeed, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What went wrong, with its causes.
    pub message: String,
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The exit code.
    pub exit_code: u8,
    /// The command that continues what was stopped, if it can be continued.
    pub resume: Option<String>,
}

/// A command that stopped on request, other than a training by itself.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; {what}")]
pub struct Stopped {
    /// What is left, or how to continue.
    pub what: String,
    /// The command that continues.
    pub resume: Option<String>,
}

impl Failure {
    /// The failure behind an error.
    pub fn of(error: &anyhow::Error) -> Self {
        let (mut kind, mut resume) = (FailureKind::Failed, None);
        if is_misuse(error) {
            kind = FailureKind::Misuse;
        }
        for cause in error.chain() {
            if let Some(Stopped { resume: command, .. }) = cause.downcast_ref() {
                (kind, resume) = (FailureKind::Interrupted, command.clone());
            }
            match cause.downcast_ref() {
                Some(TrainError::Interrupted { out, .. }) => {
                    (kind, resume) = (FailureKind::Interrupted, Some(shell::resume_command(out)));
                }
                Some(TrainError::Io { path, .. } | TrainError::Model(ModelError::Io { path, .. })) => {
                    resume = shell::resume_of(path);
                }
                _ => {}
            }
        }
        let exit_code = match kind {
            FailureKind::Misuse => 2,
            FailureKind::Interrupted => interrupt::exit_code(),
            FailureKind::Failed => 1,
        };
        Self { message: message(error), kind, exit_code, resume }
    }
}

fn message(error: &anyhow::Error) -> String {
    let Some(usage) = error.downcast_ref::<clap::Error>() else { return error_lines(error).join(": ") };
    if usage.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command or its arguments are missing".into();
    }
    let text = usage.render().to_string();
    let end = text.find("\nUsage:").or(text.find("\nFor more information")).unwrap_or(text.len());
    text[..end].trim_start_matches("error: ").trim().to_owned()
}
