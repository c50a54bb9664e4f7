//! exp, sigmoid and tanh without a maths library: `core` has none, and a device's may be slow.
//!
//! The polynomials were fitted by `scripts/runtime_polynomials.py` (Remez exchange on relative
//! error, leading terms held exact). Largest errors, measured by the tests below against f64:
//! exp 9e-8 relative, sigmoid 1e-7 and tanh 8e-8 absolute.

use crate::Nonlinearity;

/// The nonlinearity `f` of `x`.
pub fn nonlinearity(f: Nonlinearity, x: f32) -> f32 {
    match f {
        Nonlinearity::Tanh => tanh(x),
        Nonlinearity::Sigmoid => sigmoid(x),
        Nonlinearity::Relu => x.max(0.0),
        Nonlinearity::QuantTanh => x.clamp(-1.0, 1.0),
        Nonlinearity::QuantSigm => (0.5 * (x + 1.0)).clamp(0.0, 1.0),
        Nonlinearity::QuantSigm4 => (0.25 * (x + 2.0)).clamp(0.0, 1.0),
        Nonlinearity::Identity => x,
    }
}

/// `e^x`; outside [−87, 88] the value at that end, so never 0, infinite or denormal.
///
/// ```
/// use fastgrnn_runtime::float::math::exp;
/// assert!((exp(1.0) - 2.718_281_8).abs() < 1e-6);
/// ```
pub fn exp(x: f32) -> f32 {
    // ln 2 in two parts, the first short enough that k times it is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let k = (x * core::f32::consts::LOG2_E + if x < 0.0 { -0.5 } else { 0.5 }) as i32;
    let r = x - k as f32 * LN2_HIGH - k as f32 * LN2_LOW;
    let q = polynomial(r, &[4.999_999_3e-1, 1.666_652_1e-1, 4.166_838_7e-2, 8.368_71e-3, 1.381_461_3e-3]);
    let two_to_k = f32::from_bits(((k + 127) as u32) << 23);
    (1.0 + (r + r * r * q)) * two_to_k
}

/// `1 / (1 + e^−x)`
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
pub fn tanh(x: f32) -> f32 {
    let size = x.abs();
    if size < 0.625 {
        // Near 0 the exponential form below would cancel.
        let s = x * x;
        let r =
            polynomial(s, &[-3.333_328e-1, 1.333_144_2e-1, -5.373_971_5e-2, 2.063_908_7e-2, -5.704_987e-3]);
        return x + x * (s * r);
    }
    (1.0 - 2.0 / (1.0 + exp(2.0 * size))).copysign(x)
}

/// The length of the complex number `a + ib`, for lengths from 1e-18 to 1e18.
///
/// ```
/// use fastgrnn_runtime::float::math::length;
/// assert!((length(3.0, -4.0) - 5.0).abs() < 1e-6);
/// ```
pub fn length(a: f32, b: f32) -> f32 {
    sqrt(a * a + b * b)
}

/// The square root of a normal number that is not negative.
fn sqrt(x: f32) -> f32 {
    // Half of the exponent is right to 4 %, and each step of Newton's method squares the error.
    let mut root = f32::from_bits((x.to_bits() >> 1) + 0x1fbd_1df5);
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    root
}

/// `c0 + c1·x + c2·x² + …`
fn polynomial(x: f32, coefficients: &[f32]) -> f32 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// The largest error of `found` against `exact` over a sweep of [−limit, limit].
    fn largest(limit: f64, error: impl Fn(f32) -> f64) -> f64 {
        let n = 2_000_000;
        (0..=n).map(|i| error((limit * (2.0 * f64::from(i) / f64::from(n) - 1.0)) as f32)).fold(0.0, f64::max)
    }

    #[test]
    fn exp_is_within_its_documented_error() {
        let error = largest(87.0, |x| {
            let exact = f64::from(x).exp();
            (f64::from(exp(x)) - exact).abs() / exact
        });
        assert!(error < 9e-8, "{error:e}");
    }

    #[test]
    fn sigmoid_is_within_its_documented_error() {
        let error = largest(30.0, |x| (f64::from(sigmoid(x)) - 1.0 / (1.0 + f64::from(-x).exp())).abs());
        assert!(error < 1e-7, "{error:e}");
    }

    #[test]
    fn tanh_is_within_its_documented_error() {
        let error = largest(12.0, |x| (f64::from(tanh(x)) - f64::from(x).tanh()).abs());
        assert!(error < 8e-8, "{error:e}");
    }

    #[test]
    fn length_is_within_two_units_in_the_last_place() {
        for exponent in -58..=58 {
            for step in 0..=1000 {
                let a = (1.0 + step as f32 / 500.0) * (exponent as f32).exp2();
                for ratio in [0.0, 1e-4, 0.3, 1.0] {
                    let exact = f64::from(a).hypot(f64::from(ratio * a));
                    let error = (f64::from(length(ratio * a, -a)) - exact).abs() / exact;
                    assert!(error < 2.5e-7, "{a:e} {ratio}: {error:e}");
                }
            }
        }
        assert!(length(0.0, 0.0) < 1e-18);
        assert!(length(f32::NAN, 1.0).is_nan() && !length(1.0, f32::INFINITY).is_finite());
    }

    #[test]
    fn extremes_give_the_limits_and_nan_stays() {
        assert_eq!((sigmoid(1e9), tanh(1e9), tanh(-1e9)), (1.0, 1.0, -1.0));
        assert!(sigmoid(-1e9) < 1e-37 && exp(f32::NEG_INFINITY) > 0.0 && exp(f32::INFINITY).is_finite());
        assert!(exp(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }
}
