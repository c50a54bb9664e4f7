//! Biases of one or two bytes each (section 3).

use super::ImageError;
use super::bytes::Bytes;

/// Biases in an image with their shift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Biases<'a> {
    bytes: &'a [u8],
    width: BiasBytes,
    shift: u32,
}

/// Bytes of a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BiasBytes {
    One,
    Two,
}

impl BiasBytes {
    /// Reads what an image says of its biases; versions before 3 say nothing and have two bytes.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Self, ImageError> {
        if !bytes.is_extended() {
            return Ok(Self::Two);
        }
        match bytes.u8()? {
            1 => Ok(Self::One),
            2 => Ok(Self::Two),
            code => {
                Err(ImageError::Range { what: "bytes of a bias", value: u32::from(code), least: 1, most: 2 })
            }
        }
    }

    fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Bits but the sign: a bias is at most 2 to this power.
    pub(super) fn size_bits(self) -> u32 {
        8 * self.count() as u32 - 1
    }
}

impl<'a> Biases<'a> {
    pub(super) const EMPTY: Self = Self { bytes: &[], width: BiasBytes::Two, shift: 0 };

    pub(super) fn read(
        bytes: &mut Bytes<'a>,
        len: usize,
        width: BiasBytes,
        shift: u32,
    ) -> Result<Self, ImageError> {
        let size = len.checked_mul(width.count()).ok_or(ImageError::Truncated)?;
        Ok(Self { bytes: bytes.take(size)?, width, shift })
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.width.count()
    }

    /// Bytes that they take.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The largest size of a bias, its shift applied.
    pub(super) fn largest(&self) -> u64 {
        1 << (self.width.size_bits() + self.shift)
    }

    /// Bias `i`, its shift applied.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> i32 {
        let bias = match self.width {
            BiasBytes::One => i32::from(self.bytes[i] as i8),
            BiasBytes::Two => i32::from(i16::from_le_bytes([self.bytes[2 * i], self.bytes[2 * i + 1]])),
        };
        bias << self.shift
    }
}
