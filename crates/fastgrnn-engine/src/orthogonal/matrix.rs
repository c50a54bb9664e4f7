//! Products, reflections and inverses of square matrices, row by row.

pub(super) fn identity(matrix: &mut [f64], n: usize) {
    matrix.fill(0.0);
    matrix.iter_mut().step_by(n + 1).for_each(|value| *value = 1.0);
}

#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight sums, so that additions need not wait for each other.
    let mut sums = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// `out = aᵀ·v`
#[inline(always)]
pub(super) fn column_sums(a: &[f64], v: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (row, &v) in a.chunks_exact(out.len()).zip(v) {
        out.iter_mut().zip(row).for_each(|(to, a)| *to += v * a);
    }
}

/// `a = (I − 2·v·vᵀ/(vᵀ·v))·a`, with room for a row in `w`. A `v` of zeros changes nothing.
#[inline(always)]
pub(super) fn reflect(a: &mut [f64], v: &[f64], w: &mut [f64]) {
    let squared = dot(v, v);
    if squared == 0.0 {
        return;
    }
    column_sums(a, v, w);
    for (row, &v) in a.chunks_exact_mut(w.len()).zip(v) {
        let factor = 2.0 / squared * v;
        row.iter_mut().zip(w.iter()).for_each(|(a, w)| *a -= factor * w);
    }
}

/// `out = a·b`
#[inline(always)]
pub(super) fn product(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    for (a, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        column_sums(b, a, out);
    }
}

/// `out = a·bᵀ`
#[inline(always)]
pub(super) fn product_with_transposed(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    for (a, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        out.iter_mut().zip(b.chunks_exact(n)).for_each(|(to, b)| *to = dot(a, b));
    }
}

/// `out = aᵀ·b`
#[inline(always)]
pub(super) fn transposed_product(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (a, b) in a.chunks_exact(n).zip(b.chunks_exact(n)) {
        for (out, &a) in out.chunks_exact_mut(n).zip(a) {
            out.iter_mut().zip(b).for_each(|(to, b)| *to += a * b);
        }
    }
}

/// `out = a⁻¹` by Gauss and Jordan, with the largest pivot of each column; `a` is changed.
#[inline(always)]
pub(super) fn invert(a: &mut [f64], out: &mut [f64], n: usize) {
    identity(out, n);
    for column in 0..n {
        let size = |row: usize| a[row * n + column].abs();
        let pivot = (column..n).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(column);
        for matrix in [&mut *a, &mut *out] {
            if pivot != column {
                let (above, below) = matrix.split_at_mut(pivot * n);
                above[column * n..(column + 1) * n].swap_with_slice(&mut below[..n]);
            }
        }
        let factor = 1.0 / a[column * n + column];
        for matrix in [&mut *a, &mut *out] {
            matrix[column * n..(column + 1) * n].iter_mut().for_each(|value| *value *= factor);
        }
        for row in (0..n).filter(|&row| row != column) {
            let factor = a[row * n + column];
            for matrix in [&mut *a, &mut *out] {
                subtract_row(matrix, n, row, column, factor);
            }
        }
    }
}

/// Subtracts a multiple of the row `from` from the row `to`, another one.
#[inline(always)]
fn subtract_row(matrix: &mut [f64], n: usize, to: usize, from: usize, factor: f64) {
    let (above, below) = matrix.split_at_mut(to.max(from) * n);
    let (first, last) = (&mut above[to.min(from) * n..][..n], &mut below[..n]);
    let (to, from) = if to < from { (first, last) } else { (last, first) };
    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to -= factor * from);
}
