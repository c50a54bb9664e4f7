//! One layer over one sequence: the products around a cell's element-wise rule, through time.

use super::linear::Linear;
use super::step_jacobian::StepJacobian;
use crate::cells::{self, Memory, Place, Pointwise, Unit, places};
use fastgrnn_core::cells::Cell;

/// A cell and where its parameters lie.
pub(super) struct ReferenceLayer<'a> {
    cell: &'a Cell,
    w: Linear,
    u: Linear,
    places: Vec<Place>,
}

/// What a forward pass over one sequence leaves for the way back.
pub(super) struct Pass {
    steps: Vec<ReferenceStep>,
    pub(super) kink_margin: f64,
}

struct ReferenceStep {
    x: Vec<f64>,
    units: Vec<Unit>,
    next: Vec<f64>,
    next_c: Vec<f64>,
}

impl Pass {
    /// The state h after step `t`.
    pub(super) fn state_after(&self, t: usize) -> &[f64] {
        &self.steps[t].next
    }

    /// The state c after the last step; zeros unless the cell has it.
    pub(super) fn last_c(&self) -> &[f64] {
        &self.steps[self.steps.len() - 1].next_c
    }
}

impl<'a> ReferenceLayer<'a> {
    /// The layer whose parameters begin at `*offset`; moves `*offset` past them.
    pub(super) fn new(cell: &'a Cell, offset: &mut usize) -> Self {
        let w = Linear::next(offset, &cell.w());
        let u = Linear::next(offset, &cell.u());
        Self { cell, w, u, places: places(cell, offset) }
    }

    /// Runs the cell over a sequence from the state `memory`.
    pub(super) fn forward(&self, params: &[f64], inputs: Vec<Vec<f64>>, mut memory: Vec<Memory>) -> Pass {
        let pointwise = Pointwise::new(self.cell, params, &self.places);
        let mut steps = Vec::with_capacity(inputs.len());
        for x in inputs {
            let h: Vec<f64> = memory.iter().map(|m| m.h).collect();
            let wx = self.w.apply(params, &x);
            let uh = self.u.apply(params, &h);
            let units: Vec<Unit> = memory
                .iter()
                .enumerate()
                .map(|(k, &old)| {
                    let partner = self.partner(k).map_or(0.0, |partner| wx[partner] + uh[partner]);
                    Unit { wx: self.of_unit(&wx, k), uh: self.of_unit(&uh, k), partner, old }
                })
                .collect();
            memory = units
                .iter()
                .enumerate()
                .map(|(k, unit)| cells::step(self.cell.kind, &pointwise, k, unit))
                .collect();
            let (next, next_c) = memory.iter().map(|m| (m.h, m.c)).unzip();
            steps.push(ReferenceStep { x, units, next, next_c });
        }
        Pass { steps, kink_margin: pointwise.kink_margin() }
    }

    /// From the derivatives by each state that others read, adds those by the layer's parameters
    /// to `gradient` and returns those by each input. `see` is given a number of steps and the whole derivative by the
    /// state after so many steps.
    pub(super) fn reverse(
        &self,
        params: &[f64],
        pass: &Pass,
        d_states: &[Vec<f64>],
        gradient: &mut [f64],
        see: &mut dyn FnMut(usize, &[Memory]),
    ) -> Vec<Vec<f64>> {
        let pointwise = Pointwise::new(self.cell, params, &self.places);
        let stacked = self.cell.blocks() * self.cell.hidden;
        let mut d_memory = vec![Memory::default(); self.cell.hidden];
        let mut d_inputs = vec![Vec::new(); pass.steps.len()];
        for (t, step) in pass.steps.iter().enumerate().rev() {
            d_memory.iter_mut().zip(&d_states[t]).for_each(|(m, d)| m.h += d);
            see(t + 1, &d_memory);
            let (mut d_wx, mut d_uh) = (vec![0.0; stacked], vec![0.0; stacked]);
            for (k, unit) in step.units.iter().enumerate() {
                let d = cells::reverse(self.cell.kind, &pointwise, k, unit, d_memory[k], gradient);
                for block in 0..self.cell.blocks() {
                    d_wx[block * self.cell.hidden + k] += d.wx[block];
                    d_uh[block * self.cell.hidden + k] += d.uh[block];
                }
                if let Some(partner) = self.partner(k) {
                    d_wx[partner] += d.partner;
                    d_uh[partner] += d.partner;
                }
                d_memory[k] = d.old;
            }
            let h: Vec<f64> = step.units.iter().map(|unit| unit.old.h).collect();
            d_inputs[t] = self.w.reverse(params, &step.x, &d_wx, gradient);
            let d_h = self.u.reverse(params, &h, &d_uh, gradient);
            d_memory.iter_mut().zip(d_h).for_each(|(m, d)| m.h += d);
        }
        see(0, &d_memory);
        d_inputs
    }

    /// The other unit of the pair of unit `k`, if the rule reads pairs.
    fn partner(&self, k: usize) -> Option<usize> {
        self.cell.kind.shape().has_pairs.then_some(k ^ 1)
    }

    /// The blocks of U as one dense matrix with rows of `hidden` entries.
    pub(super) fn dense_u(&self, params: &[f64]) -> Vec<f64> {
        let (hidden, rows) = (self.cell.hidden, self.cell.blocks() * self.cell.hidden);
        let mut dense = vec![0.0; rows * hidden];
        let mut unit = vec![0.0; hidden];
        for j in 0..hidden {
            unit[j] = 1.0;
            for (i, value) in self.u.apply(params, &unit).into_iter().enumerate() {
                dense[i * hidden + j] = value;
            }
            unit[j] = 0.0;
        }
        dense
    }

    /// The derivative of the state after step `t` by the state before it, from the dense matrix U. `scratch` has an
    /// entry for each parameter.
    pub(super) fn jacobian(
        &self,
        params: &[f64],
        pass: &Pass,
        t: usize,
        u: &[f64],
        scratch: &mut [f64],
    ) -> StepJacobian {
        let (hidden, size) = (self.cell.hidden, self.cell.state_len());
        let pointwise = Pointwise::new(self.cell, params, &self.places);
        let mut jacobian = StepJacobian::zero(size);
        for (k, unit) in pass.steps[t].units.iter().enumerate() {
            // h comes first, then the c of an LSTM.
            for part in 0..size / hidden {
                let of = |wanted: usize| if part == wanted { 1.0 } else { 0.0 };
                let d = Memory { h: of(0), c: of(1) };
                let by = cells::reverse(self.cell.kind, &pointwise, k, unit, d, scratch);
                let row = part * hidden + k;
                for block in 0..self.cell.blocks() {
                    let from = &u[(block * hidden + k) * hidden..][..hidden];
                    jacobian.add_through_u(row, by.uh[block], from);
                }
                if let Some(partner) = self.partner(k) {
                    jacobian.add_through_u(row, by.partner, &u[partner * hidden..][..hidden]);
                }
                jacobian.add_direct(row, k, by.old.h);
                if size > hidden {
                    jacobian.add_direct(row, hidden + k, by.old.c);
                }
            }
        }
        jacobian
    }

    /// Entry `k` of each stacked block.
    fn of_unit<const N: usize>(&self, stacked: &[f64], k: usize) -> [f64; N] {
        std::array::from_fn(|b| if b < self.cell.blocks() { stacked[b * self.cell.hidden + k] } else { 0.0 })
    }
}
