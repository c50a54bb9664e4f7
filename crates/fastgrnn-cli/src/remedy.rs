//! What to try after an error of the library, in terms of the command line.

use crate::shell;
use fastgrnn::stream::StreamError;
use fastgrnn::train::{ConfigError, TrainError};

/// A remedy for the error, if the command line has one that the message does not name.
pub fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let train = cause.downcast_ref::<TrainError>().and_then(training);
        let config = || cause.downcast_ref::<ConfigError>().and_then(settings);
        let stream = || cause.downcast_ref::<StreamError>().and_then(stream);
        train.or_else(config).or_else(stream)
    })
}

fn training(error: &TrainError) -> Option<String> {
    match error {
        TrainError::Interrupted { out, .. } => Some(shell::resume_command(out)),
        TrainError::Occupied { .. } => Some("--resume to continue it, or another folder with --out".into()),
        TrainError::Busy { .. }
        | TrainError::ConfigChanged { .. }
        | TrainError::DataChanged { .. }
        | TrainError::Damaged { .. } => Some("another folder with --out".into()),
        TrainError::Config(error) => settings(error),
        _ => None,
    }
}

fn settings(error: &ConfigError) -> Option<String> {
    match error {
        ConfigError::Memory { .. } => Some("fewer threads with --threads".into()),
        _ => None,
    }
}

fn stream(error: &StreamError) -> Option<String> {
    match error {
        StreamError::NoFrontEnd { .. } => {
            Some("--stdin --csv for rows of features, or training with --features log-mel".into())
        }
        _ => None,
    }
}
