//! What batches are made of and how they are changed.

use crate::driver::{Buffer, CudaError, Device, Plain};
use std::rc::Rc;

/// Values that are uploaded at a time.
const UPLOAD: usize = 1 << 20;

/// Sequences in the memory of a device, end to end.
pub struct DeviceSequences {
    pub(super) values: Buffer<f32>,
    /// The step at which each sequence begins, and after the last one the end.
    pub(super) offsets: Buffer<u32>,
    dim: usize,
    max_steps: usize,
}

impl DeviceSequences {
    /// Uploads sequences of `dim` features a step.
    ///
    /// # Panics
    /// If there are 2^32 steps or more.
    pub fn upload<'a>(
        device: &Device,
        dim: usize,
        sequences: impl Iterator<Item = &'a [f32]> + Clone,
    ) -> Result<Self, CudaError> {
        let (mut offsets, mut end, mut max_steps) = (vec![0], 0, 0);
        for sequence in sequences.clone() {
            let steps = sequence.len() / dim;
            end += steps;
            max_steps = max_steps.max(steps);
            offsets.push(number(end));
        }
        let mut values = device.buffer(end * dim)?;
        let (mut at, mut part) = (0, Vec::new());
        for sequence in sequences {
            part.extend_from_slice(&sequence[..sequence.len() / dim * dim]);
            if part.len() >= UPLOAD {
                values.write(at, &part)?;
                at += part.len();
                part.clear();
            }
        }
        values.write(at, &part)?;
        Ok(Self { values, offsets: device.upload(&offsets)?, dim, max_steps })
    }

    /// The number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Features a step.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Steps of the longest sequence.
    pub fn max_steps(&self) -> usize {
        self.max_steps
    }
}

/// Random changes of the sequences, with the meaning that `Augment`, `Spectral` and the training settings of the CPU
/// give them. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Deviation, in radians, of the angle of the rotation of all sensors.
    pub rotate: f32,
    /// Deviation of the amplitude factor of each sensor.
    pub amplitude: f32,
    /// The three columns of each sensor; no column may occur twice (see [`Changes::has_shared_columns`]).
    pub axes: Vec<[usize; 3]>,
    /// Deviation of the noise added to every input.
    pub noise: f32,
    /// The most steps to move a sequence in time.
    pub shift: usize,
    /// What fills the gap of a shift; the step at the edge without it.
    pub gap: Option<f32>,
    /// The least fraction that a crop keeps; 0 or 1 keeps all.
    pub crop: f32,
    /// The most pixels to move an image; 0 for sequences that are no images.
    pub pixels: usize,
    /// Height and width of the image.
    pub image: (usize, usize),
    /// The most that the level is raised or lowered, in nats.
    pub gain: f32,
    /// Share of the sequences that background noise is mixed into; 0 without recordings of it.
    pub background: f32,
    /// Least and largest signal-to-noise ratio of that, in dB.
    pub ratio: (f32, f32),
    /// The least value of a log-mel feature.
    pub floor: f32,
    /// The most frames of other training sequences that come before a sequence.
    pub lead_in: usize,
    /// Bands of filters that are hidden, and the most filters of each.
    pub frequency_masks: (usize, usize),
    /// Stretches of frames that are hidden, and the most frames of each.
    pub time_masks: (usize, usize),
    /// Share of the target that is divided among all classes.
    pub smoothing: f32,
    /// The parameter of the beta distribution of mixup; 0 mixes nothing. Sequences must be of one length, and their
    /// targets classes.
    pub mixup: f64,
}

impl Changes {
    /// Whether a column belongs to two sensors, which the kernels cannot rotate one after the other.
    pub fn has_shared_columns(&self) -> bool {
        let mut columns: Vec<usize> = self.axes.iter().flatten().copied().collect();
        columns.sort_unstable();
        columns.windows(2).any(|pair| pair[0] == pair[1])
    }

    pub(super) fn has_masks(&self) -> bool {
        self.frequency_masks.0 * self.frequency_masks.1 + self.time_masks.0 * self.time_masks.1 > 0
    }

    fn is_cropped(&self) -> bool {
        self.crop > 0.0 && self.crop < 1.0
    }

    /// Whether sequences are changed by random draws of their own.
    pub(super) fn has_draws(&self) -> bool {
        self.rotate != 0.0
            || self.amplitude != 0.0
            || self.noise != 0.0
            || self.shift != 0
            || self.is_cropped()
            || self.pixels != 0
            || self.gain != 0.0
            || self.background != 0.0
            || self.lead_in != 0
            || self.has_masks()
    }
}

/// The sizes of a cohort's batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    /// Networks of the cohort.
    pub networks: usize,
    /// Sequences of the largest batch.
    pub slots: usize,
    /// Steps of the longest sequence, lead-in and all.
    pub max_steps: usize,
    /// The networks' outputs.
    pub outputs: usize,
    /// Sequences of the longest epoch of a network.
    pub epoch_size: usize,
    /// Epochs of the run, over the first half of which lead-ins grow.
    pub epochs: usize,
}

/// What the networks should say about the sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TargetSource<'a> {
    /// A class for each sequence.
    Classes {
        /// The class of each sequence.
        index: &'a [u32],
        /// The number of classes.
        count: usize,
        /// Whether classes have weights.
        is_weighted: bool,
        /// The class whose sequences count at their last step alone.
        last_only: Option<u32>,
    },
    /// `outputs` numbers for each sequence, in the networks' units; either the same for all networks, or those of one
    /// network after the other.
    Values(&'a [f32]),
}

/// How inputs are normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalizerKind {
    /// Not at all.
    None,
    /// By a mean and a scale for each feature.
    PerFeature,
    /// By a mean and a scale for each feature of each step, of sequences that all have this many steps.
    PerCoordinate {
        /// The steps.
        steps: usize,
    },
}

/// What a network of a cohort has of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkData<'a> {
    /// The seed of its random draws.
    pub seed: u64,
    /// The number of the pass.
    pub pass: u32,
    /// The sequences of its training part.
    pub indices: &'a [u32],
    /// Batches of an epoch.
    pub batches: usize,
    /// Means of the inputs, as many as the kind of normaliser needs.
    pub mean: &'a [f32],
    /// What inputs are multiplied by after the subtraction.
    pub scale: &'a [f32],
    /// Weight of each class; empty where classes have none.
    pub class_weights: &'a [f32],
}

/// What the batches of a cohort are made from.
pub struct DataSource<'a> {
    /// The sequences of the data set.
    pub sequences: Rc<DeviceSequences>,
    /// Recordings of noise.
    pub background: Option<Rc<DeviceSequences>>,
    /// The targets of the sequences.
    pub targets: TargetSource<'a>,
    /// How inputs are normalised.
    pub normalizer: NormalizerKind,
}

/// A sequence of an epoch, and how often this epoch has used it before.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of the sequence in the data set.
    pub index: u32,
    /// Its earlier uses.
    pub repeat: u32,
}

// SAFETY: two numbers.
unsafe impl Plain for Sample {}

/// A number as the kernels take it.
pub(super) fn number(value: usize) -> u32 {
    u32::try_from(value).expect("sizes are below 2^32")
}
