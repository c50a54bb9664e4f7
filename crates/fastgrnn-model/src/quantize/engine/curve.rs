//! The nonlinearities on vectors (section 4 of the document), and saturation.

use fastgrnn_engine::simd::int::{IntSimd, Rounding, Table};
use fastgrnn_runtime::Nonlinearity;

/// 1 with 15 fraction bits.
pub(super) const ONE: i32 = 1 << 15;

/// `S(v)`; lanes that it changes are counted.
#[inline(always)]
pub(super) fn saturated<S: IntSimd>(s: S, v: S::V, cut: &mut S::V) -> S::V {
    let within = s.min(s.max(v, s.splat(i16::MIN.into())), s.splat(i16::MAX.into()));
    *cut = s.count(*cut, within, v);
    within
}

/// What a nonlinearity adds to its argument before anything else.
pub(super) fn offset(function: Nonlinearity, bits: u32) -> i32 {
    match function {
        Nonlinearity::QuantSigm => 1 << bits,
        Nonlinearity::QuantSigm4 => 2 << bits,
        _ => 0,
    }
}

/// A nonlinearity at a scale, its constants in vectors.
#[derive(Clone, Copy)]
pub(super) enum Curve<'a, S: IntSimd> {
    /// `clip(t, low, high) · 2^up`
    Linear {
        low: S::V,
        high: S::V,
        up: S::V,
    },
    Sigmoid {
        most: S::V,
        steps: Steps<'a, S>,
        halved: Rounding<S>,
        middle: S::V,
    },
    Tanh {
        most: S::V,
        steps: Steps<'a, S>,
    },
    /// `min(32767, down(u · 2^up))`, u between 0 and `most`.
    Relu {
        most: S::V,
        up: S::V,
        down: Rounding<S>,
    },
    /// `S(down(u · 2^up))`, u between `−most` and `most`.
    Identity {
        most: S::V,
        up: S::V,
        down: Rounding<S>,
    },
}

impl<'a, S: IntSimd> Curve<'a, S> {
    /// `function` of arguments with `bits` fraction bits.
    #[inline(always)]
    pub(super) fn new(s: S, function: Nonlinearity, bits: u32, table: &'a Table) -> Self {
        let (low, high, up) = match function {
            Nonlinearity::QuantTanh => (-(1 << bits), 1 << bits, 15 - bits),
            Nonlinearity::QuantSigm => (0, 2 << bits, 14 - bits),
            Nonlinearity::QuantSigm4 => (0, 4 << bits, 13 - bits),
            Nonlinearity::Sigmoid => {
                let steps = Steps::new(s, bits - 3, table);
                let halved = Rounding::new(s, 1);
                return Self::Sigmoid { most: s.splat(8 << bits), steps, halved, middle: s.splat(ONE / 2) };
            }
            // Twice the argument is half the width of a step.
            Nonlinearity::Tanh => {
                return Self::Tanh { most: s.splat(4 << bits), steps: Steps::new(s, bits - 4, table) };
            }
            Nonlinearity::Relu => {
                let up = s.splat(11u32.saturating_sub(bits) as i32);
                let down = Rounding::new(s, bits.saturating_sub(11));
                return Self::Relu { most: s.splat(16 << bits), up, down };
            }
            Nonlinearity::Identity => {
                let up = s.splat(11u32.saturating_sub(bits) as i32);
                let down = Rounding::new(s, bits.saturating_sub(11));
                return Self::Identity { most: s.splat(32 << bits), up, down };
            }
        };
        Self::Linear { low: s.splat(low), high: s.splat(high), up: s.splat(up as i32) }
    }

    /// The value at `t`, to which the function's [`offset`] has been added; lanes where an
    /// unbounded function is cut are counted.
    #[inline(always)]
    pub(super) fn at(&self, s: S, t: S::V, cut: &mut S::V) -> S::V {
        match *self {
            Self::Linear { low, high, up } => s.shl(s.min(s.max(t, low), high), up),
            Self::Sigmoid { most, steps, halved, middle } => {
                let value = halved.of(s, steps.at(s, s.min(s.abs(t), most)));
                s.add(middle, with_sign(s, value, t))
            }
            Self::Tanh { most, steps } => with_sign(s, steps.at(s, s.min(s.abs(t), most)), t),
            Self::Relu { most, up, down } => {
                let value = down.of(s, s.shl(s.min(s.max(t, s.splat(0)), most), up));
                // Arguments beyond `most` give 2^15, which is cut as well.
                let within = s.min(value, s.splat(i16::MAX.into()));
                *cut = s.count(*cut, within, value);
                within
            }
            Self::Identity { most, up, down } => {
                let within = s.min(s.max(t, s.sub(s.splat(0), most)), most);
                saturated(s, down.of(s, s.shl(within, up)), cut)
            }
        }
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
pub(super) struct Steps<'a, S: IntSimd> {
    table: &'a Table,
    width: S::V,
    round: Rounding<S>,
}

impl<'a, S: IntSimd> Steps<'a, S> {
    #[inline(always)]
    fn new(s: S, width: u32, table: &'a Table) -> Self {
        Self { table, width: s.splat(width as i32), round: Rounding::new(s, width) }
    }

    /// The largest argument is the end of the last step, whose value interpolation gives exactly.
    #[inline(always)]
    fn at(self, s: S, u: S::V) -> S::V {
        let i = s.min(s.shr(u, self.width), s.splat(63));
        let (low, rise) = s.look_up(self.table, i);
        let within = s.sub(u, s.shl(i, self.width));
        s.add(low, self.round.of(s, s.mul(rise, within)))
    }
}
