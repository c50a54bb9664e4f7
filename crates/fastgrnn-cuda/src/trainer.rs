//! Training of a cohort: batches, gradients and steps of the optimiser on the device.
//!
//! The host gives each network the order of its sequences and the numbers of its steps for an epoch, lets the epoch
//! run, and reads the results. Between the batches of an epoch nothing goes to the host and back: the launches of a
//! step are recorded once and replayed.

use crate::assemble::{Assembler, DeviceBatch};
use crate::driver::{Address, Buffer, CudaError, Device, Graph};
use crate::gradient::{BatchAddresses, BatchResult, GradientStep};
use crate::optimize::{Optimizer, StepNumbers};
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

    /// Runs an epoch: a batch for each of `projects`, which says of each batch whether some network projects after it.
    /// `numbers` are those of the steps of each network. The results are those of each batch, `[networks]`.
    ///
    /// # Panics
    /// If there are not as many `numbers` as networks.
    pub fn run_epoch(
        &mut self,
        numbers: &[Vec<StepNumbers>],
        projects: &[bool],
    ) -> Result<Vec<Vec<BatchResult>>, CudaError> {
        let networks = self.cohort.plan().networks();
        assert_eq!(numbers.len(), networks, "each network has numbers");
        for (network, rows) in numbers.iter().enumerate() {
            self.optimizer.plan_steps(network, rows)?;
        }
        let progress: Vec<Progress> =
            self.progress()?.iter().map(|progress| Progress { batch: 0, ..*progress }).collect();
        self.optimizer.progress.write(0, &progress)?;
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
        let results = self.gradient.results()?;
        Ok(results.chunks(networks).take(projects.len()).map(<[_]>::to_vec).collect())
    }

    /// How far the networks are.
    pub fn progress(&self) -> Result<Vec<Progress>, CudaError> {
        self.optimizer.progress.to_vec()
    }

    /// The scores of a batch that `batches` made, `[networks][rows][outputs]`, with these flat parameters on their
    /// grids.
    pub fn scores(
        &mut self,
        parameters: Parameters,
        batches: &Assembler,
        gradient: &GradientStep,
    ) -> Result<Vec<f32>, CudaError> {
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
        self.cohort.pack(seen, packed)?;
        gradient.launch_scores(packed, &batches.batch().addresses())?;
        gradient.scores().to_vec()
    }
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
        gradient.launch(packed, &batches.batch().addresses(), Some(&optimizer.progress), padded)?;
        cohort.pull_back(seen, packed, padded, dropped, &mut optimizer.gradient)?;
        optimizer.step(cohort, Some(gradient.losses()), projects)
    }
}
