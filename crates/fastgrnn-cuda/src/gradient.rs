//! The gradient of a cohort's batch: the layers forward, the head, the layers backward, and the sum over the batch.
//!
//! Everything works on padded buffers: [`Cohort::pack`] makes the weights, [`Cohort::pull_back`] the flat gradient. Where
//! each parameter is one number of the padded buffer, the sum over the batch writes the flat gradient at once.

use crate::driver::{Address, Buffer, CudaError, Device, Kernel, Plain};
use crate::layers::{BatchSize, Family, Layer, LayerArguments};
use crate::params::{Cohort, CohortPlan, DirectGradient, Dropped, HeadPlaces, MAX_LAYERS, Progress, mirrors};
use fastgrnn_core::batch::Earlier;
use fastgrnn_core::net::{Loss, Network, Readout};

const WARP: usize = 32;
/// Numbers of a piece of the sums, and the threads that share one.
const SUM_PIECE: usize = 32;
const SUM_SHARE: usize = 8;
/// The most units that padding adds up to a multiple of.
const MAX_PADDING: usize = 128;
/// The most weights of the head that block memory holds.
const MOST_HELD: usize = 4096;
/// Sequences of a block of the head, a warp for each.
const HEAD_WARPS: usize = 8;

mirrors! {
    struct HeadArguments {
        places: HeadPlaces,
        readout: i32,
        loss: i32,
        sequences: i32,
        steps: i32,
        weights: Address<f32>,
        weight_stride: i32,
        lengths: Address<u32>,
        h: Address<f32>,
        classes: Address<u32>,
        values: Address<f32>,
        sequence_weights: Address<f32>,
        earlier_readings: i32,
        earlier_every: i32,
        last_only: Address<u32>,
        scores: Address<f32>,
        losses: Address<f64>,
        correct: Address<i32>,
        d_last: Address<f32>,
        d_all: Address<f32>,
        d_each: Address<f32>,
        parts: Address<f32>,
        part_count: i32,
        part_length: i32,
        holds_weights: i32,
    }

    struct BatchResultPlace {
        progress: Address<Progress>,
        results: Address<BatchResult>,
        rows: i32,
        networks: i32,
    }

    struct PartSegment {
        parts: Address<f32>,
        part_count: i32,
        length: i32,
        at: i32,
        first_piece: i32,
    }

    struct PartSumArguments {
        segments: [PartSegment; MAX_LAYERS + 1],
        segment_count: i32,
        pieces: i32,
        sums: Address<f32>,
        stride: i32,
        direct: DirectGradient,
        head: HeadArguments,
        result: BatchResultPlace,
    }

    /// What a step says of a network's batch.
    #[derive(Default, PartialEq)]
    pub struct BatchResult {
        /// The weighted mean of the loss over the rows.
        pub loss: f64,
        /// Readout rows.
        pub rows: i32,
        /// Rows whose largest score is the target class.
        pub correct: i32,
    }
}

const NO_SEGMENT: PartSegment =
    PartSegment { parts: Address::NULL, part_count: 0, length: 0, at: 0, first_piece: 0 };

/// What the gradient of a batch depends on besides the networks.
#[derive(Clone, Copy, Debug)]
pub struct GradientSettings {
    /// What is minimised.
    pub loss: Loss,
    /// Readings before the last step that the loss includes.
    pub earlier: Earlier,
    /// The most sequences of a network's batch.
    pub sequences: usize,
    /// The most steps of a sequence.
    pub steps: usize,
    /// The kernels to use, for comparisons; the fastest that fit without it.
    pub family: Option<Family>,
    /// Batches whose results are kept.
    pub batches: usize,
    /// Networks by whose number the kernels are chosen, where other cohorts belong to the same training: results then
    /// do not depend on how networks are divided. At least those of the cohort.
    pub planned: usize,
    /// Whether inputs are normalised, so that 16-bit numbers hold them.
    pub is_normalized: bool,
}

/// A batch of every network of a cohort in device memory, `[networks][sequences]`. What is not there is null.
#[derive(Clone, Copy, Debug)]
pub struct BatchAddresses {
    /// `[steps][input]`
    pub x: Address<f32>,
    /// The steps; 0 for a sequence that a batch does not have.
    pub lengths: Address<u32>,
    /// States of each layer before the first step, `[padded units]`; null if they are zero.
    pub initial: [Address<f32>; MAX_LAYERS],
    /// Classes of the rows.
    pub classes: Address<u32>,
    /// Target numbers of the rows, `[outputs]`, or with classes the share of each.
    pub values: Address<f32>,
    /// Weights in the loss; null if all are 1.
    pub weights: Address<f32>,
    /// 1 where only the last step counts; null if nowhere.
    pub last_only: Address<u32>,
}

/// The buffers of a step: the parameters as the networks see them and multiplied out, and the gradients, padded and flat.
pub struct StepBuffers<'a> {
    /// What [`Cohort::pack`] read.
    pub seen: &'a Buffer<f32>,
    /// What it wrote.
    pub packed: &'a Buffer<f32>,
    /// Room for the padded gradient.
    pub padded: &'a mut Buffer<f32>,
    /// The result.
    pub gradient: &'a mut Buffer<f32>,
}

/// The memory of a layer.
struct LayerMemory {
    states: Buffer<f32>,
    saved: Buffer<f32>,
    products: Buffer<f32>,
    parts: Buffer<f32>,
    /// The gradient by its states that the layer above it, or the head, gives to each step.
    d_each: Buffer<f32>,
}

/// The kernels and the memory that compute gradients of a cohort.
pub struct GradientStep {
    device: Device,
    size: BatchSize,
    layers: Vec<Layer>,
    memory: Vec<LayerMemory>,
    /// Where the gradient of each layer begins.
    layer_places: Vec<i32>,
    head: HeadArguments,
    head_kernel: Kernel,
    sum_kernel: Kernel,
    padded_stride: usize,
    /// The gradient by the states that the head gives to each sequence; the kernels know its address.
    _d_sequences: Buffer<f32>,
    head_parts: Buffer<f32>,
    losses: Buffer<f64>,
    correct: Buffer<i32>,
    scores: Buffer<f32>,
    results: Buffer<BatchResult>,
}

/// The bytes of block memory that the head of a network needs.
pub fn head_bytes(network: &Network) -> usize {
    head_memory(network.hidden().next_multiple_of(MAX_PADDING), network.outputs)
}

fn head_memory(hidden: usize, outputs: usize) -> usize {
    let copies = if head_holds_weights(hidden, outputs) { 2 } else { 1 };
    4 * (HEAD_WARPS * (2 * hidden + outputs) + copies * (hidden + 1) * outputs)
        + HEAD_WARPS * size_of::<f64>()
}

/// Whether the weights of the head are few enough for block memory.
fn head_holds_weights(hidden: usize, outputs: usize) -> bool {
    hidden * outputs <= MOST_HELD
}

impl GradientStep {
    /// Prepares gradients of a cohort whose networks have the cells, nonlinearities and readout of `network`.
    pub fn new(
        device: &Device,
        plan: &CohortPlan,
        network: &Network,
        settings: &GradientSettings,
    ) -> Result<Self, CudaError> {
        let GradientSettings { loss, earlier, sequences, steps, family, batches, .. } = *settings;
        let networks = plan.networks();
        let planned = settings.planned.max(networks);
        let size = BatchSize { networks, sequences, steps, planned, has_small_inputs: true };
        let places = plan.places();
        let last = network.layers.len() - 1;
        let reads_each = matches!(network.readout, Readout::Every | Readout::Max)
            || (network.readout == Readout::Last && earlier.readings > 0);
        let (mut layers, mut memory) = (Vec::new(), Vec::new());
        for (l, cell) in network.layers.iter().enumerate() {
            let size = BatchSize { has_small_inputs: l > 0 || settings.is_normalized, ..size };
            let mut layer = Layer::new(device, cell, places.layers[l], plan.packed_stride(), size, family)?;
            let used = |is_used: bool, len: usize| if is_used { len } else { 0 };
            let (part_count, part_length) = layer.parts();
            let of_layer = LayerMemory {
                states: device.buffer(layer.states())?,
                saved: device.buffer(layer.saved())?,
                products: device.buffer(used(l > 0 || layer.needs_products(), layer.products()))?,
                parts: device.buffer(size.networks * part_count * part_length)?,
                d_each: device.buffer(used(l < last || reads_each, layer.states()))?,
            };
            let args = &mut layer.arguments;
            args.writes_all_states = i32::from(l < last || reads_each || network.readout.is_pooled());
            args.h = of_layer.states.address();
            args.saved = of_layer.saved.address();
            args.d_pre = of_layer.products.address();
            args.parts = of_layer.parts.address();
            args.d_each = of_layer.d_each.address();
            layers.push(layer);
            memory.push(of_layer);
        }
        let HeadPlaces { hidden, outputs, .. } = places.head;
        let part_count = sequences.div_ceil(HEAD_WARPS);
        let part_length = (outputs * (hidden + 1)) as usize;
        let score_rows = size.rows() * if network.readout.is_every() { steps } else { 1 };
        let d_sequences = device.buffer(size.rows() * hidden as usize)?;
        let head_parts = device.buffer(size.networks * part_count * part_length)?;
        let losses = device.buffer(size.rows())?;
        let correct = device.buffer(size.rows())?;
        let scores = device.buffer(score_rows * outputs as usize)?;
        let top = &mut layers[last].arguments;
        match network.readout {
            Readout::Mean => top.d_all = d_sequences.address(),
            Readout::Last if !reads_each => top.d_last = d_sequences.address(),
            Readout::Last | Readout::Every | Readout::Max => {}
        }
        let head = HeadArguments {
            places: places.head,
            readout: match network.readout {
                Readout::Last => 0,
                Readout::Every => 1,
                Readout::Mean => 2,
                Readout::Max => 3,
            },
            loss: match loss {
                Loss::SoftmaxCrossEntropy => 0,
                Loss::BinaryCrossEntropy => 1,
                Loss::SquaredError => 2,
            },
            sequences: sequences as i32,
            steps: steps as i32,
            weights: Address::NULL,
            weight_stride: plan.packed_stride() as i32,
            lengths: Address::NULL,
            h: top.h,
            classes: Address::NULL,
            values: Address::NULL,
            sequence_weights: Address::NULL,
            earlier_readings: if network.readout == Readout::Last { earlier.readings as i32 } else { 0 },
            earlier_every: earlier.every as i32,
            last_only: Address::NULL,
            scores: Address::NULL,
            losses: losses.address(),
            correct: correct.address(),
            d_last: top.d_last,
            d_all: top.d_all,
            d_each: top.d_each,
            parts: head_parts.address(),
            part_count: part_count as i32,
            part_length: part_length as i32,
            holds_weights: i32::from(head_holds_weights(hidden as usize, outputs as usize)),
        };
        Ok(Self {
            device: device.clone(),
            size,
            layer_places: layers.iter().enumerate().map(|(l, _)| places.layers[l].w).collect(),
            layers,
            memory,
            head,
            head_kernel: device.kernel("head")?,
            sum_kernel: device.kernel("part_sums")?,
            padded_stride: plan.padded_stride(),
            _d_sequences: d_sequences,
            head_parts,
            losses,
            correct,
            scores,
            results: device.buffer(batches * size.networks)?,
        })
    }

    /// Launches the flat gradient of a batch, and its results, those of batch 0 without `progress`.
    pub fn launch(
        &self,
        cohort: &Cohort,
        buffers: StepBuffers,
        dropped: Option<Dropped>,
        batch: &BatchAddresses,
        progress: Option<&Buffer<Progress>>,
    ) -> Result<(), CudaError> {
        let StepBuffers { seen, packed, padded, gradient } = buffers;
        let direct = cohort.direct(packed, dropped, gradient);
        let pulls_back = direct.is_none();
        let device = &self.device;
        let arguments = self.layer_arguments(packed, batch);
        self.launch_forward(&arguments)?;
        let head = self.head_arguments(packed, batch);
        self.launch_head(&head)?;
        for (l, (layer, args)) in self.layers.iter().zip(&arguments).enumerate().rev() {
            layer.backward(device, args)?;
            if l > 0 {
                layer.input_gradient(device, args, self.memory[l - 1].d_each.address())?;
            }
        }
        self.launch_sums(head, progress, direct.unwrap_or(DirectGradient::NONE), padded)?;
        if pulls_back { cohort.pull_back(seen, packed, padded, dropped, gradient) } else { Ok(()) }
    }

    /// Launches the scores of a batch, and its results without a gradient.
    pub fn launch_scores(&self, packed: &Buffer<f32>, batch: &BatchAddresses) -> Result<(), CudaError> {
        let mut arguments = self.layer_arguments(packed, batch);
        arguments.iter_mut().for_each(|args| args.saved = Address::NULL);
        self.launch_forward(&arguments)?;
        let none = Address::NULL;
        let head = HeadArguments {
            d_last: none,
            d_all: none,
            d_each: none,
            scores: self.scores.address(),
            ..self.head_arguments(packed, batch)
        };
        self.launch_head(&head)
    }

    /// The results of the gradients, `[batches][networks]`.
    pub fn results(&self) -> Result<Vec<BatchResult>, CudaError> {
        self.results.to_vec()
    }

    /// The scores of the last batch, `[networks][rows][outputs]`, where a row is a sequence, or a step of one.
    pub fn scores(&self) -> &Buffer<f32> {
        &self.scores
    }

    /// The weighted losses of the sequences of the last batch, `[networks][sequences]`.
    pub fn losses(&self) -> &Buffer<f64> {
        &self.losses
    }

    /// The rows of each sequence of the last batch that are right, `[networks][sequences]`.
    pub fn correct(&self) -> &Buffer<i32> {
        &self.correct
    }

    fn layer_arguments(&self, packed: &Buffer<f32>, batch: &BatchAddresses) -> Vec<LayerArguments> {
        let mut x = batch.x;
        let of_layer = |(l, layer): (usize, &Layer)| {
            let mut args = layer.arguments;
            (args.weights, args.lengths, args.initial) = (packed.address(), batch.lengths, batch.initial[l]);
            args.x = std::mem::replace(&mut x, args.h);
            args
        };
        self.layers.iter().enumerate().map(of_layer).collect()
    }

    fn head_arguments(&self, packed: &Buffer<f32>, batch: &BatchAddresses) -> HeadArguments {
        HeadArguments {
            weights: packed.address(),
            lengths: batch.lengths,
            classes: batch.classes,
            values: batch.values,
            sequence_weights: batch.weights,
            last_only: batch.last_only,
            ..self.head
        }
    }

    fn launch_forward(&self, arguments: &[LayerArguments]) -> Result<(), CudaError> {
        self.layers.iter().zip(arguments).try_for_each(|(layer, args)| layer.forward(&self.device, args))
    }

    fn launch_head(&self, args: &HeadArguments) -> Result<(), CudaError> {
        let (hidden, outputs) = (args.places.hidden as usize, args.places.outputs as usize);
        let bytes = head_memory(hidden, outputs);
        let grid = [args.part_count as u32, self.size.networks as u32, 1];
        self.device.launch(&self.head_kernel, grid, (HEAD_WARPS * WARP) as u32, bytes, args)
    }

    /// Adds up the parts of the gradient and the result of the batch.
    fn launch_sums(
        &self,
        head: HeadArguments,
        progress: Option<&Buffer<Progress>>,
        direct: DirectGradient,
        padded: &mut Buffer<f32>,
    ) -> Result<(), CudaError> {
        assert!(padded.len() >= self.size.networks * self.padded_stride, "the gradient does not fit");
        let mut args = PartSumArguments {
            segments: [NO_SEGMENT; MAX_LAYERS + 1],
            segment_count: self.layers.len() as i32 + 1,
            pieces: 0,
            sums: padded.address(),
            stride: self.padded_stride as i32,
            direct,
            head,
            result: BatchResultPlace {
                progress: progress.map_or(Address::NULL, Buffer::address),
                results: self.results.address(),
                rows: (self.results.len() / self.size.networks) as i32,
                networks: self.size.networks as i32,
            },
        };
        let mut pieces = 0;
        let of_head = (self.head.part_count as usize, self.head.part_length as usize);
        let of_layers = self.layers.iter().zip(&self.memory).zip(&self.layer_places);
        let of_layers = of_layers.map(|((layer, memory), &at)| (memory.parts.address(), layer.parts(), at));
        let all = of_layers.chain([(self.head_parts.address(), of_head, self.head.places.w)]);
        for (segment, (parts, (part_count, length), at)) in args.segments.iter_mut().zip(all) {
            let (part_count, first_piece) = (part_count as i32, pieces as i32);
            *segment = PartSegment { parts, part_count, length: length as i32, at, first_piece };
            pieces += length.div_ceil(SUM_PIECE);
        }
        args.pieces = pieces as i32;
        let (grid, threads) = ([pieces as u32 + 1, self.size.networks as u32, 1], SUM_PIECE * SUM_SHARE);
        let bytes = threads / WARP * size_of::<f64>();
        self.device.launch(&self.sum_kernel, grid, threads as u32, bytes, &args)
    }
}
