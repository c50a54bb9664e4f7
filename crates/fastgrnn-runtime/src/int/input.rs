//! What a step reads: counts of sensors, or the number of a token (section 1).

use super::arithmetic::{rounded, saturated};
use super::bytes::{Bytes, Words};
use super::{ImageError, Matrix, at_most};

/// Bits of an input's factor; those above say how much more it is shifted, in steps of four.
const FACTOR_BITS: u32 = 14;
/// The longest shift of an input.
const MOST_SHIFT: u32 = 30;
/// The longest shift of a token's vector: a byte then takes 16 bits.
const MOST_TOKEN_SHIFT: u32 = 8;

/// How the first layer's input is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    /// From one count for each feature.
    Counts(Counts<'a>),
    /// From the number of a token.
    Tokens(Tokens<'a>),
}

/// The normalisation of counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts<'a> {
    shift: u32,
    offset_shift: u32,
    offsets: Words<'a>,
    factors: Words<'a>,
}

/// The vectors of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    shift: u32,
    /// A row for each token.
    pub(super) table: Matrix<'a>,
    /// Whether the table is also the matrix of the head.
    pub(super) tied: bool,
}

impl<'a> Counts<'a> {
    pub(super) fn read(bytes: &mut Bytes<'a>, features: usize) -> Result<Self, ImageError> {
        let shift = at_most("shift of the input", bytes.u8()?, MOST_SHIFT)?;
        let offset_shift = at_most("shift of the input's offsets", bytes.u8()?, 14)?;
        let offsets = bytes.words(features)?;
        let factors = bytes.words(features)?;
        if let Some(value) = factors.iter().map(|f| shift + extra_shift(f)).find(|&s| s > MOST_SHIFT) {
            return Err(ImageError::Range { what: "shift of an input", value, least: 0, most: MOST_SHIFT });
        }
        Ok(Self { shift, offset_shift, offsets, factors })
    }

    /// Offset (its shift applied), factor and shift of input `d`.
    #[inline(always)]
    pub(super) fn scale(&self, d: usize) -> (i32, i32, u32) {
        let offset = i32::from(self.offsets.i16(d)) << self.offset_shift;
        let word = self.factors.u16(d);
        let factor = i32::from(word & ((1 << FACTOR_BITS) - 1));
        (offset, factor, self.shift + extra_shift(word))
    }

    #[inline(always)]
    fn normalized(&self, d: usize, count: i16) -> (i16, bool) {
        let (offset, factor, shift) = self.scale(d);
        saturated(rounded(i32::from(count) * factor - offset, shift))
    }
}

impl<'a> Tokens<'a> {
    pub(super) fn read(bytes: &mut Bytes<'a>, width: usize) -> Result<Self, ImageError> {
        let shift = at_most("shift of the tokens' vectors", bytes.u8()?, MOST_TOKEN_SHIFT)?;
        let tied = match bytes.u8()? {
            flag @ (0 | 1) => flag == 1,
            code => return Err(ImageError::Code { what: "tied head", code }),
        };
        let tokens = usize::from(bytes.u16()?);
        if tokens == 0 {
            return Err(ImageError::Empty);
        }
        Ok(Self { shift, table: Matrix::read_dense(bytes, tokens, width)?, tied })
    }

    /// The vector of a token; that of token 0 for a number that no token has.
    fn vector(&self, token: u16) -> impl Iterator<Item = i16> + 'a {
        let token = usize::from(token);
        let row = if token < self.table.rows() { token } else { 0 };
        let shift = self.shift;
        self.table.dense_row(row).iter().map(move |&v| i16::from(v as i8) << shift)
    }
}

impl<'a> Input<'a> {
    /// Counts that a step reads.
    pub(super) fn counts(&self) -> usize {
        match self {
            Self::Counts(counts) => counts.offsets.len(),
            Self::Tokens(_) => 1,
        }
    }

    /// Numbers that the first layer reads.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Counts(counts) => counts.offsets.len(),
            Self::Tokens(tokens) => tokens.table.cols(),
        }
    }

    /// Writes the first layer's input and calls `cut` for each of its values that saturates. There are
    /// as many counts as a step reads.
    #[inline(always)]
    pub(super) fn write(&self, counts: &[i16], x: &mut [i16], mut cut: impl FnMut()) {
        match self {
            Self::Counts(own) => {
                for (d, (x, &count)) in x.iter_mut().zip(counts).enumerate() {
                    let is_cut;
                    (*x, is_cut) = own.normalized(d, count);
                    if is_cut {
                        cut();
                    }
                }
            }
            Self::Tokens(tokens) => {
                x.iter_mut().zip(tokens.vector(counts[0] as u16)).for_each(|(x, v)| *x = v);
            }
        }
    }
}

/// What the high bits of an input's factor add to the shift.
const fn extra_shift(word: u16) -> u32 {
    4 * (word >> FACTOR_BITS) as u32
}
