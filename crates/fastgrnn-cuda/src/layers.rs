//! The layers of a cohort: which kernels run them and how: the mirror of `kernels/layer.cuh`, `rows.cuh` and
//! `tiles.cuh`.
//!
//! Three families of kernels compute the same. [`Family::General`] takes every cell and width; the others are faster
//! for the cells, widths and inputs that they were compiled for.

use crate::driver::{Address, CudaError, Device, Kernel, Plain};
use crate::params::{LayerPlaces, MAX_VECTORS, mirrors};
use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity};
use fastgrnn_core::net::Network;

/// Sequences of a tile.
pub(crate) const TILE: usize = 8;
/// The widest padded layer.
pub const MAX_HIDDEN: usize = 256;
const MAX_BLOCKS: usize = 4;
const WARP: usize = 32;
/// Time steps of a chunk of the kernels of rows.
const ROW_CHUNK: usize = 8;
/// Time steps of the rings in block memory of the kernels of tiles.
const FEED_RING: usize = 8;
const TILE_RING: usize = 8;
const X_RING: usize = 4;
/// Values that a thread of a tile owns.
const OWN: usize = 4;
/// Up to how many sequences a block for each of them is faster than a block for a tile.
const FEW_SEQUENCES: usize = 300;

mirrors! {
    /// A nonlinearity as numbers.
    struct Curve {
        is_smooth: i32,
        size: f32,
        exponent: f32,
        factor: f32,
        shift: f32,
        low: f32,
        high: f32,
        slope: f32,
        bend: f32,
    }

    /// What the kernels of a layer read and write.
    pub(crate) struct LayerArguments {
        places: LayerPlaces,
        gate: Curve,
        update: Curve,
        sequences: i32,
        steps: i32,
        pub(crate) weights: Address<f32>,
        weight_stride: i32,
        pub(crate) lengths: Address<u32>,
        pub(crate) x: Address<f32>,
        pub(crate) initial: Address<f32>,
        pub(crate) h: Address<f32>,
        pub(crate) writes_all_states: i32,
        pub(crate) saved: Address<f32>,
        pub(crate) d_last: Address<f32>,
        pub(crate) d_all: Address<f32>,
        pub(crate) d_each: Address<f32>,
        pub(crate) d_pre: Address<f32>,
        pub(crate) parts: Address<f32>,
        part_count: i32,
        part_length: i32,
    }

    struct OuterArguments {
        layer: LayerArguments,
        pre_blocks: i32,
        saved_values: i32,
        u_places: [i32; MAX_BLOCKS],
        part_sequences: i32,
    }

    struct InputGradientArguments {
        layer: LayerArguments,
        pre_blocks: i32,
        d_x: Address<f32>,
    }
}

impl Curve {
    fn new(nonlinearity: Nonlinearity) -> Self {
        // 1 − size / (1 + e^(rate·x))
        let smooth = |size: f32, rate: f32| Self {
            is_smooth: 1,
            size,
            exponent: rate * std::f32::consts::LOG2_E,
            factor: 0.0,
            shift: 0.0,
            low: 0.0,
            high: 0.0,
            slope: rate,
            bend: rate / size,
        };
        let straight = |factor: f32, shift: f32, low: f32, high: f32| Self {
            is_smooth: 0,
            size: 0.0,
            exponent: 0.0,
            factor,
            shift,
            low,
            high,
            slope: 0.0,
            bend: 0.0,
        };
        let infinite = f32::INFINITY;
        match nonlinearity {
            Nonlinearity::Tanh => smooth(2.0, 2.0),
            Nonlinearity::Sigmoid => smooth(1.0, 1.0),
            Nonlinearity::Relu => straight(1.0, 0.0, 0.0, infinite),
            Nonlinearity::QuantTanh => straight(1.0, 0.0, -1.0, 1.0),
            Nonlinearity::QuantSigm => straight(0.5, 0.5, 0.0, 1.0),
            Nonlinearity::QuantSigm4 => straight(0.25, 0.5, 0.0, 1.0),
            Nonlinearity::Identity => straight(1.0, 0.0, -infinite, infinite),
        }
    }
}

/// Which kernels run a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A block for a tile of sequences; weights are read through the caches.
    General,
    /// A block for each sequence; weights are in registers.
    Rows,
    /// A block for a tile of sequences; products by matrix instructions.
    Tiles,
}

/// Numbers of the rule of a cell, as in `kernels/cells.cuh`.
struct Rule {
    name: &'static str,
    /// Blocks of the gradient by the products.
    pre: usize,
    saved: usize,
    /// Numbers that the way back computes before the gradient arrives.
    factors: usize,
    /// Which of them the blocks of U are.
    u_places: [i32; MAX_BLOCKS],
}

fn rule(kind: CellKind) -> Rule {
    let in_order = [0, 1, 2, 3];
    let rule = |name, pre, saved, factors| Rule { name, pre, saved, factors, u_places: in_order };
    match kind {
        CellKind::Rnn => rule("rnn", 1, 1, 1),
        CellKind::FastRnn => rule("fastrnn", 1, 1, 3),
        CellKind::FastRnnVector => rule("fastrnn_vector", 1, 1, 4),
        CellKind::FastGrnn => rule("fastgrnn", 1, 1, 5),
        CellKind::FastGrnnGain => rule("fastgrnn_gain", 1, 1, 6),
        CellKind::Ugrnn => rule("ugrnn", 2, 2, 3),
        CellKind::Gru => Rule { u_places: [0, 1, 3, 3], ..rule("gru", 4, 4, 5) },
        CellKind::Lstm => rule("lstm", 4, 5, 6),
        CellKind::MinGru => rule("mingru", 2, 2, 3),
        CellKind::Eurnn => unreachable!("a cohort is refused if its cells have no kernels"),
    }
}

/// A pair of kernels of rows, a line of the table in `kernels/rows.cuh`.
struct RowKernels {
    kind: CellKind,
    /// The padded units.
    hidden: usize,
    /// The most features.
    input: usize,
    /// Units and threads of a group, and helper threads.
    forward: [usize; 3],
    backward: [usize; 3],
    /// Blocks of U that are in block memory on the way back.
    in_memory: usize,
}

const fn rows(
    kind: CellKind,
    hidden: usize,
    input: usize,
    forward: [usize; 3],
    backward: [usize; 3],
    in_memory: usize,
) -> RowKernels {
    RowKernels { kind, hidden, input, forward, backward, in_memory }
}

const ROW_KERNELS: &[RowKernels] = &[
    rows(CellKind::FastGrnn, 16, 32, [1, 1, 32], [1, 1, 64], 0),
    rows(CellKind::FastGrnn, 32, 32, [1, 1, 64], [2, 2, 64], 0),
    rows(CellKind::FastGrnn, 48, 32, [2, 2, 64], [2, 2, 96], 0),
    rows(CellKind::FastGrnn, 64, 32, [2, 2, 64], [4, 4, 128], 0),
    rows(CellKind::FastGrnn, 80, 32, [2, 2, 64], [4, 4, 160], 0),
    rows(CellKind::FastGrnn, 96, 32, [2, 4, 128], [2, 4, 192], 0),
    rows(CellKind::FastGrnn, 112, 32, [2, 4, 128], [2, 4, 128], 0),
    rows(CellKind::FastGrnn, 128, 32, [1, 2, 64], [4, 8, 128], 0),
    rows(CellKind::FastGrnnGain, 16, 32, [1, 1, 32], [1, 1, 64], 0),
    rows(CellKind::FastGrnnGain, 32, 32, [1, 1, 64], [2, 2, 64], 0),
    rows(CellKind::FastGrnnGain, 48, 32, [2, 2, 64], [2, 2, 96], 0),
    rows(CellKind::FastGrnnGain, 64, 32, [2, 2, 64], [4, 4, 128], 0),
    rows(CellKind::FastGrnnGain, 80, 32, [2, 2, 64], [4, 4, 160], 0),
    rows(CellKind::FastGrnnGain, 96, 32, [2, 4, 128], [2, 4, 192], 0),
    rows(CellKind::FastGrnnGain, 112, 32, [2, 4, 128], [2, 4, 128], 0),
    rows(CellKind::FastGrnnGain, 128, 32, [1, 2, 64], [4, 8, 128], 0),
    rows(CellKind::Gru, 32, 32, [2, 2, 64], [1, 2, 64], 0),
    rows(CellKind::Gru, 64, 32, [2, 4, 64], [1, 4, 64], 0),
    rows(CellKind::Gru, 80, 16, [2, 4, 64], [1, 4, 64], 0),
    rows(CellKind::Lstm, 32, 32, [2, 2, 64], [1, 2, 64], 0),
    rows(CellKind::Lstm, 64, 32, [2, 4, 64], [1, 4, 64], 2),
    rows(CellKind::Lstm, 80, 16, [2, 4, 64], [1, 4, 64], 2),
    rows(CellKind::Ugrnn, 32, 32, [2, 2, 64], [2, 2, 64], 0),
    rows(CellKind::Ugrnn, 64, 32, [2, 4, 64], [2, 4, 128], 0),
    rows(CellKind::Ugrnn, 80, 32, [2, 4, 64], [1, 4, 64], 0),
    rows(CellKind::Rnn, 32, 32, [1, 1, 32], [2, 2, 64], 0),
    rows(CellKind::Rnn, 64, 32, [2, 2, 64], [4, 4, 128], 0),
    rows(CellKind::Rnn, 128, 32, [1, 2, 64], [4, 8, 128], 0),
    rows(CellKind::FastRnn, 32, 32, [1, 1, 32], [2, 2, 64], 0),
    rows(CellKind::FastRnn, 64, 32, [2, 2, 64], [4, 4, 128], 0),
    rows(CellKind::FastRnn, 80, 32, [2, 2, 64], [4, 4, 160], 0),
    rows(CellKind::FastRnn, 128, 32, [1, 2, 64], [4, 8, 128], 0),
    rows(CellKind::FastRnnVector, 32, 32, [1, 1, 32], [2, 2, 64], 0),
    rows(CellKind::FastRnnVector, 64, 32, [2, 2, 64], [4, 4, 128], 0),
    rows(CellKind::FastRnnVector, 128, 32, [1, 2, 64], [4, 8, 128], 0),
];

/// A pair of kernels of tiles, a line of the table in `kernels/tiles.cuh`.
struct TileKernels {
    kind: CellKind,
    /// The padded units.
    hidden: usize,
    /// The most features.
    input: usize,
    /// Whether there are other kernels, forward and backward, for more tiles than there are multiprocessors.
    has_small: [bool; 2],
}

const fn tiles(kind: CellKind, hidden: usize, input: usize, has_small: [bool; 2]) -> TileKernels {
    TileKernels { kind, hidden, input, has_small }
}

/// Which ways have other kernels for many tiles.
const NONE: [bool; 2] = [false, false];
const FORWARD: [bool; 2] = [true, false];
const BACKWARD: [bool; 2] = [false, true];
const BOTH: [bool; 2] = [true, true];

const TILE_KERNELS: &[TileKernels] = &[
    tiles(CellKind::FastGrnn, 16, 16, NONE),
    tiles(CellKind::FastGrnn, 16, 32, NONE),
    tiles(CellKind::FastGrnn, 32, 16, NONE),
    tiles(CellKind::FastGrnn, 32, 32, BACKWARD),
    tiles(CellKind::FastGrnn, 48, 16, NONE),
    tiles(CellKind::FastGrnn, 48, 32, NONE),
    tiles(CellKind::FastGrnn, 64, 16, NONE),
    tiles(CellKind::FastGrnn, 64, 32, BOTH),
    tiles(CellKind::FastGrnn, 80, 16, BOTH),
    tiles(CellKind::FastGrnn, 80, 32, NONE),
    tiles(CellKind::FastGrnn, 96, 16, NONE),
    tiles(CellKind::FastGrnn, 96, 32, NONE),
    tiles(CellKind::FastGrnn, 112, 16, NONE),
    tiles(CellKind::FastGrnn, 112, 32, FORWARD),
    tiles(CellKind::FastGrnn, 128, 16, NONE),
    tiles(CellKind::FastGrnn, 128, 32, NONE),
    tiles(CellKind::FastGrnnGain, 16, 32, NONE),
    tiles(CellKind::FastGrnnGain, 32, 32, NONE),
    tiles(CellKind::FastGrnnGain, 48, 32, NONE),
    tiles(CellKind::FastGrnnGain, 64, 32, NONE),
    tiles(CellKind::FastGrnnGain, 80, 32, NONE),
    tiles(CellKind::FastGrnnGain, 96, 32, NONE),
    tiles(CellKind::FastGrnnGain, 112, 32, NONE),
    tiles(CellKind::FastGrnnGain, 128, 32, NONE),
    tiles(CellKind::Gru, 32, 32, NONE),
    tiles(CellKind::Gru, 64, 32, NONE),
    tiles(CellKind::Gru, 80, 16, NONE),
    tiles(CellKind::Lstm, 32, 32, NONE),
    tiles(CellKind::Lstm, 64, 32, NONE),
    tiles(CellKind::Lstm, 80, 16, NONE),
    tiles(CellKind::Ugrnn, 32, 32, NONE),
    tiles(CellKind::Ugrnn, 64, 32, NONE),
    tiles(CellKind::Ugrnn, 80, 32, NONE),
    tiles(CellKind::Rnn, 32, 32, NONE),
    tiles(CellKind::Rnn, 64, 32, NONE),
    tiles(CellKind::Rnn, 128, 32, NONE),
    tiles(CellKind::FastRnn, 32, 32, NONE),
    tiles(CellKind::FastRnn, 64, 32, NONE),
    tiles(CellKind::FastRnn, 80, 32, NONE),
    tiles(CellKind::FastRnn, 128, 32, NONE),
    tiles(CellKind::FastRnnVector, 32, 32, NONE),
    tiles(CellKind::FastRnnVector, 64, 32, NONE),
    tiles(CellKind::FastRnnVector, 128, 32, NONE),
];

/// The kernels of rows for a layer.
fn row_kernels(kind: CellKind, hidden: usize, input: usize) -> Option<&'static RowKernels> {
    ROW_KERNELS.iter().find(|k| (k.kind, k.hidden) == (kind, hidden) && k.input >= input)
}

/// The kernels of tiles for a layer.
fn tile_kernels(kind: CellKind, hidden: usize, input: usize) -> Option<&'static TileKernels> {
    TILE_KERNELS.iter().find(|k| (k.kind, k.hidden) == (kind, hidden) && k.input >= input)
}

/// Units of layers are padded to a multiple of this.
const UNITS: usize = 16;

/// The width to which layers of up to `hidden` units are padded: the least one that has fast kernels for what `cell`
/// reads, or else that of the general ones.
pub fn padded_units(cell: &Cell, hidden: usize) -> usize {
    let fits = |kind: CellKind, width: usize, input: usize| {
        (kind == cell.kind && width >= hidden && input >= cell.input).then_some(width)
    };
    let of_rows = ROW_KERNELS.iter().filter_map(|k| fits(k.kind, k.hidden, k.input));
    let of_tiles = TILE_KERNELS.iter().filter_map(|k| fits(k.kind, k.hidden, k.input));
    of_rows.chain(of_tiles).min().unwrap_or_else(|| hidden.next_multiple_of(UNITS))
}

/// Numbers of block memory of the general kernels, forward and backward.
fn general_numbers(rule: &Rule, vectors: usize, hidden: usize, input: usize) -> [usize; 2] {
    [TILE * (input + 2 * hidden), TILE * (rule.pre + vectors) * hidden + WARP]
}

/// The most bytes of block memory that a layer of a network may need where it has no faster kernels.
pub fn layer_bytes(network: &Network) -> usize {
    let of_layer = |cell: &Cell| {
        let padded = |count: usize| count.next_multiple_of(UNITS);
        let numbers = general_numbers(&rule(cell.kind), MAX_VECTORS, padded(cell.hidden), padded(cell.input));
        4 * numbers.into_iter().fold(0, usize::max)
    };
    network.layers.iter().map(of_layer).max().unwrap_or(0)
}

/// A kernel and how it is launched.
struct Launch {
    kernel: Kernel,
    threads: u32,
    bytes: usize,
}

/// The size of a cohort's batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize {
    pub(crate) networks: usize,
    pub(crate) sequences: usize,
    pub(crate) steps: usize,
    /// The networks by whose number kernels are chosen.
    pub(crate) planned: usize,
    /// Whether 16-bit numbers hold what the layer reads.
    pub(crate) has_small_inputs: bool,
}

impl BatchSize {
    /// Sequences of all networks.
    pub(crate) fn rows(&self) -> usize {
        self.networks * self.sequences
    }
}

/// The name of a kernel, its threads and the numbers of its block memory.
struct LaunchShape {
    name: String,
    threads: usize,
    numbers: usize,
}

/// The kernels of a family for a layer.
struct LayerKernels {
    family: Family,
    forward: LaunchShape,
    backward: LaunchShape,
    sequences_of_block: usize,
}

impl LayerKernels {
    /// The kernels of `family`, if it has some for this layer.
    fn new(
        family: Family,
        cell: &Cell,
        places: &LayerPlaces,
        size: BatchSize,
        device: &Device,
    ) -> Option<Self> {
        let (rule, vectors) = (rule(cell.kind), places.vector_count as usize);
        let (hidden, input, cell_name) = (places.hidden as usize, places.input as usize, rule.name);
        let shape = |name: String, threads: usize, numbers: usize| LaunchShape { name, threads, numbers };
        let (forward, backward, sequences_of_block) = match family {
            Family::General => {
                // Sequences of a thread: as many as keep a block within 256 threads.
                let per = match hidden {
                    0..=64 => 2,
                    65..=128 => 4,
                    _ => 8,
                };
                let threads = (hidden * TILE / per).next_multiple_of(WARP);
                let [forward, backward] = general_numbers(&rule, vectors, hidden, input);
                let shape =
                    |way: &str, numbers: usize| shape(format!("{way}_{cell_name}_{per}"), threads, numbers);
                (shape("forward", forward), shape("backward", backward), TILE)
            }
            Family::Rows => {
                let kernels = row_kernels(cell.kind, hidden, input)?;
                let chain = |rows: usize, group: usize| (hidden / rows * group).next_multiple_of(WARP);
                let [rows, group, helpers] = kernels.forward;
                let w_blocks = places.w_blocks as usize;
                let numbers = 2 * ROW_CHUNK * (kernels.input + w_blocks * hidden) + 2 * hidden;
                let name = |way: &str| format!("{way}_rows_{cell_name}_{hidden}");
                let forward = shape(name("forward"), chain(rows, group) + helpers, numbers);
                let [rows, group, helpers] = kernels.backward;
                let numbers = 2 * ROW_CHUNK * (kernels.input + (rule.factors + 2 + rule.pre) * hidden)
                    + kernels.in_memory * rows * (hidden / group) * chain(rows, group)
                    + crate::params::SCALARS * WARP;
                (forward, shape(name("backward"), chain(rows, group) + helpers, numbers), 1)
            }
            Family::Tiles => {
                let kernels = tile_kernels(cell.kind, hidden, input)?;
                let held = kernels.input;
                let (chain, pairs) = (2 * hidden, held / 2 * TILE);
                let feed = |ring: usize, threads: usize| ring * 2 * threads * pairs.div_ceil(threads);
                // Rows of 16-bit numbers, high and low parts, with padding.
                let split = |columns: usize| TILE * (columns + 8);
                let numbers = 2 * split(hidden) + X_RING * split(held) + TILE + feed(FEED_RING, WARP);
                let tiles = size.planned * size.sequences.div_ceil(TILE);
                let is_many = tiles > device.multiprocessors();
                let name = |way: &str, has_small: bool| {
                    let small = if is_many && has_small { "_small" } else { "" };
                    format!("{way}{small}_tiles_{cell_name}_{hidden}_{held}")
                };
                let [small_forward, small_backward] = kernels.has_small;
                let forward = shape(name("forward", small_forward), chain + WARP, numbers);
                let numbers = TILE_RING * chain * OWN * (rule.saved + 2)
                    + 2 * (split(rule.pre * hidden) + split(hidden) + split(held))
                    + TILE
                    + crate::params::SCALARS * WARP
                    + feed(TILE_RING, chain);
                (forward, shape(name("backward", small_backward), 2 * chain, numbers), TILE)
            }
        };
        Some(Self { family, forward, backward, sequences_of_block })
    }

    /// The fastest kernels for this layer that the memory of a block suffices for.
    fn fastest(cell: &Cell, places: &LayerPlaces, size: BatchSize, device: &Device) -> Option<Self> {
        let order = match size.planned * size.sequences <= FEW_SEQUENCES {
            true => [Family::Rows, Family::Tiles],
            false => [Family::Tiles, Family::Rows],
        };
        // States and inputs go through 16-bit numbers of limited range in tiles.
        let is_in_range = cell.update.is_bounded() && size.has_small_inputs;
        let suits = |family: &Family| *family != Family::Tiles || is_in_range;
        let fits = |kernels: &Self| {
            4 * kernels.forward.numbers.max(kernels.backward.numbers) <= device.block_memory()
        };
        let families = order.into_iter().filter(suits).chain([Family::General]);
        families.filter_map(|family| Self::new(family, cell, places, size, device)).find(fits)
    }
}

/// A layer of a cohort.
pub(crate) struct Layer {
    size: BatchSize,
    rule: Rule,
    forward: Launch,
    backward: Launch,
    /// Sequences of a block.
    sequences_of_block: usize,
    outer_sums: Option<Kernel>,
    input_gradient: Kernel,
    pub(crate) arguments: LayerArguments,
}

impl Layer {
    /// A layer with the places of its weights in padded buffers of `weight_stride` numbers a network. Without a
    /// wanted family, the fastest one that fits.
    pub(crate) fn new(
        device: &Device,
        cell: &Cell,
        places: LayerPlaces,
        weight_stride: usize,
        size: BatchSize,
        wanted: Option<Family>,
    ) -> Result<Self, CudaError> {
        let kernels = match wanted {
            Some(family) => LayerKernels::new(family, cell, &places, size, device),
            None => LayerKernels::fastest(cell, &places, size, device),
        };
        let LayerKernels { family, forward, backward, sequences_of_block } =
            kernels.expect("there are kernels of this family for the layer");
        let launch = |LaunchShape { name, threads, numbers }: LaunchShape| {
            let (kernel, threads) = (device.kernel(&name)?, threads as u32);
            Ok::<_, CudaError>(Launch { kernel, threads, bytes: 4 * numbers })
        };
        let (rule, forward, backward) = (rule(cell.kind), launch(forward)?, launch(backward)?);
        let part_length = places.scalars + crate::params::SCALARS as i32 - places.w;
        let arguments = LayerArguments {
            places,
            gate: Curve::new(cell.gate),
            update: Curve::new(cell.update),
            sequences: size.sequences as i32,
            steps: size.steps as i32,
            weights: Address::NULL,
            weight_stride: weight_stride as i32,
            lengths: Address::NULL,
            x: Address::NULL,
            initial: Address::NULL,
            h: Address::NULL,
            writes_all_states: 1,
            saved: Address::NULL,
            d_last: Address::NULL,
            d_all: Address::NULL,
            d_each: Address::NULL,
            d_pre: Address::NULL,
            parts: Address::NULL,
            part_count: size.sequences.div_ceil(sequences_of_block) as i32,
            part_length,
        };
        Ok(Self {
            size,
            rule,
            forward,
            backward,
            sequences_of_block,
            outer_sums: (family == Family::General).then(|| device.kernel("layer_outer_sums")).transpose()?,
            input_gradient: device.kernel("layer_input_gradient")?,
            arguments,
        })
    }

    /// The padded units.
    pub(crate) fn hidden(&self) -> usize {
        self.arguments.places.hidden as usize
    }

    /// Numbers of the states of all steps.
    pub(crate) fn states(&self) -> usize {
        self.size.rows() * self.size.steps * self.hidden()
    }

    /// Numbers that the way back needs.
    pub(crate) fn saved(&self) -> usize {
        let sequences = self.size.sequences.next_multiple_of(TILE);
        self.size.networks * sequences * self.size.steps * (self.rule.saved + 1) * self.hidden()
    }

    /// Numbers of the gradient by the products.
    pub(crate) fn products(&self) -> usize {
        self.states() * self.rule.pre
    }

    /// Whether the gradients of W and U are made from that by the products.
    pub(crate) fn needs_products(&self) -> bool {
        self.outer_sums.is_some()
    }

    /// Parts of the gradient of each network, and the numbers of one.
    pub(crate) fn parts(&self) -> (usize, usize) {
        (self.arguments.part_count as usize, self.arguments.part_length as usize)
    }

    fn grid(&self) -> [u32; 3] {
        [self.size.sequences.div_ceil(self.sequences_of_block) as u32, self.size.networks as u32, 1]
    }

    pub(crate) fn forward(&self, device: &Device, args: &LayerArguments) -> Result<(), CudaError> {
        device.launch(&self.forward.kernel, self.grid(), self.forward.threads, self.forward.bytes, args)
    }

    /// The way back, with the parts of the gradient of the parameters.
    pub(crate) fn backward(&self, device: &Device, args: &LayerArguments) -> Result<(), CudaError> {
        device.launch(
            &self.backward.kernel,
            self.grid(),
            self.backward.threads,
            self.backward.bytes,
            args,
        )?;
        let Some(outer_sums) = &self.outer_sums else { return Ok(()) };
        const COLUMNS: usize = 32;
        const ROWS: usize = 64;
        let LayerPlaces { hidden, input, w_blocks, u_blocks, .. } = args.places;
        let pieces = |blocks: i32, columns: i32| {
            ((blocks * hidden) as usize).div_ceil(ROWS) * (columns as usize).div_ceil(COLUMNS)
        };
        let outer = OuterArguments {
            layer: *args,
            pre_blocks: self.rule.pre as i32,
            saved_values: self.rule.saved as i32,
            u_places: self.rule.u_places,
            part_sequences: self.sequences_of_block as i32,
        };
        let pieces = pieces(w_blocks, input) + pieces(u_blocks, hidden);
        let grid = [self.grid()[0], pieces as u32, self.size.networks as u32];
        device.launch(outer_sums, grid, 128, 0, &outer)
    }

    /// The gradient by what the layer reads.
    pub(crate) fn input_gradient(
        &self,
        device: &Device,
        args: &LayerArguments,
        d_x: Address<f32>,
    ) -> Result<(), CudaError> {
        const STEPS: usize = 8;
        let pre_blocks = self.rule.pre as i32;
        let args = InputGradientArguments { layer: *args, pre_blocks, d_x };
        let LayerPlaces { hidden, input, w_blocks, .. } = args.layer.places;
        let BatchSize { networks, sequences, steps, .. } = self.size;
        let grid = [steps.div_ceil(STEPS) as u32, sequences as u32, networks as u32];
        let threads = (input as usize).next_multiple_of(WARP).min(256);
        let bytes = 4 * STEPS * (w_blocks * hidden) as usize;
        device.launch(&self.input_gradient, grid, threads as u32, bytes, &args)
    }
}
