//! The nonlinearities: sums with `F_a` fraction bits to values with 15 (unbounded ones: 11).

use super::arithmetic::{ONE, rounded, saturated};
use super::bytes::Words;
use crate::Nonlinearity;

/// Entries of the table that `sigmoid` and `tanh` share.
pub const TABLE_LEN: usize = 65;

/// A nonlinearity at a scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve<'a> {
    pub(super) function: Nonlinearity,
    /// Fraction bits of its argument.
    pub(super) bits: u32,
    /// The image's table; empty if no layer needs it.
    pub(super) table: Words<'a>,
}

impl Curve<'_> {
    /// Fraction bits of the value.
    pub(super) fn value_bits(&self) -> u32 {
        self.function.value_bits()
    }

    /// The value at `t`, and whether an unbounded function was cut.
    #[inline(always)]
    pub(super) fn at(&self, t: i32) -> (i32, bool) {
        let bits = self.bits;
        let value = match self.function {
            Nonlinearity::QuantTanh => t.clamp(-(1 << bits), 1 << bits) << (15 - bits),
            Nonlinearity::QuantSigm => (t + (1 << bits)).clamp(0, 2 << bits) << (14 - bits),
            Nonlinearity::QuantSigm4 => (t + (2 << bits)).clamp(0, 4 << bits) << (13 - bits),
            Nonlinearity::Relu => return self.relu(t),
            Nonlinearity::Identity => return self.identity(t),
            Nonlinearity::Tanh => {
                let value = self.look_up(2 * t.abs().min(8 << bits));
                if t < 0 { -value } else { value }
            }
            Nonlinearity::Sigmoid => {
                let value = rounded(self.look_up(t.abs().min(8 << bits)), 1);
                ONE / 2 + if t < 0 { -value } else { value }
            }
        };
        (value, false)
    }

    fn relu(&self, t: i32) -> (i32, bool) {
        let bits = self.bits;
        let most = 16 << bits;
        let value = self.with_11_bits(t.clamp(0, most));
        (value.min(i32::from(i16::MAX)), t > most || value > i32::from(i16::MAX))
    }

    fn identity(&self, t: i32) -> (i32, bool) {
        let most = 32 << self.bits;
        let (value, overflowed) = saturated(self.with_11_bits(t.clamp(-most, most)));
        (i32::from(value), overflowed)
    }

    fn with_11_bits(&self, u: i32) -> i32 {
        if self.bits >= 11 { rounded(u, self.bits - 11) } else { u << (11 - self.bits) }
    }

    /// `(sigmoid(u) − 1/2)` with 16 fraction bits, for u ≥ 0.
    fn look_up(&self, u: i32) -> i32 {
        let width = self.bits - 3;
        let i = (u >> width) as usize;
        if i >= TABLE_LEN - 1 {
            return i32::from(self.table.u16(TABLE_LEN - 1));
        }
        let (low, high) = (i32::from(self.table.u16(i)), i32::from(self.table.u16(i + 1)));
        low + rounded((high - low) * (u & ((1 << width) - 1)), width)
    }
}
