//! The step of the optimiser on the flat parameters of a cohort: the mirror of `kernels/optimize.cuh`.
//!
//! The launches of a step can be recorded and replayed. What changes from step to step is in a table with a row of
//! [`StepNumbers`] for each batch of an epoch; the batch number of each network, in its [`Progress`], says which row.

use crate::driver::{Address, Buffer, CudaError, Device, Kernel, Plain};
use crate::params::{Cohort, NetworkSource, Progress, ViewGrid, ViewSource, holds, mirrors};

/// Parameters of a chunk.
const CHUNK: usize = 2048;
const CHUNK_THREADS: u32 = 256;
const PROJECT_THREADS: u32 = 512;
const LANES: u32 = 32;
/// Decay of Adam's second moment.
const BETA2: f64 = 0.999;

/// An optimiser. Averaged gradient descent is [`OptimizerKind::Sgd`] with an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimizerKind {
    /// Plain gradient descent.
    Sgd,
    /// Nesterov's momentum.
    Nesterov,
    /// Adam, with decay that is part of the gradient.
    Adam,
    /// Adam with decay apart from the gradient.
    AdamW,
}

impl OptimizerKind {
    fn has_first(self) -> bool {
        self != Self::Sgd
    }

    fn has_second(self) -> bool {
        matches!(self, Self::Adam | Self::AdamW)
    }
}

mirrors! {
    /// What changes from step to step.
    #[derive(Default, PartialEq)]
    pub struct StepNumbers {
        least: f64,
        rest: f64,
        lr: f32,
        size: f32,
        unbias: f32,
        shrink: f32,
        follow: f32,
        trust: f32,
        flags: i32,
        unused: i32,
    }

    /// What does not change from step to step.
    #[derive(PartialEq)]
    pub struct OptimizerSettings {
        clip: f64,
        momentum: f32,
        fresh: f32,
        weight_decay: f32,
        optimizer: i32,
    }

    struct OptimizeArguments {
        sources: Address<NetworkSource>,
        views: Address<ViewSource>,
        grids: Address<ViewGrid>,
        view_stride: i32,
        view_of: Address<u8>,
        settings: Address<OptimizerSettings>,
        table: Address<StepNumbers>,
        table_rows: i32,
        progress: Address<Progress>,
        losses: Address<f64>,
        loss_count: i32,
        parameters: Address<f32>,
        gradient: Address<f32>,
        first: Address<f32>,
        second: Address<f32>,
        average: Address<f32>,
        held: Address<f32>,
        mask: Address<u8>,
        parameter_stride: i32,
        squares: Address<f64>,
        broken: Address<i32>,
        chunk_count: i32,
        is_projecting: i32,
    }
}

impl OptimizerSettings {
    /// An optimiser; gradients are scaled down to the norm `clip` where they are larger (0: never).
    pub fn new(kind: OptimizerKind, momentum: f64, weight_decay: f64, clip: f64) -> Self {
        Self {
            clip,
            momentum: momentum as f32,
            fresh: (1.0 - momentum) as f32,
            weight_decay: weight_decay as f32,
            optimizer: kind as i32,
        }
    }
}

/// A projection at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// How far a gradual stage has come, from 0 to 1; 1 for all others.
    pub progress: f64,
    /// The least fraction of a view to keep.
    pub least: f64,
    /// How much of the gradients that were added up makes a step.
    pub trust: f32,
}

impl StepNumbers {
    /// There is a support.
    const MASKED: i32 = 1;
    /// Gradients outside the support are added up.
    const HOLDS: i32 = 2;
    /// The step ends with a projection.
    const PROJECTS: i32 = 4;

    /// The numbers of a step at the learning rate `lr` after `done` steps, with the momentum and weight decay of the
    /// settings. There is no support, and an average becomes a copy of the parameters.
    pub fn new(momentum: f64, weight_decay: f64, done: u64, lr: f64) -> Self {
        let t = (done + 1).min(i32::MAX as u64) as i32;
        Self {
            lr: lr as f32,
            size: (lr / (1.0 - momentum.powi(t))) as f32,
            // In f64: 0.999^t is close to 1 for the first thousand steps.
            unbias: (1.0 / (1.0 - BETA2.powi(t))) as f32,
            shrink: 1.0 - lr as f32 * weight_decay as f32,
            follow: 1.0,
            ..Self::default()
        }
    }

    /// The same with an average that moves by the share `follow` towards the parameters; 1 makes it a copy.
    pub fn following(self, follow: f32) -> Self {
        Self { follow, ..self }
    }

    /// The same with a support, which an earlier projection has chosen. `holds` says whether gradients outside it are
    /// added up, as in all steps of a stage that projects.
    pub fn masked(self, holds: bool) -> Self {
        Self { flags: self.flags | Self::MASKED | if holds { Self::HOLDS } else { 0 }, ..self }
    }

    /// The same with a projection at the end.
    pub fn projecting(self, projection: Projection) -> Self {
        let Projection { progress, least, trust } = projection;
        Self { least, rest: (1.0 - progress).powi(3), trust, flags: self.flags | Self::PROJECTS, ..self }
    }
}

/// What a cohort's optimiser is to have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptimizerRoom {
    /// Rows of the table for each network: the batches of an epoch.
    pub steps: usize,
    /// Whether an average follows the parameters.
    pub has_average: bool,
    /// Whether steps project.
    pub projects: bool,
}

/// The parameters of a cohort with all that an optimiser keeps about them.
pub struct Optimizer {
    /// Flat parameters, like all buffers of f32 here `[networks][parameter_stride]`.
    pub parameters: Buffer<f32>,
    /// The flat gradient.
    pub gradient: Buffer<f32>,
    /// Momentum, or Adam's first moment; empty where there is none.
    pub first: Buffer<f32>,
    /// Adam's second moment; empty where there is none.
    pub second: Buffer<f32>,
    /// The average; empty where there is none. It begins as a copy of the parameters.
    pub average: Buffer<f32>,
    /// Gradients outside the support since the last projection; empty where no step projects.
    pub held: Buffer<f32>,
    /// 1 where an entry may be other than zero; empty where no step projects. It counts in steps with a support.
    pub mask: Buffer<u8>,
    /// The grid of each view, `[networks][view_stride]`.
    pub grids: Buffer<ViewGrid>,
    /// How far each network has come.
    pub progress: Buffer<Progress>,
    settings: Buffer<OptimizerSettings>,
    table: Buffer<StepNumbers>,
    room: OptimizerRoom,
    squares: Buffer<f64>,
    broken: Buffer<i32>,
    chunk_count: usize,
    norm: Kernel,
    update: Kernel,
    project: Kernel,
    finish: Kernel,
}

impl Optimizer {
    /// An optimiser of a cohort with parameters and moments of 0, and settings for each network, all with optimisers of
    /// one `kind`.
    ///
    /// # Panics
    ///
    /// If there are not as many settings as networks, or some are of another kind.
    pub fn new(
        device: &Device,
        cohort: &Cohort,
        kind: OptimizerKind,
        settings: &[OptimizerSettings],
        room: OptimizerRoom,
    ) -> Result<Self, CudaError> {
        let (plan, networks) = (cohort.plan(), cohort.plan().networks());
        assert_eq!(settings.len(), networks, "each network has settings");
        assert!(settings.iter().all(|settings| settings.optimizer == kind as i32), "all are of one kind");
        let len = |is_there: bool| if is_there { networks * plan.parameter_stride() } else { 0 };
        let chunk_count = plan.parameter_stride().div_ceil(CHUNK);
        Ok(Self {
            parameters: device.buffer(len(true))?,
            gradient: device.buffer(len(true))?,
            first: device.buffer(len(kind.has_first()))?,
            second: device.buffer(len(kind.has_second()))?,
            average: device.buffer(len(room.has_average))?,
            held: device.buffer(len(room.projects))?,
            mask: device.buffer(len(room.projects))?,
            grids: device.buffer(networks * plan.view_stride())?,
            progress: device.buffer(networks)?,
            settings: device.upload(settings)?,
            table: device.buffer(networks * room.steps)?,
            room,
            squares: device.buffer(networks * chunk_count)?,
            broken: device.buffer(networks * (chunk_count + plan.view_stride()))?,
            chunk_count,
            norm: device.kernel("gradient_norm")?,
            update: device.kernel("update")?,
            project: device.kernel("project")?,
            finish: device.kernel("finish_step")?,
        })
    }

    /// Writes a network's rows of the table, from its batch 0 on.
    ///
    /// # Panics
    ///
    /// If there are more rows than there is room for, or one projects or has a support where there is no room for it.
    pub fn plan_steps(&mut self, network: usize, rows: &[StepNumbers]) -> Result<(), CudaError> {
        assert!(rows.len() <= self.room.steps, "{} rows for {} steps", rows.len(), self.room.steps);
        assert!(
            self.room.projects || rows.iter().all(|row| row.flags == 0),
            "there is no room for a support"
        );
        self.table.write(network * self.room.steps, rows)
    }

    /// One step of all networks against the gradient, and the end of the batch. `losses` are those of the batch's
    /// sequences, the same number for each network; a network stops where they are not finite. Only a step with
    /// `projects` obeys rows of the table that project.
    pub fn step(
        &mut self,
        cohort: &Cohort,
        losses: Option<&Buffer<f64>>,
        projects: bool,
    ) -> Result<(), CudaError> {
        let (plan, device) = (cohort.plan(), cohort.device());
        let (networks, views) = (plan.networks(), plan.view_stride());
        holds(&self.parameters, networks * plan.parameter_stride());
        holds(&self.grids, networks * views);
        assert!(self.room.projects || !projects, "there is no room for a projection");
        let (sources, view_sources, view_of) = cohort.descriptions();
        let args = OptimizeArguments {
            sources,
            views: view_sources,
            grids: self.grids.address(),
            view_stride: views as i32,
            view_of,
            settings: self.settings.address(),
            table: self.table.address(),
            table_rows: self.room.steps as i32,
            progress: self.progress.address(),
            losses: losses.map_or(Address::NULL, Buffer::address),
            loss_count: losses.map_or(0, |losses| losses.len() / networks) as i32,
            parameters: self.parameters.address(),
            gradient: self.gradient.address(),
            first: self.first.address(),
            second: self.second.address(),
            average: self.average.address(),
            held: self.held.address(),
            mask: self.mask.address(),
            parameter_stride: plan.parameter_stride() as i32,
            squares: self.squares.address(),
            broken: self.broken.address(),
            chunk_count: self.chunk_count as i32,
            is_projecting: i32::from(projects),
        };
        let warps = (CHUNK_THREADS / LANES) as usize;
        let chunks = cohort.grid(self.chunk_count);
        device.launch(&self.norm, chunks, CHUNK_THREADS, warps * size_of::<f64>(), &args)?;
        device.launch(&self.update, chunks, CHUNK_THREADS, warps * size_of::<i32>(), &args)?;
        if projects {
            let (threads, warps) = (PROJECT_THREADS as usize, (PROJECT_THREADS / LANES) as usize);
            let bytes = threads * size_of::<i32>() + warps * size_of::<f64>();
            device.launch(&self.project, cohort.grid(views), PROJECT_THREADS, bytes, &args)?;
        }
        device.launch(&self.finish, [networks as u32, 1, 1], LANES, 0, &args)
    }
}
