//! The element-wise rule of each cell, one file a cell: in plain scalar f64 for the
//! [`reference`](crate::reference), and on vectors of f32 for the engine.
//!
//! A step's matrix products give `pre` (blocks of `a = W·x + U·h`, biases not yet added). The
//! forward rule makes the new state from it and saves what backward needs, always *outputs* of
//! nonlinearities, since these determine the slopes. The backward rule turns the gradient of the new
//! state into that of `pre`, replaces `dh` by the part that reaches the old state directly, and adds
//! up the gradients of biases and scalars. Vectors run over hidden units; columns are the outer loop
//! so that biases and their gradients stay in registers.

mod eurnn;
mod fastgrnn;
mod fastrnn;
mod fastrnn_vector;
mod gru;
mod lstm;
mod mingru;
mod rnn;
mod rule;
mod ugrnn;
mod unit;

pub(crate) use rule::{Backward, Forward, Point};
pub use unit::{Memory, Parameters, Unit};
pub(crate) use unit::{Place, Pointwise, places};

use crate::simd::{Kernel, Simd};
use fastgrnn_core::cells::CellKind;
use rule::Rule;
use std::marker::PhantomData;

/// The registry: runs `$body` with `$rule` standing for the rule of `$kind`.
macro_rules! with_rule {
    ($kind:expr, $rule:ident => $body:expr) => {
        match $kind {
            CellKind::Rnn => with_rule!(@ rnn::Rnn, $rule, $body),
            CellKind::FastRnn => with_rule!(@ fastrnn::FastRnn, $rule, $body),
            CellKind::FastRnnVector => with_rule!(@ fastrnn_vector::FastRnnVector, $rule, $body),
            CellKind::FastGrnn => with_rule!(@ fastgrnn::FastGrnn<false>, $rule, $body),
            CellKind::FastGrnnGain => with_rule!(@ fastgrnn::FastGrnn<true>, $rule, $body),
            CellKind::Ugrnn => with_rule!(@ ugrnn::Ugrnn, $rule, $body),
            CellKind::Gru => with_rule!(@ gru::Gru, $rule, $body),
            CellKind::Lstm => with_rule!(@ lstm::Lstm, $rule, $body),
            CellKind::MinGru => with_rule!(@ mingru::MinGru, $rule, $body),
            CellKind::Eurnn => with_rule!(@ eurnn::Eurnn, $rule, $body),
        }
    };
    (@ $type:ty, $rule:ident, $body:expr) => {{
        type $rule = $type;
        $body
    }};
}

/// Vectors that the forward rule of `kind` saves.
pub(crate) fn saved(kind: CellKind) -> usize {
    with_rule!(kind, R => R::SAVED)
}

/// Unit `k`'s next state in f64.
pub(crate) fn step(kind: CellKind, p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
    with_rule!(kind, R => R::step(p, k, unit))
}

/// The reverse of [`step`].
pub(crate) fn reverse(
    kind: CellKind,
    p: &Pointwise,
    k: usize,
    unit: &Unit,
    d: Memory,
    gradient: &mut [f64],
) -> Unit {
    with_rule!(kind, R => R::reverse(p, k, unit, d, gradient))
}

/// Runs `kind`'s forward rule on vectors.
pub(crate) fn forward<S: Simd>(s: S, kind: CellKind, f: Forward) {
    with_rule!(kind, R => s.vectorize(ForwardKernel(f, PhantomData::<R>)));
}

/// Runs `kind`'s backward rule on vectors.
pub(crate) fn backward<S: Simd>(s: S, kind: CellKind, b: Backward) {
    with_rule!(kind, R => s.vectorize(BackwardKernel(b, PhantomData::<R>)));
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
