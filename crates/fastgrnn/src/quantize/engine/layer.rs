//! A layer's step for a group of sequences: its products, tile by tile of its units.

use super::cell::CellTile;
use super::curve::{Rounding, saturated};
use super::plan::{FactorsPlan, LayerPlan};
use crate::simd::Buffer;
use crate::simd::int::{IntSimd, ROWS, Table};
use fastgrnn_runtime::int::{Kind, Place};

/// The state of a layer: a vector of lanes for each pair of units.
pub(super) struct LayerState {
    pub(super) h: Buffer<i32>,
    next: Buffer<i32>,
    /// An LSTM's memory, a vector for each unit.
    c: Buffer<i32>,
    /// Saturations of each lane, as in [`Place::ALL`].
    pub(super) cut: Buffer<i32>,
}

/// What lies between the factors of W and of U, a vector for each pair.
#[derive(Default)]
pub(super) struct Between {
    w: Buffer<i32>,
    u: Buffer<i32>,
}

impl Between {
    pub(super) fn new<S: IntSimd>(layers: &[LayerPlan]) -> Self {
        let most = |of: fn(&LayerPlan) -> &FactorsPlan| {
            let rank = layers.iter().map(|l| of(l).rank()).max().unwrap_or(0);
            Buffer::zeros(rank.div_ceil(2) * S::LANES)
        };
        Self { w: most(|l| &l.w), u: most(|l| &l.u) }
    }
}

impl LayerState {
    pub(super) fn new<S: IntSimd>(plan: &LayerPlan) -> Self {
        let pairs = Buffer::zeros(plan.hidden.div_ceil(2) * S::LANES);
        let memory = if plan.kind == Kind::Lstm { plan.hidden } else { 0 };
        let cut = Buffer::zeros(Place::ALL.len() * S::LANES);
        Self { h: pairs.clone(), next: pairs, c: Buffer::zeros(memory * S::LANES), cut }
    }

    /// Puts every lane to the state that sequences start from, and counts from 0.
    pub(super) fn reset<S: IntSimd>(&mut self, plan: &LayerPlan) {
        let (h, c) = plan.start.split_at(plan.hidden);
        for (pair, lanes) in h.chunks(2).zip(self.h.chunks_exact_mut(S::LANES)) {
            let high = pair.get(1).copied().unwrap_or(0);
            lanes.fill(i32::from(pair[0]) & 0xFFFF | i32::from(high) << 16);
        }
        for (&c, lanes) in c.iter().zip(self.c.chunks_exact_mut(S::LANES)) {
            lanes.fill(c.into());
        }
        self.cut.fill(0);
    }

    /// Replaces the state by the next one, reading `input` (a vector for each pair of features).
    #[inline(always)]
    pub(super) fn step<S: IntSimd>(
        &mut self,
        s: S,
        plan: &LayerPlan,
        table: &Table,
        input: &[i32],
        between: &mut Between,
    ) {
        let mut cut = [s.splat(0); Place::ALL.len()];
        let w =
            project(s, &plan.w, plan.shifts.w2, input, &mut between.w, &mut cut[Place::ProjectedW as usize]);
        let u = project(
            s,
            &plan.u,
            plan.shifts.u2,
            &self.h,
            &mut between.u,
            &mut cut[Place::ProjectedU as usize],
        );
        let mut cell = CellTile::new(s, plan, table);
        let rounds = [Rounding::new(s, plan.shifts.w1), Rounding::new(s, plan.shifts.u1)];
        let (mut of_w, mut of_u) = ([s.splat(0); ROWS], [s.splat(0); ROWS]);
        for tile in 0..plan.u.first[0].tiles() {
            let rows = plan.u.first[0].tile(tile);
            for (block, (w1, u1)) in plan.w.first.iter().zip(&plan.u.first).enumerate() {
                w1.times(s, tile, w, &mut of_w);
                u1.times(s, tile, u, &mut of_u);
                for r in 0..ROWS {
                    (of_w[r], of_u[r]) = (rounds[0].of(s, of_w[r]), rounds[1].of(s, of_u[r]));
                }
                cell.set_sums(block, &of_w, &of_u);
            }
            cell.first = rows.start;
            cell.units = rows.end.min(plan.hidden) - rows.start;
            cell.gate_and_update(&mut cut);
            if plan.kind == Kind::Lstm {
                cell.remember(&mut self.c[rows.start * S::LANES..], &mut cut);
            }
            let pairs = rows.start / 2 * S::LANES..rows.end / 2 * S::LANES;
            cell.blend(&self.h[pairs.clone()], &mut self.next[pairs], &mut cut[Place::State as usize]);
        }
        std::mem::swap(&mut self.h, &mut self.next);
        for (total, cut) in self.cut.chunks_exact_mut(S::LANES).zip(cut) {
            s.store(s.add(s.load(total), cut), total);
        }
    }
}

/// What the first factor is multiplied with: `v`, or the second factor's product with it.
#[inline(always)]
fn project<'a, S: IntSimd>(
    s: S,
    factors: &FactorsPlan,
    shift: u32,
    v: &'a [i32],
    between: &'a mut Buffer<i32>,
    cut: &mut S::V,
) -> &'a [i32] {
    let Some(second) = &factors.second else { return v };
    let round = Rounding::new(s, shift);
    let mut sums = [s.splat(0); ROWS];
    for tile in 0..second.tiles() {
        second.times(s, tile, v, &mut sums);
        let rows = second.tile(tile);
        let to = between[rows.start / 2 * S::LANES..].chunks_exact_mut(S::LANES);
        for (pair, to) in sums.as_chunks::<2>().0[..rows.len() / 2].iter().zip(to) {
            let low = saturated(s, round.of(s, pair[0]), cut);
            let high = saturated(s, round.of(s, pair[1]), cut);
            s.store(s.pair(low, high), to);
        }
    }
    between
}
