//! The two matrix products of recurrent training, for small matrices that stay in cache.
//!
//! [`Gemm`] is `C = A·B` with a packed B (weights, packed once a step and used T times). [`Outer`]
//! is `C += Aᵀ·D` with both as they lie (weight gradients: A holds states, D gradients). Vector
//! lanes run over columns, so batches of any size waste nothing and only columns are padded.
//! Each keeps a block of C in registers; sizes of the blocks follow the register file.

// Indexed loops of constant length unroll into registers; what they index is three arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{Ahead, Buffer, Kernel, Simd};

/// A `k × n` matrix in panels of `PANEL` vectors of columns, each panel row after row; `n` is
/// padded to whole vectors with zeros.
#[derive(Clone, Default)]
pub struct Packed {
    data: Buffer,
    k: usize,
    n: usize,
}

impl Packed {
    /// A zero matrix; `n` is rounded up to whole vectors.
    pub fn new<S: Simd>(k: usize, n: usize) -> Self {
        let n = super::padded::<S>(n);
        Self { data: Buffer::zeros(k * n), k, n }
    }

    /// Columns, padding included.
    #[cfg(test)]
    pub fn columns(&self) -> usize {
        self.n
    }

    /// Sets `columns` of rows `first_row..`, one row for each of `rows`, from `column` on, to
    /// `at(row, i)`. Everything else stays.
    pub fn fill<S: Simd>(
        &mut self,
        first_row: usize,
        rows: usize,
        column: usize,
        columns: usize,
        at: impl Fn(usize, usize) -> f32,
    ) {
        let panel = S::PANEL * S::LANES;
        let mut done = 0;
        while done < columns {
            let c = column + done;
            let start = c / panel * panel;
            let width = panel.min(self.n - start);
            let count = (start + width - c).min(columns - done);
            for row in 0..rows {
                let to = start * self.k + (first_row + row) * width + (c - start);
                for (i, value) in self.data[to..to + count].iter_mut().enumerate() {
                    *value = at(row, done + i);
                }
            }
            done += count;
        }
    }
}

/// Part of the rows of A: `k` columns from the beginning of `a`, rows `stride` apart.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    pub a: &'a [f32],
    pub stride: usize,
    pub k: usize,
}

/// What a product is added to.
#[derive(Clone, Copy)]
pub enum AddTo<'a> {
    /// Nothing: `C = A·B`.
    Zero,
    /// What is in C: `C += A·B`.
    C,
    /// This row, in every row of C.
    Row(&'a [f32]),
}

/// `C = A·B` plus what it is added to, where A is the segments side by side.
pub struct Gemm<'a> {
    pub rows: usize,
    pub a: &'a [Segment<'a>],
    pub b: &'a Packed,
    pub c: &'a mut [f32],
    pub c_stride: usize,
    pub add_to: AddTo<'a>,
    /// Memory that the caller will touch soon.
    pub ahead: [&'a [f32]; 2],
    /// The matrix of the caller's next product, where its matrices are too many for the caches: each panel
    /// is then asked for while the one before it is in use.
    pub next: Option<&'a Packed>,
}

/// `C[i][j] += Σ_row A[row][i]·D[row][j]` for `i < m`, `j < n`; `n` is a multiple of the lanes.
pub struct Outer<'a> {
    pub rows: usize,
    pub a: &'a [f32],
    pub a_stride: usize,
    pub m: usize,
    pub d: &'a [f32],
    pub d_stride: usize,
    pub n: usize,
    pub c: &'a mut [f32],
    pub c_stride: usize,
}

/// Rows of C that fit the registers beside `nv` vectors of columns.
const fn max_rows<S: Simd>(nv: usize) -> usize {
    match (S::PANEL, nv) {
        (4, 4) => 6,
        (4, 3) => 8,
        (4, 2) => 12,
        (4, _) => 14,
        (2, 2) => 6,
        (2, _) => 12,
        _ => 4,
    }
}

/// Calls `$f::<S, NV, MR>` for a run-time `$mr`, of which only `1..=max_rows` occur.
macro_rules! with_rows {
    ($s:ty, $nv:ident, $mr:expr, $f:ident($($arg:expr),*)) => {
        with_rows!(@arms $s, $nv, $mr, $f($($arg),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@arms $s:ty, $nv:ident, $mr:expr, $f:ident $args:tt, $($n:literal)+) => {
        match $mr {
            $($n if $n <= max_rows::<$s>($nv) => with_rows!(@call $f, $s, $nv, $n, $args),)+
            _ => unreachable!("row blocks are at most max_rows"),
        }
    };
    (@call $f:ident, $s:ty, $nv:ident, $n:literal, ($($arg:expr),*)) => {
        // SAFETY: the kernel's `run` has checked every extent.
        unsafe { $f::<$s, $nv, $n>($($arg),*) }
    };
}

/// Panics unless `rows` rows of `width` values, `stride` apart, lie in `len` values.
#[inline(always)]
fn check(what: &str, len: usize, rows: usize, stride: usize, width: usize) {
    assert!(
        rows == 0 || width == 0 || (stride >= width || rows == 1) && (rows - 1) * stride + width <= len,
        "{what} is too short"
    );
}

impl Kernel for Gemm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for segment in self.a {
            check("A", segment.a.len(), self.rows, segment.stride, segment.k);
        }
        check("C", self.c.len(), self.rows, self.c_stride, self.b.n);
        assert_eq!(self.a.iter().map(|x| x.k).sum::<usize>(), self.b.k, "A and B do not fit");
        assert!(self.b.data.len() >= self.b.k * self.b.n);
        if let AddTo::Row(row) = self.add_to {
            check("the row that is added", row.len(), 1, 0, self.b.n);
        }
        let panel = S::PANEL * S::LANES;
        let mut ahead = Ahead::new(self.ahead);
        let mut column = 0;
        while column < self.b.n {
            let b = self.b.data[column * self.b.k..].as_ptr();
            let c = self.c[column..].as_mut_ptr();
            let first = match self.add_to {
                AddTo::Zero => None,
                AddTo::C => Some((c.cast_const(), self.c_stride)),
                AddTo::Row(row) => Some((row[column..].as_ptr(), 0)),
            };
            let g = GemmPanel { rows: self.rows, a: self.a, b, c, c_stride: self.c_stride, first };
            let next_panel = Ahead::new([self.after(column + panel, panel), &[]]);
            let prefetches = &mut Prefetches { ahead: &mut ahead, next_panel };
            match (self.b.n - column).min(panel) / S::LANES {
                4 if S::PANEL >= 4 => g.run::<S, 4>(s, prefetches),
                3 if S::PANEL >= 3 => g.run::<S, 3>(s, prefetches),
                2 if S::PANEL >= 2 => g.run::<S, 2>(s, prefetches),
                _ => g.run::<S, 1>(s, prefetches),
            }
            column += panel;
        }
    }
}

impl Gemm<'_> {
    /// The panel at `column`, or the first one of the next matrix, if panels are asked for.
    fn after(&self, column: usize, panel: usize) -> &[f32] {
        let Some(next) = self.next else { return &[] };
        let (b, column) = if column < self.b.n { (self.b, column) } else { (next, 0) };
        &b.data[column * b.k..(column + panel).min(b.n) * b.k]
    }
}

/// What a [`Gemm`] asks for while it computes.
struct Prefetches<'a> {
    ahead: &'a mut Ahead,
    next_panel: Ahead,
}

/// One line of the next panel is asked for in so many rounds of the inner loop: spread over the rows of
/// a large product, not in a burst.
const ROUNDS_PER_LINE: usize = 4;

/// A [`Gemm`] on one panel of columns, its extents checked.
struct GemmPanel<'a> {
    rows: usize,
    a: &'a [Segment<'a>],
    b: *const f32,
    c: *mut f32,
    c_stride: usize,
    /// What the products are added to, and the stride of its rows.
    first: Option<(*const f32, usize)>,
}

impl GemmPanel<'_> {
    #[inline(always)]
    fn run<S: Simd, const NV: usize>(&self, s: S, prefetches: &mut Prefetches) {
        let blocks = self.rows.div_ceil(max_rows::<S>(NV));
        let mut row = 0;
        for i in 0..blocks {
            // As even as possible: 25 rows in blocks of at most 6 are 5 × 5.
            let end = self.rows * (i + 1) / blocks;
            with_rows!(S, NV, end - row, gemm_block(s, self, row, prefetches));
            row = end;
        }
    }
}

/// # Safety
/// Rows `row..row + MR` of A and C and the whole panel of B must be in bounds.
#[inline(always)]
unsafe fn gemm_block<S: Simd, const NV: usize, const MR: usize>(
    s: S,
    g: &GemmPanel,
    row: usize,
    prefetches: &mut Prefetches,
) {
    let mut acc = [[s.splat(0.0); NV]; MR];
    // SAFETY: the caller promises the extents of B and C.
    unsafe {
        let c = g.c.add(row * g.c_stride);
        if let Some((first, stride)) = g.first {
            for m in 0..MR {
                for v in 0..NV {
                    acc[m][v] = s.read(first.add((row + m) * stride + v * S::LANES));
                }
            }
        }
        let mut b = g.b;
        for segment in g.a {
            let a = segment.a.as_ptr().add(row * segment.stride);
            for k in 0..segment.k {
                prefetches.ahead.prefetch();
                if k % ROUNDS_PER_LINE == 0 {
                    prefetches.next_panel.prefetch_to_second_cache();
                }
                let mut columns = [s.splat(0.0); NV];
                for v in 0..NV {
                    columns[v] = s.read(b.add(v * S::LANES));
                }
                b = b.add(NV * S::LANES);
                for m in 0..MR {
                    let x = s.splat(*a.add(m * segment.stride + k));
                    for v in 0..NV {
                        acc[m][v] = s.fma(x, columns[v], acc[m][v]);
                    }
                }
            }
        }
        for m in 0..MR {
            for v in 0..NV {
                s.write(acc[m][v], c.add(m * g.c_stride + v * S::LANES));
            }
        }
    }
}

impl Kernel for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        check("A", self.a.len(), self.rows, self.a_stride, self.m);
        check("D", self.d.len(), self.rows, self.d_stride, self.n);
        check("C", self.c.len(), self.m, self.c_stride, self.n);
        assert_eq!(self.n % S::LANES, 0, "columns come in whole vectors");
        if self.rows == 0 || self.m == 0 {
            return;
        }
        let panel = S::PANEL * S::LANES;
        let mut column = 0;
        while column < self.n {
            let o = OuterPanel {
                rows: self.rows,
                a: self.a.as_ptr(),
                a_stride: self.a_stride,
                m: self.m,
                d: self.d[column..].as_ptr(),
                d_stride: self.d_stride,
                c: self.c[column..].as_mut_ptr(),
                c_stride: self.c_stride,
            };
            match (self.n - column).min(panel) / S::LANES {
                4 if S::PANEL >= 4 => o.run::<S, 4>(s),
                3 if S::PANEL >= 3 => o.run::<S, 3>(s),
                2 if S::PANEL >= 2 => o.run::<S, 2>(s),
                _ => o.run::<S, 1>(s),
            }
            column += panel;
        }
    }
}

/// An [`Outer`] on one panel of columns, its extents checked.
struct OuterPanel {
    rows: usize,
    a: *const f32,
    a_stride: usize,
    m: usize,
    d: *const f32,
    d_stride: usize,
    c: *mut f32,
    c_stride: usize,
}

impl OuterPanel {
    #[inline(always)]
    fn run<S: Simd, const NV: usize>(&self, s: S) {
        let blocks = self.m.div_ceil(max_rows::<S>(NV));
        let mut first = 0;
        for i in 0..blocks {
            let end = self.m * (i + 1) / blocks;
            with_rows!(S, NV, end - first, outer_block(s, self, first));
            first = end;
        }
    }
}

/// # Safety
/// Columns `first..first + MR` of A, the panel of D, and rows `first..first + MR` of C must be in
/// bounds.
#[inline(always)]
unsafe fn outer_block<S: Simd, const NV: usize, const MR: usize>(s: S, o: &OuterPanel, first: usize) {
    let mut acc = [[s.splat(0.0); NV]; MR];
    // SAFETY: the caller promises the extents.
    unsafe {
        let c = o.c.add(first * o.c_stride);
        for m in 0..MR {
            for v in 0..NV {
                acc[m][v] = s.read(c.add(m * o.c_stride + v * S::LANES));
            }
        }
        let mut a = o.a.add(first);
        let mut d = o.d;
        for _ in 0..o.rows {
            let mut columns = [s.splat(0.0); NV];
            for v in 0..NV {
                columns[v] = s.read(d.add(v * S::LANES));
            }
            for m in 0..MR {
                let x = s.splat(*a.add(m));
                for v in 0..NV {
                    acc[m][v] = s.fma(x, columns[v], acc[m][v]);
                }
            }
            // The last step may point past the end: compute it without claiming it is in bounds.
            a = a.wrapping_add(o.a_stride);
            d = d.wrapping_add(o.d_stride);
        }
        for m in 0..MR {
            for v in 0..NV {
                s.write(acc[m][v], c.add(m * o.c_stride + v * S::LANES));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use fastgrnn_core::rng::Rng;

    fn random(n: usize, rng: &mut Rng) -> Vec<f32> {
        (0..n).map(|_| rng.normal() as f32).collect()
    }

    fn close(got: f32, want: f64) {
        assert!((f64::from(got) - want).abs() < 1e-4, "{got} {want}");
    }

    /// `C (+)= [A1 | A2]·B` against three loops, for sizes around every block edge.
    fn check_gemm<S: Simd>(s: S) {
        let mut rng = Rng::new(5);
        for (rows, k1, k2, n) in
            [(1, 1, 0, 1), (3, 5, 2, 17), (25, 80, 9, 80), (13, 7, 0, 100), (29, 3, 3, 130), (6, 0, 4, 33)]
        {
            let (stride1, stride2) = (k1 + 3, k2 + 1);
            let (a1, a2) = (random(rows * stride1, &mut rng), random(rows * stride2, &mut rng));
            let b = random((k1 + k2) * n, &mut rng);
            let mut packed = Packed::new::<S>(k1 + k2, n);
            packed.fill::<S>(0, k1 + k2, 0, n, |r, c| b[r * n + c]);
            let width = packed.columns();
            let before = random(rows * width, &mut rng);
            let row = random(width, &mut rng);
            for (add_to, first) in [
                (AddTo::Zero, &(|_, _| 0.0f32) as &dyn Fn(usize, usize) -> f32),
                (AddTo::C, &|i, j| before[i * width + j]),
                (AddTo::Row(&row), &|_, j| row[j]),
            ] {
                let mut c = before.clone();
                let segments =
                    [Segment { a: &a1, stride: stride1, k: k1 }, Segment { a: &a2, stride: stride2, k: k2 }];
                s.vectorize(Gemm {
                    rows,
                    a: &segments,
                    b: &packed,
                    c: &mut c,
                    c_stride: width,
                    add_to,
                    ahead: [&[]; 2],
                    next: Some(&packed),
                });
                for i in 0..rows {
                    for j in 0..n {
                        let mut want = f64::from(first(i, j));
                        for k in 0..k1 + k2 {
                            let a = if k < k1 { a1[i * stride1 + k] } else { a2[i * stride2 + k - k1] };
                            want += f64::from(a) * f64::from(b[k * n + j]);
                        }
                        close(c[i * width + j], want);
                    }
                    // Columns that only pad are added to, too.
                    assert!((n..width).all(|j| c[i * width + j] == first(i, j)));
                }
            }
        }
    }

    fn check_outer<S: Simd>(s: S) {
        let mut rng = Rng::new(6);
        for (rows, m, n) in [(1, 1, 16), (25, 80, 112), (7, 13, 32), (100, 29, 48), (0, 3, 16)] {
            let (a_stride, d_stride) = (m + 2, n + 5);
            let (a, d) = (random(rows * a_stride, &mut rng), random(rows * d_stride, &mut rng));
            let before = random(m * n, &mut rng);
            let mut c = before.clone();
            s.vectorize(Outer { rows, a: &a, a_stride, m, d: &d, d_stride, n, c: &mut c, c_stride: n });
            for i in 0..m {
                for j in 0..n {
                    let products =
                        (0..rows).map(|r| f64::from(a[r * a_stride + i]) * f64::from(d[r * d_stride + j]));
                    close(c[i * n + j], f64::from(before[i * n + j]) + products.sum::<f64>());
                }
            }
        }
    }

    #[test]
    fn products_equal_plain_loops_on_every_instruction_set() {
        check_gemm(Portable);
        check_outer(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(s) = crate::simd::Avx2::detect() {
                check_gemm(s);
                check_outer(s);
            }
            if let Some(s) = crate::simd::Avx512::detect() {
                check_gemm(s);
                check_outer(s);
            }
        }
    }
}
