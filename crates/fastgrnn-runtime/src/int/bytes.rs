//! Reading little-endian numbers from a borrowed image, never past its end.

use super::ImageError;

/// What is left of an image.
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    extended: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest, extended: false }
    }

    /// From here on, fields are those of version 3.
    pub(super) fn extend(&mut self) {
        self.extended = true;
    }

    /// Whether fields are those of version 3.
    pub(super) fn is_extended(&self) -> bool {
        self.extended
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], ImageError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(ImageError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, ImageError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, ImageError> {
        let b = self.take(2)?;
        Ok(u16::from_le_bytes([b[0], b[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, ImageError> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// `len` 16-bit numbers.
    pub(super) fn words(&mut self, len: usize) -> Result<Words<'a>, ImageError> {
        let bytes = self.take(len.checked_mul(2).ok_or(ImageError::Truncated)?)?;
        Ok(Words { bytes })
    }
}

/// 16-bit numbers in an image, at any alignment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    pub(super) const EMPTY: Self = Self { bytes: &[] };

    pub(super) fn len(&self) -> usize {
        self.bytes.len() / 2
    }

    #[inline(always)]
    pub(super) fn u16(&self, i: usize) -> u16 {
        u16::from_le_bytes([self.bytes[2 * i], self.bytes[2 * i + 1]])
    }

    #[inline(always)]
    pub(super) fn i16(&self, i: usize) -> i16 {
        self.u16(i) as i16
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + 'a {
        self.bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }
}
