//! The nonlinearities on vectors (section 4 of the document), and the two rules all else is made of.

use crate::simd::int::{IntSimd, Table};
use fastgrnn_runtime::int::Nonlinearity;

/// 1 with 15 fraction bits.
pub(super) const ONE: i32 = 1 << 15;

/// A nonlinearity at a scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) function: Nonlinearity,
    /// Fraction bits of its argument.
    pub(super) bits: u32,
}

/// `R(v, shift)` with its constants in vectors.
#[derive(Clone, Copy)]
pub(super) struct Rounding<S: IntSimd> {
    half: S::V,
    shift: S::V,
}

impl<S: IntSimd> Rounding<S> {
    #[inline(always)]
    pub(super) fn new(s: S, shift: u32) -> Self {
        Self { half: s.splat((1 << shift) >> 1), shift: s.splat(shift as i32) }
    }

    #[inline(always)]
    pub(super) fn of(self, s: S, v: S::V) -> S::V {
        s.shr(s.add(v, self.half), self.shift)
    }
}

/// `S(v)`; lanes that it changes are counted.
#[inline(always)]
pub(super) fn saturated<S: IntSimd>(s: S, v: S::V, cut: &mut S::V) -> S::V {
    let within = s.min(s.max(v, s.splat(i16::MIN.into())), s.splat(i16::MAX.into()));
    *cut = s.count(*cut, within, v);
    within
}

impl Curve {
    /// Fraction bits of values.
    pub(super) fn value_bits(&self) -> u32 {
        if self.function == Nonlinearity::Relu { 11 } else { 15 }
    }

    /// Replaces arguments by values; lanes where a `relu` is cut are counted.
    #[inline(always)]
    pub(super) fn apply<S: IntSimd>(self, s: S, table: &Table, values: &mut [S::V], cut: &mut S::V) {
        let bits = self.bits;
        match self.function {
            Nonlinearity::QuantTanh => linear(s, values, 0, -(1 << bits), 1 << bits, 15 - bits),
            Nonlinearity::QuantSigm => linear(s, values, 1 << bits, 0, 2 << bits, 14 - bits),
            Nonlinearity::QuantSigm4 => linear(s, values, 2 << bits, 0, 4 << bits, 13 - bits),
            Nonlinearity::Relu => {
                let (zero, most) = (s.splat(0), s.splat(16 << bits));
                let (up, down) =
                    (s.splat(11u32.saturating_sub(bits) as i32), Rounding::new(s, bits.saturating_sub(11)));
                let largest = s.splat(i16::MAX.into());
                for v in values {
                    let value = down.of(s, s.shl(s.min(s.max(*v, zero), most), up));
                    // Arguments beyond `most` give 2^15, which is cut as well.
                    *v = s.min(value, largest);
                    *cut = s.count(*cut, *v, value);
                }
            }
            Nonlinearity::Tanh => {
                let smooth = Smooth::new(s, bits);
                let (most, zero) = (s.splat(4 << bits), s.splat(0));
                for v in values {
                    let u = s.min(s.max(*v, s.sub(zero, *v)), most);
                    let value = smooth.at(s, table, s.add(u, u));
                    *v = with_sign(s, value, *v);
                }
            }
            Nonlinearity::Sigmoid => {
                let smooth = Smooth::new(s, bits);
                let (most, zero, middle) = (s.splat(8 << bits), s.splat(0), s.splat(ONE / 2));
                let halved = Rounding::new(s, 1);
                for v in values {
                    let u = s.min(s.max(*v, s.sub(zero, *v)), most);
                    let value = halved.of(s, smooth.at(s, table, u));
                    *v = s.add(middle, with_sign(s, value, *v));
                }
            }
        }
    }
}

/// `clip(v + shifted, low, high) · 2^up`
#[inline(always)]
fn linear<S: IntSimd>(s: S, values: &mut [S::V], shifted: i32, low: i32, high: i32, up: u32) {
    let (shifted, low, high, up) = (s.splat(shifted), s.splat(low), s.splat(high), s.splat(up as i32));
    for v in values {
        *v = s.shl(s.min(s.max(s.add(*v, shifted), low), high), up);
    }
}

/// `value`, or `−value` where `sign` is negative.
#[inline(always)]
fn with_sign<S: IntSimd>(s: S, value: S::V, sign: S::V) -> S::V {
    let negative = s.shr(sign, s.splat(31));
    s.sub(s.xor(value, negative), negative)
}

/// `L(u)` for `u` from 0 to `64 · 2^width`.
#[derive(Clone, Copy)]
struct Smooth<S: IntSimd> {
    width: S::V,
    round: Rounding<S>,
    last: S::V,
}

impl<S: IntSimd> Smooth<S> {
    #[inline(always)]
    fn new(s: S, bits: u32) -> Self {
        let width = bits - 3;
        Self { width: s.splat(width as i32), round: Rounding::new(s, width), last: s.splat(63) }
    }

    /// The largest argument is the end of the last step, whose value interpolation gives exactly.
    #[inline(always)]
    fn at(self, s: S, table: &Table, u: S::V) -> S::V {
        let i = s.min(s.shr(u, self.width), self.last);
        let (low, rise) = s.look_up(table, i);
        let within = s.sub(u, s.shl(i, self.width));
        s.add(low, self.round.of(s, s.mul(rise, within)))
    }
}
