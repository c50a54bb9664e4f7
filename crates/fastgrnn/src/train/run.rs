//! A run: every seed, one after the other, into a run folder.

use super::{Config, Observer, Summary, TrainError};
use crate::data::Dataset;
use std::path::PathBuf;

/// How a run is carried out. None of it changes results.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The run folder; made if it is missing.
    pub out: PathBuf,
    /// Continue the run that the folder holds.
    pub resume: bool,
    /// Worker threads.
    pub threads: usize,
}

/// Trains `config` on `data`.
pub fn run(
    config: &Config,
    data: &Dataset,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Summary, TrainError> {
    let _ = (config, data, observer);
    Err(TrainError::Occupied { out: options.out.clone() })
}
