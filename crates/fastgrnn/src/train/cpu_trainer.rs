//! Training on the CPU: one seed after the other, batch by batch.

use super::TrainError;
use super::checkpoint::State;
use super::job::Job;
use super::observe::{Observer, Progress};
use super::optim::clip_norm;
use super::pass_run::PassRun;
use super::seed::{SeedRun, Validated};
use super::summary::SeedRecord;
use super::weight_drop::WeightDrop;
use fastgrnn_core::batch::{Batch, Earlier};
use fastgrnn_core::format;
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_engine::engine::{Gradient, Step};

/// The buffers of a training step.
pub(super) struct CpuTrainer {
    batch: Batch,
    gradient: Gradient,
    /// What of the gradient lies outside the support.
    outside: Vec<f32>,
    /// The parameters on their grids, where there are grids.
    rounded: Vec<f32>,
    weight_drop: WeightDrop,
}

impl CpuTrainer {
    pub(super) fn new(job: &Job) -> Self {
        let (network, training) = (job.config.network(job.data), &job.config.training);
        let mut batch = network.empty_batch();
        batch.earlier = Earlier { readings: training.extra_loss_steps, every: training.extra_loss_stride };
        Self {
            batch,
            gradient: Gradient::new(&network),
            outside: Vec::new(),
            rounded: Vec::new(),
            weight_drop: WeightDrop::default(),
        }
    }

    /// Trains a seed to its end.
    pub(super) fn train(
        &mut self,
        job: &mut Job,
        mut run: SeedRun,
        observer: &mut dyn Observer,
    ) -> Result<SeedRecord, TrainError> {
        while let Some(mut pass) = run.next_pass(job, observer)? {
            while !run.is_over(job, &pass) {
                self.epoch(job, &mut run, &mut pass, observer)?;
            }
            run.end_pass(job, pass, observer);
        }
        let record = run.record(job)?;
        observer.seed_finished(&record.result);
        Ok(record)
    }

    fn epoch(
        &mut self,
        job: &mut Job,
        run: &mut SeedRun,
        pass: &mut PassRun,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let (fold, epoch) = (run.fold(job), run.state.progress.epoch);
        pass.data.shuffle(epoch);
        let batches = pass.batches_of(epoch);
        while run.state.progress.batch < batches {
            if observer.should_stop() {
                run.checkpoint()?;
                return Err(run.interrupted(job));
            }
            let loss = self.step(job, run, pass)?;
            let progress = &run.state.progress;
            observer.progress(&Progress {
                seed: run.seed,
                together: 1,
                pass: progress.pass,
                fold,
                epoch: epoch + 1,
                epochs: pass.epochs,
                batch: progress.batch,
                batches,
                loss,
            });
            if run.is_checkpoint_due(job, false) {
                run.try_checkpoint(observer);
            }
        }
        run.check_loss(job)?;
        let validated = self.validate(job, run, pass)?;
        run.count_time();
        run.end_epoch(job, pass, validated, |_| Ok(()), observer)?;
        if run.is_checkpoint_due(job, true) {
            run.try_checkpoint(observer);
        }
        Ok(())
    }

    /// One optimiser step; returns the epoch's mean loss so far.
    fn step(&mut self, job: &mut Job, run: &mut SeedRun, pass: &mut PassRun) -> Result<f64, TrainError> {
        let (config, training) = (job.config, &job.config.training);
        let (epoch, number) = (run.state.progress.epoch, run.state.progress.batch);
        pass.data.fill(&mut self.batch, epoch, number)?;
        let (pass_number, step) = (run.state.progress.pass as u64, run.state.optim.steps);
        let draws = Rng::keyed(run.seed, &[stream::DROPOUT, pass_number, step]).next_u64();
        self.batch.regularization = config.regularization(draws);
        if pass.data.carries_state() && number > 0 {
            self.batch.carried.clone_from(&run.state.carried);
        }
        if let Some(teacher) = &mut job.teacher {
            teacher.advise(&mut self.batch, &pass.data.model.normalizer)?;
        }
        let plateaus = run.state.plateaus();
        let State { params, optim, progress, carried, .. } = &mut run.state;
        let (plan, constraint) = (pass.stages.at(optim.steps), &mut progress.constraint);
        constraint.begin_stage(plan.kind, &run.layout, params, &mut progress.average.values);
        let mut seen = constraint.effective_params(&run.layout, params, &mut self.rounded);
        let weight_drop = training.weight_drop.unwrap_or(0.0);
        if weight_drop > 0.0 {
            let rng = Rng::keyed(run.seed, &[stream::WEIGHT_DROP, pass_number, step]);
            seen = self.weight_drop.apply(&run.layout, seen, weight_drop, rng);
        }
        let engine = &mut job.scorer.engine;
        let Step { loss, correct, rows, .. } =
            engine.gradient(seen, &self.batch, training.loss, &mut self.gradient)?;
        if !loss.is_finite() {
            return Err(run.diverged(job, number + 1, format!("the loss became {loss}")));
        }
        if pass.data.carries_state() {
            engine.states(carried);
        }
        if weight_drop > 0.0 {
            self.weight_drop.pull_back(&mut self.gradient.values);
        }
        constraint.pull_back(&run.layout, params, &mut self.gradient.values);
        constraint.mask_gradient(&mut self.gradient.values, &mut self.outside);
        let norm = clip_norm(&mut self.gradient.values, training.clip);
        if !norm.is_finite() {
            let what = format!("the loss was {} but its gradient became {norm}", format::number(loss));
            return Err(run.diverged(job, number + 1, what));
        }
        let clipped = training.clip > 0.0 && norm > training.clip;
        constraint
            .accumulate_masked(&self.outside, if clipped { (training.clip / norm) as f32 } else { 1.0 });
        let lr = pass.rate.at(optim.steps, plateaus);
        optim.step_rows(&run.layout, params, &self.gradient.values, self.gradient.rows(), lr);
        if let Some(projection) = plan.projection {
            pass.stages.project(projection, constraint, &run.layout, params, optim, lr);
        }
        constraint.clamp(&run.layout, params);
        if !all_finite(params) {
            let what = format!("a parameter became infinite or NaN at a loss of {}", format::number(loss));
            return Err(run.diverged(job, number + 1, what));
        }
        match plan.projection {
            Some(_) => progress.average.restart(params),
            None => progress.average.follow(params, plateaus),
        }
        progress.count_batch(loss, rows, correct);
        run.count_time();
        Ok(run.state.progress.mean_loss())
    }

    /// How good the parameters that count are on the validation part, if there is one.
    fn validate(
        &mut self,
        job: &mut Job,
        run: &SeedRun,
        pass: &PassRun,
    ) -> Result<Option<Validated>, TrainError> {
        if pass.val.is_empty() {
            return Ok(None);
        }
        let (constraint, model) = (&run.state.progress.constraint, &pass.data.model);
        let seen = constraint.effective_params(&run.layout, run.state.counted(), &mut self.rounded);
        let scored = job.validate(model, seen, &pass.val)?;
        let scale = match run.fold(job) {
            Some(_) => job.margin_scale(model, seen, &pass.data.indices)?,
            None => None,
        };
        Ok(Some(Validated { scored, scale }))
    }
}

/// Whether no value is infinite or NaN. The largest magnitude tells, without a branch a value.
fn all_finite(values: &[f32]) -> bool {
    let largest = values.iter().fold(0, |top, v| v.abs().to_bits().max(top));
    largest < f32::INFINITY.to_bits()
}
