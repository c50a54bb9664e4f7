//! Singular values of products of many matrices.
//!
//! The product of hundreds of Jacobians has singular values that no f64 holds, and multiplied out it loses all but the
//! largest of them to rounding. Here the product is kept as columns of length 1 with the logarithms of their lengths.
//! Whenever the factors since the last time may have become ill-conditioned, the columns are made orthogonal by Jacobi
//! rotations, from one side. A rotation of two columns needs the ratio of their lengths alone, so that lengths of any
//! size have the accuracy of a single factor.

/// Columns whose cosine is less than this are orthogonal.
const ORTHOGONAL: f64 = 1e-11;
/// Sweeps after which the rotations end in any case; they take about five.
const MOST_SWEEPS: usize = 60;
/// Natural logarithm of the condition number that factors may have together before columns are made orthogonal.
const MOST_PENDING: f64 = 13.8;
/// Rounds of the power iteration.
const MOST_ROUNDS: usize = 400;

/// The singular values of a product to which factors are added from the left.
#[derive(Clone, Debug)]
pub struct ProductSpectrum {
    size: usize,
    /// Columns of length 1, one after the other. A column that is lost is 0.
    columns: Vec<f64>,
    /// Natural logarithms of the lengths of the columns.
    logs: Vec<f64>,
    /// Natural logarithm of a bound of the condition number of the factors since the columns were orthogonal.
    pending: f64,
    scratch: Vec<f64>,
}

impl ProductSpectrum {
    /// The product of no factors: the identity of a size.
    ///
    /// ```
    /// use fastgrnn::analyze::ProductSpectrum;
    /// let mut product = ProductSpectrum::identity(2);
    /// for _ in 0..1_000 {
    ///     product.multiply_transposed(&[10.0, 0.0, 0.0, 0.1], f64::INFINITY);
    /// }
    /// // 10¹⁰⁰⁰ and 10⁻¹⁰⁰⁰
    /// let values = product.log_singular_values();
    /// assert!((values[0] / 10f64.ln() - 1_000.0).abs() < 1e-9 && (values[1] / 10f64.ln() + 1_000.0).abs() < 1e-9);
    /// ```
    pub fn identity(size: usize) -> Self {
        let columns = (0..size * size).map(|i| if i % (size + 1) == 0 { 1.0 } else { 0.0 }).collect();
        Self { size, columns, logs: vec![0.0; size], pending: 0.0, scratch: vec![0.0; size] }
    }

    /// Multiplies the product from the left by the transpose of `a`, which is row-major. `log_condition` is a bound of
    /// the natural logarithm of the condition number of `a`, infinity where none is known.
    pub fn multiply_transposed(&mut self, a: &[f64], log_condition: f64) {
        if self.pending > 0.0 && self.pending + log_condition > MOST_PENDING {
            self.make_orthogonal();
        }
        self.pending += log_condition;
        for (column, log) in self.columns.chunks_exact_mut(self.size).zip(&mut self.logs) {
            self.scratch.fill(0.0);
            for (row, &factor) in a.chunks_exact(self.size).zip(column.iter()) {
                self.scratch.iter_mut().zip(row).for_each(|(sum, v)| *sum += factor * v);
            }
            column.copy_from_slice(&self.scratch);
            normalize(column, log);
        }
    }

    /// Natural logarithms of the singular values, the largest first. A singular value that is 0 to the accuracy of f64
    /// has the logarithm −∞.
    pub fn log_singular_values(&mut self) -> Vec<f64> {
        self.make_orthogonal();
        let mut logs = self.logs.clone();
        logs.sort_by(|a, b| b.total_cmp(a));
        logs
    }

    fn make_orthogonal(&mut self) {
        self.pending = 0.0;
        let before = self.logs.clone();
        // What is left of a column after the others were taken out of it is rounding from here on.
        let lost = -(8.0 * f64::EPSILON * self.size as f64).ln();
        let mut order: Vec<usize> = (0..self.size).collect();
        for _ in 0..MOST_SWEEPS {
            order.sort_by(|&a, &b| self.logs[b].total_cmp(&self.logs[a]));
            let mut is_orthogonal = true;
            for (place, &first) in order.iter().enumerate() {
                for &second in &order[place + 1..] {
                    is_orthogonal &= !self.rotate(first, second);
                    for column in [first, second] {
                        if before[column] - self.logs[column] > lost {
                            self.logs[column] = f64::NEG_INFINITY;
                            self.columns[column * self.size..][..self.size].fill(0.0);
                        }
                    }
                }
            }
            if is_orthogonal {
                break;
            }
        }
    }

    /// Turns two columns in their plane so that they are orthogonal; returns whether they were not.
    fn rotate(&mut self, a: usize, b: usize) -> bool {
        let (long, short) = if self.logs[a] >= self.logs[b] { (a, b) } else { (b, a) };
        if self.logs[short] == f64::NEG_INFINITY {
            return false;
        }
        let (p, q) = two_columns(&mut self.columns, self.size, long, short);
        let cosine = dot(p, q);
        if cosine.abs() <= ORTHOGONAL || !cosine.is_finite() {
            return false;
        }
        // In units of the length of the longer column, the other one has the length `ratio`, which may be 0.
        let ratio = (self.logs[short] - self.logs[long]).exp();
        let gap = (1.0 - ratio) * (1.0 + ratio);
        let divisor = gap + (gap * gap + 4.0 * ratio * ratio * cosine * cosine).sqrt();
        // The tangent of the angle, over the ratio and times the ratio.
        let over = -2.0 * cosine / divisor;
        let tangent = over * ratio;
        let (times, scale) = (tangent * ratio, 1.0 / (1.0 + tangent * tangent).sqrt());
        for (p, q) in p.iter_mut().zip(q.iter_mut()) {
            let (old_p, old_q) = (*p, *q);
            *p = scale * (old_p - times * old_q);
            *q = scale * (over * old_p + old_q);
        }
        normalize(p, &mut self.logs[long]);
        normalize(q, &mut self.logs[short]);
        true
    }
}

/// Natural logarithms of the largest and the smallest singular value of a row-major matrix.
pub(super) fn log_extremes(a: &[f64], size: usize) -> (f64, f64) {
    let mut spectrum = ProductSpectrum::identity(size);
    spectrum.multiply_transposed(a, f64::INFINITY);
    let logs = spectrum.log_singular_values();
    (logs[0], logs[size - 1])
}

/// The spectral norm of a row-major matrix, by power iteration. `vector` is where it begins, and where it ends; the
/// vector of a similar matrix makes it fast.
pub(super) fn spectral_norm(a: &[f64], vector: &mut [f64]) -> f64 {
    let columns = vector.len();
    let mut norm = 0.0f64;
    for _ in 0..MOST_ROUNDS {
        let mut log = 0.0;
        normalize(vector, &mut log);
        let image: Vec<f64> = a.chunks_exact(columns).map(|row| dot(row, vector)).collect();
        let found = dot(&image, &image).sqrt();
        vector.fill(0.0);
        for (row, factor) in a.chunks_exact(columns).zip(&image) {
            vector.iter_mut().zip(row).for_each(|(sum, v)| *sum += factor * v);
        }
        let is_settled = (found - norm).abs() <= 1e-10 * found;
        norm = norm.max(found);
        if is_settled || found == 0.0 {
            break;
        }
    }
    if vector.iter().all(|&v| v == 0.0) {
        vector.iter_mut().enumerate().for_each(|(i, v)| *v = 1.0 + i as f64 / columns as f64);
    }
    norm
}

/// Where a power iteration begins: a vector that is orthogonal to no simple one.
pub(super) fn first_vector(size: usize) -> Vec<f64> {
    (0..size).map(|i| 1.0 + 0.37 * ((i * i) as f64).sin()).collect()
}

/// The Frobenius norm.
pub(super) fn frobenius(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn two_columns(columns: &mut [f64], size: usize, a: usize, b: usize) -> (&mut [f64], &mut [f64]) {
    let (low, high) = columns.split_at_mut(a.max(b) * size);
    let (first, second) = (&mut low[a.min(b) * size..][..size], &mut high[..size]);
    if a < b { (first, second) } else { (second, first) }
}

/// Makes a vector one of length 1, and adds the logarithm of its length. One of length 0 gets the logarithm −∞.
fn normalize(vector: &mut [f64], log: &mut f64) {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 && norm.is_finite() {
        vector.iter_mut().for_each(|v| *v /= norm);
        *log += norm.ln();
    } else {
        vector.fill(0.0);
        *log = f64::NEG_INFINITY;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks_a, chunks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks_a.zip(chunks_b) {
        lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += a * b);
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::rng::Rng;

    /// A rotation of random planes.
    fn orthogonal(size: usize, rng: &mut Rng) -> Vec<f64> {
        let mut q = ProductSpectrum::identity(size).columns;
        for a in 0..size {
            for b in a + 1..size {
                let (sin, cos) = rng.range(0.0, 6.3).sin_cos();
                for row in q.chunks_exact_mut(size) {
                    (row[a], row[b]) = (cos * row[a] - sin * row[b], sin * row[a] + cos * row[b]);
                }
            }
        }
        q
    }

    fn product(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
        let of = |i: usize, j: usize| (0..size).map(|k| a[i * size + k] * b[k * size + j]).sum();
        (0..size * size).map(|at| of(at / size, at % size)).collect()
    }

    fn transposed(a: &[f64], size: usize) -> Vec<f64> {
        (0..size * size).map(|at| a[at % size * size + at / size]).collect()
    }

    /// `left · diag(values) · right`
    fn with_values(left: &[f64], values: &[f64], right: &[f64]) -> Vec<f64> {
        let size = values.len();
        let scaled: Vec<f64> = right.iter().enumerate().map(|(at, v)| v * values[at / size]).collect();
        product(left, &scaled, size)
    }

    fn assert_logs(found: &[f64], expected: &[f64], tolerance: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
        }
    }

    #[test]
    fn singular_values_of_a_known_matrix_are_found() {
        // Singular values of [[3, 0], [4, 5]] are the roots of 45 and 5.
        let (largest, smallest) = log_extremes(&[3.0, 0.0, 4.0, 5.0], 2);
        assert_logs(&[largest, smallest], &[45f64.sqrt().ln(), 5f64.sqrt().ln()], 1e-12);
        let values = [1e3, 7.0, 7.0, 1.0, 1e-4, 3e-9];
        let mut rng = Rng::new(1);
        let (left, right) = (orthogonal(6, &mut rng), orthogonal(6, &mut rng));
        let mut spectrum = ProductSpectrum::identity(6);
        spectrum.multiply_transposed(&with_values(&left, &values, &right), f64::INFINITY);
        // The smallest loses as many digits as the condition number has.
        assert_logs(&spectrum.log_singular_values(), &values.map(f64::ln), 1e-3);
    }

    #[test]
    fn products_of_a_thousand_factors_have_the_powers_of_their_singular_values() {
        let values = [1.7f64, 1.1, 1.0, 0.6, 0.04];
        for (bound, tolerance) in [(f64::INFINITY, 1e-8), ((1.7f64 / 0.04).ln(), 1e-6)] {
            let mut rng = Rng::new(2);
            let mut before = orthogonal(5, &mut rng);
            let mut spectrum = ProductSpectrum::identity(5);
            for _ in 0..1_000 {
                // Each factor ends in the directions in which the next one begins.
                let after = orthogonal(5, &mut rng);
                let factor = with_values(&after, &values, &transposed(&before, 5));
                spectrum.multiply_transposed(&transposed(&factor, 5), bound);
                before = after;
            }
            let expected = values.map(|value| 1_000.0 * value.ln());
            assert_logs(&spectrum.log_singular_values(), &expected, tolerance);
        }
    }

    #[test]
    fn a_singular_factor_gives_a_singular_value_of_zero() {
        let mut rng = Rng::new(3);
        let (left, right) = (orthogonal(4, &mut rng), orthogonal(4, &mut rng));
        let mut spectrum = ProductSpectrum::identity(4);
        spectrum.multiply_transposed(&with_values(&left, &[2.0, 1.0, 0.5, 0.0], &right), f64::INFINITY);
        spectrum.multiply_transposed(&with_values(&right, &[2.0, 1.0, 0.5, 0.2], &left), f64::INFINITY);
        let logs = spectrum.log_singular_values();
        assert!(logs[2].is_finite() && logs[3] == f64::NEG_INFINITY, "{logs:?}");
        assert_eq!(log_extremes(&[0.0; 4], 2), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    }

    #[test]
    fn the_spectral_norm_is_the_largest_singular_value() {
        let mut rng = Rng::new(4);
        let (left, right) = (orthogonal(6, &mut rng), orthogonal(6, &mut rng));
        let matrix = with_values(&left, &[3.0, 2.9, 1.0, 0.5, 0.1, 0.0], &right);
        let norm = spectral_norm(&matrix, &mut first_vector(6));
        assert!((norm - 3.0).abs() < 1e-6, "{norm}");
        assert_eq!(spectral_norm(&[0.0; 4], &mut first_vector(2)), 0.0);
        assert!((frobenius(&matrix) - (9.0f64 + 8.41 + 1.0 + 0.25 + 0.01).sqrt()).abs() < 1e-12);
    }
}
