//! A layer's step for a group of sequences: its products, tile by tile of its units.

use super::cell::{Cuts, Rule, Tile};
use super::curve::saturated;
use super::plan::{FactorsPlan, LayerPlan};
use fastgrnn_engine::simd::Buffer;
use fastgrnn_engine::simd::int::{IntSimd, ROWS, Rounding, Term};
use fastgrnn_runtime::int::Place;

/// The state of a layer: a vector of lanes for each pair of units.
pub(super) struct LayerState {
    pub(super) h: Buffer<i32>,
    next: Buffer<i32>,
    /// An LSTM's memory, a vector for each unit.
    c: Buffer<i32>,
    /// Saturations of each lane, as in [`Place::ALL`].
    pub(super) cut: Buffer<i32>,
}

/// What layers need in the course of a step.
pub(super) struct Between {
    /// What lies between the factors of W and of U, a vector for each pair.
    w: Buffer<i32>,
    u: Buffer<i32>,
    /// Sums of a tile, a vector for each row of up to four blocks.
    sums: Buffer<i32>,
}

impl Between {
    pub(super) fn new<S: IntSimd>(layers: &[LayerPlan]) -> Self {
        let most = |of: fn(&LayerPlan) -> &FactorsPlan| {
            let rank = layers.iter().map(|l| of(l).rank()).max().unwrap_or(0);
            Buffer::zeros(rank.div_ceil(2) * S::LANES)
        };
        Self { w: most(|l| &l.w), u: most(|l| &l.u), sums: Buffer::zeros(4 * ROWS * S::LANES) }
    }
}

impl LayerState {
    pub(super) fn new<S: IntSimd>(plan: &LayerPlan) -> Self {
        let pairs = Buffer::zeros(plan.hidden.div_ceil(2) * S::LANES);
        let memory = plan.start.len() - plan.hidden;
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
    pub(super) fn step<S: IntSimd>(&mut self, s: S, rule: &Rule<S>, input: &[i32], between: &mut Between) {
        let plan = rule.plan;
        let shifts = &plan.shifts;
        let Between { w, u, sums } = between;
        let (w, w_cut) = project(s, &plan.w, shifts.w2, input, w, sums);
        let (u, u_cut) = project(s, &plan.u, shifts.u2, &self.h, u, sums);
        let mut cuts = Cuts::none(s);
        for tile in 0..plan.u.first[0].tiles() {
            for (block, w1) in plan.w.first.iter().enumerate() {
                let w = Term::new(w1, w, rule.sums[0]).times(plan.w.multiplier);
                let u = Term::new(&plan.u.first[block], u, rule.sums[1]).times(plan.u.multiplier);
                let (to, behind) = sums[block * ROWS * S::LANES..].split_at_mut(ROWS * S::LANES);
                if plan.keeps_apart && block + 1 == plan.w.first.len() {
                    w.write(s, tile, to);
                    u.write(s, tile, behind);
                } else {
                    w.write_sum(&u, s, tile, to);
                }
            }
            let rows = plan.u.first[0].tile(tile);
            let pairs = rows.start / 2 * S::LANES..rows.end / 2 * S::LANES;
            let units = rows.start..rows.end.min(plan.hidden);
            let memory = self.c.get_mut(units.start * S::LANES..).unwrap_or(&mut []);
            let (old, next) = (&self.h[pairs.clone()], &mut self.next[pairs]);
            rule.next(Tile { units, sums, old, next, memory, cuts: &mut cuts });
        }
        std::mem::swap(&mut self.h, &mut self.next);
        self.count(s, Place::ProjectedW, w_cut);
        self.count(s, Place::ProjectedU, u_cut);
        self.count(s, Place::Recurrent, cuts.recurrent);
        self.count(s, Place::Update, cuts.update);
        self.count(s, Place::Memory, cuts.memory);
        self.count(s, Place::State, cuts.state);
    }

    /// Adds the saturations of a step.
    #[inline(always)]
    fn count<S: IntSimd>(&mut self, s: S, place: Place, cut: S::V) {
        let total = &mut self.cut[place as usize * S::LANES..];
        s.store(s.add(s.load(total), cut), total);
    }
}

/// What the first factor is multiplied with: `v`, or the second factor's product with it; and the
/// saturations of that.
#[inline(always)]
fn project<'a, S: IntSimd>(
    s: S,
    factors: &FactorsPlan,
    shift: u32,
    v: &'a [i32],
    between: &'a mut Buffer<i32>,
    sums: &mut [i32],
) -> (&'a [i32], S::V) {
    let mut cut = s.splat(0);
    let Some(second) = &factors.second else { return (v, cut) };
    let product = Term::new(second, v, Rounding::new(s, shift));
    for tile in 0..second.tiles() {
        product.write(s, tile, sums);
        let rows = second.tile(tile);
        for pair in 0..rows.len() / 2 {
            let sums = &sums[2 * pair * S::LANES..];
            let low = saturated(s, s.load(sums), &mut cut);
            let high = saturated(s, s.load(&sums[S::LANES..]), &mut cut);
            s.store(s.pair(low, high), &mut between[(rows.start / 2 + pair) * S::LANES..]);
        }
    }
    (between, cut)
}
