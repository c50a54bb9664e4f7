//! The head at work: scores of rows of states, their losses, and the gradients of both.
//!
//! Outputs are computed in blocks of columns ([`HeadPlan::blocks`]). The scores of one block lie row by
//! row, and the blocks one after the other, so that each of the three products of a block (scores,
//! gradient of the states, gradient of the weights) works on memory that is close together. Only the
//! rows of one call have scores in memory, never all steps of a batch.

use super::loss::{self, Computation, Objective};
use super::plan::HeadPlan;
use super::tile_out::TileOut;
use super::weights::HeadWeights;
use super::wide::{self, WideRow};
use crate::simd::{Buffer, Gemm, Outer, Segment, Simd};
use fastgrnn_core::batch::Batch;

/// Rows that a head with many outputs takes at a time: enough that its weights are read rarely, few
/// enough that the scores are a few megabytes.
pub(super) const WIDE_ROWS: usize = 96;

/// A state that the head reads.
#[derive(Clone, Copy)]
pub(super) struct HeadRow {
    /// Its sequence in the batch.
    pub(super) sequence: usize,
    /// Its readout row in the batch.
    pub(super) row: usize,
    /// Share of its loss in the loss of the row.
    pub(super) share: f32,
    /// Whether its scores are those of the row.
    pub(super) is_scored: bool,
}

/// The head's buffers.
#[derive(Default)]
pub(super) struct HeadWorkspace {
    scores: Buffer,
    /// The scores of one row, side by side.
    row: Vec<f32>,
}

/// The head of a tile.
pub(super) struct Head<'a, S> {
    pub(super) s: S,
    pub(super) plan: &'a HeadPlan,
    pub(super) weights: &'a HeadWeights,
    pub(super) batch: &'a Batch,
    pub(super) computation: Computation,
    /// The readout row whose scores come first in the tile's.
    pub(super) first_row: usize,
}

impl<S: Simd> Head<'_, S> {
    /// Reads `states`, one row for each of `rows`, `stride` apart. Writes the gradient of the states to
    /// `dh` (rows as in the states) if gradients are computed.
    pub(super) fn run(
        &self,
        states: &[f32],
        stride: usize,
        rows: &[HeadRow],
        dh: &mut [f32],
        space: &mut HeadWorkspace,
        out: &mut TileOut,
    ) {
        let states = Segment { a: states, stride, k: self.plan.hidden };
        self.scores(states, rows.len(), &mut space.scores);
        match self.computation {
            Computation::Scores => {
                for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.is_scored) {
                    let at = (row.row - self.first_row) * self.plan.outputs;
                    let to = &mut out.scores[at..at + self.plan.outputs];
                    self.collect(&space.scores, i, rows.len(), to);
                }
            }
            Computation::Loss(objective) => self.losses(objective, false, rows, space, out),
            Computation::Gradient(objective) => {
                self.losses(objective, true, rows, space, out);
                self.gradients(states, rows.len(), &space.scores, dh, out);
                self.penalty(objective, states, rows.len(), dh, out);
            }
        }
    }

    /// The scores of all blocks.
    fn scores(&self, states: Segment, rows: usize, scores: &mut Buffer) {
        let width = self.plan.width;
        let block_len = rows * width;
        scores.reserve(self.plan.blocks().len() * block_len);
        for (i, forward) in self.weights.forward.iter().enumerate() {
            let c = &mut scores[i * block_len..(i + 1) * block_len];
            let bias = &self.weights.bias[i * width..(i + 1) * width];
            c.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(bias));
            let a = &[states];
            self.s.vectorize(Gemm { rows, a, b: forward, c, c_stride: width, add: true, ahead: [&[]; 2] });
        }
    }

    /// Puts the scores of row `i` of `rows` side by side.
    fn collect(&self, scores: &[f32], i: usize, rows: usize, to: &mut [f32]) {
        for (b, block) in self.plan.blocks().enumerate() {
            let at = (b * rows + i) * self.plan.width;
            to[block.clone()].copy_from_slice(&scores[at..at + block.len()]);
        }
    }

    /// Adds up the losses and turns scores into their gradients.
    fn losses(
        &self,
        objective: Objective,
        is_gradient: bool,
        rows: &[HeadRow],
        space: &mut HeadWorkspace,
        out: &mut TileOut,
    ) {
        let HeadWorkspace { scores, row: side_by_side } = space;
        let HeadPlan { outputs, width, .. } = *self.plan;
        for (i, row) in rows.iter().enumerate() {
            let weight = loss::weight(self.batch, row.sequence) * row.share;
            let scale = (f64::from(weight) / objective.total_weight) as f32;
            let (value, correct) = if !self.plan.is_wide() {
                let scores = &mut scores[i * width..][..outputs];
                loss::row(objective.loss, scores, self.batch, row.row, scale)
            } else if let Some(target) = wide::target(self.batch, objective.loss, row.row) {
                let blocks = self.plan.blocks().len();
                let scores = &mut scores[..blocks * rows.len() * width];
                let wide =
                    WideRow { scores, i, rows: rows.len(), width, outputs, target, scale, is_gradient };
                self.s.vectorize(wide)
            } else {
                side_by_side.resize(outputs, 0.0);
                self.collect(scores, i, rows.len(), side_by_side);
                let result = loss::row(objective.loss, side_by_side, self.batch, row.row, scale);
                for (b, block) in self.plan.blocks().enumerate() {
                    let at = (b * rows.len() + i) * width;
                    scores[at..at + block.len()].copy_from_slice(&side_by_side[block]);
                }
                result
            };
            out.loss += f64::from(weight) * value;
            out.correct += usize::from(correct && row.is_scored);
        }
    }

    /// From the gradients of the scores, those of states, weights and biases.
    fn gradients(&self, states: Segment, rows: usize, d: &[f32], dh: &mut [f32], out: &mut TileOut) {
        let HeadPlan { hidden_width, width, ref grad_w, ref grad_b, .. } = *self.plan;
        for (i, (block, back)) in self.plan.blocks().zip(&self.weights.back).enumerate() {
            let d = &d[i * rows * width..(i + 1) * rows * width];
            let a = &[Segment { a: d, stride: width, k: block.len() }];
            let c_stride = states.stride;
            self.s.vectorize(Gemm { rows, a, b: back, c: dh, c_stride, add: i > 0, ahead: [&[]; 2] });
            self.s.vectorize(Outer {
                rows,
                a: d,
                a_stride: width,
                m: block.len(),
                d: states.a,
                d_stride: states.stride,
                n: hidden_width,
                c: &mut out.grads[grad_w.clone()][block.start * hidden_width..],
                c_stride: hidden_width,
            });
            let bias = &mut out.grads[grad_b.clone()][block];
            for row in d.chunks_exact(width) {
                bias.iter_mut().zip(row).for_each(|(b, d)| *b += d);
            }
        }
    }

    /// The penalty on the states that are read.
    fn penalty(&self, objective: Objective, states: Segment, rows: usize, dh: &mut [f32], out: &mut TileOut) {
        if objective.activation == 0.0 {
            return;
        }
        let mut sum = 0.0;
        for i in 0..rows {
            let row = i * states.stride..i * states.stride + states.k;
            for (dh, &h) in dh[row.clone()].iter_mut().zip(&states.a[row]) {
                *dh += 2.0 * objective.activation * h;
                sum += f64::from(h * h);
            }
        }
        out.penalty += f64::from(objective.activation) * sum;
    }
}
