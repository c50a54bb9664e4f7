//! One seed: choose an epoch on the validation part, refit if asked, read the test set once.

use super::average::Average;
use super::checkpoint::{BestEpoch, State};
use super::constraint::StageSchedule;
use super::cross_validation::FoldScores;
use super::deliver::{Assessed, Judged, Trained, write_json};
use super::epoch::{EpochReport, FoldEpoch, Pass};
use super::first_biases::set_first_biases;
use super::folder::{CHECKPOINT_FILE, METRICS_FILE, RESULT_FILE};
use super::job::Job;
use super::observe::{Progress, SeedStarted};
use super::optim::{Optim, clip_norm};
use super::pass_data::PassData;
use super::schedule::Rate;
use super::summary::{FoldResult, SeedRecord, SeedResult};
use super::weight_drop::WeightDrop;
use super::{Config, TrainError};
use fastgrnn_core::batch::{Batch, Earlier};
use fastgrnn_core::cells::Start;
use fastgrnn_core::format;
use fastgrnn_core::metrics::Evaluation;
use fastgrnn_core::net::Layout;
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::{Dataset, Examples, Labels, Sequences};
use fastgrnn_engine::engine::{Gradient, Step};
use fastgrnn_model::model::Model;
use fastgrnn_model::settings::Refit;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// An epoch's mean loss this many times the first batch's loss is an explosion.
const EXPLODED: f64 = 20.0;
/// A learning rate this many times the default is far above it.
const FAR_ABOVE: f64 = 20.0;
/// A first loss below this is luck, not a yardstick.
const LEAST_FIRST_LOSS: f64 = 0.1;

/// One seed's training while it runs.
pub(super) struct SeedRun<'j, 'a> {
    job: &'j mut Job<'a>,
    layout: Layout,
    folder: PathBuf,
    seed: u64,
    state: State,
    batch: Batch,
    gradient: Gradient,
    /// What of the gradient lies outside the support.
    outside: Vec<f32>,
    /// The parameters on their grids, where there are grids.
    rounded: Vec<f32>,
    weight_drop: WeightDrop,
    written: Instant,
    clock: Instant,
    /// Whether a file could not be written.
    is_warned: bool,
}

impl<'j, 'a> SeedRun<'j, 'a> {
    /// Continues the seed from its checkpoint, or starts it.
    pub(super) fn new(job: &'j mut Job<'a>, seed: u64, folder: PathBuf) -> Result<Self, TrainError> {
        let network = job.config.network(job.data);
        let layout = network.layout();
        let (params, optim) = fresh(job.config, job.data, seed);
        let gradient = Gradient::new(&network);
        let mut state = State::new(seed, job.fingerprint.clone(), job.settings.clone(), params, optim);
        state.progress.average = Average::new(job.config.training.ema, &state.params);
        let checkpoint = folder.join(CHECKPOINT_FILE);
        state.restore(&checkpoint)?;
        job.check_settings(&state.progress.settings, &checkpoint)?;
        if state.progress.data != job.fingerprint {
            return Err(TrainError::DataChanged { out: job.out.to_owned() });
        }
        let mut batch = network.empty_batch();
        batch.earlier = Earlier {
            readings: job.config.training.extra_loss_steps,
            every: job.config.training.extra_loss_stride,
        };
        let now = Instant::now();
        let (outside, rounded) = (Vec::new(), Vec::new());
        let (written, clock) = (now, now);
        let is_warned = false;
        Ok(Self {
            job,
            layout,
            folder,
            seed,
            state,
            batch,
            gradient,
            outside,
            rounded,
            weight_drop: WeightDrop::default(),
            written,
            clock,
            is_warned,
        })
    }

    /// Epochs already done, for `metrics.jsonl` to start with.
    pub(super) fn history(&self) -> &[EpochReport] {
        &self.state.progress.history
    }

    /// Trains to the end and writes model and result.
    pub(super) fn finish(self, index: usize) -> Result<SeedRecord, TrainError> {
        match self.job.folds.is_empty() {
            true => self.finish_split(index),
            false => self.finish_folds(index),
        }
    }

    /// With a validation part that is split off, or without validation.
    fn finish_split(mut self, index: usize) -> Result<SeedRecord, TrainError> {
        let config = self.job.config;
        let (train, val) = config.split(self.job.data)?;
        self.announce(index, &train, &val);
        let mut pass_data = PassData::new(config, self.job.data, self.seed, Pass::Choose, train)?;
        if self.state.progress.pass == Pass::Choose {
            self.train(&mut pass_data, &val, config.training.epochs)?;
        }
        let best = self.state.progress.best;
        if best.is_none() && self.state.progress.pass == Pass::Choose {
            self.state.choose();
        }
        let mut chosen = Trained { model: pass_data.model, grids: Vec::new(), indices: pass_data.indices };
        let mut result = None;
        if config.training.refit != Refit::None {
            result = Some(self.refit(best.map_or(config.training.epochs, |b| b.epoch))?);
        }
        chosen.model.params = std::mem::take(&mut self.state.best_params);
        chosen.grids = std::mem::take(&mut self.state.progress.chosen_grids);
        let epochs = self.state.progress.chosen_after.unwrap_or(self.state.progress.epoch);
        let best_epoch = best.map_or(epochs, |b| b.epoch);
        let judged = Judged::Part { chosen: &chosen, val: &val };
        self.record(judged, result.as_ref().unwrap_or(&chosen), best_epoch, Vec::new())
    }

    /// With cross-validation: a training for each fold, and one on everything.
    fn finish_folds(mut self, index: usize) -> Result<SeedRecord, TrainError> {
        let (config, data, folds) = (self.job.config, self.job.data, self.job.folds.clone());
        let n = data.train.len();
        let all: Vec<u32> = (0..n as u32).collect();
        self.announce(index, &all, &all);
        for part in folds.iter().skip(self.state.progress.fold) {
            let train = (0..n as u32).filter(|i| part.binary_search(i).is_err()).collect();
            let mut pass_data = PassData::new(config, data, self.seed, Pass::Choose, train)?;
            self.train(&mut pass_data, part, config.training.epochs)?;
            let (params, optim) = fresh(config, data, self.seed);
            self.state.begin_fold(params, optim);
            self.try_checkpoint();
        }
        let model = PassData::new(config, data, self.seed, Pass::Refit, (0..n as u32).collect())?.model;
        let scores = n * model.network.outputs * config.training.epochs;
        if self.state.held_out.len() != scores {
            let what = format!("{} scores of folds, expected {scores}", self.state.held_out.len());
            return Err(TrainError::Damaged { path: self.folder.join(CHECKPOINT_FILE), what });
        }
        let scores = FoldScores::new(&data.train.y, &folds, &self.state, &model);
        let best = scores.best(config.metric());
        let val = Assessed { sequences: scores.sequences(&best), evaluation: best.evaluation };
        let result = self.refit(best.epoch)?;
        let judged = Judged::Folds { val: &val, offset: best.offset };
        self.record(judged, &result, best.epoch, best.folds)
    }

    fn announce(&mut self, index: usize, train: &[u32], val: &[u32]) {
        let (training, data) = (&self.job.config.training, self.job.data);
        let is_language = data.train.y == Labels::Next;
        let count = |x: &Sequences, indices: &[u32]| match is_language {
            true => indices.iter().map(|&i| x.steps(i as usize)).sum(),
            false => indices.len(),
        };
        let of_test = |test: &Examples| count(&test.x, &(0..test.len() as u32).collect::<Vec<u32>>());
        self.job.observer.seed_started(&SeedStarted {
            seed: self.seed,
            index,
            of: training.seeds,
            params: self.layout.len(),
            unit: if is_language { "token" } else { "sequence" },
            train: count(&data.train.x, train),
            val: count(&data.train.x, val),
            folds: self.job.folds.len(),
            test: data.test.as_ref().map_or(0, of_test),
            epochs: training.epochs,
            resumed_after: self.state.progress.history.len(),
        });
    }

    /// Trains a fresh network on all training data, for `best_epoch` epochs or the whole schedule.
    fn refit(&mut self, best_epoch: usize) -> Result<Trained, TrainError> {
        let (config, data) = (self.job.config, self.job.data);
        let epochs = if config.training.refit == Refit::Full { config.training.epochs } else { best_epoch };
        if self.state.progress.pass == Pass::Choose {
            let (params, optim) = fresh(config, data, self.seed);
            self.state.begin_refit(params, optim);
            self.try_checkpoint();
        }
        let all = (0..data.train.len() as u32).collect();
        let mut pass_data = PassData::new(config, data, self.seed, Pass::Refit, all)?;
        self.train(&mut pass_data, &[], epochs)?;
        let model = Model { params: self.state.counted().to_vec(), ..pass_data.model };
        let grids = std::mem::take(&mut self.state.progress.constraint.grids);
        Ok(Trained { model, grids, indices: pass_data.indices })
    }

    /// The fold that is being trained, from 1, with cross-validation.
    fn fold(&self) -> Option<usize> {
        let is_fold = self.state.progress.pass == Pass::Choose && !self.job.folds.is_empty();
        is_fold.then_some(self.state.progress.fold + 1)
    }

    /// Runs a pass up to `epochs` epochs of its schedule.
    fn train(&mut self, pass_data: &mut PassData, val: &[u32], epochs: usize) -> Result<(), TrainError> {
        let config = self.job.config;
        let batches = pass_data.batches();
        let total = config.training.epochs as u64 * batches as u64;
        let rate = Rate {
            schedule: config.training.schedule,
            base: config.training.lr,
            total,
            warmup: (config.training.warmup * total as f64).round() as u64,
            every: (config.training.decay_every.unwrap_or(0.0) * batches as f64).round() as u64,
        };
        let stages = StageSchedule::new(config, &self.layout, total);
        self.clock = Instant::now();
        let fold = self.fold();
        // A refit that stops early must still reach the stage of the epoch that was chosen.
        let is_settled = |state: &State| stages.is_settled(state.optim.steps);
        while (self.state.progress.epoch < epochs
            || (self.state.progress.epoch < config.training.epochs && !is_settled(&self.state)))
            && !self.out_of_patience()
        {
            let epoch = self.state.progress.epoch;
            pass_data.shuffle(epoch);
            while self.state.progress.batch < batches {
                if self.job.observer.should_stop() {
                    self.checkpoint()?;
                    let out = self.job.out.to_owned();
                    return Err(TrainError::Interrupted { seed: self.seed, epoch: epoch + 1, out });
                }
                let loss = self.step(pass_data, &rate, &stages)?;
                let progress = &self.state.progress;
                self.job.observer.progress(&Progress {
                    seed: self.seed,
                    pass: progress.pass,
                    fold,
                    epoch: epoch + 1,
                    epochs,
                    batch: progress.batch,
                    batches,
                    loss,
                });
                self.checkpoint_if_due();
            }
            self.end_epoch(pass_data, val, epochs, &rate, &stages)?;
        }
        Ok(())
    }

    /// One optimiser step; returns the epoch's mean loss so far.
    fn step(
        &mut self,
        pass_data: &mut PassData,
        rate: &Rate,
        stages: &StageSchedule,
    ) -> Result<f64, TrainError> {
        let config = self.job.config;
        let (epoch, number) = (self.state.progress.epoch, self.state.progress.batch);
        pass_data.fill(&mut self.batch, epoch, number)?;
        let (pass, step) = (self.state.progress.pass as u64, self.state.optim.steps);
        let draws = Rng::keyed(self.seed, &[stream::DROPOUT, pass, step]).next_u64();
        self.batch.regularization = config.regularization(draws);
        if pass_data.carries_state() && number > 0 {
            self.batch.carried.clone_from(&self.state.carried);
        }
        if let Some(teacher) = &mut self.job.teacher {
            teacher.advise(&mut self.batch, &pass_data.model.normalizer)?;
        }
        let State { params, optim, progress, carried, .. } = &mut self.state;
        let (plan, constraint) = (stages.at(optim.steps), &mut progress.constraint);
        constraint.begin_stage(plan.kind, &self.layout, params);
        let mut seen = constraint.effective_params(&self.layout, params, &mut self.rounded);
        let weight_drop = config.training.weight_drop.unwrap_or(0.0);
        if weight_drop > 0.0 {
            let rng = Rng::keyed(self.seed, &[stream::WEIGHT_DROP, pass, step]);
            seen = self.weight_drop.apply(&self.layout, seen, weight_drop, rng);
        }
        let Step { loss, correct, rows, .. } =
            self.job.scorer.engine.gradient(seen, &self.batch, config.training.loss, &mut self.gradient)?;
        if !loss.is_finite() {
            return Err(self.diverged(number + 1, format!("the loss became {loss}")));
        }
        if pass_data.carries_state() {
            self.job.scorer.engine.states(carried);
        }
        if weight_drop > 0.0 {
            self.weight_drop.pull_back(&mut self.gradient.values);
        }
        constraint.mask_gradient(&mut self.gradient.values, &mut self.outside);
        let norm = clip_norm(&mut self.gradient.values, config.training.clip);
        if !norm.is_finite() {
            let what = format!("the loss was {} but its gradient became {norm}", format::number(loss));
            return Err(self.diverged(number + 1, what));
        }
        let clipped = config.training.clip > 0.0 && norm > config.training.clip;
        constraint.accumulate_masked(
            &self.outside,
            if clipped { (config.training.clip / norm) as f32 } else { 1.0 },
        );
        let lr = rate.at(optim.steps);
        optim.step_rows(&self.layout, params, &self.gradient.values, self.gradient.rows(), lr);
        if let Some(projection) = plan.projection {
            stages.project(projection, constraint, &self.layout, params, optim, lr);
        }
        constraint.clamp(&self.layout, params);
        if !all_finite(params) {
            let what = format!("a parameter became infinite or NaN at a loss of {}", format::number(loss));
            return Err(self.diverged(number + 1, what));
        }
        let progress = &mut self.state.progress;
        match plan.projection {
            Some(_) => progress.average.restart(&self.state.params),
            None => progress.average.follow(&self.state.params),
        }
        progress.first_loss.get_or_insert(loss);
        progress.loss += loss * rows as f64;
        progress.correct += correct as u64;
        progress.rows += rows as u64;
        progress.batch += 1;
        progress.epoch_seconds += lap(&mut self.clock);
        Ok(progress.loss / progress.rows as f64)
    }

    fn end_epoch(
        &mut self,
        pass_data: &PassData,
        val: &[u32],
        epochs: usize,
        rate: &Rate,
        stages: &StageSchedule,
    ) -> Result<(), TrainError> {
        let train_loss = self.state.progress.loss / self.state.progress.rows.max(1) as f64;
        let first = self.state.progress.first_loss.unwrap_or(train_loss).max(LEAST_FIRST_LOSS);
        if train_loss > EXPLODED * first {
            let what = format!(
                "the epoch's mean loss is {}, the first batch's was {}",
                format::number(train_loss),
                format::number(first)
            );
            return Err(self.diverged(self.state.progress.batch, what));
        }
        let (done, fold) = (self.state.optim.steps, self.fold());
        let eligible = !val.is_empty() && stages.is_settled(done);
        let mut validated = None;
        if !val.is_empty() {
            let (constraint, model) = (&self.state.progress.constraint, &pass_data.model);
            let seen = constraint.effective_params(&self.layout, self.state.counted(), &mut self.rounded);
            let scored = self.job.validate(model, seen, val)?;
            if fold.is_some() {
                let (loss, indices) = (scored.scores.loss, &pass_data.indices);
                let scale = self.job.margin_scale(model, seen, indices)?;
                self.state.progress.fold_epochs.push(FoldEpoch { loss, eligible, scale });
                self.state.held_out.extend(scored.held_out(model));
            }
            validated = Some(scored.scores);
        }
        let mut is_best = false;
        if let Some(scores) = &validated {
            if !scores.loss.is_finite() {
                let what = format!("the validation loss became {}", scores.loss);
                return Err(self.diverged(self.state.progress.batch, what));
            }
            let epoch = self.state.progress.epoch + 1;
            let this = BestEpoch::of(epoch, scores, self.job.config.metric());
            let progress = &mut self.state.progress;
            is_best = eligible && fold.is_none() && progress.best.is_none_or(|best| this.beats(&best));
            if is_best {
                progress.best = Some(this);
                self.state.choose();
            }
        }
        let progress = &mut self.state.progress;
        progress.epoch_seconds += lap(&mut self.clock);
        progress.epoch += 1;
        let classes = matches!(self.job.data.train.y, Labels::Class { .. });
        let report = EpochReport {
            seed: self.seed,
            pass: progress.pass,
            fold,
            epoch: progress.epoch,
            epochs,
            lr: rate.at(done.saturating_sub(1)),
            train_loss,
            train_accuracy: classes.then(|| progress.correct as f64 / progress.rows.max(1) as f64),
            val_loss: validated.as_ref().map(|s| s.loss),
            val_accuracy: validated.as_ref().and_then(|s| s.accuracy),
            val_f1: validated.as_ref().filter(|s| s.threshold.is_some()).and_then(|s| s.f1),
            val_micro_f1: validated.as_ref().and_then(|s| s.sets.as_ref()).and_then(|s| s.micro_f1),
            val_perplexity: validated.as_ref().and_then(|s| s.perplexity),
            best: is_best,
            stage: stages.at(done.saturating_sub(1)).kind.stage(),
            eligible,
            seconds: progress.epoch_seconds,
        };
        // The lines are written again from the history when a seed begins or ends.
        let appended = append_metrics(self.job.out, &report);
        progress.history.push(report.clone());
        self.state.clear_epoch();
        self.warn(appended);
        self.job.observer.epoch(&report);
        if self.job.config.training.checkpoint_every == 0.0 {
            self.try_checkpoint();
        }
        Ok(())
    }

    /// Only epochs after which the run was settled are ever best, so that only they are waited for.
    fn out_of_patience(&self) -> bool {
        let (patience, progress) = (self.job.config.training.patience, &self.state.progress);
        let waited = progress.best.map_or(0, |best| progress.epoch.saturating_sub(best.epoch));
        patience > 0 && progress.pass == Pass::Choose && waited >= patience
    }

    fn checkpoint_if_due(&mut self) {
        let every = self.job.config.training.checkpoint_every;
        if every > 0.0 && self.written.elapsed().as_secs_f64() >= every {
            self.try_checkpoint();
        }
    }

    /// Writes a checkpoint. One that cannot be written does not end the run: the next one may succeed, and
    /// the results do not need it.
    fn try_checkpoint(&mut self) {
        let written = self.checkpoint();
        self.written = Instant::now();
        self.warn(written);
    }

    /// Tells the observer that a file could not be written, once for each seed.
    fn warn(&mut self, written: Result<(), TrainError>) {
        if let (Err(error), false) = (&written, self.is_warned) {
            self.job.observer.warning(&format!("{error}; the training goes on without this file"));
        }
        self.is_warned |= written.is_err();
    }

    fn checkpoint(&mut self) -> Result<(), TrainError> {
        self.state.save(&self.folder.join(CHECKPOINT_FILE))?;
        self.written = Instant::now();
        Ok(())
    }

    fn diverged(&self, batch: usize, what: String) -> TrainError {
        let config = self.job.config;
        TrainError::Diverged {
            seed: self.seed,
            epoch: self.state.progress.epoch + 1,
            batch,
            what,
            try_lr: smaller_lr(config.training.lr, config.default_lr()),
            clipped: config.training.clip > 0.0,
            try_start: if config.parameters.start == Start::Slow { "authors" } else { "slow" },
            out: self.job.out.to_owned(),
        }
    }

    /// Writes and evaluates what the seed delivers, and writes that down.
    fn record(
        mut self,
        judged: Judged,
        result: &Trained,
        best_epoch: usize,
        cv: Vec<FoldResult>,
    ) -> Result<SeedRecord, TrainError> {
        let delivery = self.job.deliver(&self.folder, judged, result)?;
        let progress = &mut self.state.progress;
        progress.seconds += progress.epoch_seconds + lap(&mut self.clock);
        let epochs = progress.chosen_after.unwrap_or(progress.epoch);
        let scores = |e: &Option<Evaluation>| e.as_ref().map(|e| e.scores.clone());
        let quantized = delivery.quantized.as_ref();
        let record = SeedRecord {
            result: SeedResult {
                seed: self.seed,
                model: delivery.model,
                model_float: quantized.map(|q| q.model_float.clone()),
                bytes: quantized.map(|q| q.bytes),
                epochs,
                best_epoch,
                seconds: progress.seconds,
                val: scores(&delivery.val),
                cv,
                test: scores(&delivery.test),
                test_float: quantized.and_then(|q| scores(&q.test_float)),
                agreement: quantized.and_then(|q| q.agreement),
            },
            data: progress.data.clone(),
            settings: progress.settings.clone(),
            history: std::mem::take(&mut progress.history),
            val: delivery.val,
            test: delivery.test,
            sequences: delivery.sequences,
        };
        write_json(&self.folder.join(RESULT_FILE), &record)?;
        let _ = std::fs::remove_file(self.folder.join(CHECKPOINT_FILE));
        self.job.observer.seed_finished(&record.result);
        Ok(record)
    }
}

fn fresh(config: &Config, data: &Dataset, seed: u64) -> (Vec<f32>, Optim) {
    let network = config.network(data);
    let mut params = network.start(config.parameters.start, config.remembered_steps(data), seed);
    set_first_biases(&network.layout(), &mut params, &data.train.y);
    let optim = Optim::new(
        config.training.optimizer,
        config.training.momentum,
        config.training.weight_decay,
        params.len(),
    );
    (params, optim)
}

/// Whether no value is infinite or NaN. The largest magnitude tells, without a branch a value.
fn all_finite(values: &[f32]) -> bool {
    let largest = values.iter().fold(0, |top, v| v.abs().to_bits().max(top));
    largest < f32::INFINITY.to_bits()
}

/// Seconds since `clock` was last read.
fn lap(clock: &mut Instant) -> f64 {
    let now = Instant::now();
    let seconds = (now - *clock).as_secs_f64();
    *clock = now;
    seconds
}

/// A learning rate to try after `lr` diverged: a third of it, or the default if it was far above that.
fn smaller_lr(lr: f64, default: f64) -> f64 {
    if lr > FAR_ABOVE * default {
        return default;
    }
    // A suggestion, not a measurement: one digit is enough.
    let third = lr / 3.0;
    format!("{third:.0e}").parse().unwrap_or(third)
}

fn append_metrics(out: &Path, report: &EpochReport) -> Result<(), TrainError> {
    let path = out.join(METRICS_FILE);
    let io = |source| TrainError::Io { path: path.clone(), source };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
    file.write_all(metrics_line(report).as_bytes()).map_err(io)
}

pub(super) fn metrics_line(report: &EpochReport) -> String {
    serde_json::to_string(report).expect("a report can be written as JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learning_rate_to_try_is_smaller_and_sane() {
        for (lr, expected) in [(0.003, 0.001), (0.05, 0.02), (1e9, 0.003), (0.3, 0.003), (1e-40, 3e-41)] {
            assert_eq!(smaller_lr(lr, 0.003), expected, "{lr}");
        }
    }
}
