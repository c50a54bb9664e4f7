//! The nonlinearities on vectors.

use super::Simd;
use fastgrnn_core::cells::Nonlinearity;

/// `tanh(x) ≈ x·P(x²)/Q(x²)` for |x| ≤ 8.5, where tanh is 1 to f32 precision: a minimax fit of the
/// relative error (3.4e-8), by iteratively reweighted least squares.
const LIMIT: f32 = 8.5;
const P: [f32; 6] =
    [0.999_999_94, 1.294_988_9e-1, 2.953_875_5e-3, 9.573_723e-6, -1.371_888_4e-8, 2.072_381_6e-11];
const Q: [f32; 4] = [1.0, 4.628_319e-1, 2.389_829e-2, 2.327_029_5e-4];

/// `x` clipped to `low..=high`. NaN stays NaN, so that a diverged training shows in its loss: `min` and
/// `max` return their second operand if either is NaN.
#[inline(always)]
fn clamp<S: Simd>(s: S, x: S::V, low: f32, high: f32) -> S::V {
    s.max(s.splat(low), s.min(s.splat(high), x))
}

/// The hyperbolic tangent, within 4e-7 of the true value, never outside [−1, 1].
#[inline(always)]
fn tanh<S: Simd>(s: S, x: S::V) -> S::V {
    let x = clamp(s, x, -LIMIT, LIMIT);
    let y = s.mul(x, x);
    let mut p = s.splat(P[5]);
    for i in (0..5).rev() {
        p = s.fma(p, y, s.splat(P[i]));
    }
    let mut q = s.splat(Q[3]);
    for i in (0..3).rev() {
        q = s.fma(q, y, s.splat(Q[i]));
    }
    let t = s.div(s.mul(x, p), q);
    clamp(s, t, -1.0, 1.0)
}

/// Adding and subtracting it rounds a number of at most 2^22 to a whole one.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; a product of the first with a whole number of at most 127 is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Arguments of [`exp`] are clipped to this range: powers beyond it are no normal numbers.
const EXPONENTS: [f32; 2] = [-87.0, 88.0];

/// e to the power of x, within 2e-7 of the true value for x from −87 to 88, and as at these bounds
/// beyond them. NaN stays NaN.
#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::V) -> S::V {
    let x = clamp(s, x, EXPONENTS[0], EXPONENTS[1]);
    let n = s.fma(x, s.splat(std::f32::consts::LOG2_E), s.splat(ROUND));
    let n = s.sub(n, s.splat(ROUND));
    let r = s.fma(n, s.splat(-LN_2[0]), x);
    let r = s.fma(n, s.splat(-LN_2[1]), r);
    // The series of e^r, for |r| up to half of ln 2.
    let mut sum = s.splat(1.0 / 5040.0);
    for divisor in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = s.fma(sum, r, s.splat(1.0 / divisor));
    }
    s.mul(sum, s.power_of_two(n))
}

/// `ln(1 + x)` for x from 0 to 1, within 2e-7 of the true value.
#[inline(always)]
pub fn ln_1p<S: Simd>(s: S, x: S::V) -> S::V {
    // 2·artanh(x / (2 + x)), whose argument is at most a third.
    let t = s.div(x, s.add(x, s.splat(2.0)));
    let y = s.mul(t, t);
    let mut sum = s.splat(1.0 / 15.0);
    for divisor in [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = s.fma(sum, y, s.splat(1.0 / divisor));
    }
    s.mul(s.add(t, t), sum)
}

/// `clip(scale·x + offset, low, 1)`
#[inline(always)]
fn clipped<S: Simd>(s: S, x: S::V, scale: f32, offset: f32, low: f32) -> S::V {
    let y = s.fma(x, s.splat(scale), s.splat(offset));
    clamp(s, y, low, 1.0)
}

/// The nonlinearity `f` of `x`.
#[inline(always)]
pub fn apply<S: Simd>(s: S, f: Nonlinearity, x: S::V) -> S::V {
    match f {
        Nonlinearity::Tanh => tanh(s, x),
        Nonlinearity::Sigmoid => {
            let half = s.splat(0.5);
            s.fma(tanh(s, s.mul(x, half)), half, half)
        }
        Nonlinearity::Relu => s.max(s.splat(0.0), x),
        Nonlinearity::QuantTanh => clipped(s, x, 1.0, 0.0, -1.0),
        Nonlinearity::QuantSigm => clipped(s, x, 0.5, 0.5, 0.0),
        Nonlinearity::QuantSigm4 => clipped(s, x, 0.25, 0.5, 0.0),
        Nonlinearity::Identity => x,
    }
}

/// The derivative of `f` where its value is `y`.
#[inline(always)]
pub fn slope<S: Simd>(s: S, f: Nonlinearity, y: S::V) -> S::V {
    let one = s.splat(1.0);
    match f {
        Nonlinearity::Tanh => s.sub(one, s.mul(y, y)),
        Nonlinearity::Sigmoid => s.mul(y, s.sub(one, y)),
        Nonlinearity::Relu => s.between(y, 0.0, f32::INFINITY, one),
        Nonlinearity::QuantTanh => s.between(y, -1.0, 1.0, one),
        Nonlinearity::QuantSigm => s.between(y, 0.0, 1.0, s.splat(0.5)),
        Nonlinearity::QuantSigm4 => s.between(y, 0.0, 1.0, s.splat(0.25)),
        Nonlinearity::Identity => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Portable};
    use fastgrnn_core::cells::NonlinearityF64;

    struct Apply<'a>(Nonlinearity, &'a [f32], &'a mut [f32]);

    impl Kernel for Apply<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            for (x, y) in self.1.chunks(S::LANES).zip(self.2.chunks_mut(S::LANES)) {
                s.store(apply(s, self.0, s.load(x)), y);
            }
        }
    }

    struct Series<'a>(bool, &'a [f32], &'a mut [f32]);

    impl Kernel for Series<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            for (x, y) in self.1.chunks(S::LANES).zip(self.2.chunks_mut(S::LANES)) {
                let x = s.load(x);
                s.store(if self.0 { exp(s, x) } else { ln_1p(s, x) }, y);
            }
        }
    }

    fn check_series<S: Simd>(s: S) {
        let x: Vec<f32> = (0..64_000).map(|i| i as f32 * (174.8 / 64_000.0) - 86.9).collect();
        let mut y = vec![0.0; x.len()];
        s.vectorize(Series(true, &x, &mut y));
        for (x, y) in x.iter().zip(&y) {
            let exact = f64::from(*x).exp();
            assert!((f64::from(*y) / exact - 1.0).abs() < 2e-7, "exp({x}) = {y}, not {exact}");
        }
        let special = [f32::NEG_INFINITY, -1e30, -88.0, 0.0, f32::NAN, f32::NAN, 1.0, 2.0];
        let x: Vec<f32> = special.iter().copied().cycle().take(16).collect();
        let mut y = vec![9.0; 16];
        s.vectorize(Series(true, &x, &mut y));
        assert!(y[..3].iter().all(|y| *y < 2e-38) && y[3] == 1.0, "{y:?}");
        assert!(y[4].is_nan() && y[5].is_nan());
        let x: Vec<f32> = (0..=64_000).map(|i| i as f32 / 64_000.0).take(64_000).collect();
        let mut y = vec![0.0; x.len()];
        s.vectorize(Series(false, &x, &mut y));
        for (x, y) in x.iter().zip(&y) {
            assert!((f64::from(*y) - f64::from(*x).ln_1p()).abs() < 2e-7, "ln_1p({x}) = {y}");
        }
    }

    fn check<S: Simd>(s: S) {
        check_series(s);
        let x: Vec<f32> = (0..64_000).map(|i| (i as f32 - 32_000.0) / 1600.0).collect();
        for f in Nonlinearity::ALL {
            let mut y = vec![0.0; x.len()];
            s.vectorize(Apply(f, &x, &mut y));
            for (x, y) in x.iter().zip(&y) {
                let exact = f.value(f64::from(*x));
                assert!((f64::from(*y) - exact).abs() < 4e-7, "{f}({x}) = {y}, not {exact}");
                assert!(y.abs() <= 1.0 || !f.is_bounded());
            }
            let mut y = vec![0.0; S::LANES];
            s.vectorize(Apply(f, &vec![f32::NAN; S::LANES], &mut y));
            assert!(y.iter().all(|y| y.is_nan()), "{f}(NaN)");
        }
    }

    #[test]
    fn nonlinearities_equal_the_exact_ones_on_every_instruction_set() {
        check(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(s) = crate::simd::Avx2::detect() {
                check(s);
            }
            if let Some(s) = crate::simd::Avx512::detect() {
                check(s);
            }
        }
    }
}
