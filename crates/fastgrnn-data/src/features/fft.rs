//! The power spectrum of a real window, in 64-bit floats.
//!
//! Sixty lines instead of a library: lengths are powers of two up to 2,048, and a general
//! transform's many generic algorithms would more than double what this crate takes to compile.

use std::f64::consts::PI;

/// A complex number: real, imaginary.
type Complex = [f64; 2];

/// A transform of one length, with its tables and buffer.
pub(super) struct Fft {
    /// `exp(-2 pi i k / n)` for `k` to `n / 2`.
    turns: Vec<Complex>,
    /// Where each pair of samples goes.
    order: Vec<u16>,
    pairs: Vec<Complex>,
}

impl Fft {
    /// For `n` real samples, a power of two from 4.
    pub(super) fn new(n: usize) -> Self {
        let half = n / 2;
        let bits = half.trailing_zeros();
        let turn = |k: usize| {
            let (sin, cos) = (2.0 * PI * k as f64 / n as f64).sin_cos();
            [cos, -sin]
        };
        Self {
            turns: (0..half).map(turn).collect(),
            order: (0..half).map(|i| (i.reverse_bits() >> (usize::BITS - bits)) as u16).collect(),
            pairs: vec![[0.0; 2]; half],
        }
    }

    /// `|X|^2` at the points 0 to `n / 2` of samples `at(0..n)`, two samples as one complex number.
    pub(super) fn power(&mut self, at: impl Fn(usize) -> f64, power: &mut [f64]) {
        let half = self.pairs.len();
        for (i, &to) in self.order.iter().enumerate() {
            self.pairs[usize::from(to)] = [at(2 * i), at(2 * i + 1)];
        }
        let mut size = 1;
        while size < half {
            for block in self.pairs.chunks_exact_mut(2 * size) {
                let (low, high) = block.split_at_mut(size);
                for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    // Turns of 2 pi / (2 size), in a table of 2 pi / (2 half).
                    let turned = times(*b, self.turns[k * (half / size)]);
                    *b = [a[0] - turned[0], a[1] - turned[1]];
                    *a = [a[0] + turned[0], a[1] + turned[1]];
                }
            }
            size *= 2;
        }
        // Even and odd samples apart, then together.
        for (k, power) in power[..=half].iter_mut().enumerate() {
            let (z, mirror) = (self.pairs[k % half], self.pairs[(half - k) % half]);
            let even = [(z[0] + mirror[0]) / 2.0, (z[1] - mirror[1]) / 2.0];
            let odd = [(z[1] + mirror[1]) / 2.0, (mirror[0] - z[0]) / 2.0];
            let odd = times(odd, if k < half { self.turns[k] } else { [-1.0, 0.0] });
            *power = (even[0] + odd[0]).powi(2) + (even[1] + odd[1]).powi(2);
        }
    }
}

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for n in [4, 8, 32, 512] {
            let x: Vec<f64> = (0..n).map(|i| f64::from((i * i * 37 + i * 11) % 101) - 50.0).collect();
            let mut power = vec![0.0; n as usize / 2 + 1];
            Fft::new(n as usize).power(|i| x[i], &mut power);
            for (k, power) in power.into_iter().enumerate() {
                let sum = x.iter().enumerate().fold([0.0; 2], |sum, (i, x)| {
                    let (sin, cos) = (2.0 * PI * (i * k) as f64 / f64::from(n)).sin_cos();
                    [sum[0] + x * cos, sum[1] - x * sin]
                });
                let slow = sum[0] * sum[0] + sum[1] * sum[1];
                assert!((power - slow).abs() < 1e-9 * (1.0 + slow), "{n} {k}: {power} {slow}");
            }
        }
    }
}
