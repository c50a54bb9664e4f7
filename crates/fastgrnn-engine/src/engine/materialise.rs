//! Matrix forms that are made into full matrices once a training step.
//!
//! The time loop multiplies with the full matrix `A(θ)` at every step; the parameters θ are touched
//! twice: [`Materialised::materialise`] computes A before the loop, [`Materialised::pull_back`]
//! turns the gradient of A into that of θ after it. A form that can be computed this way adds a
//! variant of `Parameterisation` and these two functions.

use super::plan::Matrix;
use crate::orthogonal::OrthogonalBlocks;
use crate::simd::{AddTo, Buffer, Gemm, Kernel, Outer, Packed, Segment, Simd};
use fastgrnn_core::cells::{MatrixForm, Orthogonal};

/// A full matrix and the parameterisation that makes it.
pub(super) struct Materialised {
    /// `stacked × padded inputs`
    matrix: Buffer,
    stride: usize,
    parameterisation: Parameterisation,
}

/// How the matrix follows from the parameters, with the buffers that it needs.
enum Parameterisation {
    LowRank(LowRank),
    Orthogonal(OrthogonalForm),
}

/// The gradient of a full matrix as the kernels gather it: transposed, `inputs` rows `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct MatrixGradient<'a> {
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
    /// Units of a block, and the same padded.
    pub(super) hidden: usize,
    pub(super) width: usize,
    /// The columns of block `b` of the matrix begin at `blocks[b] · width`.
    pub(super) blocks: &'a [usize],
}

impl Materialised {
    /// Buffers for a matrix of `stacked` rows.
    pub(super) fn new<S: Simd>(plan: &Matrix, stacked: usize) -> Self {
        let parameterisation = match (plan.orthogonal, plan.form) {
            (Some(form), _) => Parameterisation::Orthogonal(OrthogonalForm::new(form, plan, stacked)),
            (None, MatrixForm::LowRank(_)) => Parameterisation::LowRank(LowRank::new::<S>(plan, stacked)),
            (None, form) => unreachable!("a {form} matrix is not materialised"),
        };
        Self { matrix: Buffer::zeros(stacked * plan.width), stride: plan.width, parameterisation }
    }

    /// The matrix, row by row, and the stride of its rows.
    pub(super) fn matrix(&self) -> (&[f32], usize) {
        (&self.matrix, self.stride)
    }

    /// Computes the matrix from the parameters.
    pub(super) fn materialise<S: Simd>(&mut self, s: S, plan: &Matrix, params: &[f32]) {
        match &mut self.parameterisation {
            Parameterisation::LowRank(form) => {
                form.materialise(s, plan, params, &mut self.matrix, self.stride);
            }
            Parameterisation::Orthogonal(form) => {
                form.materialise(s, plan, params, &mut self.matrix, self.stride);
            }
        }
    }

    /// Writes the gradient of the parameters into the flat `out`, given that of the matrix.
    pub(super) fn pull_back<S: Simd>(
        &mut self,
        s: S,
        plan: &Matrix,
        gradient: MatrixGradient<'_>,
        out: &mut [f32],
    ) {
        match &mut self.parameterisation {
            Parameterisation::LowRank(form) => form.pull_back(s, plan, gradient, out),
            Parameterisation::Orthogonal(form) => form.pull_back(s, plan, gradient, out),
        }
    }
}

/// `A = A1·A2ᵀ`
struct LowRank {
    /// The first factor, `stacked × rank`.
    first: Packed,
    /// The second factor with padded rows.
    second: Buffer,
    /// Its transpose, `rank × inputs`.
    second_t: Packed,
    /// Gradients of the factors.
    grad_first: Buffer,
    grad_second: Buffer,
}

impl LowRank {
    fn new<S: Simd>(plan: &Matrix, stacked: usize) -> Self {
        Self {
            first: Packed::new::<S>(stacked, plan.rank),
            second: Buffer::zeros(plan.inputs * plan.rank_width),
            second_t: Packed::new::<S>(plan.rank, plan.inputs),
            grad_first: Buffer::zeros(stacked * plan.rank_width),
            grad_second: Buffer::zeros(plan.inputs * plan.rank_width),
        }
    }

    fn materialise<S: Simd>(
        &mut self,
        s: S,
        plan: &Matrix,
        params: &[f32],
        matrix: &mut [f32],
        stride: usize,
    ) {
        let Matrix { inputs, rank, .. } = *plan;
        let (first, second) = (&params[plan.first.clone()], &params[plan.second.clone()]);
        let stacked = first.len() / rank;
        self.second_t.fill::<S>(0, rank, 0, inputs, |r, j| second[j * rank + r]);
        s.vectorize(Gemm {
            rows: stacked,
            a: &[Segment { a: first, stride: rank, k: rank }],
            b: &self.second_t,
            c: matrix,
            c_stride: stride,
            add_to: AddTo::Zero,
            ahead: [&[]; 2],
            next: None,
        });
        self.first.fill::<S>(0, stacked, 0, rank, |i, r| first[i * rank + r]);
        for (to, from) in self.second.chunks_mut(plan.rank_width).zip(second.chunks(rank)) {
            to[..rank].copy_from_slice(from);
        }
    }

    fn pull_back<S: Simd>(&mut self, s: S, plan: &Matrix, gradient: MatrixGradient<'_>, out: &mut [f32]) {
        let MatrixGradient { values: g, stride, hidden, width, blocks } = gradient;
        let none = Segment { a: &[], stride: 0, k: 0 };
        let mut segments = [none; 4];
        for (segment, &block) in segments.iter_mut().zip(blocks) {
            *segment = Segment { a: &g[block * width..], stride, k: hidden };
        }
        s.vectorize(Gemm {
            rows: plan.inputs,
            a: &segments[..blocks.len()],
            b: &self.first,
            c: &mut self.grad_second,
            c_stride: plan.rank_width,
            add_to: AddTo::Zero,
            ahead: [&[]; 2],
            next: None,
        });
        self.grad_first.fill(0.0);
        for (b, &block) in blocks.iter().enumerate() {
            s.vectorize(Outer {
                rows: plan.inputs,
                a: &g[block * width..],
                a_stride: stride,
                m: hidden,
                d: &self.second,
                d_stride: plan.rank_width,
                n: plan.rank_width,
                c: &mut self.grad_first[b * hidden * plan.rank_width..],
                c_stride: plan.rank_width,
            });
        }
        copy_rows(&self.grad_first, plan.rank_width, &mut out[plan.first.clone()], plan.rank);
        copy_rows(&self.grad_second, plan.rank_width, &mut out[plan.second.clone()], plan.rank);
    }
}

/// Blocks that are orthogonal, or nearly so. They are computed in f64.
struct OrthogonalForm {
    blocks: OrthogonalBlocks,
    params: Vec<f64>,
    matrix: Vec<f64>,
    /// Gradients of both.
    by_params: Vec<f64>,
    by_matrix: Vec<f64>,
}

/// Computes the matrix from the parameters.
struct MaterialiseBlocks<'a>(&'a mut OrthogonalForm);

impl Kernel for MaterialiseBlocks<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        self.0.blocks.materialise(&self.0.params, &mut self.0.matrix);
    }
}

/// Computes the gradient of the parameters from that of the matrix.
struct PullBackBlocks<'a>(&'a mut OrthogonalForm);

impl Kernel for PullBackBlocks<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        self.0.blocks.pull_back(&self.0.params, &self.0.by_matrix, &mut self.0.by_params);
    }
}

impl OrthogonalForm {
    fn new(form: Orthogonal, plan: &Matrix, stacked: usize) -> Self {
        let blocks = OrthogonalBlocks::new(form, stacked / plan.inputs, plan.inputs);
        let (params, entries) = (vec![0.0; blocks.len()], vec![0.0; stacked * plan.inputs]);
        Self { blocks, by_params: params.clone(), params, by_matrix: entries.clone(), matrix: entries }
    }

    fn materialise<S: Simd>(
        &mut self,
        s: S,
        plan: &Matrix,
        params: &[f32],
        matrix: &mut [f32],
        stride: usize,
    ) {
        let own = plan.orthogonal_parts().flat_map(|part| &params[part]);
        self.params.iter_mut().zip(own).for_each(|(to, &from)| *to = f64::from(from));
        s.vectorize(MaterialiseBlocks(self));
        for (to, from) in matrix.chunks_mut(stride).zip(self.matrix.chunks(plan.inputs)) {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32);
        }
    }

    fn pull_back<S: Simd>(&mut self, s: S, plan: &Matrix, gradient: MatrixGradient<'_>, out: &mut [f32]) {
        let MatrixGradient { values, stride, hidden, width, blocks } = gradient;
        for (row, to) in self.by_matrix.chunks_mut(plan.inputs).enumerate() {
            let column = blocks[row / hidden] * width + row % hidden;
            to.iter_mut().enumerate().for_each(|(k, to)| *to = f64::from(values[k * stride + column]));
        }
        s.vectorize(PullBackBlocks(self));
        let mut from = self.by_params.iter();
        for part in plan.orthogonal_parts() {
            out[part].iter_mut().zip(&mut from).for_each(|(to, &from)| *to = from as f32);
        }
    }
}

/// Copies rows of `columns` values out of padded ones.
pub(super) fn copy_rows(from: &[f32], stride: usize, to: &mut [f32], columns: usize) {
    for (to, from) in to.chunks_mut(columns).zip(from.chunks(stride)) {
        to.copy_from_slice(&from[..columns]);
    }
}
