//! The nonlinearities in f64.

use fastgrnn_runtime::Nonlinearity;

/// Value, derivative and inverse of a [`Nonlinearity`] in f64: what training and tests compute with.
pub trait NonlinearityF64 {
    /// The function's value.
    fn value(self, x: f64) -> f64;
    /// The derivative at the point whose function value is `y`; 0 where the function is clipped.
    fn slope_at_value(self, y: f64) -> f64;
    /// An argument whose function value is `y`, for starting a gate at a wanted value in (0, 1).
    fn inverse(self, y: f64) -> f64;
}

impl NonlinearityF64 for Nonlinearity {
    fn value(self, x: f64) -> f64 {
        match self {
            Nonlinearity::Tanh => x.tanh(),
            Nonlinearity::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Nonlinearity::Relu => x.max(0.0),
            Nonlinearity::QuantTanh => x.clamp(-1.0, 1.0),
            Nonlinearity::QuantSigm => (0.5 * (x + 1.0)).clamp(0.0, 1.0),
            Nonlinearity::QuantSigm4 => (0.25 * (x + 2.0)).clamp(0.0, 1.0),
            Nonlinearity::Identity => x,
        }
    }

    fn slope_at_value(self, y: f64) -> f64 {
        let inside = |low: f64, slope: f64| if y > low && y < 1.0 { slope } else { 0.0 };
        match self {
            Nonlinearity::Tanh => 1.0 - y * y,
            Nonlinearity::Sigmoid => y * (1.0 - y),
            Nonlinearity::Relu => f64::from(y > 0.0),
            Nonlinearity::QuantTanh => inside(-1.0, 1.0),
            Nonlinearity::QuantSigm => inside(0.0, 0.5),
            Nonlinearity::QuantSigm4 => inside(0.0, 0.25),
            Nonlinearity::Identity => 1.0,
        }
    }

    fn inverse(self, y: f64) -> f64 {
        match self {
            Nonlinearity::Tanh => y.atanh(),
            Nonlinearity::Sigmoid => (y / (1.0 - y)).ln(),
            Nonlinearity::Relu | Nonlinearity::QuantTanh | Nonlinearity::Identity => y,
            Nonlinearity::QuantSigm => 2.0 * y - 1.0,
            Nonlinearity::QuantSigm4 => 4.0 * y - 2.0,
        }
    }
}
