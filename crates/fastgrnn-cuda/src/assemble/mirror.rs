//! The structs that the kernels of batches read.

use super::Sample;
use crate::driver::{Address, Plain};
use crate::params::Progress;

/// `AssembleNetwork` of kernels/assemble.cuh.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NetworkArguments {
    pub(super) seed: u64,
    pub(super) indices: Address<u32>,
    pub(super) index_count: u32,
    pub(super) pass: u32,
    pub(super) epoch: u32,
    pub(super) epoch_size: u32,
    pub(super) batches: u32,
    pub(super) unused: u32,
}

// SAFETY: numbers and addresses of device memory, without bytes between them.
unsafe impl Plain for NetworkArguments {}

/// `Rng` and `SequencePlan` of the kernels, which the host does not look into.
pub(super) type Rng = [u64; 4];
pub(super) type SequencePlan = [u32; 28];

/// `AssembleArguments` of kernels/assemble.cuh.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    pub(super) data: Address<f32>,
    pub(super) offsets: Address<u32>,
    pub(super) background: Address<f32>,
    pub(super) background_offsets: Address<u32>,
    pub(super) softplus: Address<f32>,
    pub(super) labels: Address<u32>,
    pub(super) values: Address<f32>,
    pub(super) class_weights: Address<f32>,
    pub(super) mean: Address<f32>,
    pub(super) scale: Address<f32>,
    pub(super) networks: Address<NetworkArguments>,
    pub(super) order: Address<Sample>,
    pub(super) progress: Address<Progress>,
    pub(super) axes: Address<u32>,
    pub(super) axis_of: Address<i32>,

    pub(super) plans: Address<SequencePlan>,
    pub(super) factors: Address<f32>,
    pub(super) masks: Address<u32>,
    pub(super) noise_states: Address<Rng>,
    pub(super) partners: Address<u32>,
    pub(super) parts: Address<f32>,

    pub(super) x: Address<f32>,
    pub(super) lengths: Address<u32>,
    pub(super) targets: Address<u32>,
    pub(super) target_values: Address<f32>,
    pub(super) weights: Address<f32>,
    pub(super) last_only: Address<u32>,
    pub(super) soft: Address<f32>,
    pub(super) mixed: Address<f32>,

    pub(super) order_stride: u64,
    pub(super) values_stride: u64,
    pub(super) mixup: f64,
    pub(super) slots: u32,
    pub(super) max_steps: u32,
    pub(super) dim: u32,
    pub(super) outputs: u32,
    pub(super) classes: u32,
    pub(super) normalizer_stride: u32,
    pub(super) is_per_coordinate: u32,
    pub(super) last_only_class: u32,
    pub(super) smoothing: f32,
    pub(super) epochs: u32,
    pub(super) recordings: u32,
    pub(super) sensors: u32,
    pub(super) noise_chunks: u32,

    pub(super) rotate: f32,
    pub(super) amplitude: f32,
    pub(super) noise: f32,
    pub(super) shift: u32,
    pub(super) has_gap_value: u32,
    pub(super) gap_value: f32,
    pub(super) crop: f32,
    pub(super) pixels: u32,
    pub(super) height: u32,
    pub(super) width: u32,
    pub(super) gain: f32,
    pub(super) background_share: f32,
    pub(super) ratio_low: f32,
    pub(super) ratio_high: f32,
    pub(super) floor: f32,
    pub(super) lead_in: u32,
    pub(super) frequency_masks: u32,
    pub(super) frequency_width: u32,
    pub(super) time_masks: u32,
    pub(super) time_width: u32,
    pub(super) unused: u32,
}

// SAFETY: numbers and addresses of device memory, without bytes between them.
unsafe impl Plain for Arguments {}

const _: () = assert!(
    size_of::<NetworkArguments>() == 40 && size_of::<SequencePlan>() == 112 && size_of::<Arguments>() == 392
);
