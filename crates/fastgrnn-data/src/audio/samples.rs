//! One channel of samples, and the limits that every decoder keeps.

use super::error::AudioError;

/// Samples a recording may have, mixed down: 4.6 hours at 16 kHz, 1 GiB of memory.
pub const MAX_SAMPLES: usize = 1 << 28;

/// The largest file that is opened, in bytes.
pub const MAX_BYTES: u64 = 4 << 30;

/// Rates that make sense for sound, in samples a second.
const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;

/// One channel of sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    /// Samples a second.
    pub rate: u32,
    /// The samples, on the scale of 16-bit integers: full scale is 32,768.
    pub samples: Vec<f32>,
}

impl Audio {
    /// The samples as 16-bit integers: rounded, and held at the ends of the range.
    pub fn to_i16(&self) -> Vec<i16> {
        self.samples.iter().map(|sample| sample.round() as i16).collect()
    }

    /// How long it lasts, in seconds.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate)
    }
}

/// Refuses a rate that no recording has.
pub(super) fn checked_rate(name: &str, rate: u32) -> Result<u32, AudioError> {
    if !RATES.contains(&rate) {
        return Err(AudioError::Rate { file: name.into(), rate });
    }
    Ok(rate)
}

/// The error for a recording with more than [`MAX_SAMPLES`].
pub(super) fn too_long(name: &str) -> AudioError {
    AudioError::TooLong { file: name.into(), limit: format!("{MAX_SAMPLES} samples") }
}
