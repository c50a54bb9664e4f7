//! One layer forward and backward through time, for one tile of sequences.
//!
//! Buffers are time-major (`[t][row][unit]`). Rows are sorted by length, longest first, so that the
//! rows still running at a step are the first ones: nothing is computed for a sequence that has
//! ended, and no padding exists that could leak.

use super::diagonal::{DiagonalBackward, DiagonalForward, Diagonals};
use super::plan::{Evaluation, LayerPlan, Matrix, W_BLOCKS};
use super::sums::add;
use super::weights::LayerWeights;
use crate::cells::{self, Backward, Forward, Point};
use crate::simd::{AddTo, Buffer, Gemm, Outer, Segment, Simd};

/// Time steps whose weight gradients are computed in one product: the gradient matrix is then
/// loaded and stored once for that many steps.
const CHUNK: usize = 4;

/// Which rows run at which step.
#[derive(Default)]
pub(super) struct Steps {
    /// Sequences of the tile.
    pub(super) rows: usize,
    /// Rows running at each step; never growing.
    pub(super) active: Vec<usize>,
    /// Steps at which all rows run.
    pub(super) full: usize,
}

impl Steps {
    /// Calls `f(first step, rows)` for all full steps at once, then for each further step.
    fn for_runs(&self, mut f: impl FnMut(usize, usize)) {
        if self.full > 0 {
            f(0, self.full * self.rows);
        }
        for t in self.full..self.active.len() {
            f(t, self.active[t]);
        }
    }
}

/// A layer's buffers for one tile.
#[derive(Default)]
pub(super) struct LayerWorkspace {
    /// States, from the initial one: `[T + 1][row][width]`.
    pub(super) h: Buffer,
    /// The LSTM's cell states.
    pub(super) c: Buffer,
    /// Inputs after W's second factor.
    wx: Buffer,
    /// States after U's second factor.
    uh: Buffer,
    saved: Buffer,
    pre: Buffer,
    dpre: Buffer,
    /// Gradient of `uh`, of a chunk.
    duh: Buffer,
    /// Gradient of `wx`, of all steps.
    dwx: Buffer,
    /// Gradient of the running state.
    pub(super) dh: Buffer,
    dc: Buffer,
}

/// The input of a layer: rows `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) x: &'a [f32],
    pub(super) stride: usize,
}

/// A layer at work.
pub(super) struct Layer<'a, S> {
    pub(super) s: S,
    pub(super) plan: &'a LayerPlan,
    pub(super) weights: &'a LayerWeights,
    pub(super) steps: &'a Steps,
    pub(super) input: Input<'a>,
}

impl<S: Simd> Layer<'_, S> {
    /// Sizes `space` for the tile and clears the initial state.
    pub(super) fn prepare(plan: &LayerPlan, steps: &Steps, space: &mut LayerWorkspace, training: bool) {
        let (rows, total) = (steps.rows, steps.rows * steps.active.len());
        let saved_steps = if training { total } else { rows };
        let state = (total + rows) * plan.width;
        space.h.reserve(state);
        space.h[..rows * plan.width].fill(0.0);
        space.saved.reserve(saved_steps * plan.saved_width());
        space.pre.reserve(rows * plan.pre_width());
        if plan.shape.has_c {
            space.c.reserve(state);
            space.c[..rows * plan.width].fill(0.0);
        }
        if plan.w.evaluation == Evaluation::Factored {
            space.wx.reserve(total * plan.w.width);
        }
        if plan.u.evaluation == Evaluation::Factored {
            space.uh.reserve(saved_steps * plan.u.width);
        }
        if training {
            space.dpre.reserve(CHUNK * rows * plan.pre_width());
            space.dh.reserve(rows * plan.width);
            if plan.shape.has_c {
                space.dc.reserve(rows * plan.width);
            }
            if plan.u.evaluation == Evaluation::Factored {
                space.duh.reserve(CHUNK * rows * plan.u.width);
            }
            if plan.w.evaluation == Evaluation::Factored {
                space.dwx.reserve(total * plan.w.width);
            }
        }
    }

    fn point(&self) -> Point<'_> {
        Point {
            width: self.plan.width,
            gate: self.plan.cell.gate,
            update: self.plan.cell.update,
            vectors: &self.weights.vectors,
            scalars: self.weights.scalars,
        }
    }

    /// Computes all states; what backward needs is kept only when `training`.
    pub(super) fn forward(&self, space: &mut LayerWorkspace, training: bool) {
        let Self { s, plan, weights, steps, input } = self;
        let LayerWorkspace { h, c, wx, uh, saved, pre, .. } = space;
        let rows = steps.rows;
        if plan.w.evaluation == Evaluation::Factored {
            steps.for_runs(|t, n| {
                s.vectorize(Gemm {
                    rows: n,
                    a: &[Segment {
                        a: &input.x[t * rows * input.stride..],
                        stride: input.stride,
                        k: plan.w.inputs,
                    }],
                    b: &weights.w.second,
                    c: &mut wx[t * rows * plan.w.width..],
                    c_stride: plan.w.width,
                    add_to: AddTo::Zero,
                    ahead: [&[]; 2],
                    next: None,
                });
            });
        }
        let (x, x_stride) = if plan.w.evaluation == Evaluation::Factored {
            (&wx[..], plan.w.width)
        } else {
            (input.x, input.stride)
        };
        for (t, &n) in steps.active.iter().enumerate() {
            let kept = if training { t } else { 0 };
            let (before, after) = h.split_at_mut((t + 1) * rows * plan.width);
            let h_prev = &before[t * rows * plan.width..];
            let saved = &mut saved[kept * rows * plan.saved_width()..];
            let mut recurrent = Segment { a: h_prev, stride: plan.width, k: plan.hidden };
            if plan.u.evaluation == Evaluation::Factored {
                s.vectorize(Gemm {
                    rows: n,
                    a: &[recurrent],
                    b: &weights.u.second,
                    c: &mut uh[kept * rows * plan.u.width..],
                    c_stride: plan.u.width,
                    add_to: AddTo::Zero,
                    ahead: [&saved[..n * plan.saved_width()], &[]],
                    next: None,
                });
                recurrent =
                    Segment { a: &uh[kept * rows * plan.u.width..], stride: plan.u.width, k: plan.u.k };
            }
            let current = Segment { a: &x[t * rows * x_stride..], stride: x_stride, k: plan.w.k };
            // The products ask for the memory that the element-wise rule will write.
            let mut ahead = [&after[..n * plan.width], &saved[..n * plan.saved_width()]];
            if plan.u.evaluation == Evaluation::Factored {
                let next = if training && t + 1 < steps.active.len() { (t + 1) * rows } else { 0 };
                ahead[1] = &uh[next * plan.u.width..(next + n) * plan.u.width];
            }
            for (group, packed) in plan.groups.iter().zip(&weights.groups) {
                let both = [recurrent, current];
                let a = match (group.reads_h, group.reads_x) {
                    (true, true) => &both[..],
                    (true, false) => &both[..1],
                    (false, true) => &both[1..],
                    // Nothing but a diagonal, or nothing at all, reaches these blocks: they are 0.
                    (false, false) => &[],
                };
                let c = &mut pre[group.first * plan.width..];
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b: packed,
                    c,
                    c_stride: plan.pre_width(),
                    add_to: AddTo::Zero,
                    ahead,
                    next: None,
                });
                ahead = [&[]; 2];
            }
            self.add_diagonals(n, h_prev, &x[t * rows * x_stride..], pre);
            let (c_prev, c_next) = if plan.shape.has_c {
                let (before, after) = c.split_at_mut((t + 1) * rows * plan.width);
                (&before[t * rows * plan.width..], after)
            } else {
                (&[][..], &mut [][..])
            };
            let forward =
                Forward { rows: n, point: self.point(), pre, h_prev, c_prev, saved, h: after, c: c_next };
            cells::forward(*s, plan.cell.kind, forward);
        }
    }

    /// Adds the parameters' gradients to `grads`, given the gradient of the last states in
    /// `space.dh` and, where it is not empty, of every state in `dout`; writes the input's to `dx`
    /// (rows as in the input).
    pub(super) fn backward(
        &self,
        space: &mut LayerWorkspace,
        dout: &[f32],
        dx: &mut [f32],
        grads: &mut [f32],
    ) {
        let Self { s, plan, weights, steps, input } = self;
        let rows = steps.rows;
        let pre_width = plan.pre_width();
        if plan.shape.has_c {
            space.dc[..rows * plan.width].fill(0.0);
        }
        for (t, &n) in steps.active.iter().enumerate().rev() {
            // Full steps of a chunk share a product; a step with fewer rows has one of its own.
            let slot = if n == rows { t % CHUNK } else { 0 };
            let LayerWorkspace { h, c, uh, saved, dpre, duh, dwx, dh, dc, .. } = space;
            let state = t * rows * plan.width;
            if !dout.is_empty() {
                add(&mut dh[..n * plan.width], &dout[state..state + n * plan.width]);
            }
            let dpre = &mut dpre[slot * rows * pre_width..];
            let (c_prev, c_next) = if plan.shape.has_c {
                (&c[state..], &c[state + rows * plan.width..])
            } else {
                (&[][..], &[][..])
            };
            let backward = Backward {
                rows: n,
                point: self.point(),
                saved: &saved[t * rows * plan.saved_width()..],
                h_prev: &h[state..],
                c_prev,
                c: c_next,
                dh,
                dc,
                dpre,
                grads: &mut grads[plan.grad_point.clone()],
            };
            cells::backward(*s, plan.cell.kind, backward);

            let segments = self.segments(dpre, &plan.shape.u_blocks);
            let a = &segments[..plan.shape.u_blocks.len()];
            let (b, stride) = (&weights.u.back, plan.width);
            // The products ask for the memory that the step before will read.
            let before = t.saturating_sub(1) * rows;
            let next_saved = &saved[before * plan.saved_width()..(before + n) * plan.saved_width()];
            let next_h = &h[before * plan.width..(before + n) * plan.width];
            if plan.u.evaluation == Evaluation::Factored {
                let duh = &mut duh[slot * rows * plan.u.width..];
                let next_uh = &uh[before * plan.u.width..(before + n) * plan.u.width];
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b,
                    c: duh,
                    c_stride: plan.u.width,
                    add_to: AddTo::Zero,
                    ahead: [next_saved, &[]],
                    next: None,
                });
                let a = &[Segment { a: duh, stride: plan.u.width, k: plan.u.k }];
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b: &weights.u.second_t,
                    c: dh,
                    c_stride: stride,
                    add_to: AddTo::C,
                    ahead: [next_h, next_uh],
                    next: None,
                });
            } else if plan.u.evaluation == Evaluation::Diagonal {
                s.vectorize(DiagonalBackward {
                    diagonals: self.diagonals(&weights.u.diagonal, &plan.shape.u_blocks),
                    rows: n,
                    v: &h[state..],
                    v_stride: plan.width,
                    dpre,
                    dv: dh,
                    dv_stride: stride,
                    grads: &mut grads[plan.u.grad_first.clone()],
                });
            } else if plan.u.evaluation.is_product() {
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b,
                    c: dh,
                    c_stride: stride,
                    add_to: AddTo::C,
                    ahead: [next_saved, next_h],
                    next: None,
                });
            }

            let segments = self.segments(dpre, &W_BLOCKS[..plan.cell.blocks()]);
            let (a, b) = (&segments[..plan.cell.blocks()], &weights.w.back);
            if plan.w.evaluation == Evaluation::Factored {
                let c = &mut dwx[t * rows * plan.w.width..];
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b,
                    c,
                    c_stride: plan.w.width,
                    add_to: AddTo::Zero,
                    ahead: [&[]; 2],
                    next: None,
                });
            } else if plan.w.evaluation == Evaluation::Diagonal {
                self.diagonal_input(t, n, dpre, dx, grads);
            } else if plan.needs_dx {
                let c = &mut dx[t * rows * input.stride..];
                s.vectorize(Gemm {
                    rows: n,
                    a,
                    b,
                    c,
                    c_stride: input.stride,
                    add_to: AddTo::Zero,
                    ahead: [&[]; 2],
                    next: None,
                });
            }

            if n < rows {
                self.weight_gradients(space, t, n, grads);
            } else if slot == 0 {
                let last = (t + CHUNK).min(steps.full);
                self.weight_gradients(space, t, (last - t) * rows, grads);
            }
        }
        if plan.w.evaluation == Evaluation::Factored {
            self.input_gradients(space, dx, grads);
        }
    }

    fn diagonals<'b>(&'b self, entries: &'b [f32], blocks: &'b [usize]) -> Diagonals<'b> {
        let LayerPlan { hidden, width, .. } = *self.plan;
        Diagonals { entries, hidden, blocks, width, stride: self.plan.pre_width() }
    }

    /// Adds the products with diagonal matrices to `pre`.
    fn add_diagonals(&self, rows: usize, h: &[f32], x: &[f32], pre: &mut [f32]) {
        let Self { plan, weights, .. } = self;
        for (matrix, entries, blocks, v, v_stride) in [
            (&plan.u, &weights.u.diagonal, &plan.shape.u_blocks[..], h, plan.width),
            (&plan.w, &weights.w.diagonal, &W_BLOCKS[..plan.cell.blocks()], x, self.input.stride),
        ] {
            if matrix.evaluation == Evaluation::Diagonal {
                let diagonals = self.diagonals(entries, blocks);
                self.s.vectorize(DiagonalForward { diagonals, rows, v, v_stride, pre });
            }
        }
    }

    /// Gradients of a diagonal W and, where it is wanted, of the input of step `t`.
    fn diagonal_input(&self, t: usize, rows: usize, dpre: &[f32], dx: &mut [f32], grads: &mut [f32]) {
        let Self { plan, weights, steps, input, .. } = self;
        let at = t * steps.rows * input.stride;
        let dv = if plan.needs_dx { &mut dx[at..at + rows * input.stride] } else { &mut [][..] };
        dv.fill(0.0);
        self.s.vectorize(DiagonalBackward {
            diagonals: self.diagonals(&weights.w.diagonal, &W_BLOCKS[..plan.cell.blocks()]),
            rows,
            v: &input.x[at..],
            v_stride: input.stride,
            dpre,
            dv,
            dv_stride: input.stride,
            grads: &mut grads[plan.w.grad_first.clone()],
        });
    }

    /// The blocks of `dpre` as the left side of a product.
    fn segments<'b>(&self, dpre: &'b [f32], blocks: &[usize]) -> [Segment<'b>; 4] {
        let (stride, k) = (self.plan.pre_width(), self.plan.hidden);
        let mut segments = [Segment { a: &[], stride, k: 0 }; 4];
        for (segment, &block) in segments.iter_mut().zip(blocks) {
            *segment = Segment { a: &dpre[block * self.plan.width..], stride, k };
        }
        segments
    }

    /// Adds the weight gradients of `n` rows from step `t` on, which `dpre` holds from its start.
    fn weight_gradients(&self, space: &LayerWorkspace, t: usize, n: usize, grads: &mut [f32]) {
        let Self { s, plan, steps, input, .. } = self;
        let first = t * steps.rows;
        let h = Segment { a: &space.h[first * plan.width..], stride: plan.width, k: plan.hidden };
        let read_by_u = if plan.u.evaluation == Evaluation::Factored {
            s.vectorize(Outer {
                rows: n,
                a: h.a,
                a_stride: h.stride,
                m: h.k,
                d: &space.duh,
                d_stride: plan.u.width,
                n: plan.u.width,
                c: &mut grads[plan.u.grad_second.clone()],
                c_stride: plan.u.width,
            });
            Segment { a: &space.uh[first * plan.u.width..], stride: plan.u.width, k: plan.u.k }
        } else {
            h
        };
        let read_by_w = if plan.w.evaluation == Evaluation::Factored {
            Segment { a: &space.wx[first * plan.w.width..], stride: plan.w.width, k: plan.w.k }
        } else {
            Segment { a: &input.x[first * input.stride..], stride: input.stride, k: plan.w.k }
        };
        for run in plan.u_runs() {
            self.main_gradient(&plan.u, read_by_u, run, n, &space.dpre, grads);
        }
        for run in plan.w_runs() {
            self.main_gradient(&plan.w, read_by_w, run, n, &space.dpre, grads);
        }
    }

    fn main_gradient(
        &self,
        matrix: &Matrix,
        read: Segment,
        (block, blocks): (usize, usize),
        rows: usize,
        dpre: &[f32],
        grads: &mut [f32],
    ) {
        let (column, width) = (block * self.plan.width, self.plan.pre_width());
        self.s.vectorize(Outer {
            rows,
            a: read.a,
            a_stride: read.stride,
            m: read.k,
            d: &dpre[column..],
            d_stride: width,
            n: blocks * self.plan.width,
            c: &mut grads[matrix.grad_first.clone()][column..],
            c_stride: width,
        });
    }

    /// From the gradient of `wx`: that of W's second factor, and of the input where it is wanted.
    fn input_gradients(&self, space: &LayerWorkspace, dx: &mut [f32], grads: &mut [f32]) {
        let Self { s, plan, weights, steps, input } = self;
        let width = plan.w.width;
        steps.for_runs(|t, n| {
            let first = t * steps.rows;
            let dwx = &space.dwx[first * width..];
            s.vectorize(Outer {
                rows: n,
                a: &input.x[first * input.stride..],
                a_stride: input.stride,
                m: plan.w.inputs,
                d: dwx,
                d_stride: width,
                n: width,
                c: &mut grads[plan.w.grad_second.clone()],
                c_stride: width,
            });
            if plan.needs_dx {
                s.vectorize(Gemm {
                    rows: n,
                    a: &[Segment { a: dwx, stride: width, k: plan.w.k }],
                    b: &weights.w.second_t,
                    c: &mut dx[first * input.stride..],
                    c_stride: input.stride,
                    add_to: AddTo::Zero,
                    ahead: [&[]; 2],
                    next: None,
                });
            }
        });
    }
}
