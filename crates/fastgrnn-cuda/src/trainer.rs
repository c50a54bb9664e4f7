//! Training of a cohort: batches, gradients and steps of the optimiser on the device.
//!
//! The host gives each network the order of its sequences and the numbers of its steps, lets batches run, and reads
//! the results. Between batches nothing goes to the host and back: the launches of a step are recorded once and
//! replayed.

use crate::assemble::{Assembler, DeviceBatch};
use crate::driver::{Address, Buffer, CudaError, Device, Graph};
use crate::gradient::{BatchAddresses, BatchResult, GradientStep, StepBuffers};
use crate::optimize::Optimizer;
use crate::params::{Cohort, DropSettings, Dropped, MAX_LAYERS, Progress, holds};

/// A cohort with everything that its training needs in device memory.
pub struct Trainer {
    device: Device,
    cohort: Cohort,
    /// The parameters and what the optimiser keeps of them.
    pub optimizer: Optimizer,
    /// The source of batches.
    pub batches: Assembler,
    gradient: GradientStep,
    weights: Weights,
    padded: Buffer<f32>,
    drops: Option<Drops>,
    rounds: bool,
    graphs: [Option<Graph>; 2],
}

/// The parameters as the networks see them, and multiplied out.
struct Weights {
    /// Empty where the networks see the parameters as they are.
    seen: Buffer<f32>,
    packed: Buffer<f32>,
}

/// What each step drops of the recurrent matrices.
struct Drops {
    settings: Buffer<DropSettings>,
    drawn: Buffer<u32>,
}

impl DeviceBatch {
    fn addresses(&self) -> BatchAddresses {
        BatchAddresses {
            x: self.x.address(),
            lengths: self.lengths.address(),
            initial: [Address::NULL; MAX_LAYERS],
            classes: self.targets.address(),
            values: if self.soft.is_empty() { self.target_values.address() } else { self.soft.address() },
            weights: self.weights.address(),
            last_only: self.last_only.address(),
        }
    }
}

impl Trainer {
    /// Puts the parts of a training together. `rounds` if a stage rounds weights to grids; `drops` for each network if
    /// recurrent entries are dropped.
    ///
    /// # Panics
    /// If there are not as many `drops` as networks.
    pub fn new(
        device: &Device,
        cohort: Cohort,
        optimizer: Optimizer,
        batches: Assembler,
        gradient: GradientStep,
        rounds: bool,
        drops: Option<&[DropSettings]>,
    ) -> Result<Self, CudaError> {
        let plan = cohort.plan();
        let networks = plan.networks();
        let drops = match drops {
            None => None,
            Some(settings) => {
                assert_eq!(settings.len(), networks, "each network has settings");
                let drawn = device.buffer(networks * plan.drawn_stride())?;
                Some(Drops { settings: device.upload(settings)?, drawn })
            }
        };
        let sees_others = rounds || drops.is_some();
        let weights = Weights {
            seen: device.buffer(if sees_others { networks * plan.parameter_stride() } else { 0 })?,
            packed: device.buffer(networks * plan.packed_stride())?,
        };
        let padded = device.buffer(networks * plan.padded_stride())?;
        let (device, graphs) = (device.clone(), [None, None]);
        Ok(Self { device, cohort, optimizer, batches, gradient, weights, padded, drops, rounds, graphs })
    }

    /// The cohort.
    pub fn cohort(&self) -> &Cohort {
        &self.cohort
    }

    /// Gives a network the draws of its dropped recurrent entries.
    ///
    /// # Panics
    /// If nothing is dropped in this training.
    pub fn set_drops(&mut self, network: usize, settings: DropSettings) -> Result<(), CudaError> {
        let drops = self.drops.as_mut().expect("recurrent entries are dropped in this training");
        drops.settings.write(network, &[settings])
    }

    /// Runs a batch for each of `projects`, which says of each whether some network projects after it. Where the
    /// networks are, and with which numbers they go on, is in the optimiser.
    pub fn run_batches(&mut self, projects: &[bool]) -> Result<(), CudaError> {
        for &projects in projects {
            let graph = &mut self.graphs[usize::from(projects)];
            if graph.is_none() {
                let device = self.device.clone();
                let parts = StepParts {
                    cohort: &self.cohort,
                    optimizer: &mut self.optimizer,
                    batches: &self.batches,
                    gradient: &self.gradient,
                    weights: &mut self.weights,
                    padded: &mut self.padded,
                    drops: self.drops.as_mut(),
                    rounds: self.rounds,
                };
                *graph = Some(device.record(|| parts.launch(&device, projects))?);
            }
            if let Some(graph) = graph {
                self.device.run(graph)?;
            }
        }
        Ok(())
    }

    /// What the last steps said of their batches, `[batches][networks]`.
    pub fn results(&self) -> Result<Vec<BatchResult>, CudaError> {
        self.gradient.results()
    }

    /// How far the networks are.
    pub fn progress(&self) -> Result<Vec<Progress>, CudaError> {
        self.optimizer.progress.to_vec()
    }

    /// Prepares [`scores`](Self::scores) of these flat parameters, on their grids.
    pub fn prepare_scores(&mut self, parameters: Parameters) -> Result<(), CudaError> {
        let parameters = match parameters {
            Parameters::Current => &self.optimizer.parameters,
            Parameters::Average => &self.optimizer.average,
        };
        holds(parameters, self.cohort.plan().networks() * self.cohort.plan().parameter_stride());
        let Weights { seen, packed } = &mut self.weights;
        let seen = match self.rounds {
            true => {
                self.cohort.see(parameters, &self.optimizer.grids, None, seen)?;
                &*seen
            }
            false => parameters,
        };
        self.cohort.pack(seen, packed)
    }

    /// The scores of a batch that `batches` makes, and the loss of each sequence. It has as many slots as the batches
    /// of the training.
    pub fn scores(&self, batches: &Assembler) -> Result<BatchScores, CudaError> {
        batches.launch(&self.device)?;
        self.gradient.launch_scores(&self.weights.packed, &batches.batch().addresses())?;
        Ok(BatchScores { scores: self.gradient.scores().to_vec()?, losses: self.gradient.losses().to_vec()? })
    }
}

/// What the networks say about a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchScores {
    /// `[networks][slots][outputs]`
    pub scores: Vec<f32>,
    /// The loss of each sequence, `[networks][slots]`.
    pub losses: Vec<f64>,
}

/// Which parameters of the networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// Those that the optimiser moves.
    Current,
    /// Their average.
    Average,
}

/// What a step works on.
struct StepParts<'a> {
    cohort: &'a Cohort,
    optimizer: &'a mut Optimizer,
    batches: &'a Assembler,
    gradient: &'a GradientStep,
    weights: &'a mut Weights,
    padded: &'a mut Buffer<f32>,
    drops: Option<&'a mut Drops>,
    rounds: bool,
}

impl StepParts<'_> {
    fn launch(self, device: &Device, projects: bool) -> Result<(), CudaError> {
        let Self { cohort, optimizer, batches, gradient, weights, padded, drops, rounds } = self;
        batches.launch(device)?;
        let dropped = match drops {
            None => None,
            Some(drops) => {
                cohort.draw(&optimizer.progress, &drops.settings, &mut drops.drawn)?;
                Some(Dropped { settings: &drops.settings, drawn: &drops.drawn })
            }
        };
        let Weights { seen, packed } = weights;
        let seen = match rounds || dropped.is_some() {
            true => {
                cohort.see(&optimizer.parameters, &optimizer.grids, dropped, seen)?;
                &*seen
            }
            false => &optimizer.parameters,
        };
        cohort.pack(seen, packed)?;
        let buffers = StepBuffers { seen, packed, padded, gradient: &mut optimizer.gradient };
        let batch = batches.batch().addresses();
        gradient.launch(cohort, buffers, dropped, &batch, Some(&optimizer.progress))?;
        if rounds && cohort.has_steps() {
            cohort.pull_back_steps(&optimizer.parameters, &optimizer.grids, &mut optimizer.gradient)?;
        }
        optimizer.step(cohort, Some(gradient.losses()), projects)
    }
}
