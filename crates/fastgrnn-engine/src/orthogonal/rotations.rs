//! Unitary matrices as products of layers of rotations, and the gradient on its way back.
//!
//! A rotation by θ and φ replaces two rows a and b by `e^iφ·(cos θ·a − sin θ·b)` and `sin θ·a + cos θ·b`. All layers, from
//! the first to the last, and in the end a factor `e^iω` for each row, make the unitary matrix of an identity. Units 2k and
//! 2k + 1 are the real and the imaginary part of number k, so an entry `x + iy` becomes the rows `x, −y` and `y, x` of an
//! orthogonal matrix of real numbers.

use super::matrix::dot;
use fastgrnn_core::cells::Orthogonal;

/// A unitary matrix, as an orthogonal one of twice as many rows, with the memory that it takes.
pub(super) struct UnitaryMatrix {
    /// Complex numbers: half of the rows.
    numbers: usize,
    /// The pairs of rows that are rotated, from the first layer to the last.
    rotations: Vec<(usize, usize)>,
    mixing: Vec<Angle>,
    turns: Vec<Angle>,
    phases: Vec<Angle>,
    /// Rows: the real parts, then the imaginary ones.
    matrix: Vec<f64>,
    /// The matrix before the rotations that the way back has passed, and the gradient by it.
    earlier: Vec<f64>,
    gradient: Vec<f64>,
}

/// The cosine and sine of an angle.
#[derive(Clone, Copy, Default)]
struct Angle {
    cos: f64,
    sin: f64,
}

impl Angle {
    fn new(angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { cos, sin }
    }

    fn opposite(self) -> Self {
        Self { cos: self.cos, sin: -self.sin }
    }

    /// Replaces a and b by `cos·a − sin·b` and `sin·a + cos·b`.
    #[inline(always)]
    fn rotate(self, a: &mut [f64], b: &mut [f64]) {
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = (self.cos * *a - self.sin * *b, self.sin * *a + self.cos * *b);
        }
    }

    /// Multiplies a row by `cos + i·sin`.
    #[inline(always)]
    fn turn(self, row: &mut [f64]) {
        let (re, im) = row.split_at_mut(row.len() / 2);
        self.rotate(re, im);
    }
}

impl UnitaryMatrix {
    /// Memory for a matrix of `size` rows, an even number.
    pub(super) fn new(form: Orthogonal, size: usize) -> Self {
        let numbers = size / 2;
        let rotations = form.rotations(numbers).concat();
        let angles = |count: usize| vec![Angle::default(); count];
        let entries = || vec![0.0; numbers * size];
        Self {
            numbers,
            mixing: angles(rotations.len()),
            turns: angles(rotations.len()),
            phases: angles(numbers),
            rotations,
            matrix: entries(),
            earlier: entries(),
            gradient: entries(),
        }
    }

    /// Computes the matrix from its parameters: θ of all rotations, φ of all rotations, the angles of the rows.
    #[inline(always)]
    pub(super) fn materialise(&mut self, params: &[f64], out: &mut [f64]) {
        let size = 2 * self.numbers;
        let angles = self.mixing.iter_mut().chain(&mut self.turns).chain(&mut self.phases);
        angles.zip(params).for_each(|(to, &angle)| *to = Angle::new(angle));
        self.matrix.fill(0.0);
        self.matrix.iter_mut().step_by(size + 1).for_each(|entry| *entry = 1.0);
        for (&(a, b), (mixing, turn)) in self.rotations.iter().zip(self.mixing.iter().zip(&self.turns)) {
            let (a, b) = two_rows(&mut self.matrix, size, a, b);
            mixing.rotate(a, b);
            turn.turn(a);
        }
        for (row, phase) in self.matrix.chunks_exact_mut(size).zip(&self.phases) {
            phase.turn(row);
        }
        for (row, to) in self.matrix.chunks_exact(size).zip(out.chunks_exact_mut(2 * size)) {
            let (re, im) = row.split_at(self.numbers);
            let (upper, lower) = to.split_at_mut(size);
            let pairs = upper.chunks_exact_mut(2).zip(lower.chunks_exact_mut(2));
            for ((upper, lower), (&re, &im)) in pairs.zip(re.iter().zip(im)) {
                upper.copy_from_slice(&[re, -im]);
                lower.copy_from_slice(&[im, re]);
            }
        }
    }

    /// Computes the gradient by the parameters from that by the matrix, which was the last to be materialised.
    #[inline(always)]
    pub(super) fn pull_back(&mut self, gradient: &[f64], out: &mut [f64]) {
        let size = 2 * self.numbers;
        for (row, from) in self.gradient.chunks_exact_mut(size).zip(gradient.chunks_exact(2 * size)) {
            let (re, im) = row.split_at_mut(self.numbers);
            let (upper, lower) = from.split_at(size);
            let pairs = upper.chunks_exact(2).zip(lower.chunks_exact(2));
            for ((upper, lower), (re, im)) in pairs.zip(re.iter_mut().zip(im)) {
                (*re, *im) = (upper[0] + lower[1], lower[0] - upper[1]);
            }
        }
        self.earlier.copy_from_slice(&self.matrix);
        let (by_mixing, rest) = out.split_at_mut(self.rotations.len());
        let (by_turn, by_phase) = rest.split_at_mut(self.rotations.len());
        let rows = self.earlier.chunks_exact_mut(size).zip(self.gradient.chunks_exact_mut(size));
        for ((row, by_row), (phase, to)) in rows.zip(self.phases.iter().zip(by_phase)) {
            *to = by_angle(row, by_row);
            phase.opposite().turn(row);
            phase.opposite().turn(by_row);
        }
        for (i, &(a, b)) in self.rotations.iter().enumerate().rev() {
            let (back, unmixed) = (self.turns[i].opposite(), self.mixing[i].opposite());
            let (a_row, b_row) = two_rows(&mut self.earlier, size, a, b);
            let (by_a, by_b) = two_rows(&mut self.gradient, size, a, b);
            by_turn[i] = by_angle(a_row, by_a);
            back.turn(a_row);
            back.turn(by_a);
            by_mixing[i] = dot(by_b, a_row) - dot(by_a, b_row);
            unmixed.rotate(a_row, b_row);
            unmixed.rotate(by_a, by_b);
        }
    }
}

/// The derivative by ω where a row was multiplied by `e^iω`, from the product and the derivative by it.
#[inline(always)]
fn by_angle(row: &[f64], by_row: &[f64]) -> f64 {
    let ((re, im), (by_re, by_im)) = (row.split_at(row.len() / 2), by_row.split_at(row.len() / 2));
    dot(by_im, re) - dot(by_re, im)
}

/// Rows `a` and `b` of a matrix with `size` columns, where `a` is above `b`.
#[inline(always)]
fn two_rows(matrix: &mut [f64], size: usize, a: usize, b: usize) -> (&mut [f64], &mut [f64]) {
    let (above, below) = matrix.split_at_mut(b * size);
    (&mut above[a * size..][..size], &mut below[..size])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::rng::Rng;

    /// Complex numbers, and matrices of them, in the plainest way.
    type Complex = (f64, f64);
    type Square = Vec<Vec<Complex>>;

    fn times(a: Complex, b: Complex) -> Complex {
        (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
    }

    fn identity(numbers: usize) -> Square {
        let entry = |at: bool| (f64::from(u8::from(at)), 0.0);
        (0..numbers).map(|i| (0..numbers).map(|j| entry(i == j)).collect()).collect()
    }

    fn product(a: &Square, b: &Square) -> Square {
        let add = |s: Complex, p: Complex| (s.0 + p.0, s.1 + p.1);
        let entry = |row: &[Complex], j: usize| {
            row.iter().zip(b).fold((0.0, 0.0), |s, (&x, b)| add(s, times(x, b[j])))
        };
        a.iter().map(|row| (0..b.len()).map(|j| entry(row, j)).collect()).collect()
    }

    /// The product of the matrices of all layers and of the diagonal one.
    fn oracle(form: Orthogonal, numbers: usize, params: &[f64]) -> Square {
        let mut result = identity(numbers);
        let count = form.rotations(numbers).concat().len();
        let mut next = 0;
        for layer in form.rotations(numbers) {
            let mut matrix = identity(numbers);
            for (a, b) in layer {
                let (theta, phi) = (params[next], params[count + next]);
                let turn = (phi.cos(), phi.sin());
                matrix[a][a] = times(turn, (theta.cos(), 0.0));
                matrix[a][b] = times(turn, (-theta.sin(), 0.0));
                matrix[b][a] = (theta.sin(), 0.0);
                matrix[b][b] = (theta.cos(), 0.0);
                next += 1;
            }
            result = product(&matrix, &result);
        }
        let mut diagonal = identity(numbers);
        for (k, angle) in params[2 * count..].iter().enumerate() {
            diagonal[k][k] = (angle.cos(), angle.sin());
        }
        product(&diagonal, &result)
    }

    #[test]
    fn the_matrix_is_the_product_of_complex_matrices() {
        for numbers in [1, 2, 3, 5, 8, 12] {
            for form in [1, 2, numbers]
                .map(|layers| Orthogonal::Rotations { layers })
                .into_iter()
                .chain([Orthogonal::FftRotations])
            {
                let size = 2 * numbers;
                let mut rng = Rng::new(numbers as u64);
                let params: Vec<f64> =
                    (0..form.part_lens(size).iter().sum()).map(|_| 3.0 * rng.normal()).collect();
                let mut out = vec![0.0; size * size];
                UnitaryMatrix::new(form, size).materialise(&params, &mut out);
                for (k, row) in oracle(form, numbers, &params).iter().enumerate() {
                    for (l, &(re, im)) in row.iter().enumerate() {
                        let at = |i: usize, j: usize| out[(2 * k + i) * size + 2 * l + j];
                        for (found, expected) in
                            [(at(0, 0), re), (at(0, 1), -im), (at(1, 0), im), (at(1, 1), re)]
                        {
                            assert!((found - expected).abs() < 1e-13, "{form:?} {k} {l}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rotations_of_all_distances_reach_every_number_from_every_other() {
        for numbers in [2, 4, 16, 64] {
            let (form, size) = (Orthogonal::FftRotations, 2 * numbers);
            let params: Vec<f64> = (0..form.part_lens(size).iter().sum()).map(|_| 0.7).collect();
            let mut out = vec![0.0; size * size];
            UnitaryMatrix::new(form, size).materialise(&params, &mut out);
            for (at, entry) in out.iter().enumerate() {
                let other = out[at ^ 1];
                assert!(entry.hypot(other) > 1e-9, "{numbers}: {at}");
            }
        }
    }
}
