//! How long trainings take, and whether there is time for more.

use crate::train::Config;
use fastgrnn_data::data::Dataset;
use fastgrnn_model::settings::Refit;
use std::time::{Duration, Instant};

/// A training may take this many times as long as those before it say.
const MARGIN: f64 = 1.15;
/// Multiply-adds that take as long as one unit's nonlinearities in a step.
const POINTWISE: usize = 40;

/// The time of a search, and how fast trainings were so far.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Instant,
    limit: Option<Duration>,
    /// Seconds in which all cores, or a GPU, were at work.
    seconds: f64,
    /// What was trained in them.
    work: f64,
}

impl Clock {
    pub fn new(limit: Option<Duration>) -> Self {
        Self { started: Instant::now(), limit, seconds: 0.0, work: 0.0 }
    }

    /// Takes in how long a training took.
    pub fn note(&mut self, work: f64, seconds: f64) {
        (self.work, self.seconds) = (self.work + work, self.seconds + seconds);
    }

    /// The seconds that so much work will take; nothing before anything was measured.
    pub fn seconds(&self, work: f64) -> f64 {
        if self.work > 0.0 { MARGIN * self.seconds / self.work * work } else { 0.0 }
    }

    /// Seconds that are left; without end where there is no limit.
    pub fn left(&self) -> f64 {
        self.limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64() - self.started.elapsed().as_secs_f64())
    }

    /// The time of the search; without end where there is no limit.
    pub fn limit(&self) -> f64 {
        self.limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64())
    }
}

/// What a training costs, in units that are the same for all trainings of a search: multiply-adds of a time step, times
/// the time steps of the data, times epochs, times the networks that it trains.
pub(crate) fn work(config: &Config, data: &Dataset) -> f64 {
    let network = config.network(data);
    let of_layer = |cell: &fastgrnn_core::cells::Cell| {
        let weights: usize = cell.params().iter().map(|p| p.rows * p.cols).sum();
        weights + POINTWISE * cell.blocks() * cell.hidden
    };
    let step: usize = network.layers.iter().map(of_layer).sum();
    // The networks of k folds see k - 1 parts each, as much as k - 1 networks that see all.
    let folds = config.folds(data).map_or(0, |folds| folds.len());
    let trainings = folds.saturating_sub(1).max(1) + usize::from(config.training.refit != Refit::None);
    let epochs = (config.training.epochs * trainings * config.training.seeds) as f64;
    let x = &data.train.x;
    let steps: usize = (0..x.len()).map(|i| network.window.steps(x.steps(i))).sum();
    step as f64 * steps as f64 * epochs
}

/// The epochs of all networks that a training consists of.
pub(super) fn epochs(config: &Config, data: &Dataset) -> usize {
    let folds = config.folds(data).map_or(0, |folds| folds.len());
    let trainings = folds.max(1) + usize::from(config.training.refit != Refit::None);
    config.training.epochs * trainings * config.training.seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_measured_and_foretold() {
        let mut clock = Clock::new(None);
        assert_eq!(clock.seconds(10.0), 0.0);
        clock.note(100.0, 2.0);
        clock.note(300.0, 6.0);
        assert!((clock.seconds(50.0) - MARGIN).abs() < 1e-12);
        assert_eq!(clock.left(), f64::INFINITY);
        assert!(Clock::new(Some(Duration::from_secs(5))).left() <= 5.0);
    }
}
