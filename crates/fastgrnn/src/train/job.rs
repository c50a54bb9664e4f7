//! What all seeds of a run share.

use super::Config;
use super::observe::Observer;
use super::teacher::Teacher;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::model::Scorer;
use std::path::Path;

/// What all seeds of a run share.
pub(super) struct Job<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub out: &'a Path,
    /// Fingerprint of the data, and of the teacher if there is one.
    pub fingerprint: String,
    /// The validation part of each fold; none without cross-validation.
    pub folds: Vec<Vec<u32>>,
    pub scorer: Scorer,
    pub teacher: Option<Teacher>,
    pub threads: usize,
    pub observer: &'a mut dyn Observer,
}
