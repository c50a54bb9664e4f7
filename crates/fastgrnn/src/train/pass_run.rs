//! One training of a seed: its data, its learning rate and its stages.

use super::Config;
use super::constraint::StageSchedule;
use super::epoch::Pass;
use super::pass_data::PassData;
use super::random_stop;
use super::schedule::Rate;
use fastgrnn_core::net::Layout;
use fastgrnn_model::settings::PLATEAU_FACTOR;

/// A pass that is being trained. How far it is stands in the state of the seed.
pub(super) struct PassRun<'a> {
    pub data: PassData<'a>,
    /// The validation part; empty for a refit.
    pub val: Vec<u32>,
    /// Epochs to train; the last one is cut short where `stop` lies in it.
    pub epochs: usize,
    /// Batches of an epoch.
    pub batches: usize,
    pub rate: Rate,
    pub stages: StageSchedule,
    /// Steps after which the training ends, where they were drawn.
    pub stop: Option<u64>,
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
        Self {
            stages: StageSchedule::new(config, layout, total),
            data,
            val,
            epochs,
            batches,
            rate,
            stop: None,
        }
    }

    /// Ends the training after a number of steps that is drawn.
    pub(super) fn end_at_random(&mut self, seed: u64, pass: Pass) {
        let stop = random_stop::drawn(&self.rate, seed, pass);
        self.epochs = stop.div_ceil(self.batches.max(1) as u64) as usize;
        self.stop = Some(stop);
    }

    /// Batches of an epoch, from 0, that are trained.
    pub(super) fn batches_of(&self, epoch: usize) -> usize {
        let before = epoch as u64 * self.batches as u64;
        let left = |stop: u64| stop.saturating_sub(before).min(self.batches as u64) as usize;
        self.stop.map_or(self.batches, left)
    }

    /// Whether parameters after `steps` may be delivered.
    pub(super) fn is_deliverable(&self, steps: u64) -> bool {
        self.stages.is_settled(steps) && self.stop.is_none_or(|stop| steps >= stop)
    }
}
