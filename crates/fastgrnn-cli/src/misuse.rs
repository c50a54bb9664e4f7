//! Usage errors (exit code 2), as opposed to failures (exit code 1).

use fastgrnn::analyze::AnalyzeError;
use fastgrnn::data::DataError;
use fastgrnn::pareto::ParetoError;
use fastgrnn::quantize::DetectorProblem;
use fastgrnn::search::SearchError;
use fastgrnn::settings::OutOfRange;
use fastgrnn::stream::StreamError;
use fastgrnn::train::{ConfigError, RecipeError, TrainError};
use fastgrnn_export::ExportError;
use std::error::Error;
use std::fmt;

/// A usage error; the exit code is 2 instead of 1.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

/// A usage error with this message.
pub fn misuse(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Misuse(message.into()))
}

/// Whether the command line or a recipe is wrong, as opposed to data, files or the training.
pub fn is_misuse(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<Misuse>()
            || cause.is::<clap::Error>()
            || cause.is::<OutOfRange>()
            || cause.downcast_ref().is_some_and(recipe)
            || cause.downcast_ref().is_some_and(settings)
            || cause.downcast_ref().is_some_and(data)
            || cause.downcast_ref().is_some_and(training)
            || cause.downcast_ref().is_some_and(pareto)
            || cause.downcast_ref().is_some_and(search)
            || cause.downcast_ref().is_some_and(analysis)
            || cause.downcast_ref().is_some_and(export)
            || cause.downcast_ref().is_some_and(detector)
            || matches!(cause.downcast_ref(), Some(StreamError::Detector(error)) if detector(error))
    })
}

fn recipe(error: &RecipeError) -> bool {
    !matches!(error, RecipeError::Read { .. })
}

fn settings(error: &ConfigError) -> bool {
    match error {
        ConfigError::Range(_)
        | ConfigError::Value { .. }
        | ConfigError::NoSuchClass { .. }
        | ConfigError::NoLabels { .. }
        | ConfigError::Loss { .. }
        | ConfigError::InitialState { .. }
        | ConfigError::TooLarge { .. }
        | ConfigError::Stages { .. }
        | ConfigError::Unused { .. }
        | ConfigError::Memory { .. }
        | ConfigError::Excess { .. }
        | ConfigError::GateGain(_)
        | ConfigError::Limits(_)
        | ConfigError::Quantize(_)
        | ConfigError::Network(_) => true,
        ConfigError::Data(error) => data(error),
        // The data, not the settings, would have to be others.
        ConfigError::TooFew { .. }
        | ConfigError::EmptySequence { .. }
        | ConfigError::ShortSequence { .. }
        | ConfigError::Labels { .. }
        | ConfigError::OneClass { .. }
        | ConfigError::TestMismatch { .. }
        | ConfigError::Split { .. } => false,
    }
}

/// Settings that name something which is not there, or do not apply to the kind of data.
fn data(error: &DataError) -> bool {
    matches!(
        error,
        DataError::UnknownSource { .. }
            | DataError::UnknownWord { .. }
            | DataError::NotAFile { .. }
            | DataError::UnknownColumn { .. }
            | DataError::NoLabels { .. }
            | DataError::Timesteps { .. }
            | DataError::Needs { .. }
            | DataError::NotRecordings { .. }
            | DataError::NotATable { .. }
            | DataError::RandomSource { .. }
            | DataError::Setting { .. }
    )
}

fn training(error: &TrainError) -> bool {
    match error {
        TrainError::Config(error) => settings(error),
        TrainError::Data(error) => data(error),
        TrainError::Network(_)
        | TrainError::Teacher(_)
        | TrainError::VectorWidth { .. }
        | TrainError::Unsupported { .. }
        | TrainError::Occupied { .. }
        | TrainError::ConfigChanged { .. } => true,
        _ => false,
    }
}

fn pareto(error: &ParetoError) -> bool {
    match error {
        ParetoError::Config(error) => settings(error),
        ParetoError::Train { source, .. } | ParetoError::TrainAll(source) => training(source),
        ParetoError::NoBudget
        | ParetoError::Fraction { .. }
        | ParetoError::NoValidation
        | ParetoError::Nothing(_)
        | ParetoError::NoComponents => true,
        ParetoError::Interrupted { .. } => false,
    }
}

fn analysis(error: &AnalyzeError) -> bool {
    match error {
        AnalyzeError::LanguageModel
        | AnalyzeError::TooWide { .. }
        | AnalyzeError::TooLong { .. }
        | AnalyzeError::Steps { .. } => true,
        AnalyzeError::NoData { .. }
        | AnalyzeError::Model(_)
        | AnalyzeError::Data(_)
        | AnalyzeError::Stopped => false,
    }
}

fn search(error: &SearchError) -> bool {
    match error {
        SearchError::Config(error) => settings(error),
        SearchError::Train(error) => training(error),
        SearchError::Data { source, .. } => data(source),
        SearchError::NoValidation
        | SearchError::Nothing(_)
        | SearchError::NoSpace
        | SearchError::Twice { .. }
        | SearchError::NoSearch { .. }
        | SearchError::Changed { .. }
        | SearchError::Conflict { .. } => true,
        SearchError::NoWinner(_)
        | SearchError::Damaged { .. }
        | SearchError::Io { .. }
        | SearchError::Interrupted { .. }
        | SearchError::Stopped
        | SearchError::Model(_) => false,
    }
}

/// Classes that the model does not have.
fn detector(error: &DetectorProblem) -> bool {
    matches!(error, DetectorProblem::Unknown { .. })
}

fn export(error: &ExportError) -> bool {
    matches!(
        error,
        ExportError::Name { .. } | ExportError::NameTaken { .. } | ExportError::FloatTarget { .. }
    )
}
