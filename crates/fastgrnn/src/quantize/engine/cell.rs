//! The rules of the cells for a tile of units (section 5 of the document).
//!
//! Every cell ends in the same way, `R(R(share · value) + keep · old)`; they differ in what share,
//! value and keep are. Gates, update and blend are short loops over the tile, each with its
//! constants in registers.

use super::curve::{ONE, Rounding, saturated};
use super::plan::LayerPlan;
use crate::simd::int::{IntSimd, ROWS, Table};
use fastgrnn_runtime::int::{Kind, Place};

/// A tile of units on their way. Only the first `units` entries of each row mean something.
pub(super) struct CellTile<'a, S: IntSimd> {
    s: S,
    plan: &'a LayerPlan,
    table: &'a Table,
    /// The first unit.
    pub(super) first: usize,
    pub(super) units: usize,
    /// Of each block both products; a GRU's last block keeps them apart, W's first.
    sums: [[S::V; ROWS]; 4],
    /// One gate after the other, `units` entries each.
    gates: [S::V; 3 * ROWS],
    value: [S::V; ROWS],
    share: [S::V; ROWS],
    keep: [S::V; ROWS],
    /// Of the last two shifts, that of share · value and that of the sum.
    rounds: [Rounding<S>; 2],
}

/// Sums and bias vector of each gate.
fn gates(kind: Kind) -> &'static [usize] {
    match kind {
        Kind::Rnn | Kind::FastRnn | Kind::FastRnnVector => &[],
        Kind::FastGrnn | Kind::Ugrnn => &[0],
        Kind::Gru => &[0, 1],
        Kind::Lstm => &[0, 1, 3],
    }
}

impl<'a, S: IntSimd> CellTile<'a, S> {
    #[inline(always)]
    pub(super) fn new(s: S, plan: &'a LayerPlan, table: &'a Table) -> Self {
        let (bits, state) = (plan.update.value_bits(), plan.shifts.state);
        let (inner, outer) = match plan.kind {
            Kind::Rnn => (bits - state, 0),
            Kind::FastRnnVector => (bits + 1 - state, 14),
            Kind::FastGrnn => (bits - 1 - state, 15),
            Kind::FastRnn | Kind::Ugrnn | Kind::Gru => (bits - state, 15),
            Kind::Lstm => (15 + bits - state, 0),
        };
        let zero = s.splat(0);
        Self {
            s,
            plan,
            table,
            first: 0,
            units: 0,
            sums: [[zero; ROWS]; 4],
            gates: [zero; 3 * ROWS],
            value: [zero; ROWS],
            share: [zero; ROWS],
            keep: [zero; ROWS],
            rounds: [Rounding::new(s, inner), Rounding::new(s, outer)],
        }
    }

    /// Takes the products of a block.
    #[inline(always)]
    pub(super) fn set_sums(&mut self, block: usize, w: &[S::V; ROWS], u: &[S::V; ROWS]) {
        if self.plan.kind == Kind::Gru && block == 2 {
            (self.sums[2], self.sums[3]) = (*w, *u);
            return;
        }
        for r in 0..ROWS {
            self.sums[block][r] = self.s.add(w[r], u[r]);
        }
    }

    /// Sum and bias of unit `r`.
    #[inline(always)]
    fn biased(&self, sum: usize, bias: usize, r: usize) -> S::V {
        self.s.add(self.sums[sum][r], self.s.splat(self.plan.biases[bias][self.first + r]))
    }

    /// From sums to gates, value, share and keep.
    #[inline(always)]
    pub(super) fn gate_and_update(&mut self, cut: &mut [S::V; Place::ALL.len()]) {
        let (s, plan, units) = (self.s, self.plan, self.units);
        let gates = gates(plan.kind);
        for (g, &sum) in gates.iter().enumerate() {
            for r in 0..units {
                self.gates[g * units + r] = self.biased(sum, sum, r);
            }
        }
        let mut no_cut = s.splat(0);
        if !gates.is_empty() {
            plan.gate.apply(s, self.table, &mut self.gates[..gates.len() * units], &mut no_cut);
        }
        let (sum, bias) = match plan.kind {
            Kind::Rnn | Kind::FastRnn | Kind::FastRnnVector => (0, 0),
            Kind::FastGrnn => (0, 1),
            Kind::Ugrnn => (1, 1),
            Kind::Gru | Kind::Lstm => (2, 2),
        };
        for r in 0..units {
            self.value[r] = self.biased(sum, bias, r);
        }
        if plan.kind == Kind::Gru {
            let round = Rounding::new(s, 15);
            for r in 0..units {
                let recurrent = saturated(s, self.biased(3, 3, r), &mut cut[Place::Recurrent as usize]);
                let reset = round.of(s, s.mul(self.gates[r], recurrent));
                self.value[r] = s.add(self.value[r], reset);
            }
        }
        plan.update.apply(s, self.table, &mut self.value[..units], &mut cut[Place::Update as usize]);
        self.set_shares();
    }

    #[inline(always)]
    fn set_shares(&mut self) {
        let (s, plan, units) = (self.s, self.plan, self.units);
        let one = s.splat(ONE);
        match plan.kind {
            Kind::Rnn => self.share = [s.splat(1); ROWS],
            Kind::FastRnn => {
                self.share = [s.splat(plan.alpha[0]); ROWS];
                self.keep = [s.splat(plan.beta); ROWS];
            }
            Kind::FastRnnVector => {
                let (zeta, nu, round) = (s.splat(plan.zeta), s.splat(plan.nu), Rounding::new(s, 15));
                for r in 0..units {
                    let alpha = s.splat(plan.alpha[self.first + r]);
                    self.share[r] = alpha;
                    self.keep[r] = s.add(nu, round.of(s, s.mul(zeta, s.sub(one, alpha))));
                }
            }
            Kind::FastGrnn => {
                let (zeta, nu, round) = (s.splat(plan.zeta), s.splat(plan.nu), Rounding::new(s, 15));
                for r in 0..units {
                    let z = self.gates[r];
                    self.share[r] = s.add(nu, round.of(s, s.mul(zeta, s.sub(one, z))));
                    self.keep[r] = z;
                }
            }
            Kind::Ugrnn | Kind::Gru => {
                let z = if plan.kind == Kind::Gru { units } else { 0 };
                for r in 0..units {
                    self.keep[r] = self.gates[z + r];
                    self.share[r] = s.sub(one, self.keep[r]);
                }
            }
            // Its shares of h come last; those of c are its gates.
            Kind::Lstm => {}
        }
    }

    /// An LSTM's new memory, and from it value and share of the new state.
    #[inline(always)]
    pub(super) fn remember(&mut self, c: &mut [i32], cut: &mut [S::V; Place::ALL.len()]) {
        let (s, plan, units) = (self.s, self.plan, self.units);
        let shifts = &plan.shifts;
        let rounds = [Rounding::new(s, plan.update.value_bits() - shifts.memory), Rounding::new(s, 15)];
        let up = s.splat((shifts.sums - shifts.memory) as i32);
        for (r, c) in c.chunks_exact_mut(S::LANES).take(units).enumerate() {
            let [i, f] = [self.gates[r], self.gates[units + r]];
            let next = blended(s, rounds, [i, self.value[r], f, s.load(c)]);
            let next = saturated(s, next, &mut cut[Place::Memory as usize]);
            s.store(next, c);
            self.value[r] = s.shl(next, up);
            self.share[r] = self.gates[2 * units + r];
        }
        plan.update.apply(s, self.table, &mut self.value[..units], &mut cut[Place::Update as usize]);
    }

    /// The new state from the old one, both in pairs of units.
    #[inline(always)]
    pub(super) fn blend(&self, h: &[i32], next: &mut [i32], cut: &mut S::V) {
        let s = self.s;
        for (p, (h, next)) in h.chunks_exact(S::LANES).zip(next.chunks_exact_mut(S::LANES)).enumerate() {
            let (old, r) = (s.load(h), 2 * p);
            let low = saturated(s, self.blended(r, s.low(old)), cut);
            let high = if r + 1 < self.units {
                saturated(s, self.blended(r + 1, s.high(old)), cut)
            } else {
                s.splat(0)
            };
            s.store(s.pair(low, high), next);
        }
    }

    #[inline(always)]
    fn blended(&self, r: usize, old: S::V) -> S::V {
        blended(self.s, self.rounds, [self.share[r], self.value[r], self.keep[r], old])
    }
}

/// `R(R(share · value) + keep · old)`
#[inline(always)]
fn blended<S: IntSimd>(s: S, rounds: [Rounding<S>; 2], [share, value, keep, old]: [S::V; 4]) -> S::V {
    let new = rounds[0].of(s, s.mul(share, value));
    rounds[1].of(s, s.add(new, s.mul(keep, old)))
}
