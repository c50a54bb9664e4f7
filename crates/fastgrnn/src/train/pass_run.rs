//! One training of a seed: its data, its learning rate and its stages.

use super::Config;
use super::constraint::StageSchedule;
use super::pass_data::PassData;
use super::schedule::Rate;
use fastgrnn_core::net::Layout;
use fastgrnn_model::settings::PLATEAU_FACTOR;

/// A pass that is being trained. How far it is stands in the state of the seed.
pub(super) struct PassRun<'a> {
    pub data: PassData<'a>,
    /// The validation part; empty for a refit.
    pub val: Vec<u32>,
    /// Epochs to train.
    pub epochs: usize,
    /// Batches of an epoch.
    pub batches: usize,
    pub rate: Rate,
    pub stages: StageSchedule,
}

impl<'a> PassRun<'a> {
    pub(super) fn new(
        config: &Config,
        layout: &Layout,
        data: PassData<'a>,
        val: Vec<u32>,
        epochs: usize,
    ) -> Self {
        let (training, batches) = (&config.training, data.batches());
        let total = training.epochs as u64 * batches as u64;
        let rate = Rate {
            schedule: training.schedule,
            base: training.lr,
            total,
            warmup: (training.warmup * total as f64).round() as u64,
            every: (training.decay_every.unwrap_or(0.0) * batches as f64).round() as u64,
            factor: training.plateau_factor.unwrap_or(PLATEAU_FACTOR),
        };
        Self { stages: StageSchedule::new(config, layout, total), data, val, epochs, batches, rate }
    }
}
