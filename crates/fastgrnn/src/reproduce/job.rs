//! A training of which a table shows the result.

use super::sets::DataSet;
use crate::lines::content_hash;
use crate::train::{Config, Outcome, Recipe, TrainError, is_local};
use fastgrnn_core::metrics::Scores;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::model::ModelError;
use serde::{Deserialize, Serialize};
use toml::Table;

/// Raised by every change of the program that alters what trainings come to, so that they run again.
const RESULTS_VERSION: u32 = 1;

/// The training of one seed.
#[derive(Clone, Debug)]
pub(super) struct PaperJob {
    pub set: &'static DataSet,
    /// Everything that decides the result, the seed among it.
    pub recipe: Recipe,
    /// Whether the network is measured on the test part. One that chooses settings is not.
    pub reads_test: bool,
    /// Random states from which the trained network also starts on the test part.
    pub starts: usize,
    /// In words, for the progress.
    pub title: String,
}

impl PaperJob {
    /// The training of a seed with a recipe.
    pub fn new(set: &'static DataSet, recipe: &Recipe, seed: u64, title: String) -> Self {
        let recipe = recipe.clone().with(|r| (r.training.seed, r.training.seeds) = (Some(seed), Some(1)));
        Self { set, recipe, reads_test: true, starts: 0, title }
    }

    /// The settings that decide the result.
    pub fn settings(&self) -> Table {
        let table = Table::try_from(&self.recipe).expect("a recipe has no values that TOML lacks");
        let mut table: Table = table.into_iter().filter(|(key, _)| !is_local(key)).collect();
        // Where the data is may change, and not which set it is.
        table.insert("dataset".into(), self.set.source.into());
        table
    }

    /// A short name for everything that decides the result, but for the content of the data.
    pub fn key(&self) -> String {
        let version = RESULTS_VERSION.to_string();
        let uses = format!("{} {}", self.reads_test, self.starts);
        content_hash(&[&version, &self.settings().to_string(), &uses])
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.recipe.training.seed.unwrap_or(0)
    }
}

/// A learnt scalar of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearntScalar {
    /// `alpha`, `beta`, `zeta` or `nu`.
    pub name: String,
    /// Before the training.
    pub start: f64,
    /// After it.
    pub end: f64,
}

/// What a measurement on a board came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BoardTime {
    /// Milliseconds for a sequence, if the board's clock and cycles are known.
    pub ms: Option<f64>,
    /// Instructions for a sequence.
    pub instructions: f64,
    /// How the milliseconds were found: `measured`, `modelled`, or `counted` where there are instructions only.
    pub basis: String,
    /// Bytes of flash.
    pub flash: usize,
    /// Bytes of static RAM and of the stack.
    pub ram: usize,
}

/// Which build of the program trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// The commit that it was built from.
    pub commit: Option<String>,
    /// The instruction set that it used on the CPU.
    pub isa: String,
}

/// What a job came to: a line of the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct JobRecord {
    /// A hash of everything that decides the result, but for the data.
    pub key: String,
    /// What was trained, in words.
    pub title: String,
    /// A fingerprint of the data.
    pub data: String,
    /// The settings.
    pub recipe: Table,
    /// Number of parameters.
    pub params: usize,
    /// Bytes of the device image, or of the f32 parameters; of a network that reads texts, those of its cells.
    pub bytes: usize,
    /// On the text it was trained on, of a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Scores>,
    /// On the validation part.
    pub val: Option<Scores>,
    /// On the test part.
    pub test: Option<Scores>,
    /// On the test part from random states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Scores>,
    /// Learnt scalars of the first layer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalars: Vec<LearntScalar>,
    /// What it took on a board, of a network that was not trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardTime>,
    /// Seconds of the training; networks that were trained at once share them.
    pub seconds: f64,
    /// What trained it, `cpu` or the name of a GPU; or the board.
    pub device: String,
    /// The build of the program.
    pub program: Build,
    /// Why there are no scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl JobRecord {
    /// What a training came to, on data with a fingerprint. The network is measured from random states on `threads`.
    pub(super) fn of_outcome(
        job: &PaperJob,
        outcome: &Outcome,
        config: &Config,
        (data, fingerprint): (&Dataset, &str),
        program: &Build,
        threads: usize,
    ) -> Result<Self, ModelError> {
        let summary = &outcome.summary;
        let device = summary.seeds.first().map_or_else(String::new, |seed| seed.device.clone());
        Ok(Self {
            key: job.key(),
            title: job.title.clone(),
            data: fingerprint.to_owned(),
            recipe: job.settings(),
            params: summary.params,
            bytes: match config.quantization.quantize {
                true => summary.bytes.cells.unwrap_or(summary.bytes.total),
                false => summary.bytes.cells.unwrap_or_else(|| config.float_bytes(data)),
            },
            train: summary.train.clone(),
            val: summary.val.clone(),
            test: summary.test.clone(),
            starts: match &data.test {
                Some(test) => {
                    outcome.model.float().scores_from_random_states(test, job.starts, job.seed(), threads)?
                }
                None => Vec::new(),
            },
            scalars: scalars(outcome, config, data),
            board: None,
            seconds: summary.seconds,
            device,
            program: program.clone(),
            failed: None,
        })
    }

    /// Its seed.
    pub(super) fn seed(&self) -> Option<u64> {
        self.recipe.get("seed").and_then(toml::Value::as_integer).and_then(|seed| seed.try_into().ok())
    }

    /// A training that failed by its own settings.
    pub(super) fn of_failure(job: &PaperJob, error: &TrainError, fingerprint: &str, program: &Build) -> Self {
        Self {
            key: job.key(),
            title: job.title.clone(),
            data: fingerprint.to_owned(),
            recipe: job.settings(),
            program: program.clone(),
            failed: Some(match error {
                TrainError::Diverged { what, .. } => format!("training diverged: {what}"),
                other => other.to_string(),
            }),
            ..Self::default()
        }
    }
}

/// The learnt scalars of the first layer, before and after the training.
fn scalars(outcome: &Outcome, config: &Config, data: &Dataset) -> Vec<LearntScalar> {
    let network = config.network(data);
    let layout = network.layout();
    let first = network.start(config.parameters.start, config.remembered_steps(data), config.training.seed);
    let model = outcome.model.float();
    let trained = model.network.layout();
    let found = ["alpha", "beta", "zeta", "nu"].into_iter().filter_map(|name| {
        let path = format!("layer0.{name}");
        let value = |params: &[f32], view: Option<&fastgrnn_core::net::View>| {
            view.filter(|view| view.range().len() == 1).map(|view| sigmoid(params[view.range().start]))
        };
        let start = value(&first, layout.view(&path))?;
        let end = value(&model.params, trained.view(&path))?;
        Some(LearntScalar { name: name.to_owned(), start, end })
    });
    found.collect()
}

fn sigmoid(x: f32) -> f64 {
    1.0 / (1.0 + (-f64::from(x)).exp())
}
