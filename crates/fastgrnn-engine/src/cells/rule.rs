//! What the rule of a cell is, and what it works on.

pub(super) use super::unit::{Memory, Parameters, Pointwise, Unit};
use crate::simd::Simd;
use fastgrnn_core::cells::{Nonlinearity, ScalarName};

/// A cell's element-wise rule.
pub(super) trait Rule {
    /// Vectors saved by `forward` for `backward`.
    const SAVED: usize;

    /// One unit's next state, in f64.
    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory;

    /// The reverse of `step`: from the derivative by the next state to those by everything that the
    /// rule read; those by biases and scalars are added to the gradient.
    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit;

    /// A step on vectors; `#[inline(always)]`.
    fn forward<S: Simd>(s: S, f: Forward);

    /// Its reverse; `#[inline(always)]`.
    fn backward<S: Simd>(s: S, b: Backward);
}

/// Places of α, β, ζ, ν in [`Point::scalars`] and behind the vectors in the gradients.
pub(super) const ALPHA: usize = ScalarName::Alpha as usize;
pub(super) const BETA: usize = ScalarName::Beta as usize;
pub(super) const ZETA: usize = ScalarName::Zeta as usize;
pub(super) const NU: usize = ScalarName::Nu as usize;

/// What the rules need to know of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Point<'a> {
    /// Hidden units, padded.
    pub(crate) width: usize,
    pub(crate) gate: Nonlinearity,
    pub(crate) update: Nonlinearity,
    /// The declared vectors, in order, `width` each; those through a sigmoid after it.
    pub(crate) vectors: &'a [f32],
    /// α, β, ζ, ν.
    pub(crate) scalars: [f32; 4],
}

/// One time step forward for `rows` sequences.
pub(crate) struct Forward<'a> {
    pub(crate) rows: usize,
    pub(crate) point: Point<'a>,
    pub(crate) pre: &'a [f32],
    pub(crate) h_prev: &'a [f32],
    pub(crate) c_prev: &'a [f32],
    pub(crate) saved: &'a mut [f32],
    pub(crate) h: &'a mut [f32],
    pub(crate) c: &'a mut [f32],
}

/// One time step backward.
pub(crate) struct Backward<'a> {
    pub(crate) rows: usize,
    pub(crate) point: Point<'a>,
    pub(crate) saved: &'a [f32],
    pub(crate) h_prev: &'a [f32],
    pub(crate) c_prev: &'a [f32],
    pub(crate) c: &'a [f32],
    /// In: gradient of the new state. Out: its direct part for the old state.
    pub(crate) dh: &'a mut [f32],
    /// The same for the LSTM's cell state.
    pub(crate) dc: &'a mut [f32],
    pub(crate) dpre: &'a mut [f32],
    /// Gradients of the vectors, `width` each, then of the scalars.
    pub(crate) grads: &'a mut [f32],
}

/// Adds `v` to the first vector of `to`.
#[inline(always)]
pub(super) fn accumulate<S: Simd>(s: S, v: S::V, to: &mut [f32]) {
    let sum = s.add(s.load(to), v);
    s.store(sum, to);
}
