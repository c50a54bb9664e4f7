//! One seed: choose an epoch on the validation part, refit if asked, read the test set once.
//!
//! A [`SeedRun`] says which pass comes next and takes in what its epochs came to. Who trains the epochs is the
//! caller's matter: `cpu_trainer` one seed after the other, `cohort` many at once on a GPU.

use super::TrainError;
use super::average::Average;
use super::checkpoint::{BestEpoch, State};
use super::cross_validation::FoldScores;
use super::deliver::{Assessed, Judged, Scored, Trained, write_json};
use super::epoch::{EpochReport, FoldEpoch, Pass};
use super::folder::{CHECKPOINT_FILE, METRICS_FILE, RESULT_FILE};
use super::job::Job;
use super::margin_scale::MarginScale;
use super::observe::{Observer, SeedStarted};
use super::optim::Optim;
use super::pass_data::PassData;
use super::pass_run::PassRun;
use super::summary::{FoldResult, SeedRecord, SeedResult};
use fastgrnn_core::cells::Start;
use fastgrnn_core::format;
use fastgrnn_core::metrics::Evaluation;
use fastgrnn_core::net::Layout;
use fastgrnn_data::data::{Examples, Labels, Sequences};
use fastgrnn_model::model::Model;
use fastgrnn_model::settings::{Optimizer, PLATEAU_EPOCHS, Refit};
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
pub(super) struct SeedRun {
    pub(super) layout: Layout,
    folder: PathBuf,
    pub(super) seed: u64,
    pub(super) state: State,
    /// What the folds came to, once they are over.
    folds: Option<FoldChoice>,
    /// What the refit came to, once it is over.
    refitted: Option<Trained>,
    /// Steps after which the latest pass ends, where they were drawn.
    stop: Option<u64>,
    /// Whether no pass is left.
    is_trained: bool,
    written: Instant,
    clock: Instant,
    /// Whether a file could not be written.
    is_warned: bool,
}

/// What validation after an epoch came to.
pub(super) struct Validated {
    pub scored: Scored,
    /// The scale of the network's margins, in a fold with a positive class.
    pub scale: Option<MarginScale>,
}

/// The epoch that cross-validation chose.
struct FoldChoice {
    epoch: usize,
    val: Assessed,
    folds: Vec<FoldResult>,
    offset: Option<f64>,
}

impl SeedRun {
    /// Continues the seed from its checkpoint, or starts it.
    pub(super) fn new(job: &Job, seed: u64, folder: PathBuf) -> Result<Self, TrainError> {
        let (params, optim) = fresh(job, seed);
        let mut state = State::new(seed, job.fingerprint.clone(), job.settings.clone(), params, optim);
        state.progress.average = Average::new(job.config.average(), &state.params);
        let checkpoint = folder.join(CHECKPOINT_FILE);
        state.restore(&checkpoint)?;
        job.check_settings(&state.progress.settings, &checkpoint)?;
        if state.progress.data != job.fingerprint {
            return Err(TrainError::DataChanged { out: job.out.clone() });
        }
        let now = Instant::now();
        Ok(Self {
            layout: job.config.network(job.data).layout(),
            folder,
            seed,
            state,
            folds: None,
            refitted: None,
            stop: None,
            is_trained: false,
            written: now,
            clock: now,
            is_warned: false,
        })
    }

    /// Epochs already done, for `metrics.jsonl` to start with.
    pub(super) fn history(&self) -> &[EpochReport] {
        &self.state.progress.history
    }

    /// Tells the observer that the training of the seed at `index` begins.
    pub(super) fn announce(
        &self,
        job: &Job,
        index: usize,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let (training, data) = (&job.config.training, job.data);
        let (train, val) = match job.folds.is_empty() {
            true => job.config.split(data)?,
            false => (all_of(&data.train), all_of(&data.train)),
        };
        let is_language = data.train.y == Labels::Next;
        let count = |x: &Sequences, indices: &[u32]| match is_language {
            true => indices.iter().map(|&i| x.steps(i as usize)).sum(),
            false => indices.len(),
        };
        observer.seed_started(&SeedStarted {
            seed: self.seed,
            index,
            of: training.seeds,
            params: self.layout.count(),
            unit: if is_language { "token" } else { "sequence" },
            train: count(&data.train.x, &train),
            val: count(&data.train.x, &val),
            folds: job.folds.len(),
            test: data.test.as_ref().map_or(0, |test| count(&test.x, &all_of(test))),
            epochs: training.epochs,
            resumed_after: self.state.progress.history.len(),
        });
        Ok(())
    }

    /// The pass that is to be trained now; nothing once all are over.
    pub(super) fn next_pass<'a>(
        &mut self,
        job: &Job<'a>,
        observer: &mut dyn Observer,
    ) -> Result<Option<PassRun<'a>>, TrainError> {
        if self.is_trained {
            return Ok(None);
        }
        let (config, data) = (job.config, job.data);
        let is_choosing = self.state.progress.pass == Pass::Choose;
        let (train, val, epochs) = match job.folds.get(self.state.progress.fold) {
            Some(part) if is_choosing => {
                let others = all_of(&data.train).into_iter().filter(|i| part.binary_search(i).is_err());
                (others.collect(), part.clone(), config.training.epochs)
            }
            None if is_choosing && job.folds.is_empty() => {
                let (train, val) = config.split(data)?;
                (train, val, config.training.epochs)
            }
            _ => {
                let epochs = self.refit_epochs(job)?;
                self.begin_refit(job, observer);
                (all_of(&data.train), Vec::new(), epochs)
            }
        };
        let pass_data = PassData::new(config, data, self.seed, self.state.progress.pass, train)?;
        let mut pass = PassRun::new(config, &self.layout, pass_data, val, epochs);
        if config.training.optimizer == Optimizer::Rsg {
            pass.end_at_random(self.seed, self.state.progress.pass);
            self.note_stop(&pass, observer);
        }
        self.clock = Instant::now();
        Ok(Some(pass))
    }

    /// Tells the observer after which step the training ends, and remembers it.
    fn note_stop(&mut self, pass: &PassRun, observer: &mut dyn Observer) {
        let Some(stop) = pass.stop else { return };
        self.stop = Some(stop);
        let (stop, total) = (format::count(stop), format::count(pass.rate.total));
        observer.note(&format!(
            "seed {}: rsg drew step {stop} of {total}, after which the training ends",
            self.seed
        ));
    }

    /// Epochs of the refit: as many as were best on validation, or the whole schedule.
    fn refit_epochs(&mut self, job: &Job) -> Result<usize, TrainError> {
        let training = &job.config.training;
        Ok(match training.refit {
            Refit::Full => training.epochs,
            _ if job.folds.is_empty() => self.state.progress.best.map_or(training.epochs, |best| best.epoch),
            _ => self.fold_choice(job)?.epoch,
        })
    }

    /// Begins the refit from fresh parameters, if it has not begun.
    fn begin_refit(&mut self, job: &Job, observer: &mut dyn Observer) {
        if self.state.progress.pass == Pass::Choose {
            let (params, optim) = fresh(job, self.seed);
            self.state.begin_refit(params, optim);
            self.try_checkpoint(observer);
        }
    }

    /// What the folds came to, all of which are over.
    fn fold_choice(&mut self, job: &Job) -> Result<&FoldChoice, TrainError> {
        if self.folds.is_none() {
            let (config, data) = (job.config, job.data);
            let model = PassData::new(config, data, self.seed, Pass::Refit, all_of(&data.train))?.model;
            let scores = data.train.len() * model.network.outputs * config.training.epochs;
            if self.state.held_out.len() != scores {
                let what = format!("{} scores of folds, expected {scores}", self.state.held_out.len());
                return Err(TrainError::Damaged { path: self.folder.join(CHECKPOINT_FILE), what });
            }
            let scores = FoldScores::new(&data.train.y, &job.folds, &self.state, &model);
            let best = scores.best(config.metric());
            let (sequences, epoch) = (scores.sequences(&best), best.epoch);
            let val = Assessed { sequences, evaluation: best.evaluation };
            self.folds = Some(FoldChoice { epoch, val, folds: best.folds, offset: best.offset });
        }
        Ok(self.folds.as_ref().expect("it was made above"))
    }

    /// Whether `pass` has no epoch left. A refit that stops early must still reach the stage of the epoch that was
    /// chosen.
    pub(super) fn is_over(&self, job: &Job, pass: &PassRun) -> bool {
        let (epoch, epochs) = (self.state.progress.epoch, job.config.training.epochs);
        let is_settled = pass.stages.is_settled(self.state.optim.steps);
        (epoch >= pass.epochs && (epoch >= epochs || is_settled)) || self.out_of_patience(job)
    }

    /// Only epochs after which the run was settled are ever best, so that only they are waited for.
    fn out_of_patience(&self, job: &Job) -> bool {
        let (patience, progress) = (job.config.training.patience, &self.state.progress);
        let waited = progress.best.map_or(0, |best| progress.epoch.saturating_sub(best.epoch));
        patience > 0 && progress.pass == Pass::Choose && waited >= patience
    }

    /// Ends `pass`, whose last parameters the state holds.
    pub(super) fn end_pass(&mut self, job: &Job, pass: PassRun, observer: &mut dyn Observer) {
        match (self.state.progress.pass, job.folds.is_empty()) {
            (Pass::Choose, false) => {
                let (params, optim) = fresh(job, self.seed);
                self.state.begin_fold(params, optim);
                self.try_checkpoint(observer);
            }
            (Pass::Choose, true) => {
                if self.state.progress.best.is_none() {
                    self.state.choose();
                }
                match job.config.training.refit {
                    Refit::None => self.is_trained = true,
                    _ => {
                        // The epochs of the refit depend on the choice alone, which is in the state.
                        self.begin_refit(job, observer);
                    }
                }
            }
            (Pass::Refit, _) => {
                let model = Model { params: self.state.counted().to_vec(), ..pass.data.model };
                let grids = std::mem::take(&mut self.state.progress.constraint.grids);
                self.refitted = Some(Trained::new(model, grids, pass.data.indices));
                self.is_trained = true;
            }
        }
    }

    /// The fold that is being trained, from 1, with cross-validation.
    pub(super) fn fold(&self, job: &Job) -> Option<usize> {
        let is_fold = self.state.progress.pass == Pass::Choose && !job.folds.is_empty();
        is_fold.then_some(self.state.progress.fold + 1)
    }

    /// The mean loss of the epoch's batches.
    fn train_loss(&self) -> f64 {
        self.state.progress.loss / self.state.progress.rows.max(1) as f64
    }

    /// Refuses an epoch whose loss has exploded.
    pub(super) fn check_loss(&self, job: &Job) -> Result<(), TrainError> {
        let train_loss = self.train_loss();
        let first = self.state.progress.first_loss.unwrap_or(train_loss).max(LEAST_FIRST_LOSS);
        if train_loss <= EXPLODED * first {
            return Ok(());
        }
        let what = format!(
            "the epoch's mean loss is {}, the first batch's was {}",
            format::number(train_loss),
            format::number(first)
        );
        Err(self.diverged(job, self.state.progress.batch, what))
    }

    /// Takes in a finished epoch: its batches are counted in the state, and `validated` is what the validation part
    /// says. `refresh` brings the parameters of the state up to date, where they are wanted.
    pub(super) fn end_epoch(
        &mut self,
        job: &Job,
        pass: &PassRun,
        validated: Option<Validated>,
        refresh: impl FnOnce(&mut State) -> Result<(), TrainError>,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let train_loss = self.train_loss();
        let (done, fold) = (self.state.optim.steps, self.fold(job));
        let eligible = validated.is_some() && pass.is_deliverable(done);
        let mut is_best = false;
        if let Some(Validated { scored, scale }) = &validated {
            let loss = scored.scores.loss;
            if fold.is_some() {
                self.state.progress.fold_epochs.push(FoldEpoch { loss, eligible, scale: *scale });
                self.state.held_out.extend(scored.held_out(&pass.data.model));
            }
            if !loss.is_finite() {
                let what = format!("the validation loss became {loss}");
                return Err(self.diverged(job, self.state.progress.batch, what));
            }
            let epoch = self.state.progress.epoch + 1;
            let this = BestEpoch::of(epoch, &scored.scores, job.config.metric());
            let progress = &mut self.state.progress;
            is_best = eligible && fold.is_none() && progress.best.is_none_or(|best| this.beats(&best));
            if is_best {
                progress.best = Some(this);
                refresh(&mut self.state)?;
                self.state.choose();
            }
        }
        let lr = pass.rate.at(done.saturating_sub(1), self.state.plateaus());
        let progress = &mut self.state.progress;
        progress.epoch += 1;
        let scores = validated.as_ref().map(|validated| &validated.scored.scores);
        if let Some(scores) = scores {
            let patience = job.config.training.plateau_epochs.unwrap_or(PLATEAU_EPOCHS);
            progress.plateaus.observe(progress.epoch, scores.loss, patience);
        }
        let classes = matches!(job.data.train.y, Labels::Class { .. });
        let report = EpochReport {
            seed: self.seed,
            pass: progress.pass,
            fold,
            epoch: progress.epoch,
            epochs: pass.epochs,
            lr,
            train_loss,
            train_accuracy: classes.then(|| progress.correct as f64 / progress.rows.max(1) as f64),
            val_loss: scores.map(|s| s.loss),
            val_accuracy: scores.and_then(|s| s.accuracy),
            val_f1: scores.filter(|s| s.threshold.is_some()).and_then(|s| s.f1),
            val_micro_f1: scores.and_then(|s| s.sets.as_ref()).and_then(|s| s.micro_f1),
            val_perplexity: scores.and_then(|s| s.perplexity),
            best: is_best,
            stage: pass.stages.at(done.saturating_sub(1)).kind.stage(),
            eligible,
            seconds: progress.epoch_seconds,
        };
        // The lines are written again from the history when a seed begins or ends.
        let appended = append_metrics(&job.out, &report);
        progress.history.push(report.clone());
        self.state.clear_epoch();
        self.warn(appended, observer);
        observer.epoch(&report);
        Ok(())
    }

    /// Counts the time since it was last counted, or since the pass began.
    pub(super) fn count_time(&mut self) {
        self.state.progress.epoch_seconds += lap(&mut self.clock);
    }

    /// Whether a checkpoint is to be written, in the middle of an epoch or at its end.
    pub(super) fn is_checkpoint_due(&self, job: &Job, is_epoch_over: bool) -> bool {
        match job.config.training.checkpoint_every {
            0.0 => is_epoch_over,
            every => self.written.elapsed().as_secs_f64() >= every,
        }
    }

    /// Writes a checkpoint. One that cannot be written does not end the run: the next one may succeed, and
    /// the results do not need it.
    pub(super) fn try_checkpoint(&mut self, observer: &mut dyn Observer) {
        let written = self.checkpoint();
        self.written = Instant::now();
        self.warn(written, observer);
    }

    /// Tells the observer that a file could not be written, once for each seed.
    fn warn(&mut self, written: Result<(), TrainError>, observer: &mut dyn Observer) {
        if let (Err(error), false) = (&written, self.is_warned) {
            observer.warning(&format!("{error}; the training goes on without this file"));
        }
        self.is_warned |= written.is_err();
    }

    /// Writes a checkpoint.
    pub(super) fn checkpoint(&mut self) -> Result<(), TrainError> {
        self.state.save(&self.folder.join(CHECKPOINT_FILE))?;
        self.written = Instant::now();
        Ok(())
    }

    /// The error of a run that was asked to stop.
    pub(super) fn interrupted(&self, job: &Job) -> TrainError {
        let epoch = self.state.progress.epoch + 1;
        TrainError::Interrupted { seed: self.seed, epoch, out: job.out.clone() }
    }

    /// The error of a training that diverged in this batch, from 1, of the epoch.
    pub(super) fn diverged(&self, job: &Job, batch: usize, what: String) -> TrainError {
        let config = job.config;
        TrainError::Diverged {
            seed: self.seed,
            epoch: self.state.progress.epoch + 1,
            batch,
            what,
            try_lr: smaller_lr(config.training.lr, config.default_lr(job.data)),
            clipped: config.training.clip > 0.0,
            try_start: if config.parameters.start == Start::Slow { "authors" } else { "slow" },
            out: job.out.clone(),
        }
    }

    /// Writes and evaluates what the seed delivers, and writes that down. All passes are over.
    pub(super) fn record(mut self, job: &mut Job) -> Result<SeedRecord, TrainError> {
        self.clock = Instant::now();
        let (config, data) = (job.config, job.data);
        let refitted = self.refitted.take();
        let (delivery, best_epoch, cv) = match job.folds.is_empty() {
            true => {
                let (train, val) = config.split(data)?;
                let PassData { mut model, indices, .. } =
                    PassData::new(config, data, self.seed, Pass::Choose, train)?;
                model.params = std::mem::take(&mut self.state.best_params);
                let grids = std::mem::take(&mut self.state.progress.chosen_grids);
                let chosen = Trained::new(model, grids, indices);
                let judged = Judged::Part { chosen: &chosen, val: &val };
                let delivery = job.deliver(&self.folder, judged, refitted.as_ref().unwrap_or(&chosen))?;
                (delivery, self.state.progress.best.map(|best| best.epoch), Vec::new())
            }
            false => {
                self.fold_choice(job)?;
                let FoldChoice { epoch, val, folds, offset } = self.folds.take().expect("it was made above");
                let result = refitted.expect("a cross-validation ends with a refit");
                let delivery = job.deliver(&self.folder, Judged::Folds { val: &val, offset }, &result)?;
                (delivery, Some(epoch), folds)
            }
        };
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
                best_epoch: best_epoch.unwrap_or(epochs),
                stopped_after: self.stop,
                seconds: progress.seconds,
                device: job.device.clone(),
                train: scores(&delivery.train),
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
        Ok(record)
    }
}

/// The indices of all sequences.
fn all_of(examples: &Examples) -> Vec<u32> {
    (0..examples.len() as u32).collect()
}

fn fresh(job: &Job, seed: u64) -> (Vec<f32>, Optim) {
    let params = job.start.of_seed(job.config, job.data, seed);
    let training = &job.config.training;
    let optim = Optim::new(training.optimizer, training.momentum, training.weight_decay, params.len());
    (params, optim)
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
