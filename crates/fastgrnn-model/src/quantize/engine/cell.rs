//! The rules of the cells for one unit (section 5 of the document).
//!
//! Every cell ends in the same way, `R(R(share · value) + keep · old)`; they differ in what share,
//! value and keep are.

use super::curve::{Curve, ONE, offset, saturated};
use super::plan::LayerPlan;
use fastgrnn_engine::simd::int::{IntKernel, IntSimd, ROWS, Rounding, Table};
use fastgrnn_runtime::CellKind;
use fastgrnn_runtime::cells::GAIN_BITS;
use std::ops::Range;

// Kinds as numbers: constants of the loops over units.
const RNN: u8 = CellKind::Rnn as u8;
const FAST_RNN: u8 = CellKind::FastRnn as u8;
const FAST_RNN_VECTOR: u8 = CellKind::FastRnnVector as u8;
const FAST_GRNN: u8 = CellKind::FastGrnn as u8;
const FAST_GRNN_GAIN: u8 = CellKind::FastGrnnGain as u8;
const UGRNN: u8 = CellKind::Ugrnn as u8;
const GRU: u8 = CellKind::Gru as u8;
const LSTM: u8 = CellKind::Lstm as u8;
const MIN_GRU: u8 = CellKind::MinGru as u8;

/// Why the engine never meets some cells.
const NO_CODE: &str = "no image holds a cell without a code";

/// What a layer's units have in common, in vectors.
pub(super) struct Rule<'a, S: IntSimd> {
    s: S,
    pub(super) plan: &'a LayerPlan,
    gate: Curve<'a, S>,
    update: Curve<'a, S>,
    /// Of W's and of U's product.
    pub(super) sums: [Rounding<S>; 2],
    state: Blending<S>,
    memory: Blending<S>,
    fifteen: Rounding<S>,
    zeta: S::V,
    /// `(ν + ζ) · 2^15` and half of the last bit.
    rest: S::V,
}

/// `R(R(share · value, inner) + keep · old, outer)`, both halves added inside.
#[derive(Clone, Copy)]
struct Blending<S: IntSimd> {
    inner: Rounding<S>,
    outer: S::V,
}

impl<S: IntSimd> Blending<S> {
    #[inline(always)]
    fn new(s: S, inner: u32, outer: u32) -> Self {
        Self { inner: Rounding::plus(s, inner, (1 << outer) >> 1), outer: s.splat(outer as i32) }
    }

    #[inline(always)]
    fn of(&self, s: S, blend: &Blend<S>, old: S::V) -> S::V {
        let new = self.inner.of(s, s.mul(blend.share, blend.value));
        s.shr(s.add(new, s.mul(blend.keep, old)), self.outer)
    }
}

/// Saturations of each lane.
pub(super) struct Cuts<S: IntSimd> {
    pub(super) recurrent: S::V,
    pub(super) update: S::V,
    pub(super) memory: S::V,
    pub(super) state: S::V,
}

/// What a unit's new state is made of.
struct Blend<S: IntSimd> {
    share: S::V,
    value: S::V,
    keep: S::V,
}

impl<S: IntSimd> Cuts<S> {
    #[inline(always)]
    pub(super) fn none(s: S) -> Self {
        let zero = s.splat(0);
        Self { recurrent: zero, update: zero, memory: zero, state: zero }
    }
}

/// Some units of a layer in a step.
pub(super) struct Tile<'t, S: IntSimd> {
    pub(super) units: Range<usize>,
    pub(super) sums: &'t [i32],
    pub(super) old: &'t [i32],
    pub(super) next: &'t mut [i32],
    pub(super) memory: &'t mut [i32],
    pub(super) cuts: &'t mut Cuts<S>,
}

/// The rule of one kind of cell on a tile.
struct Next<'t, 'a, S: IntSimd, const KIND: u8> {
    rule: &'t Rule<'a, S>,
    tile: Tile<'t, S>,
}

impl<S: IntSimd, const KIND: u8> IntKernel for Next<'_, '_, S, KIND> {
    type Output = ();

    /// `T` is `S`: it comes from the rule's own token.
    #[inline(always)]
    fn run<T: IntSimd>(self, _: T) {
        self.rule.next_of::<KIND>(self.tile);
    }
}

impl<'a, S: IntSimd> Rule<'a, S> {
    #[inline(always)]
    pub(super) fn new(s: S, plan: &'a LayerPlan, table: &'a Table) -> Self {
        let shifts = &plan.shifts;
        let (bits, state) = (plan.update.value_bits(), shifts.state);
        let (inner, outer) = match plan.kind {
            CellKind::Rnn => (bits - state, 0),
            CellKind::FastRnnVector => (bits + 1 - state, 14),
            CellKind::FastGrnn | CellKind::FastGrnnGain => (bits - 1 - state, 15),
            CellKind::FastRnn | CellKind::Ugrnn | CellKind::Gru | CellKind::MinGru => (bits - state, 15),
            CellKind::Lstm => (15 + bits - state, 0),
            CellKind::Eurnn => unreachable!("{NO_CODE}"),
        };
        Self {
            s,
            plan,
            gate: Curve::new(s, plan.gate, shifts.sums, table),
            update: Curve::new(s, plan.update, shifts.sums, table),
            sums: [Rounding::new(s, shifts.w1), Rounding::new(s, shifts.u1)],
            state: Blending::new(s, inner, outer),
            memory: Blending::new(s, bits - shifts.memory, 15),
            fifteen: Rounding::new(s, 15),
            zeta: s.splat(plan.zeta),
            rest: s.splat(((plan.nu + plan.zeta) << 15) + (1 << 14)),
        }
    }

    /// The next states of `units`, in pairs: from their sums (a vector a unit; blocks lie `ROWS`
    /// vectors apart, a GRU's third is W's product, its fourth U's) and old states. An LSTM's
    /// memory, a vector a unit, is replaced.
    #[inline(always)]
    pub(super) fn next(&self, tile: Tile<'_, S>) {
        // Each cell is a function of its own: in one function all of them take minutes to compile.
        macro_rules! of_kind {
            ($($kind:ident)+) => {
                match self.plan.kind {
                    CellKind::Eurnn => unreachable!("{NO_CODE}"),
                    $(CellKind::$kind => {
                        let rule = self;
                        self.s.vectorize(Next::<'_, '_, S, { CellKind::$kind as u8 }> { rule, tile })
                    })+
                }
            };
        }
        of_kind!(Rnn FastRnn FastRnnVector FastGrnn FastGrnnGain Ugrnn Gru Lstm MinGru);
    }

    #[inline(always)]
    fn next_of<const KIND: u8>(&self, tile: Tile<'_, S>) {
        let Tile { units, sums, old, next, memory, cuts } = tile;
        let s = self.s;
        for row in (0..units.len()).step_by(2) {
            let (unit, pair) = (units.start + row, row / 2 * S::LANES);
            let old = s.load(&old[pair..]);
            let old = [s.low(old), s.high(old)];
            let mut new = [s.splat(0); 2];
            if S::REPEATS {
                new[0] = self.unit::<KIND>(unit, row, sums, old[0], memory, cuts);
                if unit + 1 < units.end {
                    new[1] = self.unit::<KIND>(unit + 1, row + 1, sums, old[1], memory, cuts);
                }
            } else {
                for half in 0..units.end.min(unit + 2) - unit {
                    new[half] = self.unit::<KIND>(unit + half, row + half, sums, old[half], memory, cuts);
                }
            }
            s.store(s.pair(new[0], new[1]), &mut next[pair..]);
        }
    }

    /// The next state of `unit`, which is number `r` of those whose sums there are.
    #[inline(always)]
    fn unit<const KIND: u8>(
        &self,
        unit: usize,
        r: usize,
        sums: &[i32],
        old: S::V,
        memory: &mut [i32],
        cuts: &mut Cuts<S>,
    ) -> S::V {
        let sums = &sums[r * S::LANES..];
        let memory = if KIND == LSTM { &mut memory[r * S::LANES..] } else { memory };
        let blend = self.blend::<KIND>(unit, sums, memory, cuts);
        saturated(self.s, self.state.of(self.s, &blend, old), &mut cuts.state)
    }

    #[inline(always)]
    fn blend<const KIND: u8>(
        &self,
        unit: usize,
        sums: &[i32],
        memory: &mut [i32],
        cuts: &mut Cuts<S>,
    ) -> Blend<S> {
        let (s, plan) = (self.s, self.plan);
        let (zero, one) = (s.splat(0), s.splat(ONE));
        let biases = &plan.biases[unit];
        match KIND {
            RNN => {
                let value = self.updated(self.sum(sums, 0, biases[0]), cuts);
                Blend { share: s.splat(1), value, keep: zero }
            }
            FAST_RNN => {
                let value = self.updated(self.sum(sums, 0, biases[0]), cuts);
                Blend { share: s.splat(plan.alpha[unit]), value, keep: s.splat(plan.beta) }
            }
            FAST_RNN_VECTOR => {
                let value = self.updated(self.sum(sums, 0, biases[0]), cuts);
                let share = s.splat(plan.alpha[unit]);
                Blend { share, value, keep: self.rest(share) }
            }
            FAST_GRNN => {
                let keep = self.gated(self.sum(sums, 0, biases[0]));
                let value = self.updated(self.sum(sums, 0, biases[1]), cuts);
                Blend { share: self.rest(keep), value, keep }
            }
            FAST_GRNN_GAIN => {
                let gained = self.gained(self.sum(sums, 0, 0), plan.gains[unit]);
                let keep = self.gated(s.add(gained, s.splat(biases[0])));
                let value = self.updated(self.sum(sums, 0, biases[1]), cuts);
                Blend { share: self.rest(keep), value, keep }
            }
            UGRNN => {
                let keep = self.gated(self.sum(sums, 0, biases[0]));
                let value = self.updated(self.sum(sums, 1, biases[1]), cuts);
                Blend { share: s.sub(one, keep), value, keep }
            }
            GRU => {
                let reset = self.gated(self.sum(sums, 0, biases[0]));
                let keep = self.gated(self.sum(sums, 1, biases[1]));
                let recurrent = saturated(s, self.sum(sums, 3, biases[3]), &mut cuts.recurrent);
                let recurrent = self.fifteen.of(s, s.mul(reset, recurrent));
                let value = self.updated(s.add(self.sum(sums, 2, biases[2]), recurrent), cuts);
                Blend { share: s.sub(one, keep), value, keep }
            }
            MIN_GRU => {
                let share = self.gated(self.sum(sums, 0, biases[0]));
                let value = self.updated(self.sum(sums, 1, biases[1]), cuts);
                Blend { share, value, keep: s.sub(one, share) }
            }
            LSTM => {
                let share = self.gated(self.sum(sums, 0, biases[0]));
                let keep = self.gated(self.sum(sums, 1, biases[1]));
                let value = self.updated(self.sum(sums, 2, biases[2]), cuts);
                let next = self.memory.of(s, &Blend { share, value, keep }, s.load(memory));
                let next = saturated(s, next, &mut cuts.memory);
                s.store(next, memory);
                let up = s.splat((plan.shifts.sums - plan.shifts.memory) as i32);
                let offset = s.splat(offset(plan.update, plan.shifts.sums));
                let value = self.updated(s.add(s.shl(next, up), offset), cuts);
                Blend { share: self.gated(self.sum(sums, 3, biases[3])), value, keep: zero }
            }
            _ => unreachable!("the cell with code {KIND} has no arm here"),
        }
    }

    #[inline(always)]
    fn sum(&self, sums: &[i32], block: usize, bias: i32) -> S::V {
        self.s.add(self.s.load(&sums[block * ROWS * S::LANES..]), self.s.splat(bias))
    }

    /// `R(γ · clip(sum, −2^23, 2^23 − 1), 5)`
    #[inline(always)]
    fn gained(&self, sum: S::V, gain: i32) -> S::V {
        let s = self.s;
        let clipped = s.max(s.min(sum, s.splat((1 << 23) - 1)), s.splat(-(1 << 23)));
        Rounding::new(s, GAIN_BITS).of(s, s.mul(s.splat(gain), clipped))
    }

    #[inline(always)]
    fn gated(&self, t: S::V) -> S::V {
        self.gate.at(self.s, t, &mut self.s.splat(0))
    }

    #[inline(always)]
    fn updated(&self, t: S::V, cuts: &mut Cuts<S>) -> S::V {
        self.update.at(self.s, t, &mut cuts.update)
    }

    /// `ν + R(ζ·(one − z), 15)`
    #[inline(always)]
    fn rest(&self, z: S::V) -> S::V {
        let s = self.s;
        s.shr(s.sub(self.rest, s.mul(self.zeta, z)), s.splat(15))
    }
}
