//! The cosine transform behind MFCC: type II, orthonormal.

use std::f64::consts::PI;

/// Row `k`, column `n`: `s(k) cos(pi k (2 n + 1) / (2 N))` with `s(0) = sqrt(1/N)`, else `sqrt(2/N)`.
pub(super) fn matrix(rows: usize, columns: usize) -> Vec<f64> {
    let of = |k: usize, n: usize| {
        let scale = if k == 0 { 1.0 } else { 2.0 };
        let angle = PI * k as f64 * (2 * n + 1) as f64 / (2 * columns) as f64;
        (scale / columns as f64).sqrt() * angle.cos()
    };
    (0..rows * columns).map(|i| of(i / columns, i % columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_rows_are_orthonormal() {
        let m = matrix(32, 32);
        for a in 0..32 {
            for b in 0..32 {
                let dot: f64 = (0..32).map(|n| m[a * 32 + n] * m[b * 32 + n]).sum();
                assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-12);
            }
        }
    }
}
