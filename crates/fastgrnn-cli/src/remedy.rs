//! What to try after an error of the library, in terms of the command line.

use crate::shell;
use fastgrnn::model::ModelError;
use fastgrnn::settings::Setting;
use fastgrnn::stream::StreamError;
use fastgrnn::train::{CONFIG_FILE, ConfigError, TrainError};

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
        TrainError::Occupied { .. } => {
            Some("--resume to continue it, --force to replace it, or another folder with --out".into())
        }
        TrainError::Diverged { out, try_lr, .. } => {
            let (recipe, folder) = (out.join(CONFIG_FILE), out.display().to_string());
            let recipe = shell::quoted(&recipe.display().to_string());
            let folder = shell::quoted(&folder);
            Some(format!("fastgrnn train {recipe} --lr {} --out {folder} --force", Setting::text(try_lr)))
        }
        TrainError::Io { path, .. } | TrainError::Model(ModelError::Io { path, .. }) => {
            shell::resume_of(path)
                .map(|command| format!("when it can be written, {command} continues the run"))
        }
        TrainError::Busy { .. }
        | TrainError::OtherFiles { .. }
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
