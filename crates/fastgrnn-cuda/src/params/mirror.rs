//! The structs that the kernels of parameters read.

use crate::driver::{Address, Plain};

/// The most layers of a network on a device.
pub const MAX_LAYERS: usize = 8;
/// The most vectors of a cell.
pub const MAX_VECTORS: usize = 4;
/// α, β, ζ, ν.
pub const SCALARS: usize = 4;

/// Declares structs whose layout the kernels know.
macro_rules! mirrors {
    ($($(#[$about:meta])* $kind:vis struct $name:ident {
        $($(#[$field_about:meta])* $field_kind:vis $field:ident: $type:ty,)*
    })*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        $kind struct $name {
            $($(#[$field_about])* $field_kind $field: $type,)*
        }

        // SAFETY: a `#[repr(C)]` struct of numbers, addresses of device memory and arrays of such structs.
        unsafe impl Plain for $name {}
    )* };
}
pub(crate) use mirrors;

mirrors! {
    /// The places of a layer's weights in the padded buffer, and of their gradients, from the start of a network's
    /// part.
    #[derive(Default, PartialEq, Eq)]
    pub struct LayerPlaces {
        /// The padded units.
        pub hidden: i32,
        /// The padded features that it reads.
        pub input: i32,
        /// Stacked blocks of W.
        pub w_blocks: i32,
        /// Stacked blocks of U; 0 where the cell does not read its state through a matrix.
        pub u_blocks: i32,
        /// Vectors of the cell.
        pub vector_count: i32,
        /// W by columns: `[input][w_blocks · hidden]`.
        pub w: i32,
        /// U by columns: `[hidden][u_blocks · hidden]`.
        pub u: i32,
        /// `[vector_count][hidden]`
        pub vectors: i32,
        /// α, β, ζ, ν.
        pub scalars: i32,
        /// W by rows, which has no gradient of its own.
        pub w_rows: i32,
        /// U by rows.
        pub u_rows: i32,
    }

    /// The places of the head: `[outputs][hidden]` and `[outputs]`.
    #[derive(Default, PartialEq, Eq)]
    pub struct HeadPlaces {
        /// The padded units that it reads.
        pub hidden: i32,
        /// The outputs.
        pub outputs: i32,
        /// The weights.
        pub w: i32,
        /// The biases.
        pub b: i32,
    }

    /// The places of all layers, which the networks of a cohort share.
    #[derive(Default, PartialEq, Eq)]
    pub struct NetworkPlaces {
        /// How many of `layers` there are.
        pub layer_count: i32,
        /// The layers, the one that reads the data first.
        pub layers: [LayerPlaces; MAX_LAYERS],
        /// The head.
        pub head: HeadPlaces,
    }

    /// W or U in the flat buffer.
    #[derive(Default, PartialEq, Eq)]
    pub(super) struct MatrixSource {
        pub(super) form: i32,
        pub(super) rank: i32,
        pub(super) first: i32,
        pub(super) second: i32,
        pub(super) draw: i32,
    }

    /// A vector or scalar in the flat buffer: its place, or a code below 0.
    #[derive(PartialEq)]
    pub(super) struct PointSource {
        pub(super) at: i32,
        pub(super) is_raw: i32,
        pub(super) value: f32,
    }

    #[derive(Default, PartialEq)]
    pub(super) struct LayerSource {
        pub(super) input: i32,
        pub(super) hidden: i32,
        pub(super) w: MatrixSource,
        pub(super) u: MatrixSource,
        pub(super) vectors: [PointSource; MAX_VECTORS],
        pub(super) scalars: [PointSource; SCALARS],
    }

    /// The flat buffer of a network.
    #[derive(Default, PartialEq)]
    pub(crate) struct NetworkSource {
        pub(super) parameters: i32,
        pub(super) views: i32,
        pub(super) draws: i32,
        pub(super) head_hidden: i32,
        pub(super) head_w: i32,
        pub(super) head_b: i32,
        pub(super) layers: [LayerSource; MAX_LAYERS],
    }

    /// A view of the flat buffer.
    #[derive(Default, PartialEq)]
    pub(crate) struct ViewSource {
        pub(super) offset: i32,
        pub(super) length: i32,
        pub(super) draw: i32,
        pub(super) is_decayed: i32,
        pub(super) target: f64,
    }

    /// The grid of a view: the multiples of `step` up to `limit` on both sides. A step of 0 is no grid, and a limit of 0
    /// none; see [`ViewGrid::LEARNT`], too.
    #[derive(Default, PartialEq)]
    pub struct ViewGrid {
        /// From one value to the next.
        pub step: f32,
        /// The largest value.
        pub limit: f32,
    }

    /// How far a network has come.
    #[derive(Default, PartialEq, Eq)]
    pub struct Progress {
        /// Steps of the optimiser that are done. Draws are keyed by it.
        pub step: u64,
        /// The batch of the epoch.
        pub batch: i32,
        /// Why the network has stopped: [`Progress::LOSS`], [`Progress::NORM`] or [`Progress::PARAMETER`]; 0 while it
        /// runs.
        pub status: i32,
    }

    /// How entries of a network's recurrent matrices are dropped.
    #[derive(PartialEq)]
    pub struct DropSettings {
        pub(super) seed: u64,
        pub(super) pass: u64,
        pub(super) share: f64,
        pub(super) kept: f32,
        pub(super) unused: i32,
    }

    pub(super) struct DrawArguments {
        pub(super) sources: Address<NetworkSource>,
        pub(super) progress: Address<Progress>,
        pub(super) drops: Address<DropSettings>,
        pub(super) jumps: Address<u32>,
        pub(super) drawn: Address<u32>,
        pub(super) drawn_stride: i32,
    }

    pub(super) struct SeeArguments {
        pub(super) sources: Address<NetworkSource>,
        pub(super) views: Address<ViewSource>,
        pub(super) grids: Address<ViewGrid>,
        pub(super) view_stride: i32,
        pub(super) view_of: Address<u8>,
        pub(super) parameters: Address<f32>,
        pub(super) seen: Address<f32>,
        pub(super) parameter_stride: i32,
        pub(super) drawn: Address<u32>,
        pub(super) drawn_stride: i32,
        pub(super) drops: Address<DropSettings>,
    }

    pub(super) struct StepArguments {
        pub(super) sources: Address<NetworkSource>,
        pub(super) views: Address<ViewSource>,
        pub(super) grids: Address<ViewGrid>,
        pub(super) steps: Address<i32>,
        pub(super) view_stride: i32,
        pub(super) parameters: Address<f32>,
        pub(super) values: Address<f32>,
        pub(super) parameter_stride: i32,
        pub(super) drawn: Address<u32>,
        pub(super) drawn_stride: i32,
        pub(super) drops: Address<DropSettings>,
    }

    pub(super) struct PackArguments {
        pub(super) places: NetworkPlaces,
        pub(super) sources: Address<NetworkSource>,
        pub(super) seen: Address<f32>,
        pub(super) parameter_stride: i32,
        pub(super) packed: Address<f32>,
        pub(super) packed_stride: i32,
    }

    pub(crate) struct DirectGradient {
        pub(crate) parameter_of: Address<i32>,
        pub(crate) packed: Address<f32>,
        pub(crate) packed_stride: i32,
        pub(crate) gradient: Address<f32>,
        pub(crate) parameter_stride: i32,
    }

    pub(super) struct PullBackArguments {
        pub(super) places: NetworkPlaces,
        pub(super) sources: Address<NetworkSource>,
        pub(super) seen: Address<f32>,
        pub(super) packed: Address<f32>,
        pub(super) parameter_stride: i32,
        pub(super) packed_stride: i32,
        pub(super) padded: Address<f32>,
        pub(super) padded_stride: i32,
        pub(super) gradient: Address<f32>,
        pub(super) drawn: Address<u32>,
        pub(super) drawn_stride: i32,
        pub(super) drops: Address<DropSettings>,
    }
}

impl DirectGradient {
    /// The padded gradient is written instead.
    pub(crate) const NONE: Self = Self {
        parameter_of: Address::NULL,
        packed: Address::NULL,
        packed_stride: 0,
        gradient: Address::NULL,
        parameter_stride: 0,
    };
}

impl Progress {
    /// The loss was not finite.
    pub const LOSS: i32 = 1;
    /// The gradient was not finite.
    pub const NORM: i32 = 2;
    /// A parameter became infinite or NaN.
    pub const PARAMETER: i32 = 3;
}

impl ViewGrid {
    /// The sixteen values of a matrix of 4 bits, whose step is a parameter of the network.
    pub const LEARNT: Self = Self { step: -1.0, limit: 0.0 };

    /// The bytes from −127 to 127 times `2^−exponent`.
    pub fn of_exponent(exponent: i32) -> Self {
        let step = (-exponent as f32).exp2();
        Self { step, limit: 127.0 * step }
    }

    /// The reach of those bytes, without their grid.
    pub fn reach_of_exponent(exponent: i32) -> Self {
        Self { step: 0.0, ..Self::of_exponent(exponent) }
    }
}

impl DropSettings {
    /// Drops a `share` of the entries, with the draws of a pass of a seed.
    pub fn new(seed: u64, pass: u64, share: f64) -> Self {
        Self { seed, pass, share, kept: (1.0 / (1.0 - share)) as f32, unused: 0 }
    }
}

pub(super) const ABSENT: i32 = -1;
pub(super) const FIXED: i32 = -2;
pub(super) const TIED: i32 = -3;

impl Default for PointSource {
    fn default() -> Self {
        Self { at: ABSENT, is_raw: 0, value: 0.0 }
    }
}
