//! Batches that are put together on the device: sequences are chosen, changed at random, normalised, and get their
//! targets and weights, as the training code on the CPU does it, with the same random draws.
//!
//! The data set is uploaded once ([`DeviceSequences`]). An [`Assembler`] makes the batches of a cohort of networks
//! that share the kind of changes ([`Changes`]), and each have a seed, a training part and an order of their own.

mod mirror;
mod settings;

pub use settings::{
    BatchShape, Changes, DataSource, DeviceSequences, NetworkData, NormalizerKind, Sample, TargetSource,
};

use crate::driver::{Address, Buffer, CudaError, Device, Kernel};
use crate::params::{Progress, holds};
use mirror::{Arguments, NetworkArguments, Rng, SequencePlan};
use settings::number;
use std::rc::Rc;

/// Values of a sequence from one stored state of the generator of noise to the next.
const NOISE_CHUNK: usize = 16;
/// Threads of a block, for each kernel.
const PLAN_THREADS: u32 = 32;
const ASSEMBLE_THREADS: u32 = 128;
const PARTNER_THREADS: u32 = 256;
/// Draws of mixup's parts that are in shared memory at a time.
const PARTNER_DRAWS: usize = 1024;
/// Bytes of shared memory of a block of `assemble`, and those that noise needs beside them.
const ASSEMBLE_MEMORY: usize = 176;
const NOISE_MEMORY: usize = 8704;
/// The most sequences of a batch that mixup is compiled for.
const MOST_MIXED: usize = 8192;
/// No class counts at its last step alone.
const NO_CLASS: u32 = u32::MAX;

/// Device memory that belongs to all batches.
struct SharedMemory {
    softplus: Buffer<f32>,
    axes: Buffer<u32>,
    axis_of: Buffer<i32>,
    labels: Buffer<u32>,
    values: Buffer<f32>,
}

/// Device memory that the host writes for each network or epoch.
struct PerNetwork {
    networks: Buffer<NetworkArguments>,
    indices: Vec<Buffer<u32>>,
    order: Buffer<Sample>,
    mean: Buffer<f32>,
    scale: Buffer<f32>,
    class_weights: Buffer<f32>,
}

/// Device memory between the kernels.
struct Scratch {
    plans: Buffer<SequencePlan>,
    factors: Buffer<f32>,
    masks: Buffer<u32>,
    noise_states: Buffer<Rng>,
    partners: Buffer<u32>,
    parts: Buffer<f32>,
    unmixed: Buffer<f32>,
}

/// A batch of every network of a cohort in device memory, `[networks][slots]`. What a cohort does not need is empty.
/// A slot that a batch does not fill has length and weight 0.
pub struct DeviceBatch {
    /// The inputs, `[max_steps][dim]`; 0 after the end of a sequence.
    pub x: Buffer<f32>,
    /// The steps.
    pub lengths: Buffer<u32>,
    /// The classes.
    pub targets: Buffer<u32>,
    /// The target values, `[outputs]`.
    pub target_values: Buffer<f32>,
    /// The weights in the loss.
    pub weights: Buffer<f32>,
    /// 1 where only the last step counts.
    pub last_only: Buffer<u32>,
    /// The share of each class, `[outputs]`, with smoothing or mixup.
    pub soft: Buffer<f32>,
}

/// The kernels that make a batch.
struct Kernels {
    draw_plans: Kernel,
    assemble: Kernel,
    draw_partners: Kernel,
    mix_sequences: Kernel,
}

/// Makes the batches of a cohort.
pub struct Assembler {
    shape: BatchShape,
    arguments: Arguments,
    kernels: Kernels,
    batch: DeviceBatch,
    per_network: PerNetwork,
    /// The networks as they are on the device.
    networks: Vec<NetworkArguments>,
    shared: SharedMemory,
    // The kernels read or write these by their addresses.
    _scratch: Scratch,
    _data: Rc<DeviceSequences>,
    _background: Option<Rc<DeviceSequences>>,
}

impl Assembler {
    /// Prepares the memory for the batches of a cohort. Every network needs its data
    /// ([`set_network`](Self::set_network)) and an order ([`set_epoch`](Self::set_epoch)) before a launch.
    /// A launch makes the batch that `progress` says for each network, and empty slots beyond its last one.
    ///
    /// # Panics
    /// If the settings contradict each other or the data, or sensors share columns.
    pub fn new(
        device: &Device,
        source: DataSource<'_>,
        shape: BatchShape,
        changes: &Changes,
        progress: &Buffer<Progress>,
    ) -> Result<Self, CudaError> {
        let DataSource { sequences: data, background, targets, normalizer } = source;
        holds(progress, shape.networks);
        check(&data, background.as_deref(), &targets, &shape, changes);
        let (dim, rows) = (data.dim(), shape.networks * shape.slots);
        let inputs = rows * shape.max_steps * dim;
        let used = |is_used: bool, len: usize| if is_used { len } else { 0 };
        let has_axes = changes.rotate != 0.0 || changes.amplitude != 0.0;
        let sensors = used(has_axes, changes.axes.len());
        let (frequency_masks, time_masks) = match changes.has_masks() {
            true => (changes.frequency_masks, changes.time_masks),
            false => ((0, 0), (0, 0)),
        };
        let masks = frequency_masks.0 + time_masks.0;
        let noise_chunks = used(changes.noise != 0.0, (shape.max_steps * dim).div_ceil(NOISE_CHUNK));
        let (labels, classes, is_weighted, last_only, values) = match targets {
            TargetSource::Classes { index, count, is_weighted, last_only } => {
                (index, count, is_weighted, last_only, &[][..])
            }
            TargetSource::Values(values) => (&[][..], 0, false, None, values),
        };
        let normalizer_stride = match normalizer {
            NormalizerKind::None => 0,
            NormalizerKind::PerFeature => dim,
            NormalizerKind::PerCoordinate { steps } => steps * dim,
        };
        let (is_mixed, is_soft) = (changes.mixup > 0.0, changes.smoothing > 0.0 || changes.mixup > 0.0);
        let shared = SharedMemory {
            softplus: device.upload(&softplus_table())?,
            axes: device.upload(&flat_axes(&changes.axes[..sensors]))?,
            axis_of: device.upload(&axis_of(&changes.axes[..sensors], dim))?,
            labels: device.upload(labels)?,
            values: device.upload(values)?,
        };
        let per_network = PerNetwork {
            networks: device.buffer(shape.networks)?,
            indices: (0..shape.networks).map(|_| device.buffer(0)).collect::<Result<_, _>>()?,
            order: device.buffer(shape.networks * shape.epoch_size)?,
            mean: device.buffer(shape.networks * normalizer_stride)?,
            scale: device.buffer(shape.networks * normalizer_stride)?,
            class_weights: device.buffer(used(is_weighted, shape.networks * classes))?,
        };
        let scratch = Scratch {
            plans: device.buffer(used(changes.has_draws(), rows))?,
            factors: device.buffer(rows * sensors)?,
            masks: device.buffer(rows * 2 * masks)?,
            noise_states: device.buffer(rows * noise_chunks)?,
            partners: device.buffer(used(is_mixed, rows))?,
            parts: device.buffer(used(is_mixed, rows))?,
            unmixed: device.buffer(used(is_mixed, inputs))?,
        };
        let batch = DeviceBatch {
            x: device.buffer(inputs)?,
            lengths: device.buffer(rows)?,
            targets: device.buffer(used(!labels.is_empty(), rows))?,
            target_values: device.buffer(used(!values.is_empty(), rows * shape.outputs))?,
            weights: device.buffer(rows)?,
            last_only: device.buffer(used(last_only.is_some(), rows))?,
            soft: device.buffer(used(is_soft && !labels.is_empty(), rows * shape.outputs))?,
        };
        let null = (Address::NULL, Address::NULL);
        let (background_values, background_offsets) =
            background.as_ref().map_or(null, |noise| (noise.values.address(), noise.offsets.address()));
        let shared_values = shape.networks > 1 && values.len() == data.len() * shape.outputs;
        let arguments = Arguments {
            data: data.values.address(),
            offsets: data.offsets.address(),
            background: background_values,
            background_offsets,
            softplus: shared.softplus.address(),
            labels: shared.labels.address(),
            values: shared.values.address(),
            class_weights: per_network.class_weights.address(),
            mean: per_network.mean.address(),
            scale: per_network.scale.address(),
            networks: per_network.networks.address(),
            order: per_network.order.address(),
            progress: progress.address(),
            axes: shared.axes.address(),
            axis_of: shared.axis_of.address(),
            plans: scratch.plans.address(),
            factors: scratch.factors.address(),
            masks: scratch.masks.address(),
            noise_states: scratch.noise_states.address(),
            partners: scratch.partners.address(),
            parts: scratch.parts.address(),
            x: if is_mixed { scratch.unmixed.address() } else { batch.x.address() },
            lengths: batch.lengths.address(),
            targets: batch.targets.address(),
            target_values: batch.target_values.address(),
            weights: batch.weights.address(),
            last_only: batch.last_only.address(),
            soft: batch.soft.address(),
            mixed: if is_mixed { batch.x.address() } else { Address::NULL },
            order_stride: shape.epoch_size as u64,
            values_stride: if shared_values { 0 } else { (data.len() * shape.outputs) as u64 },
            mixup: changes.mixup,
            slots: number(shape.slots),
            max_steps: number(shape.max_steps),
            dim: number(dim),
            outputs: number(shape.outputs),
            classes: number(classes),
            normalizer_stride: number(normalizer_stride),
            is_per_coordinate: u32::from(matches!(normalizer, NormalizerKind::PerCoordinate { .. })),
            last_only_class: last_only.unwrap_or(NO_CLASS),
            smoothing: changes.smoothing,
            epochs: number(shape.epochs),
            recordings: number(background.as_ref().map_or(0, |noise| noise.len())),
            sensors: number(sensors),
            noise_chunks: number(noise_chunks),
            rotate: changes.rotate,
            amplitude: changes.amplitude,
            noise: changes.noise,
            shift: number(changes.shift),
            has_gap_value: u32::from(changes.gap.is_some()),
            gap_value: changes.gap.unwrap_or(0.0),
            crop: changes.crop,
            pixels: number(changes.pixels),
            height: number(changes.image.0),
            width: number(changes.image.1),
            gain: changes.gain,
            background_share: changes.background,
            ratio_low: changes.ratio.0,
            ratio_high: changes.ratio.1,
            floor: changes.floor,
            lead_in: number(changes.lead_in),
            frequency_masks: number(frequency_masks.0),
            frequency_width: number(frequency_masks.1),
            time_masks: number(time_masks.0),
            time_width: number(time_masks.1),
            unused: 0,
        };
        let kernels = Kernels {
            draw_plans: device.kernel("draw_plans")?,
            assemble: device.kernel("assemble")?,
            draw_partners: device.kernel("draw_partners")?,
            mix_sequences: device.kernel("mix_sequences")?,
        };
        let nothing = NetworkArguments {
            seed: 0,
            indices: Address::NULL,
            index_count: 0,
            pass: 0,
            epoch: 0,
            epoch_size: 0,
            batches: 0,
            unused: 0,
        };
        Ok(Self {
            shape,
            arguments,
            kernels,
            batch,
            per_network,
            networks: vec![nothing; shape.networks],
            shared,
            _scratch: scratch,
            _data: data,
            _background: background,
        })
    }

    /// Gives a network its seed, its training part, and what was learnt from that.
    ///
    /// # Panics
    /// If means, scales or weights are not as many as the cohort was made for.
    pub fn set_network(
        &mut self,
        device: &Device,
        network: usize,
        data: &NetworkData<'_>,
    ) -> Result<(), CudaError> {
        let stride = self.arguments.normalizer_stride as usize;
        assert_eq!((data.mean.len(), data.scale.len()), (stride, stride), "means and scales");
        self.per_network.mean.write(network * stride, data.mean)?;
        self.per_network.scale.write(network * stride, data.scale)?;
        let classes = self.per_network.class_weights.len() / self.shape.networks;
        assert_eq!(data.class_weights.len(), classes, "weights of classes");
        self.per_network.class_weights.write(network * classes, data.class_weights)?;
        if self.arguments.lead_in != 0 {
            self.per_network.indices[network] = device.upload(data.indices)?;
        }
        let values = &mut self.networks[network];
        (values.seed, values.pass, values.batches) = (data.seed, data.pass, number(data.batches));
        values.indices = self.per_network.indices[network].address();
        values.index_count = number(self.per_network.indices[network].len());
        self.write_network(network)
    }

    /// Gives a network target values of its own.
    ///
    /// # Panics
    /// If the cohort was made with classes or with values that all networks share.
    pub fn set_values(&mut self, network: usize, values: &[f32]) -> Result<(), CudaError> {
        let stride = self.arguments.values_stride as usize;
        assert!(stride > 0 && values.len() == stride, "{} target values", values.len());
        self.shared.values.write(network * stride, values)
    }

    /// Begins an epoch of a network, with its sequences in their order.
    ///
    /// # Panics
    /// If a batch is larger than the slots, or the epoch is longer than the cohort was made for.
    pub fn set_epoch(&mut self, network: usize, epoch: u32, order: &[Sample]) -> Result<(), CudaError> {
        assert!(order.len() <= self.shape.epoch_size, "{} sequences in an epoch", order.len());
        self.per_network.order.write(network * self.shape.epoch_size, order)?;
        let values = &mut self.networks[network];
        (values.epoch, values.epoch_size) = (epoch, number(order.len()));
        let largest = order.len().div_ceil(values.batches.max(1) as usize);
        assert!(largest <= self.shape.slots, "a batch of {largest} sequences");
        self.write_network(network)
    }

    fn write_network(&mut self, network: usize) -> Result<(), CudaError> {
        self.per_network.networks.write(network, &self.networks[network..=network])
    }

    /// Launches the kernels that make the current batch of every network.
    pub fn launch(&self, device: &Device) -> Result<(), CudaError> {
        let (slots, networks) = (self.arguments.slots, number(self.shape.networks));
        let (kernels, args) = (&self.kernels, &self.arguments);
        if !args.plans.is_null() {
            let grid = [slots.div_ceil(PLAN_THREADS), networks, 1];
            device.launch(&kernels.draw_plans, grid, PLAN_THREADS, 0, args)?;
        }
        let shared = ASSEMBLE_MEMORY + if args.noise != 0.0 { NOISE_MEMORY } else { 0 };
        device.launch(&kernels.assemble, [slots, networks, 1], ASSEMBLE_THREADS, shared, args)?;
        if !args.partners.is_null() {
            let bytes = mixup_bytes(self.shape.slots);
            device.launch(&kernels.draw_partners, [networks, 1, 1], PARTNER_THREADS, bytes, args)?;
            device.launch(&kernels.mix_sequences, [slots, networks, 1], ASSEMBLE_THREADS, 0, args)?;
        }
        Ok(())
    }

    /// The batch that the last launch made.
    pub fn batch(&self) -> &DeviceBatch {
        &self.batch
    }
}

/// The bytes of block memory that mixup of batches of as many sequences needs; nothing if it is never enough.
pub fn mixup_bytes(slots: usize) -> usize {
    if slots > MOST_MIXED { usize::MAX } else { 16 * PARTNER_DRAWS + 20 * slots + 8 }
}

fn check(
    data: &DeviceSequences,
    background: Option<&DeviceSequences>,
    targets: &TargetSource<'_>,
    shape: &BatchShape,
    changes: &Changes,
) {
    let dim = data.dim();
    assert!(shape.max_steps >= data.max_steps() + changes.lead_in, "the longest sequence does not fit");
    assert!(background.is_none_or(|noise| noise.dim() == dim), "background noise of other features");
    assert!(
        changes.background == 0.0 || background.is_some_and(|noise| !noise.is_empty()),
        "no background noise"
    );
    assert!(changes.shift.max(changes.pixels) < 1 << 30, "a shift is too far");
    assert!(changes.pixels == 0 || changes.image.1 > 0, "an image without pixels");
    assert!(!changes.has_shared_columns(), "sensors share columns");
    assert!(
        changes.axes.iter().flatten().all(|&column| column < dim),
        "a sensor has a column that is not there"
    );
    assert!(changes.frequency_masks.1 <= dim, "masks are wider than a step");
    assert!(changes.mixup == 0.0 || shape.slots <= MOST_MIXED, "mixup of more than {MOST_MIXED} sequences");
    match targets {
        TargetSource::Classes { index, count, .. } => {
            assert_eq!(index.len(), data.len(), "a class for each sequence");
            assert!(index.iter().all(|&class| (class as usize) < *count), "a class that is not there");
        }
        TargetSource::Values(values) => {
            let one = data.len() * shape.outputs;
            assert!(values.len() == one || values.len() == shape.networks * one, "values for each sequence");
            assert!(changes.mixup == 0.0, "mixup is for classes");
        }
    }
}

/// ln(1 + e^-x) from 0 to 12 in steps of 1/64.
fn softplus_table() -> Vec<f32> {
    (0..12 * 64 + 2).map(|i| (-f64::from(i) / 64.0).exp().ln_1p() as f32).collect()
}

fn flat_axes(axes: &[[usize; 3]]) -> Vec<u32> {
    axes.iter().flatten().map(|&column| number(column)).collect()
}

/// For each column 3 times its sensor plus its axis, or -1; empty without sensors.
fn axis_of(axes: &[[usize; 3]], dim: usize) -> Vec<i32> {
    if axes.is_empty() {
        return Vec::new();
    }
    let mut of = vec![-1; dim];
    for (place, &column) in axes.iter().flatten().enumerate() {
        of[column] = place as i32;
    }
    of
}
