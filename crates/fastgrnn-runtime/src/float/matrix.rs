//! A full or low-rank matrix in borrowed memory.

use super::{WrongLength, take};

/// Row-major `A` of `rows × width`, after `A2ᵀ` (`cols × width`, row-major) if it is low-rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a> {
    outer: &'a [f32],
    inner: Option<&'a [f32]>,
    width: usize,
}

impl<'a> Matrix<'a> {
    /// Reads a matrix from the front of `params`; returns what follows it.
    pub(super) fn new(
        params: &'a [f32],
        rows: usize,
        cols: usize,
        rank: Option<usize>,
    ) -> Result<(Self, &'a [f32]), WrongLength> {
        let width = rank.unwrap_or(cols);
        if width == 0 {
            return Err(WrongLength { what: "a matrix row", found: 0, needed: 1 });
        }
        let (outer, rest) = take("the parameters", params, rows.saturating_mul(width))?;
        match rank {
            None => Ok((Self { outer, inner: None, width }, rest)),
            Some(_) => {
                let (inner, rest) = take("the parameters", rest, cols.saturating_mul(width))?;
                Ok((Self { outer, inner: Some(inner), width }, rest))
            }
        }
    }

    /// Entries of scratch that [`Matrix::project`] needs.
    pub(super) fn scratch_len(&self) -> usize {
        if self.inner.is_some() { self.width } else { 0 }
    }

    /// What the rows are multiplied with: `A2ᵀ·x` written to `scratch`, or `x` itself.
    pub(super) fn project<'b>(&self, x: &'b [f32], scratch: &'b mut [f32]) -> &'b [f32] {
        let Some(inner) = self.inner else { return x };
        let out = &mut scratch[..self.width];
        out.fill(0.0);
        for (row, &x) in inner.chunks_exact(self.width).zip(x) {
            out.iter_mut().zip(row).for_each(|(o, a)| *o += a * x);
        }
        out
    }

    /// Adds rows `first..` times `projected` to `out`, as many as `out` has entries.
    pub(super) fn add_rows(&self, first: usize, projected: &[f32], out: &mut [f32]) {
        let rows = self.outer.chunks_exact(self.width).skip(first);
        for (o, row) in out.iter_mut().zip(rows) {
            *o += row.iter().zip(projected).map(|(a, x)| a * x).sum::<f32>();
        }
    }
}
