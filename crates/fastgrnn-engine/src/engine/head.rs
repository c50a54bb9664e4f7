//! The head at work: scores of rows of states, their losses, and the gradients of both.
//!
//! Outputs are computed in blocks of columns ([`HeadPlan::blocks`]). The scores of one block lie row by
//! row, and the blocks one after the other, so that each of the three products of a block (scores,
//! gradient of the states, gradient of the weights) works on memory that is close together. Only the
//! rows of one call have scores in memory, never all steps of a batch.
//!
//! A head with several blocks is wide. Its matrices do not fit the caches, so it takes many rows at a
//! time, keeps rows a cache line more than a power of two apart (or they would share few places in the
//! first cache), and adds the gradient of its weights up in panels of outputs, transposed: the scores of
//! a panel are then read once and stay in the first cache while all units are gone through.

use super::loss::{self, Computation, Objective};
use super::plan::{HeadPlan, LINE};
use super::tile_out::TileOut;
use super::weights::HeadWeights;
use super::wide::{self, WideRow};
use crate::simd::{AddTo, Buffer, Gemm, Outer, Packed, Segment, Simd};
use fastgrnn_core::batch::Batch;

/// Rows that a wide head takes at a time: enough that its weights are read rarely, few enough that the
/// scores of ten thousand outputs are 15 megabytes.
pub(super) const WIDE_ROWS: usize = 384;
/// Rows whose gradients of a panel of outputs fit the first cache.
const OUTER_ROWS: usize = 96;

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
    /// The states that a wide head reads, at its own stride.
    states: Buffer,
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
        let k = self.plan.hidden;
        let given = Segment { a: states, stride, k };
        let HeadWorkspace { scores, states: copied, row: side_by_side } = space;
        let states = if self.plan.is_wide() {
            let stride = self.plan.hidden_width + LINE;
            copied.reserve(rows.len() * stride);
            for (to, from) in
                copied.chunks_exact_mut(stride).zip(states.chunks(given.stride)).take(rows.len())
            {
                to[..k].copy_from_slice(&from[..k]);
            }
            Segment { a: copied, stride, k }
        } else {
            given
        };
        self.scores(states, rows.len(), scores);
        match self.computation {
            Computation::Scores => {
                for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.is_scored) {
                    let at = (row.row - self.first_row) * self.plan.outputs;
                    let to = &mut out.scores[at..at + self.plan.outputs];
                    self.collect(scores, i, rows.len(), to);
                }
            }
            Computation::Loss(objective) => self.losses(objective, false, rows, scores, side_by_side, out),
            Computation::Gradient(objective) => {
                self.losses(objective, true, rows, scores, side_by_side, out);
                self.state_gradients(rows.len(), scores, dh, stride);
                self.weight_gradients(states, rows.len(), scores, out);
                self.penalty(objective, given, rows.len(), dh, out);
            }
        }
    }

    /// The part of `scores` that belongs to block `i`.
    fn of_block(&self, i: usize, rows: usize) -> std::ops::Range<usize> {
        let len = rows * self.plan.stride;
        i * len..(i + 1) * len
    }

    /// The scores of all blocks.
    fn scores(&self, states: Segment, rows: usize, scores: &mut Buffer) {
        let HeadPlan { width, stride, .. } = *self.plan;
        let HeadWeights { forward, bias, .. } = self.weights;
        scores.reserve(forward.len() * rows * stride);
        for (i, (b, bias)) in forward.iter().zip(bias.chunks_exact(width)).enumerate() {
            self.s.vectorize(Gemm {
                rows,
                a: &[states],
                b,
                c: &mut scores[self.of_block(i, rows)],
                c_stride: stride,
                add_to: AddTo::Row(bias),
                ahead: [&[]; 2],
                next: self.next(forward, i),
            });
        }
    }

    /// The matrix after that of block `i`, if there are several.
    fn next<'b>(&self, blocks: &'b [Packed], i: usize) -> Option<&'b Packed> {
        self.plan.is_wide().then(|| &blocks[(i + 1) % blocks.len()])
    }

    /// Puts the scores of row `i` of `rows` side by side.
    fn collect(&self, scores: &[f32], i: usize, rows: usize, to: &mut [f32]) {
        for (b, block) in self.plan.blocks().enumerate() {
            let at = (b * rows + i) * self.plan.stride;
            to[block.clone()].copy_from_slice(&scores[at..at + block.len()]);
        }
    }

    /// Adds up the losses and turns scores into their gradients.
    fn losses(
        &self,
        objective: Objective,
        is_gradient: bool,
        rows: &[HeadRow],
        scores: &mut [f32],
        side_by_side: &mut Vec<f32>,
        out: &mut TileOut,
    ) {
        let HeadPlan { outputs, width, stride, .. } = *self.plan;
        for (i, row) in rows.iter().enumerate() {
            let weight = loss::weight(self.batch, row.sequence) * row.share;
            let scale = (f64::from(weight) / objective.total_weight) as f32;
            let (value, correct) = if !self.plan.is_wide() {
                let scores = &mut scores[i * stride..][..outputs];
                loss::row(objective.loss, scores, self.batch, row.row, scale)
            } else if let Some(target) = wide::target(self.batch, objective.loss, row.row) {
                let blocks = self.plan.blocks().len();
                let scores = &mut scores[..blocks * rows.len() * stride];
                let rows = rows.len();
                self.s.vectorize(WideRow {
                    scores,
                    i,
                    rows,
                    width,
                    stride,
                    outputs,
                    target,
                    scale,
                    is_gradient,
                })
            } else {
                side_by_side.resize(outputs, 0.0);
                self.collect(scores, i, rows.len(), side_by_side);
                let result = loss::row(objective.loss, side_by_side, self.batch, row.row, scale);
                for (b, block) in self.plan.blocks().enumerate() {
                    let at = (b * rows.len() + i) * stride;
                    scores[at..at + block.len()].copy_from_slice(&side_by_side[block]);
                }
                result
            };
            out.loss += f64::from(weight) * value;
            out.correct += usize::from(correct && row.is_scored);
        }
    }

    /// From the gradients `d` of the scores, that of the states.
    fn state_gradients(&self, rows: usize, d: &[f32], dh: &mut [f32], dh_stride: usize) {
        let back = &self.weights.back;
        for (i, (block, b)) in self.plan.blocks().zip(back).enumerate() {
            let a = Segment { a: &d[self.of_block(i, rows)], stride: self.plan.stride, k: block.len() };
            self.s.vectorize(Gemm {
                rows,
                a: &[a],
                b,
                c: dh,
                c_stride: dh_stride,
                add_to: if i == 0 { AddTo::Zero } else { AddTo::C },
                ahead: [&[]; 2],
                next: self.next(back, i),
            });
        }
    }

    /// From the gradients `d` of the scores, those of weights and biases.
    fn weight_gradients(&self, states: Segment, rows: usize, d: &[f32], out: &mut TileOut) {
        let HeadPlan { hidden, hidden_width, stride, ref grad_w, ref grad_b, .. } = *self.plan;
        for (i, block) in self.plan.blocks().enumerate() {
            let d = &d[self.of_block(i, rows)];
            let grads = &mut out.grads[grad_w.clone()];
            if self.plan.is_wide() {
                let grads = &mut grads[i * self.plan.block_gradients()..];
                for panel in self.plan.panels(block.len()) {
                    let c = &mut grads[panel.gradients()];
                    for first in (0..rows).step_by(OUTER_ROWS) {
                        self.s.vectorize(Outer {
                            rows: OUTER_ROWS.min(rows - first),
                            a: &states.a[first * states.stride..],
                            a_stride: states.stride,
                            m: hidden,
                            d: &d[first * stride + panel.first..],
                            d_stride: stride,
                            n: panel.width,
                            c,
                            c_stride: panel.width,
                        });
                    }
                }
            } else {
                self.s.vectorize(Outer {
                    rows,
                    a: d,
                    a_stride: stride,
                    m: block.len(),
                    d: states.a,
                    d_stride: states.stride,
                    n: hidden_width,
                    c: grads,
                    c_stride: hidden_width,
                });
            }
            let bias = &mut out.grads[grad_b.clone()][block];
            for row in d.chunks_exact(stride) {
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
