//! What the networks of a wave have in the memory of a device.

use crate::train::average::Rule;
use crate::train::checkpoint::State;
use crate::train::constraint::WeightGrid;
use crate::train::job::Job;
use crate::train::pass_run::PassRun;
use crate::train::seed::SeedRun;
use crate::train::{Config, TrainError};
use fastgrnn_core::batch::Earlier;
use fastgrnn_core::cells::Role;
use fastgrnn_core::net::{Network, View};
use fastgrnn_cuda::assemble::{
    Assembler, BatchShape, Changes, DataSource, DeviceSequences, NetworkData, NormalizerKind, Sample,
    TargetSource,
};
use fastgrnn_cuda::driver::{Buffer, Device};
use fastgrnn_cuda::gradient::{GradientSettings, GradientStep};
use fastgrnn_cuda::optimize::{Optimizer, OptimizerKind, OptimizerRoom, OptimizerSettings};
use fastgrnn_cuda::params::{Cohort, CohortPlan, DropSettings, Progress, ViewGrid};
use fastgrnn_cuda::trainer::{BatchScores, Parameters, Trainer};
use fastgrnn_cuda::{CudaError, padded_units};
use fastgrnn_data::data::{Dataset, Labels, Normalize, Sequences};
use fastgrnn_model::model::Task;
use fastgrnn_model::quantize::Grid;
use fastgrnn_model::settings::{self, ClassWeight, StageKind};
use std::rc::Rc;

/// The training data in the memory of a device.
pub(super) struct DeviceData {
    sequences: Rc<DeviceSequences>,
    background: Option<Rc<DeviceSequences>>,
}

impl DeviceData {
    pub(super) fn upload(device: &Device, data: &Dataset) -> Result<Self, CudaError> {
        let upload = |x: &Sequences| {
            DeviceSequences::upload(device, x.dim(), (0..x.len()).map(|i| x.get(i))).map(Rc::new)
        };
        let background = data.background.as_ref().map(upload).transpose()?;
        Ok(Self { sequences: upload(&data.train.x)?, background })
    }
}

/// The random changes of training sequences.
pub(in crate::train) fn changes(config: &Config, data: &Dataset) -> Changes {
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
pub(super) struct DeviceMemory {
    device: Device,
    pub(super) trainer: Trainer,
    /// Batches of the validation parts; nothing without validation.
    validation: Option<Validation>,
    /// Rows of the optimiser's table: a network at a later batch waits.
    pub(super) steps: usize,
    /// Sequences of the largest batch.
    pub(super) slots: usize,
    pub(super) has_average: bool,
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
    pub(super) fn new(
        device: &Device,
        source: &DeviceData,
        data: &Dataset,
        configs: &[&Config],
        folds: &[Vec<u32>],
        planned: usize,
    ) -> Result<Self, TrainError> {
        let (config, count) = (configs[0], configs.len());
        let networks: Vec<Network> = configs.iter().map(|config| config.network(data)).collect();
        let widest = networks.iter().map(Network::hidden).max().unwrap_or(0);
        let units = padded_units(&networks[0].layers[0], widest);
        let target = |i: usize, view: &View| match view.role {
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
            settings::Optimizer::Sgd | settings::Optimizer::Asgd | settings::Optimizer::Rsg => {
                OptimizerKind::Sgd
            }
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
            planned,
            is_normalized: config.preparation.normalize != Normalize::None,
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
    pub(super) fn begin_pass(
        &mut self,
        network: usize,
        job: &Job,
        run: &SeedRun,
        pass: &PassRun,
    ) -> Result<(), CudaError> {
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
        batches.set_network(&self.device, network, &of_pass)?;
        values.iter().try_for_each(|values| batches.set_values(network, values))?;
        if let Some(Validation { batches, count, .. }) = &mut self.validation {
            let of_part = NetworkData { indices: &[], batches: *count, class_weights: &[], ..of_pass };
            batches.set_network(&self.device, network, &of_part)?;
            values.iter().try_for_each(|values| batches.set_values(network, values))?;
            let part: Vec<Sample> = pass.val.iter().map(|&index| Sample { index, repeat: 0 }).collect();
            batches.set_epoch(network, 0, &part)?;
        }
        if self.drops {
            let share = job.config.training.weight_drop.unwrap_or(0.0);
            let pass = run.state.progress.pass as u64;
            self.trainer.set_drops(network, DropSettings::new(run.seed, pass, share))?;
        }
        self.upload(network, run)
    }

    /// Brings the state of a seed to the device.
    fn upload(&mut self, network: usize, run: &SeedRun) -> Result<(), CudaError> {
        let at = self.trainer.cohort().plan().parameters(network).start;
        let (state, count) = (&run.state, run.state.params.len());
        let constraint = &state.progress.constraint;
        let optimizer = &mut self.trainer.optimizer;
        // Before an average counts, the device has a copy of the parameters in its place.
        let average = if self.has_average { state.counted() } else { &[] };
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
        self.upload_grids(network, run)
    }

    /// Brings the grids of a seed's weights to the device.
    pub(super) fn upload_grids(&mut self, network: usize, run: &SeedRun) -> Result<(), CudaError> {
        let mut grids = run.state.progress.constraint.grids.iter();
        let is_rounded = !run.state.progress.constraint.grids.is_empty();
        let of_view = |view: &View| match view.role {
            Role::Gain if is_rounded => Some(ViewGrid::of_exponent(Grid::OF_GAINS.exponent)),
            Role::Gain => Some(ViewGrid::reach_of_exponent(Grid::OF_GAINS.exponent)),
            Role::Weight | Role::Embedding => grids.next().map(|grid| match grid {
                WeightGrid::Fixed(grid) => ViewGrid::of_exponent(grid.exponent),
                WeightGrid::Learnt => ViewGrid::LEARNT,
            }),
            _ => None,
        };
        let views: Vec<ViewGrid> =
            run.layout.views().iter().map(of_view).map(Option::unwrap_or_default).collect();
        let stride = self.trainer.cohort().plan().view_stride();
        self.trainer.optimizer.grids.write(network * stride, &views)
    }

    /// Reads the parameters of a network and their average into a state.
    pub(super) fn download_parameters(&self, network: usize, state: &mut State) -> Result<(), CudaError> {
        let at = self.trainer.cohort().plan().parameters(network).start;
        self.trainer.optimizer.parameters.read(at, &mut state.params)?;
        if self.has_average {
            self.trainer.optimizer.average.read(at, &mut state.progress.average.values)?;
        }
        Ok(())
    }

    /// Reads all that a checkpoint holds of a network into a state. `has_support` and `holds` say whether the stage of
    /// the next batch has a support, and adds up gradients outside it.
    pub(super) fn download(
        &self,
        network: usize,
        state: &mut State,
        has_support: bool,
        holds: bool,
    ) -> Result<(), CudaError> {
        self.download_parameters(network, state)?;
        let at = self.trainer.cohort().plan().parameters(network).start;
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
    pub(super) fn validate(&mut self) -> Result<Vec<BatchScores>, CudaError> {
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
