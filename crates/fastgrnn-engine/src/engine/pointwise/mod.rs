//! The element-wise part of each cell, forward and backward, on rows of padded vectors.
//!
//! A step's matrix products give `pre` (blocks of `a = W·x + U·h`, biases not yet added). The
//! forward rule makes the new state from it and saves what backward needs, always *outputs* of
//! nonlinearities, since these determine the slopes. The backward rule turns the gradient of the new
//! state into that of `pre`, replaces `dh` by the part that reaches the old state directly, and adds
//! up the gradients of biases and scalars. Vectors run over hidden units; columns are the outer loop
//! so that biases and their gradients stay in registers.

mod fastgrnn;
mod fastrnn;
mod fastrnn_vector;
mod gru;
mod lstm;
mod rnn;
mod ugrnn;

use crate::simd::{Kernel, Simd};
use fastgrnn_core::cells::{CellKind, Nonlinearity};
use std::marker::PhantomData;

/// Places of α, β, ζ, ν in [`Point::scalars`] and behind the vectors in the gradients.
pub(super) const SCALARS: [&str; 4] = ["alpha", "beta", "zeta", "nu"];
const ALPHA: usize = 0;
const BETA: usize = 1;
const ZETA: usize = 2;
const NU: usize = 3;

/// What the rules need to know of a layer.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    /// Hidden units, padded.
    pub(super) width: usize,
    pub(super) gate: Nonlinearity,
    pub(super) update: Nonlinearity,
    /// The declared vectors, in order, `width` each; those through a sigmoid after it.
    pub(super) vectors: &'a [f32],
    /// α, β, ζ, ν.
    pub(super) scalars: [f32; 4],
}

/// One time step forward for `rows` sequences.
pub(super) struct Forward<'a> {
    pub(super) rows: usize,
    pub(super) point: Point<'a>,
    pub(super) pre: &'a [f32],
    pub(super) h_prev: &'a [f32],
    pub(super) c_prev: &'a [f32],
    pub(super) saved: &'a mut [f32],
    pub(super) h: &'a mut [f32],
    pub(super) c: &'a mut [f32],
}

/// One time step backward.
pub(super) struct Backward<'a> {
    pub(super) rows: usize,
    pub(super) point: Point<'a>,
    pub(super) saved: &'a [f32],
    pub(super) h_prev: &'a [f32],
    pub(super) c_prev: &'a [f32],
    pub(super) c: &'a [f32],
    /// In: gradient of the new state. Out: its direct part for the old state.
    pub(super) dh: &'a mut [f32],
    /// The same for the LSTM's cell state.
    pub(super) dc: &'a mut [f32],
    pub(super) dpre: &'a mut [f32],
    /// Gradients of the vectors, `width` each, then of the scalars.
    pub(super) grads: &'a mut [f32],
}

/// The shape of a cell's element-wise part.
pub(super) struct Shape {
    /// Blocks of `pre`.
    pub(super) pre: usize,
    /// Vectors saved for backward.
    pub(super) saved: usize,
    /// The block of `pre` that each block of U adds to; W's blocks are the first ones, in order.
    pub(super) u_blocks: &'static [usize],
    /// Whether there is a cell state beside h.
    pub(super) has_c: bool,
}

/// The shape of `kind`'s element-wise part.
pub(super) fn shape(kind: CellKind) -> Shape {
    let (pre, saved, u_blocks): (_, _, &[usize]) = match kind {
        CellKind::Rnn | CellKind::FastRnn | CellKind::FastRnnVector => (1, 1, &[0]),
        CellKind::FastGrnn => (1, 2, &[0]),
        CellKind::Ugrnn => (2, 2, &[0, 1]),
        CellKind::Gru => (4, 4, &[0, 1, 3]),
        CellKind::Lstm => (4, 4, &[0, 1, 2, 3]),
    };
    Shape { pre, saved, u_blocks, has_c: kind == CellKind::Lstm }
}

/// A cell's element-wise rules; both functions are `#[inline(always)]`.
trait Rule {
    fn forward<S: Simd>(s: S, f: Forward);
    fn backward<S: Simd>(s: S, b: Backward);
}

struct ForwardKernel<'a, R>(Forward<'a>, PhantomData<R>);
struct BackwardKernel<'a, R>(Backward<'a>, PhantomData<R>);

impl<R: Rule> Kernel for ForwardKernel<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        R::forward(s, self.0);
    }
}

impl<R: Rule> Kernel for BackwardKernel<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        R::backward(s, self.0);
    }
}

/// Runs a kernel generic over the rule of `$kind`.
macro_rules! with_rule {
    ($s:expr, $kind:expr, $kernel:ident($args:expr)) => {
        match $kind {
            CellKind::Rnn => $s.vectorize($kernel($args, PhantomData::<rnn::Rnn>)),
            CellKind::FastRnn => $s.vectorize($kernel($args, PhantomData::<fastrnn::FastRnn>)),
            CellKind::FastRnnVector => {
                $s.vectorize($kernel($args, PhantomData::<fastrnn_vector::FastRnnVector>))
            }
            CellKind::FastGrnn => $s.vectorize($kernel($args, PhantomData::<fastgrnn::FastGrnn>)),
            CellKind::Ugrnn => $s.vectorize($kernel($args, PhantomData::<ugrnn::Ugrnn>)),
            CellKind::Gru => $s.vectorize($kernel($args, PhantomData::<gru::Gru>)),
            CellKind::Lstm => $s.vectorize($kernel($args, PhantomData::<lstm::Lstm>)),
        }
    };
}

/// Runs `kind`'s forward rule.
pub(super) fn forward<S: Simd>(s: S, kind: CellKind, f: Forward) {
    with_rule!(s, kind, ForwardKernel(f));
}

/// Runs `kind`'s backward rule.
pub(super) fn backward<S: Simd>(s: S, kind: CellKind, b: Backward) {
    with_rule!(s, kind, BackwardKernel(b));
}

/// Adds `v` to the first vector of `to`.
#[inline(always)]
fn accumulate<S: Simd>(s: S, v: S::V, to: &mut [f32]) {
    let sum = s.add(s.load(to), v);
    s.store(sum, to);
}
