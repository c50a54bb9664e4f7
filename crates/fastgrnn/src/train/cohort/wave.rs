//! Networks that are trained together, epoch by epoch: what the host decides.

use super::delivery::{Member, deliver};
use super::memory::DeviceMemory;
use crate::train::checkpoint::State;
use crate::train::job::Job;
use crate::train::observe::{self, Observer};
use crate::train::pass_run::PassRun;
use crate::train::seed::{SeedRun, Validated};
use crate::train::summary::SeedRecord;
use crate::train::{Config, TrainError, timeline};
use fastgrnn_cuda::assemble::Sample;
use fastgrnn_cuda::optimize::{Projection, StepNumbers};
use fastgrnn_cuda::params::Progress;
use fastgrnn_cuda::trainer::BatchScores;
use fastgrnn_model::settings::StageKind;
use std::collections::BTreeSet;
use std::time::Instant;

/// A member while it trains.
struct Trainee<'a> {
    job: usize,
    index: usize,
    run: SeedRun,
    pass: PassRun<'a>,
    /// Whether there is a support.
    has_support: bool,
    /// The device holds a newer state than the host.
    is_ahead: bool,
}

/// What a network does in an epoch.
struct EpochPlan {
    /// The first batch, and how many there are.
    first: usize,
    count: usize,
    /// Whether each ends with a projection.
    projects: Vec<bool>,
    /// Batches before the weights get their grids.
    grids_after: Option<usize>,
}

/// Members that are trained together.
pub(super) struct Wave<'a> {
    memory: DeviceMemory,
    /// A place for each network of the device; empty once its seed is trained.
    places: Vec<Option<Trainee<'a>>>,
    trained: Vec<Member>,
    /// When the time of epochs was last counted.
    clock: Instant,
}

impl<'a> Wave<'a> {
    /// Gives every member a place and its first pass.
    pub(super) fn begin(
        memory: DeviceMemory,
        jobs: &mut [&mut Job<'a>],
        members: Vec<Member>,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let mut wave = Self { memory, places: Vec::new(), trained: Vec::new(), clock: Instant::now() };
        for (network, member) in members.into_iter().enumerate() {
            member.run.announce(jobs[member.job], member.index, observer)?;
            wave.places.push(None);
            wave.begin_next_pass(network, jobs, member, observer)?;
        }
        Ok(wave)
    }

    /// Begins the next pass of a seed, if it has epochs left.
    fn begin_next_pass(
        &mut self,
        network: usize,
        jobs: &mut [&mut Job<'a>],
        member: Member,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let Member { job: number, index, mut run } = member;
        let job = &*jobs[number];
        while let Some(pass) = run.next_pass(job, observer)? {
            if run.is_over(job, &pass) {
                run.end_pass(job, pass, observer);
                continue;
            }
            self.memory.begin_pass(network, job, &run, &pass)?;
            let has_support = !run.state.progress.constraint.mask.is_empty();
            self.places[network] =
                Some(Trainee { job: number, index, run, pass, has_support, is_ahead: false });
            return Ok(());
        }
        self.trained.push(Member { job: number, index, run });
        Ok(())
    }

    /// Trains all members to their end.
    pub(super) fn train(
        mut self,
        jobs: &mut [&mut Job<'a>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<(usize, usize, SeedRecord)>, TrainError> {
        while let Some(first) = self.places.iter().flatten().next() {
            if observer.should_stop() {
                let stopped = first.run.interrupted(jobs[first.job]);
                self.checkpoint_all()?;
                deliver(jobs, self.trained, observer)?;
                return Err(stopped);
            }
            let failed = match self.epoch(jobs, observer) {
                Ok(None) => continue,
                Ok(Some(error)) => {
                    // The seed that failed has lost its place; the others are kept.
                    self.checkpoint_all()?;
                    error
                }
                // The device failed in the middle of the epoch: earlier checkpoints stay.
                Err(error) => error,
            };
            deliver(jobs, self.trained, observer)?;
            return Err(failed);
        }
        deliver(jobs, self.trained, observer)
    }

    /// An epoch of every seed that is not trained. A seed that fails loses its place, and the first failure is returned
    /// once the others have ended their epoch. An error is one of the device.
    fn epoch(
        &mut self,
        jobs: &mut [&mut Job<'a>],
        observer: &mut dyn Observer,
    ) -> Result<Option<TrainError>, TrainError> {
        let plans = self.plan_epoch(jobs)?;
        self.run_epoch(&plans)?;
        let mut failed = self.take_results(jobs, &plans)?;
        let scores = self.memory.validate()?;
        let count = self.places.iter().flatten().count().max(1);
        let seconds =
            std::mem::replace(&mut self.clock, Instant::now()).elapsed().as_secs_f64() / count as f64;
        self.show(jobs, observer);
        for network in 0..self.places.len() {
            if let Some(mut trainee) = self.places[network].take() {
                trainee.run.state.progress.epoch_seconds += seconds;
                if let Err(error) = self.end_epoch(network, trainee, jobs, &scores, observer) {
                    failed.get_or_insert(error);
                }
            }
        }
        Ok(failed)
    }

    /// Ends an epoch of one seed.
    fn end_epoch(
        &mut self,
        network: usize,
        mut trainee: Trainee<'a>,
        jobs: &mut [&mut Job<'a>],
        scores: &[BatchScores],
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        trainee.run.check_loss(jobs[trainee.job])?;
        let validated = self.judge(network, &trainee, jobs[trainee.job], scores)?;
        let memory = &self.memory;
        let refresh = |state: &mut State| Ok(memory.download_parameters(network, state)?);
        let Trainee { job, run, pass, .. } = &mut trainee;
        let job = &*jobs[*job];
        run.end_epoch(job, pass, validated, refresh, observer)?;
        let (is_over, is_due) = (run.is_over(job, pass), run.is_checkpoint_due(job, true));
        if is_over || is_due {
            self.download(network, &mut trainee)?;
        }
        if is_due {
            trainee.run.try_checkpoint(observer);
        }
        if is_over {
            let Trainee { job, index, mut run, pass, .. } = trainee;
            run.end_pass(jobs[job], pass, observer);
            return self.begin_next_pass(network, jobs, Member { job, index, run }, observer);
        }
        self.places[network] = Some(trainee);
        Ok(())
    }

    /// Gives every network its sequences and the numbers of its steps.
    fn plan_epoch(&mut self, jobs: &[&mut Job]) -> Result<Vec<Option<EpochPlan>>, TrainError> {
        let mut progress =
            vec![Progress { batch: self.memory.steps as i32, ..Progress::default() }; self.places.len()];
        let mut plans = Vec::new();
        for (network, place) in self.places.iter_mut().enumerate() {
            let Some(trainee) = place else {
                plans.push(None);
                continue;
            };
            let (epoch, first) = (trainee.run.state.progress.epoch, trainee.run.state.progress.batch);
            progress[network].step = trainee.run.state.optim.steps;
            progress[network].batch = first as i32;
            trainee.pass.data.shuffle(epoch);
            let order: Vec<Sample> =
                trainee.pass.data.order().map(|(index, repeat)| Sample { index, repeat }).collect();
            self.memory.trainer.batches.set_epoch(network, epoch as u32, &order)?;
            let (plan, rows) = trainee.plan_steps(jobs[trainee.job].config);
            self.memory.trainer.optimizer.plan_steps(network, &rows)?;
            plans.push(Some(plan));
        }
        self.memory.trainer.optimizer.progress.write(0, &progress)?;
        Ok(plans)
    }

    /// Runs the planned batches. The host comes in where weights get their grids, and where a network has fewer batches
    /// than others.
    fn run_epoch(&mut self, plans: &[Option<EpochPlan>]) -> Result<(), TrainError> {
        let all = || plans.iter().enumerate().filter_map(|(network, plan)| Some((network, plan.as_ref()?)));
        let launches = all().map(|(_, plan)| plan.count).max().unwrap_or(0);
        let is_projecting = |k: usize| all().any(|(_, plan)| plan.projects.get(k) == Some(&true));
        let projects: Vec<bool> = (0..launches).map(is_projecting).collect();
        let mut cuts: BTreeSet<usize> = all().filter_map(|(_, plan)| plan.grids_after).collect();
        cuts.extend(all().map(|(_, plan)| plan.count));
        let mut done = 0;
        for cut in cuts {
            self.memory.trainer.run_batches(&projects[done..cut])?;
            done = cut;
            for (network, plan) in all() {
                if plan.grids_after == Some(cut) {
                    self.set_grids(network)?;
                }
                if plan.count == cut && cut < launches {
                    self.pause(network)?;
                }
            }
        }
        for trainee in self.places.iter_mut().flatten() {
            trainee.is_ahead = true;
        }
        Ok(())
    }

    /// Chooses the grids of a network's weights as they are now.
    fn set_grids(&mut self, network: usize) -> Result<(), TrainError> {
        let Some(trainee) = &mut self.places[network] else { return Ok(()) };
        let count = trainee.run.state.params.len();
        let mut params = vec![0.0; count];
        let mut average = vec![0.0; if self.memory.has_average { count } else { 0 }];
        let at = self.memory.trainer.cohort().plan().parameters(network).start;
        let optimizer = &mut self.memory.trainer.optimizer;
        optimizer.parameters.read(at, &mut params)?;
        if self.memory.has_average {
            optimizer.average.read(at, &mut average)?;
        }
        let SeedRun { layout, state, .. } = &mut trainee.run;
        state.progress.constraint.set_grids(layout, &mut params, &mut average);
        // Steps that are learnt have got their first values.
        if layout.stepped().next().is_some() {
            optimizer.parameters.write(at, &params)?;
            if self.memory.has_average {
                optimizer.average.write(at, &average)?;
            }
        }
        Ok(self.memory.upload_grids(network, &trainee.run)?)
    }

    /// Lets a network wait until the epoch is over.
    fn pause(&mut self, network: usize) -> Result<(), TrainError> {
        let mut now = [Progress::default()];
        let progress = &mut self.memory.trainer.optimizer.progress;
        progress.read(network, &mut now)?;
        if now[0].status == 0 {
            now[0].batch = self.memory.steps as i32;
            progress.write(network, &now)?;
        }
        Ok(())
    }

    /// Takes in what the batches came to. Seeds that diverged lose their places; the first of them is returned.
    fn take_results(
        &mut self,
        jobs: &[&mut Job],
        plans: &[Option<EpochPlan>],
    ) -> Result<Option<TrainError>, TrainError> {
        let (results, progress) = (self.memory.trainer.results()?, self.memory.trainer.progress()?);
        let networks = self.places.len();
        let mut diverged = None;
        for (network, (place, plan)) in self.places.iter_mut().zip(plans).enumerate() {
            let (Some(Trainee { job, run, .. }), Some(plan)) = (&mut *place, plan) else { continue };
            let result = |batch: usize| results[batch * networks + network];
            if progress[network].status != 0 {
                let batch = progress[network].batch as usize;
                let what = describe(progress[network].status);
                diverged.get_or_insert_with(|| run.diverged(jobs[*job], batch + 1, what));
                // What the device has of it is of no use; an earlier checkpoint stays.
                *place = None;
                continue;
            }
            for batch in plan.first..plan.first + plan.count {
                let result = result(batch);
                run.state.progress.count_batch(result.loss, result.rows as usize, result.correct as usize);
            }
            run.state.optim.steps += plan.count as u64;
        }
        Ok(diverged)
    }

    /// What the validation part says about a network.
    fn judge(
        &self,
        network: usize,
        trainee: &Trainee,
        job: &mut Job,
        scores: &[BatchScores],
    ) -> Result<Option<Validated>, TrainError> {
        let Trainee { run, pass, .. } = trainee;
        if pass.val.is_empty() {
            return Ok(None);
        }
        let (n, model, slots) = (pass.val.len(), &pass.data.model, self.memory.slots);
        let outputs = model.network.outputs;
        let (mut raw, mut loss) = (Vec::with_capacity(n * outputs), 0.0);
        for (batch, found) in scores.iter().enumerate() {
            let rows = (batch + 1) * n / scores.len() - batch * n / scores.len();
            raw.extend_from_slice(&found.scores[network * slots * outputs..][..rows * outputs]);
            loss += found.losses[network * slots..][..rows].iter().sum::<f64>();
        }
        let scored = job.judge(model, raw, loss / n as f64, &pass.val);
        let mut scale = None;
        if run.fold(job).is_some() && model.positive().is_some() {
            let mut params = vec![0.0; run.state.params.len()];
            let at = self.memory.trainer.cohort().plan().parameters(network).start;
            let optimizer = &self.memory.trainer.optimizer;
            if self.memory.has_average { &optimizer.average } else { &optimizer.parameters }
                .read(at, &mut params)?;
            let mut rounded = Vec::new();
            let seen = run.state.progress.constraint.effective_params(&run.layout, &params, &mut rounded);
            scale = job.margin_scale(model, seen, &pass.data.indices)?;
        }
        Ok(Some(Validated { scored, scale }))
    }

    /// Tells the observer how far the first network is.
    fn show(&self, jobs: &[&mut Job], observer: &mut dyn Observer) {
        let Some(Trainee { job, run, pass, .. }) = self.places.iter().flatten().next() else { return };
        let progress = &run.state.progress;
        observer.progress(&observe::Progress {
            seed: run.seed,
            together: self.places.iter().flatten().count(),
            pass: progress.pass,
            fold: run.fold(jobs[*job]),
            epoch: progress.epoch + 1,
            epochs: pass.epochs,
            batch: progress.batch,
            batches: pass.batches,
            loss: progress.mean_loss(),
        });
    }

    /// Brings the state of a seed to the host.
    fn download(&self, network: usize, trainee: &mut Trainee) -> Result<(), TrainError> {
        if !trainee.is_ahead {
            return Ok(());
        }
        let state = &mut trainee.run.state;
        // The support of the stage before a dense one is forgotten with the next batch.
        let holds = trainee.has_support
            && trainee.pass.stages.at(state.optim.steps.saturating_sub(1)).kind.projects();
        self.memory.download(network, state, trainee.has_support, holds)?;
        trainee.is_ahead = false;
        Ok(())
    }

    /// Writes a checkpoint of every seed that is under way.
    fn checkpoint_all(&mut self) -> Result<(), TrainError> {
        for network in 0..self.places.len() {
            if let Some(mut trainee) = self.places[network].take() {
                self.download(network, &mut trainee)?;
                trainee.run.checkpoint()?;
            }
        }
        Ok(())
    }
}

impl Trainee<'_> {
    /// The numbers of the steps of the epoch, with empty rows for batches that are done.
    fn plan_steps(&mut self, config: &Config) -> (EpochPlan, Vec<StepNumbers>) {
        let Self { run, pass, has_support, .. } = self;
        let plateaus = run.state.plateaus();
        let (training, steps) = (&config.training, run.state.optim.steps);
        let progress = &mut run.state.progress;
        let first = progress.batch;
        let mut plan =
            EpochPlan { first, count: pass.batches - first, projects: Vec::new(), grids_after: None };
        let mut rows = vec![StepNumbers::default(); first];
        for done in 0..plan.count {
            let step = steps + done as u64;
            let of_step = pass.stages.at(step);
            match of_step.kind {
                StageKind::Dense => *has_support = false,
                StageKind::Quantized if progress.constraint.grids.is_empty() => {
                    plan.grids_after.get_or_insert(done);
                }
                _ => {}
            }
            let lr = pass.rate.at(step, plateaus);
            let mut row = StepNumbers::new(training.momentum, training.weight_decay, step, lr);
            if *has_support {
                row = row.masked(of_step.kind.projects());
            }
            // An average begins anew, as a copy, after a projection; before it counts it is a copy as well.
            let mut share = 1.0;
            match of_step.projection {
                Some(projection) => {
                    let trust = projection.trust();
                    let timeline::Projection { progress: reached, least, .. } = projection;
                    row = row.projecting(Projection { progress: reached, least, trust });
                    *has_support = true;
                    progress.average.forget_steps();
                }
                None => share = progress.average.count_step(plateaus).unwrap_or(1.0),
            }
            plan.projects.push(of_step.projection.is_some());
            rows.push(row.following(share));
        }
        (plan, rows)
    }
}

/// What went wrong in a step.
fn describe(status: i32) -> String {
    match status {
        Progress::LOSS => "the loss became infinite or NaN",
        Progress::NORM => "the gradient became infinite or NaN",
        _ => "a parameter became infinite or NaN",
    }
    .to_owned()
}
