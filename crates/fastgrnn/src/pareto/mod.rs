//! Accuracy against bytes: which model to train for a budget, and which trained one is worth it.
//!
//! It is a search without a proposer: [`grid`] lists the networks whose device image just fits a budget, by arithmetic
//! alone; [`train_all`] trains each of them to its integer model, as a search trains its trials; [`mark_front`] says
//! which are on the Pareto front and [`best`] which to take. All choices are made on the validation part; the test set
//! is only reported. [`components`] is the other question about bytes: what low rank, sparsity and
//! integers each cost and save.
//!
//! ```
//! use fastgrnn::data::{self, Request};
//! use fastgrnn::pareto::{Grid, grid};
//! use fastgrnn::train::Recipe;
//! let data = data::load(&Request::new("digits"))?;
//! let recipe = Recipe::default().with(|r| r.source.dataset = Some("digits".into()));
//! let found = grid(&recipe, &data, &Grid { budgets: vec![1_024], ..Grid::default() })?;
//! assert!(found.candidates.iter().all(|c| c.image_bytes <= 1_024 && c.image_bytes > 900));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod components;
mod front;
mod grid;

pub use components::{Component, components};
pub use front::{best, mark_front};
pub use grid::{CandidateList, Grid, decided, grid};

use crate::search::SearchObserver;
use crate::search::clock::{Clock, work};
use crate::search::evaluate::{Ended, Stopped, Training, Workers, train_each};
use crate::train::{Config, ConfigError, Outcome, RunOptions, TrainError};
use fastgrnn_core::metrics::{Metric, Scores};
use fastgrnn_data::data::Dataset;
use serde::Serialize;
use std::path::PathBuf;

/// A network that fits a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// A name for its folder, made of its settings.
    pub name: String,
    /// The smallest budget that it was made for.
    pub budget: usize,
    /// The most bytes that its device image can have.
    pub image_bytes: usize,
    /// All settings.
    pub config: Config,
}

/// A candidate once it is trained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainedCandidate {
    /// Its name.
    pub name: String,
    /// The cell.
    pub cell: String,
    /// Units.
    pub hidden: usize,
    /// Rank of W; none for full.
    pub rank_w: Option<usize>,
    /// Rank of U; none for full.
    pub rank_u: Option<usize>,
    /// Fraction kept of W.
    pub sparsity_w: f64,
    /// Fraction kept of U.
    pub sparsity_u: f64,
    /// The smallest budget that it was made for.
    pub budget: usize,
    /// Bytes of the device image, counted before training.
    pub bytes_analytic: usize,
    /// Bytes of the device image.
    pub bytes: usize,
    /// Weights that are not 0.
    pub nnz: usize,
    /// The figure by which points are compared: the one by which training chose the epoch.
    pub metric: Metric,
    /// Means over the seeds on the validation part.
    pub val: Option<Scores>,
    /// Means over the seeds on the test set.
    pub test: Option<Scores>,
    /// Deviations over the seeds.
    pub test_sd: Option<Scores>,
    /// Means of the float models.
    pub test_float: Option<Scores>,
    /// Whether no other point is better on validation without being larger.
    pub front: bool,
    /// The integer model.
    pub model: PathBuf,
    /// Its run folder.
    pub run: PathBuf,
}

/// Why there is no plot of accuracy against bytes.
#[derive(Debug, thiserror::Error)]
pub enum ParetoError {
    /// No budgets.
    #[error("there is no budget; give at least one number of bytes")]
    NoBudget,
    /// A fraction that makes no sense.
    #[error("{key} = {value}: it must be above 0 and at most 1")]
    Fraction {
        /// What the fraction is.
        key: &'static str,
        /// The value.
        value: f64,
    },
    /// Without validation there is nothing to choose on.
    #[error("pareto chooses on the validation part, and `val-split` is 0; set it above 0")]
    NoValidation,
    /// Nothing fits.
    #[error("no network fits: {}", .0.join("; "))]
    Nothing(
        /// Why, for each budget and cell.
        Vec<String>,
    ),
    /// A recipe that cannot be ablated.
    #[error(
        "the recipe has neither a rank, nor a sparsity, nor `quantize = true`: there are no components to show"
    )]
    NoComponents,
    /// The settings do not fit the data.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A training failed, and with it all.
    #[error(transparent)]
    TrainAll(TrainError),
    /// Somebody asked to stop. Everything that was trained is in the folder.
    #[error("interrupted; the trainings in {} can be resumed", folder.display())]
    Interrupted {
        /// The folder.
        folder: PathBuf,
    },
    /// A training diverged.
    #[error("{name}: {source}")]
    Train {
        /// The candidate.
        name: String,
        /// Why.
        source: TrainError,
    },
}

/// Trains candidates, each into its folder in `options.out`, or continues them, or reads what they came to: on a CPU
/// several at a time, on a GPU all that are alike at once. Returns those that were trained, and the errors of those that
/// diverged.
pub fn train_all(
    candidates: &[Candidate],
    data: &Dataset,
    options: &RunOptions,
    stop: &(dyn Fn() -> bool + Sync),
    observer: &mut dyn SearchObserver,
) -> Result<(Vec<TrainedCandidate>, Vec<ParetoError>), ParetoError> {
    let training = |candidate: &Candidate| Training {
        folder: options.out.join(&candidate.name),
        config: candidate.config.clone(),
        data,
        work: work(&candidate.config, data),
    };
    let trainings: Vec<Training> = candidates.iter().map(training).collect();
    let workers = Workers { threads: options.threads, device: options.device, stop, time: None };
    let (mut points, mut failed): (Vec<TrainedCandidate>, Vec<ParetoError>) = (Vec::new(), Vec::new());
    let mut on_end = |place: usize, ended: Ended, observer: &mut dyn SearchObserver| {
        let candidate = &candidates[place];
        let of = format!("point {} of {}: {}", place + 1, candidates.len(), candidate.name);
        match ended {
            Ended::Trained(outcome) => {
                let point = trained(candidate, *outcome);
                observer.note(&format!("{of}, {} B", point.bytes));
                points.push(point);
            }
            Ended::Failed(source) => {
                observer.note(&format!("{of} failed"));
                failed.push(ParetoError::Train { name: candidate.name.clone(), source });
            }
        }
        Ok::<(), ParetoError>(())
    };
    let result = train_each(&trainings, workers, &mut Clock::new(None), observer, &mut on_end);
    result.map_err(|stopped| match stopped {
        Stopped::Interrupted => ParetoError::Interrupted { folder: options.out.clone() },
        Stopped::Training(error) => ParetoError::TrainAll(error),
        Stopped::Result(error) => error,
    })?;
    Ok((points, failed))
}

fn trained(candidate: &Candidate, outcome: Outcome) -> TrainedCandidate {
    let config = &candidate.config;
    let (summary, model) = (outcome.summary, outcome.model);
    TrainedCandidate {
        name: candidate.name.clone(),
        cell: summary.cell,
        hidden: config.network.hidden,
        rank_w: config.network.rank_w.columns(),
        rank_u: config.network.rank_u.columns(),
        sparsity_w: config.sparsity.keep_w,
        sparsity_u: config.sparsity.keep_u,
        budget: candidate.budget,
        bytes_analytic: candidate.image_bytes,
        bytes: model.sizes().total,
        nnz: model.nonzero(),
        metric: config.metric(),
        val: summary.val,
        test: summary.test,
        test_sd: summary.test_sd,
        test_float: summary.test_float,
        front: false,
        model: summary.model,
        run: summary.run,
    }
}
