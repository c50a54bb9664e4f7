//! Orthogonal and nearly orthogonal matrices, made from parameters of any value, and the gradient on its way back.
//!
//! All of it is in f64, so that rounding leaves the matrix as orthogonal as f32 can be. It is shared by the reference and
//! the engine, and checked by central differences. Matrices are row-major.

mod matrix;
mod rotations;

use fastgrnn_core::cells::Orthogonal;
use fastgrnn_core::net::{Layout, Network, View};
use matrix::{
    column_sums, dot, identity, invert, product, product_with_transposed, reflect, transposed_product,
};
use rotations::UnitaryMatrix;
use std::ops::Range;

/// The network with its orthogonal matrices made into full ones, and its parameters. Others stay as they are.
///
/// ```
/// use fastgrnn_core::cells::{Cell, CellKind, Orthogonal, Start};
/// use fastgrnn_core::net::Network;
/// let cell = Cell::new(CellKind::Rnn, 3, 8).with_orthogonal_u(Orthogonal::Reflections { count: 8 });
/// let network = Network::new(vec![cell], 2);
/// let (full, params) = fastgrnn_engine::materialised(&network, &network.start(Start::default(), 10, 0));
/// let u = &params[full.layout().view("layer0.u").unwrap().range()];
/// // Its first two rows are at a right angle.
/// let product: f32 = u[..8].iter().zip(&u[8..16]).map(|(a, b)| a * b).sum();
/// assert!(product.abs() < 1e-6);
/// ```
pub fn materialised(network: &Network, params: &[f32]) -> (Network, Vec<f32>) {
    let (full, from) = (network.materialised(), network.layout());
    let to = full.layout();
    let mut made = vec![0.0; to.len()];
    for view in to.views() {
        if let Some(same) = from.view(&view.name) {
            made[view.range()].copy_from_slice(&params[same.range()]);
        }
    }
    for (l, cell) in network.layers.iter().enumerate() {
        let Some(form) = cell.orthogonal_u else { continue };
        let view = |name: &str, layout: &Layout| layout.view(&format!("layer{l}.{name}")).map(View::range);
        let own = cell.u().params().into_iter().filter_map(|param| view(param.name, &from));
        let own: Vec<f64> = own.flat_map(|range| &params[range]).map(|&value| f64::from(value)).collect();
        let mut blocks = OrthogonalBlocks::new(form, cell.blocks(), cell.hidden);
        let mut matrix = vec![0.0; cell.blocks() * cell.hidden * cell.hidden];
        blocks.materialise(&own, &mut matrix);
        let range = view("u", &to).expect("a full U is a matrix of parameters");
        made[range].iter_mut().zip(&matrix).for_each(|(to, &value)| *to = value as f32);
    }
    (full, made)
}

/// Square matrices on top of each other, whose parameters are one buffer: the first part of all blocks, such as a basis,
/// then their second and third parts.
pub(crate) struct OrthogonalBlocks {
    blocks: Vec<Block>,
    /// The lengths of the parts of a block.
    parts: [usize; 3],
    /// The parameters of a block, and the gradient by them.
    own: Vec<f64>,
    by_own: Vec<f64>,
}

impl OrthogonalBlocks {
    /// Memory for `blocks` matrices of `size` rows.
    pub(crate) fn new(form: Orthogonal, blocks: usize, size: usize) -> Self {
        let (blocks, parts) = ((0..blocks).map(|_| Block::new(form, size)).collect(), form.part_lens(size));
        let own: usize = parts.iter().sum();
        Self { blocks, parts, own: vec![0.0; own], by_own: vec![0.0; own] }
    }

    /// The number of parameters.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len() * self.own.len()
    }

    /// Computes the matrices from their parameters.
    #[inline(always)]
    pub(crate) fn materialise(&mut self, params: &[f64], out: &mut [f64]) {
        let count = self.blocks.len();
        let entries = out.len() / count.max(1);
        for (b, (block, out)) in self.blocks.iter_mut().zip(out.chunks_exact_mut(entries)).enumerate() {
            for_each_part(self.parts, count, b, |own, all| self.own[own].copy_from_slice(&params[all]));
            block.materialise(&self.own, out);
        }
    }

    /// Computes the gradient by the parameters from that by the matrices, which were the last to be materialised.
    #[inline(always)]
    pub(crate) fn pull_back(&mut self, params: &[f64], gradient: &[f64], out: &mut [f64]) {
        let count = self.blocks.len();
        let entries = gradient.len() / count.max(1);
        for (b, (block, gradient)) in self.blocks.iter_mut().zip(gradient.chunks_exact(entries)).enumerate() {
            for_each_part(self.parts, count, b, |own, all| self.own[own].copy_from_slice(&params[all]));
            block.pull_back(&self.own, gradient, &mut self.by_own);
            for_each_part(self.parts, count, b, |own, all| out[all].copy_from_slice(&self.by_own[own]));
        }
    }
}

/// For the parts of a block, where they lie in the parameters of the block, and in those of `count` blocks of which it is
/// the one at `place`.
fn for_each_part(
    parts: [usize; 3],
    count: usize,
    place: usize,
    mut each: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut start = 0;
    for len in parts {
        let first = count * start + place * len;
        each(start..start + len, first..first + len);
        start += len;
    }
}

/// A square matrix that is made from parameters.
enum Block {
    Bases(Box<OrthogonalMatrix>),
    Rotations(UnitaryMatrix),
}

impl Block {
    fn new(form: Orthogonal, size: usize) -> Self {
        match form.has_pairs() {
            true => Self::Rotations(UnitaryMatrix::new(form, size)),
            false => Self::Bases(Box::new(OrthogonalMatrix::new(form, size))),
        }
    }

    #[inline(always)]
    fn materialise(&mut self, params: &[f64], out: &mut [f64]) {
        match self {
            Self::Bases(matrix) => matrix.materialise(params, out),
            Self::Rotations(matrix) => matrix.materialise(params, out),
        }
    }

    #[inline(always)]
    fn pull_back(&mut self, params: &[f64], gradient: &[f64], out: &mut [f64]) {
        match self {
            Self::Bases(matrix) => matrix.pull_back(params, gradient, out),
            Self::Rotations(matrix) => matrix.pull_back(gradient, out),
        }
    }
}

/// A product of bases and singular values, with the memory that it takes.
struct OrthogonalMatrix {
    form: Orthogonal,
    size: usize,
    /// Parameters of a basis.
    basis: usize,
    left: Basis,
    right: Basis,
    /// Singular values.
    values: Vec<f64>,
    /// Products on the way back.
    products: [Vec<f64>; 2],
}

/// An orthogonal matrix.
struct Basis {
    matrix: Vec<f64>,
    /// A square matrix and vectors that the computation needs.
    square: Vec<f64>,
    other: Vec<f64>,
    vectors: [Vec<f64>; 3],
}

impl OrthogonalMatrix {
    /// Memory for a matrix of `size` rows.
    fn new(form: Orthogonal, size: usize) -> Self {
        let is_product = !matches!(form, Orthogonal::Reflections { .. });
        let of = |is_used: bool| if is_used { size } else { 0 };
        Self {
            form,
            size,
            basis: form.part_lens(size)[0],
            left: Basis::new(size),
            right: Basis::new(of(is_product)),
            values: vec![0.0; of(is_product)],
            products: std::array::from_fn(|_| vec![0.0; size * size]),
        }
    }

    /// Computes the matrix from its parameters: the first basis, the second one, the singular values.
    #[inline(always)]
    fn materialise(&mut self, params: &[f64], out: &mut [f64]) {
        let (n, basis) = (self.size, self.basis);
        self.left.materialise(self.form, n, &params[..basis]);
        if self.values.is_empty() {
            out.copy_from_slice(&self.left.matrix);
            return;
        }
        self.right.materialise(self.form, n, &params[basis..2 * basis]);
        for (value, &raw) in self.values.iter_mut().zip(&params[2 * basis..]) {
            *value = 1.0 + self.form.margin() * (2.0 * sigmoid(raw) - 1.0);
        }
        // L·diag(σ)·Rᵀ
        let [scaled, _] = &mut self.products;
        for (to, from) in scaled.chunks_exact_mut(n).zip(self.left.matrix.chunks_exact(n)) {
            to.iter_mut().zip(from).zip(&self.values).for_each(|((to, l), value)| *to = l * value);
        }
        product_with_transposed(scaled, &self.right.matrix, n, out);
    }

    /// Computes the gradient by the parameters from that by the matrix, which was the last to be materialised.
    #[inline(always)]
    fn pull_back(&mut self, params: &[f64], gradient: &[f64], out: &mut [f64]) {
        let (n, basis) = (self.size, self.basis);
        let [of_left, of_right] = &mut self.products;
        if self.values.is_empty() {
            of_left.copy_from_slice(gradient);
            self.left.pull_back(self.form, n, &params[..basis], of_left, &mut out[..basis]);
            return;
        }
        // G·R and Gᵀ·L
        product(gradient, &self.right.matrix, n, of_left);
        transposed_product(gradient, &self.left.matrix, n, of_right);
        for (k, (to, &raw)) in out[2 * basis..].iter_mut().zip(&params[2 * basis..]).enumerate() {
            let by_value: f64 = (0..n).map(|i| self.left.matrix[i * n + k] * of_left[i * n + k]).sum();
            let s = sigmoid(raw);
            *to = by_value * 2.0 * self.form.margin() * s * (1.0 - s);
        }
        for by_basis in [&mut *of_left, &mut *of_right] {
            for row in by_basis.chunks_exact_mut(n) {
                row.iter_mut().zip(&self.values).for_each(|(d, value)| *d *= value);
            }
        }
        self.left.pull_back(self.form, n, &params[..basis], of_left, &mut out[..basis]);
        let range = basis..2 * basis;
        self.right.pull_back(self.form, n, &params[range.clone()], of_right, &mut out[range]);
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Basis {
    fn new(size: usize) -> Self {
        let square = || vec![0.0; size * size];
        let vectors = std::array::from_fn(|_| vec![0.0; size]);
        Self { matrix: square(), square: square(), other: square(), vectors }
    }

    #[inline(always)]
    fn materialise(&mut self, form: Orthogonal, n: usize, params: &[f64]) {
        match form {
            Orthogonal::Reflections { .. } | Orthogonal::Spectral { .. } => self.reflections(n, params),
            Orthogonal::Factored { .. } => self.cayley(n, params),
            Orthogonal::Rotations { .. } | Orthogonal::FftRotations => {}
        }
    }

    /// `gradient` is that by the matrix; it is changed.
    #[inline(always)]
    fn pull_back(
        &mut self,
        form: Orthogonal,
        n: usize,
        params: &[f64],
        gradient: &mut [f64],
        out: &mut [f64],
    ) {
        match form {
            Orthogonal::Reflections { .. } | Orthogonal::Spectral { .. } => {
                self.pull_back_reflections(n, params, gradient, out);
            }
            Orthogonal::Factored { .. } => self.pull_back_cayley(n, gradient, out),
            Orthogonal::Rotations { .. } | Orthogonal::FftRotations => {}
        }
    }

    /// `H₁·H₂·…`, where `H = I − 2·v·vᵀ/(vᵀ·v)`.
    #[inline(always)]
    fn reflections(&mut self, n: usize, params: &[f64]) {
        identity(&mut self.matrix, n);
        let [w, ..] = &mut self.vectors;
        for v in params.chunks_exact(n).rev() {
            reflect(&mut self.matrix, v, w);
        }
    }

    #[inline(always)]
    fn pull_back_reflections(&mut self, n: usize, params: &[f64], g: &mut [f64], out: &mut [f64]) {
        let [w, r, t] = &mut self.vectors;
        // The product of all reflections from the current one on: the product without the current one is that reflected
        // once more.
        let a = &mut self.square;
        a.copy_from_slice(&self.matrix);
        for (v, dv) in params.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            let squared: f64 = v.iter().map(|v| v * v).sum();
            if squared == 0.0 {
                // No reflection at all.
                dv.fill(0.0);
                continue;
            }
            reflect(a, v, w);
            // w = Aᵀ·v, r = Gᵀ·v, t = G·w + A·r
            column_sums(a, v, w);
            column_sums(g, v, r);
            for ((t, g), a) in t.iter_mut().zip(g.chunks_exact(n)).zip(a.chunks_exact(n)) {
                *t = dot(g, w) + dot(a, r);
            }
            let c = dot(w, r);
            for ((dv, v), t) in dv.iter_mut().zip(v).zip(t.iter()) {
                *dv = (-2.0 * t + 4.0 * c / squared * v) / squared;
            }
            for (row, v) in g.chunks_exact_mut(n).zip(v) {
                let factor = 2.0 / squared * v;
                row.iter_mut().zip(r.iter()).for_each(|(g, r)| *g -= factor * r);
            }
        }
    }

    /// `(I + A)⁻¹·(I − A)` of the skew-symmetric A whose entries below the diagonal are the parameters.
    #[inline(always)]
    fn cayley(&mut self, n: usize, params: &[f64]) {
        let a = &mut self.other;
        identity(a, n);
        let mut next = params.iter();
        for i in 1..n {
            for (j, &value) in (0..i).zip(&mut next) {
                a[i * n + j] = value;
                a[j * n + i] = -value;
            }
        }
        // I + A has an inverse: the eigenvalues of A are imaginary.
        invert(a, &mut self.square, n);
        // (I + A)⁻¹·(I − A) = 2·(I + A)⁻¹ − I
        for (i, (to, from)) in self.matrix.iter_mut().zip(&self.square).enumerate() {
            *to = 2.0 * from - f64::from(u8::from(i % n == i / n));
        }
    }

    #[inline(always)]
    fn pull_back_cayley(&mut self, n: usize, g: &mut [f64], out: &mut [f64]) {
        // With M = (I + A)⁻¹, d(2·M − I) = −2·M·dA·M, so the gradient by A is −2·Mᵀ·G·Mᵀ.
        let (m, half) = (&self.square, &mut self.other);
        transposed_product(m, g, n, half);
        product_with_transposed(half, m, n, g);
        let mut next = out.iter_mut();
        for i in 1..n {
            for (j, to) in (0..i).zip(&mut next) {
                *to = -2.0 * (g[i * n + j] - g[j * n + i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::rng::Rng;

    fn forms(size: usize) -> Vec<Orthogonal> {
        let mut forms = vec![
            Orthogonal::Reflections { count: size },
            Orthogonal::Reflections { count: size.div_ceil(2) },
            Orthogonal::Spectral { count: size.div_ceil(2), margin: 0.3 },
        ];
        forms.push(Orthogonal::Factored { margin: 0.2 });
        if size.is_multiple_of(2) {
            forms.extend([1, size / 2].map(|layers| Orthogonal::Rotations { layers }));
            forms.push(Orthogonal::FftRotations);
        }
        forms
    }

    fn draw(len: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..len).map(|_| rng.normal()).collect()
    }

    #[test]
    fn gradients_equal_central_differences() {
        for size in [2, 3, 6, 7, 8] {
            for form in forms(size) {
                let mut matrix = Block::new(form, size);
                let mut params = draw(form.part_lens(size).iter().sum(), size as u64);
                // The matrix is weighted by these numbers and summed.
                let weights = draw(size * size, 99);
                let mut out = vec![0.0; size * size];
                let mut value = |matrix: &mut Block, params: &[f64]| {
                    matrix.materialise(params, &mut out);
                    out.iter().zip(&weights).map(|(m, w)| m * w).sum::<f64>()
                };
                value(&mut matrix, &params);
                let mut gradient = vec![0.0; params.len()];
                matrix.pull_back(&params, &weights, &mut gradient);
                for i in 0..params.len() {
                    const STEP: f64 = 1e-6;
                    let at = params[i];
                    params[i] = at + STEP;
                    let above = value(&mut matrix, &params);
                    params[i] = at - STEP;
                    let below = value(&mut matrix, &params);
                    params[i] = at;
                    let expected = (above - below) / (2.0 * STEP);
                    let found = gradient[i];
                    assert!(
                        (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                        "{form:?} {size}, {i}: {found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn singular_values_are_within_their_margin() {
        for size in [1, 2, 24] {
            for form in forms(size) {
                let mut matrix = Block::new(form, size);
                let params = draw(form.part_lens(size).iter().sum(), 5);
                let mut q = vec![0.0; size * size];
                matrix.materialise(&params, &mut q);
                // |Q·x| of any x of length 1 lies between the least and the largest one.
                for seed in 0..50 {
                    let x = draw(size, seed);
                    let length: f64 = q.chunks(size).map(|row| dot(row, &x).powi(2)).sum();
                    let stretch = (length / dot(&x, &x)).sqrt();
                    assert!((stretch - 1.0).abs() <= form.margin() + 1e-12, "{form:?}: {stretch}");
                }
            }
        }
    }

    #[test]
    fn a_reflection_at_nothing_changes_nothing() {
        let mut matrix = OrthogonalMatrix::new(Orthogonal::Reflections { count: 2 }, 3);
        let params = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let (mut q, mut gradient) = ([0.0; 9], [1.0; 6]);
        matrix.materialise(&params, &mut q);
        assert_eq!(q, [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        matrix.pull_back(&params, &[1.0; 9], &mut gradient);
        assert_eq!(gradient[..3], [0.0; 3]);
    }
}
