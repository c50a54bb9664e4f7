//! How many bits an entry of a matrix has on a device.

use serde::{Deserialize, Serialize};

/// Bits of a matrix entry on a device; 8 or 4 in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum WeightBits {
    /// A byte, which stands on a grid of a power of two.
    #[default]
    Eight,
    /// −8 to 7 times a step of any size, which is a parameter of the network.
    Four,
}

impl WeightBits {
    /// The largest number of an entry of 4 bits; the smallest is one further from 0.
    pub const LARGEST_OF_FOUR: f32 = 7.0;

    /// Whether it is what a file may leave out.
    pub(crate) fn is_eight(&self) -> bool {
        *self == Self::Eight
    }

    /// The number.
    pub fn count(self) -> u8 {
        match self {
            Self::Eight => 8,
            Self::Four => 4,
        }
    }

    /// The logarithm of the step from which entries of 4 bits with these values start: a step that is too
    /// large at first loses less than one that is too small.
    pub fn first_log_step(values: &[f32]) -> f32 {
        let mean = values.iter().map(|v| f64::from(v.abs())).sum::<f64>() / values.len().max(1) as f64;
        (2.0 * mean / f64::from(Self::LARGEST_OF_FOUR).sqrt()).max(LEAST_STEP).ln() as f32
    }
}

/// The smallest step of a matrix, for one whose entries are all 0.
const LEAST_STEP: f64 = 1e-6;

impl From<WeightBits> for u8 {
    fn from(bits: WeightBits) -> Self {
        bits.count()
    }
}

impl TryFrom<u8> for WeightBits {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        match count {
            8 => Ok(Self::Eight),
            4 => Ok(Self::Four),
            _ => Err(format!("a matrix entry of {count} bits; it has 8 or 4")),
        }
    }
}
