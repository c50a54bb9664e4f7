//! Products with stacked diagonal blocks, on rows of sequences.
//!
//! Plain loops over slices of equal length: compiled within [`Simd::vectorize`], they become vectors
//! without reading past the rows of an unpadded input.

use crate::simd::{Kernel, Simd};

/// Diagonal blocks and where their products lie in rows of `pre`.
#[derive(Clone, Copy)]
pub(super) struct Diagonals<'a> {
    /// One diagonal of `hidden` entries after the other.
    pub(super) entries: &'a [f32],
    pub(super) hidden: usize,
    /// The block of `pre` that each diagonal adds to, and the width of a block.
    pub(super) blocks: &'a [usize],
    pub(super) width: usize,
    /// Distance of rows of `pre`.
    pub(super) stride: usize,
}

/// `pre[row][block] += d_block ⊙ v[row]`
pub(super) struct DiagonalForward<'a> {
    pub(super) diagonals: Diagonals<'a>,
    pub(super) rows: usize,
    pub(super) v: &'a [f32],
    pub(super) v_stride: usize,
    pub(super) pre: &'a mut [f32],
}

/// `dv[row] += Σ_block d_block ⊙ dpre[row][block]` and `grads_block += Σ_row dpre[row][block] ⊙ v[row]`
pub(super) struct DiagonalBackward<'a> {
    pub(super) diagonals: Diagonals<'a>,
    pub(super) rows: usize,
    pub(super) v: &'a [f32],
    pub(super) v_stride: usize,
    pub(super) dpre: &'a [f32],
    /// Where the gradient of `v` is added, rows `dv_stride` apart; nothing if it is empty.
    pub(super) dv: &'a mut [f32],
    pub(super) dv_stride: usize,
    pub(super) grads: &'a mut [f32],
}

impl Diagonals<'_> {
    /// Each diagonal with the place of its block in a row of `pre`.
    #[inline(always)]
    fn each(&self) -> impl Iterator<Item = (&[f32], usize)> {
        self.entries.chunks_exact(self.hidden).zip(self.blocks).map(|(d, &block)| (d, block * self.width))
    }
}

impl Kernel for DiagonalForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { diagonals, rows, v, v_stride, pre } = self;
        for row in 0..rows {
            let v = &v[row * v_stride..][..diagonals.hidden];
            for (d, at) in diagonals.each() {
                let out = &mut pre[row * diagonals.stride + at..][..diagonals.hidden];
                for ((out, d), v) in out.iter_mut().zip(d).zip(v) {
                    *out += d * v;
                }
            }
        }
    }
}

impl Kernel for DiagonalBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { diagonals, rows, v, v_stride, dpre, dv, dv_stride, grads } = self;
        let hidden = diagonals.hidden;
        for row in 0..rows {
            let v = &v[row * v_stride..][..hidden];
            for ((d, at), grads) in diagonals.each().zip(grads.chunks_exact_mut(hidden)) {
                let dpre = &dpre[row * diagonals.stride + at..][..hidden];
                for ((g, dpre), v) in grads.iter_mut().zip(dpre).zip(v) {
                    *g += dpre * v;
                }
                if !dv.is_empty() {
                    let dv = &mut dv[row * dv_stride..][..hidden];
                    for ((dv, d), dpre) in dv.iter_mut().zip(d).zip(dpre) {
                        *dv += d * dpre;
                    }
                }
            }
        }
    }
}
