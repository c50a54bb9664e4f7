//! Training on a GPU: many seeds, and networks of several sizes, at once.
//!
//! The state of each seed is on the device while its epochs run. The host decides: it gives every network the order of
//! its sequences and the numbers of its steps, and takes in what the epoch came to. All networks train an epoch at the
//! same time; each may be in another pass, or be finished and wait for the others. The batches are those of the CPU, and
//! so are checkpoints: either device continues what the other has begun.

use super::average::Rule;
use super::changes::lasting_settings;
use super::checkpoint::State;
use super::job::Job;
use super::observe::{self, Observer};
use super::pass_run::PassRun;
use super::seed::{SeedRun, Validated};
use super::summary::SeedRecord;
use super::{Config, TrainError, timeline};
use fastgrnn_core::batch::Earlier;
use fastgrnn_core::cells::Role;
use fastgrnn_core::format;
use fastgrnn_core::net::Network;
use fastgrnn_cuda::assemble::{
    Assembler, BatchShape, Changes, DataSource, DeviceSequences, NetworkData, NormalizerKind, Sample,
    TargetSource,
};
use fastgrnn_cuda::driver::{Buffer, Device};
use fastgrnn_cuda::gradient::{GradientSettings, GradientStep};
use fastgrnn_cuda::optimize::{
    Optimizer, OptimizerKind, OptimizerRoom, OptimizerSettings, Projection, StepNumbers,
};
use fastgrnn_cuda::params::{Cohort, CohortPlan, DropSettings, Progress, ViewGrid};
use fastgrnn_cuda::trainer::{BatchScores, Parameters, Trainer};
use fastgrnn_cuda::{CudaError, padded_units};
use fastgrnn_data::data::{Dataset, Labels, Normalize};
use fastgrnn_model::model::Task;
use fastgrnn_model::settings::{self, ClassWeight, StageKind};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A seed that is to be trained.
pub(super) struct Member {
    /// The place of its run in the list of jobs.
    pub job: usize,
    /// Its place among the seeds of the run.
    pub index: usize,
    pub run: SeedRun,
}

/// Trains all members on a GPU, as many at a time as its memory holds. Their configurations differ at most in the sizes
/// of the networks and in the numbers of the optimiser.
pub(super) fn train<'a>(
    device: &Device,
    jobs: &mut [&mut Job<'a>],
    mut members: Vec<Member>,
    observer: &mut dyn Observer,
) -> Result<Vec<(usize, usize, SeedRecord)>, TrainError> {
    let Some(data) = jobs.first().map(|job| job.data) else { return Ok(Vec::new()) };
    let source = DeviceData::upload(device, data)?;
    let (mut records, mut size) = (Vec::new(), members.len());
    while !members.is_empty() {
        size = size.min(members.len());
        let configs: Vec<&Config> = members[..size].iter().map(|member| jobs[member.job].config).collect();
        let memory = match DeviceMemory::new(device, &source, data, &configs, &jobs[members[0].job].folds) {
            Err(TrainError::Cuda(CudaError::OutOfMemory { .. })) if size > 1 => {
                size = size.div_ceil(2);
                continue;
            }
            other => other?,
        };
        let wave: Vec<Member> = members.drain(..size).collect();
        records.extend(Wave::begin(memory, jobs, wave, observer)?.train(jobs, observer)?);
    }
    Ok(records)
}

/// The keys in which the configurations of networks that are trained at once may differ.
const OWN_KEYS: [&str; 35] = [
    "hidden",
    "rank-w",
    "rank-u",
    "form-w",
    "form-u",
    "alpha",
    "beta",
    "zeta",
    "nu",
    "start",
    "keep-w",
    "keep-u",
    "keep-head",
    "quantize",
    "input-lsb",
    "fit",
    "board",
    "max-flash",
    "max-ram",
    "max-ms",
    "stages",
    "lr",
    "schedule",
    "decay-every",
    "plateau-epochs",
    "plateau-factor",
    "warmup",
    "momentum",
    "weight-decay",
    "weight-drop",
    "clip",
    "patience",
    "seed",
    "seeds",
    "checkpoint-every",
];

/// Whether the networks of two runs can be trained at once: their widths are padded to the same one, and the rest of
/// their settings is the same but for [`OWN_KEYS`].
pub(super) fn are_alike(a: &Job, b: &Job) -> bool {
    let shared = |job: &Job| -> toml::Table {
        lasting_settings(job.config)
            .into_iter()
            .filter(|(key, _)| !OWN_KEYS.contains(&key.as_str()))
            .collect()
    };
    let width = |job: &Job| {
        let network = job.config.network(job.data);
        padded_units(&network.layers[0], network.hidden())
    };
    shared(a) == shared(b) && width(a) == width(b)
}

/// The training data in the memory of a device.
struct DeviceData {
    sequences: Rc<DeviceSequences>,
    background: Option<Rc<DeviceSequences>>,
}

impl DeviceData {
    fn upload(device: &Device, data: &Dataset) -> Result<Self, CudaError> {
        let upload = |x: &fastgrnn_data::data::Sequences| {
            DeviceSequences::upload(device, x.dim(), (0..x.len()).map(|i| x.get(i))).map(Rc::new)
        };
        let background = data.background.as_ref().map(upload).transpose()?;
        Ok(Self { sequences: upload(&data.train.x)?, background })
    }
}

/// The random changes of training sequences.
pub(super) fn changes(config: &Config, data: &Dataset) -> Changes {
    let (augment, spectral) = (config.augmentation(data), config.preparation.augment.spectral());
    let has_axes = augment.rotate != 0.0 || augment.scale != 0.0;
    Changes {
        rotate: augment.rotate,
        amplitude: augment.scale,
        axes: if has_axes { augment.axes } else { Vec::new() },
        noise: augment.noise,
        shift: augment.shift,
        gap: augment.gap,
        crop: augment.crop,
        pixels: augment.pixels,
        image: augment.image.unwrap_or_default(),
        gain: spectral.gain,
        background: if data.background.is_some() { spectral.background } else { 0.0 },
        ratio: (spectral.snr_low, spectral.snr_high),
        floor: data.audio.as_ref().map_or(f32::MIN, |spec| spec.floor() as f32),
        lead_in: spectral.lead_in,
        frequency_masks: (spectral.freq_masks, spectral.freq_width),
        time_masks: (spectral.time_masks, spectral.time_width),
        smoothing: config.training.label_smoothing.unwrap_or(0.0) as f32,
        mixup: config.training.mixup.unwrap_or(0.0),
    }
}

/// What the networks of a wave have in the memory of a device.
struct DeviceMemory {
    device: Device,
    trainer: Trainer,
    /// Batches of the validation parts; nothing without validation.
    validation: Option<Validation>,
    /// Rows of the optimiser's table: a network at a later batch waits.
    steps: usize,
    /// Sequences of the largest batch.
    slots: usize,
    has_average: bool,
    projects: bool,
    drops: bool,
}

/// The batches of the validation parts.
struct Validation {
    batches: Assembler,
    /// Which batch is made next.
    progress: Buffer<Progress>,
    /// Batches of the longest part.
    count: usize,
}

impl DeviceMemory {
    fn new(
        device: &Device,
        source: &DeviceData,
        data: &Dataset,
        configs: &[&Config],
        folds: &[Vec<u32>],
    ) -> Result<Self, TrainError> {
        let (config, count) = (configs[0], configs.len());
        let networks: Vec<Network> = configs.iter().map(|config| config.network(data)).collect();
        let widest = networks.iter().map(Network::hidden).max().unwrap_or(0);
        let units = padded_units(&networks[0].layers[0], widest);
        let target = |i: usize, view: &fastgrnn_core::net::View| match view.role {
            Role::Weight => configs[i].kept(&view.name),
            _ => 1.0,
        };
        let plan = CohortPlan::new(&networks, units, 1, target)?;
        let cohort = Cohort::new(device, plan)?;
        let training = &config.training;
        let epoch_size = config.epoch_size(data.train.len());
        let steps = epoch_size.div_ceil(training.batch).max(1);
        let slots = training.batch.min(epoch_size).max(1);
        let any_stage = |is_wanted: fn(StageKind) -> bool| {
            configs.iter().any(|config| config.training.stages.0.iter().any(|stage| is_wanted(stage.kind)))
        };
        let projects = any_stage(StageKind::projects);
        let rounds = any_stage(|kind| kind == StageKind::Quantized);
        let has_average = config.average() != Rule::None;
        let kind = match training.optimizer {
            settings::Optimizer::Sgd | settings::Optimizer::Asgd => OptimizerKind::Sgd,
            settings::Optimizer::Nesterov => OptimizerKind::Nesterov,
            settings::Optimizer::Adam => OptimizerKind::Adam,
            settings::Optimizer::AdamW => OptimizerKind::AdamW,
        };
        let numbers = |config: &&Config| {
            let training = &config.training;
            OptimizerSettings::new(kind, training.momentum, training.weight_decay, training.clip)
        };
        let numbers: Vec<OptimizerSettings> = configs.iter().map(numbers).collect();
        let room = OptimizerRoom { steps, has_average, projects };
        let optimizer = Optimizer::new(device, &cohort, kind, &numbers, room)?;
        let changes = changes(config, data);
        let max_steps = data.train.x.max_steps() + changes.lead_in;
        let settings = GradientSettings {
            loss: training.loss,
            earlier: Earlier { readings: training.extra_loss_steps, every: training.extra_loss_stride },
            sequences: slots,
            steps: max_steps,
            family: None,
            batches: steps,
        };
        let gradient = GradientStep::new(device, cohort.plan(), &networks[0], &settings)?;
        // Values are written network by network once their scale is known.
        let values = match &data.train.y {
            Labels::Value { values, .. } => vec![0.0; count * values.len()],
            _ => Vec::new(),
        };
        let targets = |is_training: bool| match &data.train.y {
            Labels::Class { index, names } => TargetSource::Classes {
                index,
                count: names.len(),
                is_weighted: is_training && training.class_weight == ClassWeight::Balanced,
                last_only: config.last_only(data).filter(|_| is_training),
            },
            _ => TargetSource::Values(&values),
        };
        let normalizer = match config.preparation.normalize {
            Normalize::None => NormalizerKind::None,
            Normalize::PerFeature => NormalizerKind::PerFeature,
            Normalize::PerCoordinate => NormalizerKind::PerCoordinate { steps: data.train.x.max_steps() },
        };
        let shape = |epoch_size: usize| BatchShape {
            networks: count,
            slots,
            max_steps,
            outputs: networks[0].outputs,
            epoch_size,
            epochs: training.epochs,
        };
        let from = |is_training: bool| DataSource {
            sequences: Rc::clone(&source.sequences),
            background: source.background.clone().filter(|_| is_training),
            targets: targets(is_training),
            normalizer,
        };
        let batches = Assembler::new(device, from(true), shape(epoch_size), &changes, &optimizer.progress)?;
        let longest = match folds.is_empty() {
            true => config.split(data)?.1.len(),
            false => folds.iter().map(Vec::len).max().unwrap_or(0),
        };
        let mut validation = None;
        if longest > 0 {
            let progress = device.buffer(count)?;
            let batches =
                Assembler::new(device, from(false), shape(longest), &Changes::default(), &progress)?;
            validation = Some(Validation { batches, progress, count: longest.div_ceil(slots) });
        }
        let drops = configs.iter().any(|config| config.training.weight_drop.unwrap_or(0.0) > 0.0);
        let nothing = vec![DropSettings::new(0, 0, 0.0); if drops { count } else { 0 }];
        let trainer = Trainer::new(
            device,
            cohort,
            optimizer,
            batches,
            gradient,
            rounds,
            drops.then_some(&nothing[..]),
        )?;
        let device = device.clone();
        Ok(Self { device, trainer, validation, steps, slots, has_average, projects, drops })
    }

    /// Gives a network the data of a pass and the state that it goes on from.
    fn begin_pass(&mut self, slot: usize, job: &Job, run: &SeedRun, pass: &PassRun) -> Result<(), CudaError> {
        let (model, indices) = (&pass.data.model, &pass.data.indices);
        let normalizer = &model.normalizer;
        let of_pass = NetworkData {
            seed: run.seed,
            pass: run.state.progress.pass as u32,
            indices,
            batches: pass.batches,
            mean: &normalizer.mean,
            scale: &normalizer.scale,
            class_weights: pass.data.weights(),
        };
        let values: Option<Vec<f32>> = match (&job.data.train.y, &model.task) {
            (Labels::Value { width, values }, Task::Values { mean, scale }) => {
                let scaled = values.iter().enumerate().map(|(i, v)| (v - mean[i % width]) / scale[i % width]);
                Some(scaled.collect())
            }
            _ => None,
        };
        let batches = &mut self.trainer.batches;
        batches.set_network(&self.device, slot, &of_pass)?;
        values.iter().try_for_each(|values| batches.set_values(slot, values))?;
        if let Some(Validation { batches, count, .. }) = &mut self.validation {
            let of_part = NetworkData { indices: &[], batches: *count, class_weights: &[], ..of_pass };
            batches.set_network(&self.device, slot, &of_part)?;
            values.iter().try_for_each(|values| batches.set_values(slot, values))?;
            let part: Vec<Sample> = pass.val.iter().map(|&index| Sample { index, repeat: 0 }).collect();
            batches.set_epoch(slot, 0, &part)?;
        }
        if self.drops {
            let share = job.config.training.weight_drop.unwrap_or(0.0);
            let pass = run.state.progress.pass as u64;
            self.trainer.set_drops(slot, DropSettings::new(run.seed, pass, share))?;
        }
        self.upload(slot, run)
    }

    /// Brings the state of a seed to the device.
    fn upload(&mut self, slot: usize, run: &SeedRun) -> Result<(), CudaError> {
        let at = self.trainer.cohort().plan().parameters(slot).start;
        let (state, count) = (&run.state, run.state.params.len());
        let constraint = &state.progress.constraint;
        let optimizer = &mut self.trainer.optimizer;
        let average = if self.has_average { &state.progress.average.values } else { &Vec::new() };
        // Buffers of what an optimiser does not keep are empty, on the host and on the device.
        let write = |buffer: &mut Buffer<f32>, values: &[f32]| match values {
            [] => Ok(()),
            values => buffer.write(at, values),
        };
        write(&mut optimizer.parameters, &state.params)?;
        write(&mut optimizer.first, &state.optim.first)?;
        write(&mut optimizer.second, &state.optim.second)?;
        write(&mut optimizer.average, average)?;
        if self.projects {
            let or_zeros = |held: &[f32]| if held.is_empty() { vec![0.0; count] } else { held.to_vec() };
            let or_ones = |mask: &[u8]| if mask.is_empty() { vec![1; count] } else { mask.to_vec() };
            optimizer.held.write(at, &or_zeros(&constraint.held))?;
            optimizer.mask.write(at, &or_ones(&constraint.mask))?;
        }
        self.upload_grids(slot, run)
    }

    /// Brings the grids of a seed's weights to the device.
    fn upload_grids(&mut self, slot: usize, run: &SeedRun) -> Result<(), CudaError> {
        let mut grids = run.state.progress.constraint.grids.iter();
        let of_view = |view: &fastgrnn_core::net::View| match view.role {
            Role::Weight | Role::Embedding => grids.next().map(|grid| ViewGrid::of_exponent(grid.exponent)),
            _ => None,
        };
        let views: Vec<ViewGrid> =
            run.layout.views().iter().map(of_view).map(Option::unwrap_or_default).collect();
        let stride = self.trainer.cohort().plan().view_stride();
        self.trainer.optimizer.grids.write(slot * stride, &views)
    }

    /// Reads the parameters of a network and their average into a state.
    fn download_parameters(&self, slot: usize, state: &mut State) -> Result<(), CudaError> {
        let at = self.trainer.cohort().plan().parameters(slot).start;
        self.trainer.optimizer.parameters.read(at, &mut state.params)?;
        if self.has_average {
            self.trainer.optimizer.average.read(at, &mut state.progress.average.values)?;
        }
        Ok(())
    }

    /// Reads all that a checkpoint holds of a network into a state. `has_support` and `holds` say whether the stage of
    /// the next batch has a support, and adds up gradients outside it.
    fn download(
        &self,
        slot: usize,
        state: &mut State,
        has_support: bool,
        holds: bool,
    ) -> Result<(), CudaError> {
        self.download_parameters(slot, state)?;
        let at = self.trainer.cohort().plan().parameters(slot).start;
        let (optimizer, count) = (&self.trainer.optimizer, state.params.len());
        for (buffer, values) in
            [(&optimizer.first, &mut state.optim.first), (&optimizer.second, &mut state.optim.second)]
        {
            if !values.is_empty() {
                buffer.read(at, values)?;
            }
        }
        let constraint = &mut state.progress.constraint;
        constraint.mask = vec![0; if has_support { count } else { 0 }];
        constraint.held = vec![0.0; if holds { count } else { 0 }];
        if has_support {
            optimizer.mask.read(at, &mut constraint.mask)?;
        }
        if holds {
            optimizer.held.read(at, &mut constraint.held)?;
        }
        Ok(())
    }

    /// The scores of the validation parts and the losses of their sequences, batch by batch.
    fn validate(&mut self) -> Result<Vec<BatchScores>, CudaError> {
        let Some(Validation { batches, progress, count }) = &mut self.validation else {
            return Ok(Vec::new());
        };
        let which = if self.has_average { Parameters::Average } else { Parameters::Current };
        self.trainer.prepare_scores(which)?;
        let mut found = Vec::new();
        for batch in 0..*count {
            let now = Progress { batch: batch as i32, ..Progress::default() };
            progress.write(0, &vec![now; progress.len()])?;
            found.push(self.trainer.scores(batches)?);
        }
        Ok(found)
    }
}

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
struct Wave<'a> {
    memory: DeviceMemory,
    /// A place for each network of the device; empty once its seed is trained.
    places: Vec<Option<Trainee<'a>>>,
    trained: Vec<Member>,
}

impl<'a> Wave<'a> {
    fn begin(
        memory: DeviceMemory,
        jobs: &mut [&mut Job<'a>],
        members: Vec<Member>,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let mut wave = Self { memory, places: Vec::new(), trained: Vec::new() };
        for (slot, Member { job, index, run }) in members.into_iter().enumerate() {
            run.announce(&jobs[job], index, observer)?;
            wave.places.push(None);
            wave.go_on(slot, jobs, (job, index, run), observer)?;
        }
        Ok(wave)
    }

    /// Begins the next pass of a seed, if it has epochs left.
    fn go_on(
        &mut self,
        slot: usize,
        jobs: &mut [&mut Job<'a>],
        (number, index, mut run): (usize, usize, SeedRun),
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let job = &mut *jobs[number];
        while let Some(pass) = run.next_pass(job, observer)? {
            if run.is_over(job, &pass) {
                run.end_pass(job, pass, observer);
                continue;
            }
            self.memory.begin_pass(slot, job, &run, &pass)?;
            let has_support = !run.state.progress.constraint.mask.is_empty();
            self.places[slot] = Some(Trainee { job: number, index, run, pass, has_support, is_ahead: false });
            return Ok(());
        }
        self.trained.push(Member { job: number, index, run });
        Ok(())
    }

    fn train(
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
            self.epoch(jobs, observer)?;
        }
        deliver(jobs, self.trained, observer)
    }

    /// An epoch of every seed that is not done.
    fn epoch(&mut self, jobs: &mut [&mut Job<'a>], observer: &mut dyn Observer) -> Result<(), TrainError> {
        let clock = Instant::now();
        let plans = self.plan_epoch(jobs)?;
        self.run_epoch(&plans)?;
        if let Err(error) = self.take_results(jobs, &plans) {
            // The others have trained their epoch; only its validation is left.
            self.checkpoint_all()?;
            return Err(error);
        }
        let scores = self.memory.validate()?;
        let seconds = clock.elapsed().as_secs_f64() / self.places.iter().flatten().count().max(1) as f64;
        self.show(jobs, observer);
        for slot in 0..self.places.len() {
            let Some(mut trainee) = self.places[slot].take() else { continue };
            let validated = self.judge(slot, &trainee, jobs[trainee.job], &scores)?;
            trainee.run.state.progress.epoch_seconds += seconds;
            let memory = &self.memory;
            let refresh = |state: &mut State| Ok(memory.download_parameters(slot, state)?);
            let Trainee { job, run, pass, .. } = &mut trainee;
            let job = &*jobs[*job];
            run.end_epoch(job, pass, validated, refresh, observer)?;
            let (is_over, is_due) = (run.is_over(job, pass), run.is_checkpoint_due(job, true));
            if is_over || is_due {
                self.download(slot, &mut trainee)?;
            }
            if is_due {
                trainee.run.try_checkpoint(observer);
            }
            if is_over {
                let Trainee { job, index, mut run, pass, .. } = trainee;
                run.end_pass(&jobs[job], pass, observer);
                self.go_on(slot, jobs, (job, index, run), observer)?;
            } else {
                self.places[slot] = Some(trainee);
            }
        }
        Ok(())
    }

    /// Gives every network its sequences and the numbers of its steps.
    fn plan_epoch(&mut self, jobs: &[&mut Job]) -> Result<Vec<Option<EpochPlan>>, TrainError> {
        let mut progress =
            vec![Progress { batch: self.memory.steps as i32, ..Progress::default() }; self.places.len()];
        let mut plans = Vec::new();
        for (slot, place) in self.places.iter_mut().enumerate() {
            let Some(trainee) = place else {
                plans.push(None);
                continue;
            };
            let (epoch, first) = (trainee.run.state.progress.epoch, trainee.run.state.progress.batch);
            progress[slot].step = trainee.run.state.optim.steps;
            progress[slot].batch = first as i32;
            trainee.pass.data.shuffle(epoch);
            let order: Vec<Sample> =
                trainee.pass.data.order().map(|(index, repeat)| Sample { index, repeat }).collect();
            self.memory.trainer.batches.set_epoch(slot, epoch as u32, &order)?;
            let (plan, rows) = trainee.plan_steps(jobs[trainee.job].config);
            self.memory.trainer.optimizer.plan_steps(slot, &rows)?;
            plans.push(Some(plan));
        }
        self.memory.trainer.optimizer.progress.write(0, &progress)?;
        Ok(plans)
    }

    /// Runs the planned batches. The host comes in where weights get their grids, and where a network has fewer batches
    /// than others.
    fn run_epoch(&mut self, plans: &[Option<EpochPlan>]) -> Result<(), TrainError> {
        let all = || plans.iter().enumerate().filter_map(|(slot, plan)| Some((slot, plan.as_ref()?)));
        let launches = all().map(|(_, plan)| plan.count).max().unwrap_or(0);
        let is_projecting = |k: usize| all().any(|(_, plan)| plan.projects.get(k) == Some(&true));
        let projects: Vec<bool> = (0..launches).map(is_projecting).collect();
        let mut cuts: BTreeSet<usize> = all().filter_map(|(_, plan)| plan.grids_after).collect();
        cuts.extend(all().map(|(_, plan)| plan.count));
        let mut done = 0;
        for cut in cuts {
            self.memory.trainer.run_batches(&projects[done..cut])?;
            done = cut;
            for (slot, plan) in all() {
                if plan.grids_after == Some(cut) {
                    self.set_grids(slot)?;
                }
                if plan.count == cut && cut < launches {
                    self.pause(slot)?;
                }
            }
        }
        for trainee in self.places.iter_mut().flatten() {
            trainee.is_ahead = true;
        }
        Ok(())
    }

    /// Chooses the grids of a network's weights as they are now.
    fn set_grids(&mut self, slot: usize) -> Result<(), TrainError> {
        let Some(trainee) = &mut self.places[slot] else { return Ok(()) };
        let mut params = vec![0.0; trainee.run.state.params.len()];
        let at = self.memory.trainer.cohort().plan().parameters(slot).start;
        self.memory.trainer.optimizer.parameters.read(at, &mut params)?;
        let SeedRun { layout, state, .. } = &mut trainee.run;
        state.progress.constraint.set_grids(layout, &params);
        Ok(self.memory.upload_grids(slot, &trainee.run)?)
    }

    /// Lets a network wait until the epoch is over.
    fn pause(&mut self, slot: usize) -> Result<(), TrainError> {
        let mut now = [Progress::default()];
        let progress = &mut self.memory.trainer.optimizer.progress;
        progress.read(slot, &mut now)?;
        if now[0].status == 0 {
            now[0].batch = self.memory.steps as i32;
            progress.write(slot, &now)?;
        }
        Ok(())
    }

    /// Takes in what the batches came to.
    fn take_results(&mut self, jobs: &[&mut Job], plans: &[Option<EpochPlan>]) -> Result<(), TrainError> {
        let (results, progress) = (self.memory.trainer.results()?, self.memory.trainer.progress()?);
        let networks = self.places.len();
        let mut diverged = None;
        for (slot, (place, plan)) in self.places.iter_mut().zip(plans).enumerate() {
            let (Some(Trainee { job, run, .. }), Some(plan)) = (place, plan) else { continue };
            let result = |batch: usize| results[batch * networks + slot];
            if progress[slot].status != 0 {
                let batch = progress[slot].batch as usize;
                let what = describe(progress[slot].status, result(batch).loss);
                diverged.get_or_insert_with(|| run.diverged(&jobs[*job], batch + 1, what));
                continue;
            }
            for batch in plan.first..plan.first + plan.count {
                let result = result(batch);
                run.state.progress.count_batch(result.loss, result.rows as usize, result.correct as usize);
            }
            run.state.optim.steps += plan.count as u64;
        }
        diverged.map_or(Ok(()), Err)
    }

    /// What the validation part says about a network.
    fn judge(
        &self,
        slot: usize,
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
            raw.extend_from_slice(&found.scores[slot * slots * outputs..][..rows * outputs]);
            loss += found.losses[slot * slots..][..rows].iter().sum::<f64>();
        }
        let scored = job.judge(model, raw, loss / n as f64, &pass.val);
        let mut scale = None;
        if run.fold(job).is_some() && model.positive().is_some() {
            let mut params = vec![0.0; run.state.params.len()];
            let at = self.memory.trainer.cohort().plan().parameters(slot).start;
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
            fold: run.fold(&jobs[*job]),
            epoch: progress.epoch + 1,
            epochs: pass.epochs,
            batch: progress.batch,
            batches: pass.batches,
            loss: progress.mean_loss(),
        });
    }

    /// Brings the state of a seed to the host.
    fn download(&self, slot: usize, trainee: &mut Trainee) -> Result<(), TrainError> {
        if !trainee.is_ahead {
            return Ok(());
        }
        let state = &mut trainee.run.state;
        // The support of the stage before a dense one is forgotten with the next batch.
        let holds = trainee.has_support
            && trainee.pass.stages.at(state.optim.steps.saturating_sub(1)).kind.projects();
        self.memory.download(slot, state, trainee.has_support, holds)?;
        trainee.is_ahead = false;
        Ok(())
    }

    /// Writes a checkpoint of every seed that is under way.
    fn checkpoint_all(&mut self) -> Result<(), TrainError> {
        for slot in 0..self.places.len() {
            if let Some(mut trainee) = self.places[slot].take() {
                self.download(slot, &mut trainee)?;
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

/// Writes and evaluates trained seeds, on the CPU: one on all threads, or several on a thread each.
fn deliver(
    jobs: &mut [&mut Job],
    trained: Vec<Member>,
    observer: &mut dyn Observer,
) -> Result<Vec<(usize, usize, SeedRecord)>, TrainError> {
    let workers = jobs.iter().map(|job| job.threads).max().unwrap_or(1).min(trained.len());
    let mut records = Vec::new();
    if workers <= 1 {
        for Member { job, index, run } in trained {
            let record = run.record(jobs[job])?;
            observer.seed_finished(&record.result);
            records.push((job, index, record));
        }
        return Ok(records);
    }
    let mut waiting = Vec::new();
    for Member { job, index, run } in trained.into_iter().rev() {
        waiting.push((job, index, run, jobs[job].on_one_thread()?));
    }
    let waiting = Mutex::new(waiting);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let Some((job, index, run, mut own)) = next else { return };
                    // Nobody listens any more once a delivery has failed.
                    if sender.send(run.record(&mut own).map(|record| (job, index, record))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for delivered in receiver {
            let delivered = delivered?;
            observer.seed_finished(&delivered.2.result);
            records.push(delivered);
        }
        Ok::<(), TrainError>(())
    })?;
    Ok(records)
}

/// What went wrong in a step with this loss.
fn describe(status: i32, loss: f64) -> String {
    let at = format::number(loss);
    match status {
        Progress::LOSS => format!("the loss became {loss}"),
        Progress::NORM => format!("the loss was {at} but its gradient became infinite or NaN"),
        _ => format!("a parameter became infinite or NaN at a loss of {at}"),
    }
}
