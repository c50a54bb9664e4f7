//! What all seeds of a run share.

use super::changes::differences;
use super::start_parameters::StartParameters;
use super::teacher::Teacher;
use super::{Config, TrainError};
use fastgrnn_core::net::Network;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::model::{ModelError, Scorer};
use std::path::{Path, PathBuf};

/// What all seeds of a run share.
pub(super) struct Job<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub out: PathBuf,
    /// Fingerprint of the data, and of the teacher and the word vectors if there are some.
    pub fingerprint: String,
    /// The validation part of each fold; none without cross-validation.
    pub folds: Vec<Vec<u32>>,
    /// The settings that decide the result.
    pub settings: String,
    /// Scores the network in training.
    pub scorer: Scorer,
    /// Scores the network that is delivered, where it has other matrices; made when it is wanted.
    pub delivered_scorer: Option<Scorer>,
    pub teacher: Option<Teacher>,
    pub start: StartParameters,
    pub threads: usize,
    /// What trains: `cpu`, or the name of a GPU.
    pub device: String,
}

impl<'a> Job<'a> {
    /// A job that delivers seeds of this one on a thread of its own. It has no teacher, which only trains.
    pub(super) fn on_one_thread(&self) -> Result<Job<'a>, TrainError> {
        Ok(Job {
            config: self.config,
            data: self.data,
            out: self.out.clone(),
            fingerprint: self.fingerprint.clone(),
            folds: self.folds.clone(),
            settings: self.settings.clone(),
            scorer: Scorer::new(&self.config.network(self.data), 1)?,
            delivered_scorer: None,
            teacher: None,
            start: self.start.clone(),
            threads: 1,
            device: self.device.clone(),
        })
    }

    /// What scores a network: the one in training, or the one that is delivered.
    pub(super) fn scorer_of(&mut self, network: &Network) -> Result<&mut Scorer, ModelError> {
        let has_made_matrices = |network: &Network| network.layers.iter().any(|c| c.orthogonal_u.is_some());
        if self.config.orthogonal_u().is_none() || has_made_matrices(network) {
            return Ok(&mut self.scorer);
        }
        if self.delivered_scorer.is_none() {
            self.delivered_scorer = Some(Scorer::new(network, self.threads)?);
        }
        Ok(self.delivered_scorer.as_mut().expect("it was made above"))
    }

    /// Refuses to continue what was trained with other settings, which the file at `path` remembers: the
    /// configuration of the run may have been edited since.
    pub(super) fn check_settings(&self, before: &str, path: &Path) -> Result<(), TrainError> {
        let damaged = |what: String| TrainError::Damaged { path: path.to_owned(), what };
        let differences = differences(before, &self.settings).map_err(|e| damaged(e.to_string()))?;
        match differences.is_empty() {
            true => Ok(()),
            false => Err(TrainError::ConfigChanged { out: self.out.clone(), differences }),
        }
    }
}
