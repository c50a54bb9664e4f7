//! One layer over one sequence: the products around a cell's element-wise rule, through time.

use super::linear::Linear;
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
                .map(|(k, &old)| Unit { wx: self.of_unit(&wx, k), uh: self.of_unit(&uh, k), old })
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
    /// to `gradient` and returns those by each input.
    pub(super) fn reverse(
        &self,
        params: &[f64],
        pass: &Pass,
        d_states: &[Vec<f64>],
        gradient: &mut [f64],
    ) -> Vec<Vec<f64>> {
        let pointwise = Pointwise::new(self.cell, params, &self.places);
        let stacked = self.cell.blocks() * self.cell.hidden;
        let mut d_memory = vec![Memory::default(); self.cell.hidden];
        let mut d_inputs = vec![Vec::new(); pass.steps.len()];
        for (t, step) in pass.steps.iter().enumerate().rev() {
            d_memory.iter_mut().zip(&d_states[t]).for_each(|(m, d)| m.h += d);
            let (mut d_wx, mut d_uh) = (vec![0.0; stacked], vec![0.0; stacked]);
            for (k, unit) in step.units.iter().enumerate() {
                let d = cells::reverse(self.cell.kind, &pointwise, k, unit, d_memory[k], gradient);
                for block in 0..self.cell.blocks() {
                    d_wx[block * self.cell.hidden + k] = d.wx[block];
                    d_uh[block * self.cell.hidden + k] = d.uh[block];
                }
                d_memory[k] = d.old;
            }
            let h: Vec<f64> = step.units.iter().map(|unit| unit.old.h).collect();
            d_inputs[t] = self.w.reverse(params, &step.x, &d_wx, gradient);
            let d_h = self.u.reverse(params, &h, &d_uh, gradient);
            d_memory.iter_mut().zip(d_h).for_each(|(m, d)| m.h += d);
        }
        d_inputs
    }

    /// Entry `k` of each stacked block.
    fn of_unit<const N: usize>(&self, stacked: &[f64], k: usize) -> [f64; N] {
        std::array::from_fn(|b| if b < self.cell.blocks() { stacked[b * self.cell.hidden + k] } else { 0.0 })
    }
}
