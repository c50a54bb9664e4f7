//! A matrix in the flat buffer, in any form: full (`y = A·x`), low-rank (`y = A1·(A2ᵀ·x)`), diagonal
//! blocks (`y_b = d_b⊙x`), absent (`y = 0`), or orthogonal blocks that are made from parameters.

use crate::orthogonal::OrthogonalBlocks;
use fastgrnn_core::cells::{CellMatrix, MatrixForm, Orthogonal};
use std::ops::Range;

/// Where a matrix lies, and its sizes.
pub(super) enum Linear {
    Full { start: usize, rows: usize, cols: usize },
    Low { start1: usize, start2: usize, rows: usize, cols: usize, rank: usize },
    Diagonal { start: usize, rows: usize, cols: usize },
    Absent { rows: usize, cols: usize },
    Orthogonal { form: Orthogonal, params: Range<usize>, rows: usize, cols: usize },
}

impl Linear {
    pub(super) fn full(start: usize, rows: usize, cols: usize) -> Self {
        Self::Full { start, rows, cols }
    }

    /// The matrix whose parameters begin at `*offset`; moves `*offset` past them.
    pub(super) fn next(offset: &mut usize, matrix: &CellMatrix) -> Self {
        let CellMatrix { form, rows, cols, .. } = *matrix;
        let start = *offset;
        if let Some(form) = matrix.orthogonal {
            *offset += OrthogonalBlocks::new(form, rows / cols, cols).len();
            return Self::Orthogonal { form, params: start..*offset, rows, cols };
        }
        match form {
            MatrixForm::Full => {
                *offset += rows * cols;
                Self::full(start, rows, cols)
            }
            MatrixForm::LowRank(rank) => {
                *offset += (rows + cols) * rank;
                Self::Low { start1: start, start2: start + rows * rank, rows, cols, rank }
            }
            MatrixForm::Diagonal => {
                *offset += rows;
                Self::Diagonal { start, rows, cols }
            }
            MatrixForm::Absent => Self::Absent { rows, cols },
        }
    }

    /// `A·x`
    pub(super) fn apply(&self, params: &[f64], x: &[f64]) -> Vec<f64> {
        match *self {
            Self::Full { start, rows, cols } => product(&params[start..start + rows * cols], x, rows),
            Self::Low { start1, start2, rows, cols, rank } => {
                let inner = transposed_product(&params[start2..start2 + cols * rank], x, rank);
                product(&params[start1..start1 + rows * rank], &inner, rows)
            }
            Self::Diagonal { start, rows, cols } => {
                (0..rows).map(|i| params[start + i] * x[i % cols]).collect()
            }
            Self::Absent { rows, .. } => vec![0.0; rows],
            Self::Orthogonal { form, params: ref range, rows, cols } => {
                product(&orthogonal(form, &params[range.clone()], rows, cols).1, x, rows)
            }
        }
    }

    /// Given `dy`, adds the matrix's derivative to `gradient` and returns `dx = Aᵀ·dy`.
    pub(super) fn reverse(&self, params: &[f64], x: &[f64], dy: &[f64], gradient: &mut [f64]) -> Vec<f64> {
        match *self {
            Self::Full { start, rows, cols } => {
                let range = start..start + rows * cols;
                add_outer(&mut gradient[range.clone()], dy, x);
                transposed_product(&params[range], dy, cols)
            }
            Self::Low { start1, start2, rows, cols, rank } => {
                let (range1, range2) = (start1..start1 + rows * rank, start2..start2 + cols * rank);
                let inner = transposed_product(&params[range2.clone()], x, rank);
                let d_inner = transposed_product(&params[range1.clone()], dy, rank);
                add_outer(&mut gradient[range1], dy, &inner);
                add_outer(&mut gradient[range2.clone()], x, &d_inner);
                product(&params[range2], &d_inner, cols)
            }
            Self::Diagonal { start, rows, cols } => {
                let mut dx = vec![0.0; cols];
                for i in 0..rows {
                    gradient[start + i] += dy[i] * x[i % cols];
                    dx[i % cols] += dy[i] * params[start + i];
                }
                dx
            }
            Self::Absent { cols, .. } => vec![0.0; cols],
            Self::Orthogonal { form, params: ref range, rows, cols } => {
                let own = &params[range.clone()];
                let (mut blocks, matrix) = orthogonal(form, own, rows, cols);
                let mut by_matrix = vec![0.0; rows * cols];
                add_outer(&mut by_matrix, dy, x);
                let mut by_params = vec![0.0; own.len()];
                blocks.pull_back(own, &by_matrix, &mut by_params);
                gradient[range.clone()].iter_mut().zip(by_params).for_each(|(to, d)| *to += d);
                transposed_product(&matrix, dy, cols)
            }
        }
    }
}

/// The matrix of these parameters, and what made it.
fn orthogonal(form: Orthogonal, params: &[f64], rows: usize, cols: usize) -> (OrthogonalBlocks, Vec<f64>) {
    let mut blocks = OrthogonalBlocks::new(form, rows / cols, cols);
    let mut matrix = vec![0.0; rows * cols];
    blocks.materialise(params, &mut matrix);
    (blocks, matrix)
}

/// `A·x` for a row-major `rows × x.len()` matrix.
fn product(a: &[f64], x: &[f64], rows: usize) -> Vec<f64> {
    (0..rows).map(|i| a[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// `Aᵀ·x` for a row-major `x.len() × cols` matrix.
fn transposed_product(a: &[f64], x: &[f64], cols: usize) -> Vec<f64> {
    let mut y = vec![0.0; cols];
    for (row, x) in a.chunks(cols).zip(x) {
        y.iter_mut().zip(row).for_each(|(y, a)| *y += a * x);
    }
    y
}

/// `A += x·yᵀ`
fn add_outer(a: &mut [f64], x: &[f64], y: &[f64]) {
    for (row, x) in a.chunks_mut(y.len()).zip(x) {
        row.iter_mut().zip(y).for_each(|(a, y)| *a += x * y);
    }
}
