//! A matrix in borrowed memory, in any [`MatrixForm`].

use super::{WrongLength, take};
use crate::MatrixForm;

/// W or U on borrowed parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum FloatMatrix<'a> {
    /// Rows of `width` entries.
    Full {
        rows: &'a [f32],
        width: usize,
    },
    /// Rows of `width` entries behind the second factor, `cols × width`, both row-major.
    LowRank {
        rows: &'a [f32],
        second: &'a [f32],
        width: usize,
    },
    /// The diagonals of all blocks, each of `width` entries.
    Diagonal {
        entries: &'a [f32],
        width: usize,
    },
    Absent,
}

impl<'a> FloatMatrix<'a> {
    /// Reads a matrix from the front of `params`; returns what follows it.
    pub(super) fn new(
        params: &'a [f32],
        rows: usize,
        cols: usize,
        form: MatrixForm,
    ) -> Result<(Self, &'a [f32]), WrongLength> {
        let width = form.rank().unwrap_or(cols);
        if width == 0 {
            return Err(WrongLength { what: "a matrix row", found: 0, needed: 1 });
        }
        let part = |params, entries| take("the parameters", params, entries);
        match form {
            MatrixForm::Full => {
                let (rows, rest) = part(params, rows.saturating_mul(width))?;
                Ok((Self::Full { rows, width }, rest))
            }
            MatrixForm::LowRank(_) => {
                let (rows, rest) = part(params, rows.saturating_mul(width))?;
                let (second, rest) = part(rest, cols.saturating_mul(width))?;
                Ok((Self::LowRank { rows, second, width }, rest))
            }
            MatrixForm::Diagonal => {
                let (entries, rest) = part(params, rows)?;
                Ok((Self::Diagonal { entries, width }, rest))
            }
            MatrixForm::Absent => Ok((Self::Absent, params)),
        }
    }

    /// Entries of scratch that [`FloatMatrix::project`] needs.
    pub(super) fn scratch_len(&self) -> usize {
        if let Self::LowRank { width, .. } = self { *width } else { 0 }
    }

    /// What the rows are multiplied with: `A2ᵀ·x` written to `scratch`, or `x` itself.
    pub(super) fn project<'b>(&self, x: &'b [f32], scratch: &'b mut [f32]) -> &'b [f32] {
        let Self::LowRank { second, width, .. } = self else { return x };
        let out = &mut scratch[..*width];
        out.fill(0.0);
        for (row, &x) in second.chunks_exact(*width).zip(x) {
            out.iter_mut().zip(row).for_each(|(o, a)| *o += a * x);
        }
        out
    }

    /// Adds rows `first..` times `projected` to `out`, as many as `out` has entries.
    pub(super) fn add_rows(&self, first: usize, projected: &[f32], out: &mut [f32]) {
        match *self {
            Self::Full { rows, width } | Self::LowRank { rows, width, .. } => {
                for (o, row) in out.iter_mut().zip(rows.chunks_exact(width).skip(first)) {
                    *o += row.iter().zip(projected).map(|(a, x)| a * x).sum::<f32>();
                }
            }
            Self::Diagonal { entries, width } => {
                for (i, (o, a)) in out.iter_mut().zip(&entries[first..]).enumerate() {
                    *o += a * projected[(first + i) % width];
                }
            }
            Self::Absent => {}
        }
    }
}
