//! Between the flat parameters of a cohort's networks and the padded buffers that layers work on: the mirror of
//! `kernels/params.cuh`.
//!
//! A [`Cohort`] is described on the host by a [`CohortPlan`] and launches four kernels: [`Cohort::draw`] decides which
//! recurrent entries are dropped, [`Cohort::see`] makes the parameters as the network sees them, [`Cohort::pack`] the
//! padded buffer, and [`Cohort::pull_back`] the flat gradient from the padded one. Where steps of matrices are learnt,
//! two more kernels (`kernels/steps.cuh`) make the entries that the network sees, and the gradient by what the optimiser
//! moves ([`Cohort::pull_back_steps`]).

mod jumps;
mod mirror;
mod plan;

pub(crate) use mirror::{DirectGradient, NetworkSource, ViewSource, mirrors};
pub use mirror::{
    DropSettings, HeadPlaces, LayerPlaces, MAX_LAYERS, MAX_VECTORS, NetworkPlaces, Progress, SCALARS,
    ViewGrid,
};
pub use plan::{CohortError, CohortPlan, has_kernels};

use crate::driver::{Address, Buffer, CudaError, Device, Kernel, Plain};
use jumps::jumps;
use mirror::{DrawArguments, PackArguments, PullBackArguments, SeeArguments, StepArguments};

const PATCH_THREADS: u32 = 256;
/// The bytes of block memory of two patches.
const PATCH_BYTES: usize = 2 * plan::PATCH * (plan::PATCH + 1) * size_of::<f32>();
const SEE_THREADS: u32 = 256;
/// Parameters of a block of the kernel `see`.
const SEE_PIECE: usize = 1024;
const DRAW_THREADS: u32 = 512;
const STEP_THREADS: u32 = 256;
const LANES: u32 = 32;

/// What a step drops.
#[derive(Clone, Copy)]
pub struct Dropped<'a> {
    /// How.
    pub settings: &'a Buffer<DropSettings>,
    /// Which entries: what [`Cohort::draw`] has written.
    pub drawn: &'a Buffer<u32>,
}

impl Dropped<'_> {
    fn addresses(dropped: Option<Self>, plan: &CohortPlan) -> (Address<u32>, Address<DropSettings>) {
        let Some(Self { settings, drawn }) = dropped else { return (Address::NULL, Address::NULL) };
        holds(settings, plan.networks());
        holds(drawn, plan.networks() * plan.drawn_stride());
        (drawn.address(), settings.address())
    }
}

/// A cohort on a device.
pub struct Cohort {
    device: Device,
    plan: CohortPlan,
    sources: Buffer<NetworkSource>,
    views: Buffer<ViewSource>,
    view_of: Buffer<u8>,
    /// The parameters of padded gradients, where each is one number.
    parameter_of: Option<Buffer<i32>>,
    jumps: Buffer<u32>,
    draw: Kernel,
    see: Kernel,
    pack: Kernel,
    pull_back: Kernel,
    /// Where any network has matrices of 4 bits.
    steps: Option<Steps>,
}

/// The steps of matrices of 4 bits, which are learnt.
struct Steps {
    /// Where they are in the flat buffer.
    places: Buffer<i32>,
    see: Kernel,
    pull_back: Kernel,
}

impl Cohort {
    /// Brings a plan to a device.
    pub fn new(device: &Device, plan: CohortPlan) -> Result<Self, CudaError> {
        let steps = match plan.steps() {
            None => None,
            Some(places) => Some(Steps {
                places: device.upload(&places)?,
                see: device.kernel("see_steps")?,
                pull_back: device.kernel("pull_back_steps")?,
            }),
        };
        Ok(Self {
            sources: device.upload(&plan.sources)?,
            views: device.upload(&plan.all_views())?,
            view_of: device.upload(&plan.view_of())?,
            parameter_of: plan.parameter_of().map(|parameters| device.upload(&parameters)).transpose()?,
            jumps: device.upload(&jumps(plan.chunks()))?,
            draw: device.kernel("draw_dropped")?,
            see: device.kernel("see")?,
            pack: device.kernel("pack")?,
            pull_back: device.kernel("pull_back")?,
            steps,
            device: device.clone(),
            plan,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &CohortPlan {
        &self.plan
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn descriptions(&self) -> (Address<NetworkSource>, Address<ViewSource>, Address<u8>) {
        (self.sources.address(), self.views.address(), self.view_of.address())
    }

    fn check_flat(&self, buffers: &[&Buffer<f32>]) {
        buffers.iter().for_each(|buffer| holds(buffer, self.plan.networks() * self.plan.parameter_stride()));
    }

    /// Draws the entries that the next step of each network drops.
    pub fn draw(
        &self,
        progress: &Buffer<Progress>,
        settings: &Buffer<DropSettings>,
        drawn: &mut Buffer<u32>,
    ) -> Result<(), CudaError> {
        let networks = self.plan.networks();
        holds(progress, networks);
        holds(settings, networks);
        holds(drawn, networks * self.plan.drawn_stride());
        let args = DrawArguments {
            sources: self.sources.address(),
            progress: progress.address(),
            drops: settings.address(),
            jumps: self.jumps.address(),
            drawn: drawn.address(),
            drawn_stride: self.plan.drawn_stride() as i32,
        };
        let bytes = self.plan.drop_bytes();
        self.device.launch(&self.draw, [networks as u32, 1, 1], DRAW_THREADS, bytes, &args)
    }

    /// The parameters as the networks see them: on their grids, `[networks][view_stride]`, and without what is dropped.
    pub fn see(
        &self,
        parameters: &Buffer<f32>,
        grids: &Buffer<ViewGrid>,
        dropped: Option<Dropped>,
        seen: &mut Buffer<f32>,
    ) -> Result<(), CudaError> {
        self.check_flat(&[parameters, seen]);
        holds(grids, self.plan.networks() * self.plan.view_stride());
        let (drawn, drops) = Dropped::addresses(dropped, &self.plan);
        let args = SeeArguments {
            sources: self.sources.address(),
            views: self.views.address(),
            grids: grids.address(),
            view_stride: self.plan.view_stride() as i32,
            view_of: self.view_of.address(),
            parameters: parameters.address(),
            seen: seen.address(),
            parameter_stride: self.plan.parameter_stride() as i32,
            drawn,
            drawn_stride: self.plan.drawn_stride() as i32,
            drops,
        };
        let pieces = self.plan.parameter_stride().div_ceil(SEE_PIECE);
        self.device.launch(&self.see, self.grid(pieces), SEE_THREADS, 0, &args)?;
        match &self.steps {
            Some(steps) => self.launch_steps(&steps.see, parameters, grids, dropped, seen),
            None => Ok(()),
        }
    }

    /// The padded buffer, `[networks][packed_stride]`, of what the networks see.
    pub fn pack(&self, seen: &Buffer<f32>, packed: &mut Buffer<f32>) -> Result<(), CudaError> {
        self.check_flat(&[seen]);
        holds(packed, self.plan.networks() * self.plan.packed_stride());
        let args = PackArguments {
            places: self.plan.places,
            sources: self.sources.address(),
            seen: seen.address(),
            parameter_stride: self.plan.parameter_stride() as i32,
            packed: packed.address(),
            packed_stride: self.plan.packed_stride() as i32,
        };
        let jobs = self.plan.pack_jobs();
        self.device.launch(&self.pack, self.grid(jobs), PATCH_THREADS, PATCH_BYTES, &args)
    }

    /// The flat gradient from the padded one, `[networks][padded_stride]`, given what [`Cohort::pack`] read and wrote.
    pub fn pull_back(
        &self,
        seen: &Buffer<f32>,
        packed: &Buffer<f32>,
        padded: &Buffer<f32>,
        dropped: Option<Dropped>,
        gradient: &mut Buffer<f32>,
    ) -> Result<(), CudaError> {
        self.check_flat(&[seen, gradient]);
        holds(packed, self.plan.networks() * self.plan.packed_stride());
        holds(padded, self.plan.networks() * self.plan.padded_stride());
        let (drawn, drops) = Dropped::addresses(dropped, &self.plan);
        let args = PullBackArguments {
            places: self.plan.places,
            sources: self.sources.address(),
            seen: seen.address(),
            packed: packed.address(),
            parameter_stride: self.plan.parameter_stride() as i32,
            packed_stride: self.plan.packed_stride() as i32,
            padded: padded.address(),
            padded_stride: self.plan.padded_stride() as i32,
            gradient: gradient.address(),
            drawn,
            drawn_stride: self.plan.drawn_stride() as i32,
            drops,
        };
        let jobs = self.plan.pull_back_jobs();
        self.device.launch(&self.pull_back, self.grid(jobs), PATCH_THREADS, PATCH_BYTES, &args)
    }

    /// Whether any network has matrices of 4 bits, whose steps are learnt.
    pub fn has_steps(&self) -> bool {
        self.steps.is_some()
    }

    /// Turns the flat gradient by what the networks see into that by their `parameters`, where matrices of 4 bits are seen
    /// on grids whose steps are learnt. The gradient of other steps becomes 0.
    pub fn pull_back_steps(
        &self,
        parameters: &Buffer<f32>,
        grids: &Buffer<ViewGrid>,
        gradient: &mut Buffer<f32>,
    ) -> Result<(), CudaError> {
        let Some(steps) = &self.steps else { return Ok(()) };
        self.launch_steps(&steps.pull_back, parameters, grids, None, gradient)
    }

    /// Launches a kernel about steps.
    fn launch_steps(
        &self,
        kernel: &Kernel,
        parameters: &Buffer<f32>,
        grids: &Buffer<ViewGrid>,
        dropped: Option<Dropped>,
        values: &mut Buffer<f32>,
    ) -> Result<(), CudaError> {
        let Some(steps) = &self.steps else { return Ok(()) };
        self.check_flat(&[parameters, values]);
        holds(grids, self.plan.networks() * self.plan.view_stride());
        let (drawn, drops) = Dropped::addresses(dropped, &self.plan);
        let args = StepArguments {
            sources: self.sources.address(),
            views: self.views.address(),
            grids: grids.address(),
            steps: steps.places.address(),
            view_stride: self.plan.view_stride() as i32,
            parameters: parameters.address(),
            values: values.address(),
            parameter_stride: self.plan.parameter_stride() as i32,
            drawn,
            drawn_stride: self.plan.drawn_stride() as i32,
            drops,
        };
        let bytes = (STEP_THREADS / LANES) as usize * size_of::<f64>();
        let blocks = self.grid(self.plan.view_stride());
        self.device.launch(kernel, blocks, STEP_THREADS, bytes, &args)
    }

    /// Where the numbers of the padded gradient go in the flat one, given what [`Cohort::pack`] wrote; none where only
    /// [`Cohort::pull_back`] can tell.
    pub(crate) fn direct(
        &self,
        packed: &Buffer<f32>,
        dropped: Option<Dropped>,
        gradient: &mut Buffer<f32>,
    ) -> Option<DirectGradient> {
        let parameter_of = self.parameter_of.as_ref().filter(|_| dropped.is_none())?;
        self.check_flat(&[gradient]);
        holds(packed, self.plan.networks() * self.plan.packed_stride());
        Some(DirectGradient {
            parameter_of: parameter_of.address(),
            packed: packed.address(),
            packed_stride: self.plan.packed_stride() as i32,
            gradient: gradient.address(),
            parameter_stride: self.plan.parameter_stride() as i32,
        })
    }

    /// A grid of as many blocks for each network.
    pub(crate) fn grid(&self, blocks: usize) -> [u32; 3] {
        [blocks as u32, self.plan.networks() as u32, 1]
    }
}

/// Checks that a kernel stays within a buffer.
pub(crate) fn holds<T: Plain>(buffer: &Buffer<T>, count: usize) {
    assert!(buffer.len() >= count, "a buffer of {} values is to hold {count}", buffer.len());
}
