//! The nonlinearities a gate or an update may use.

use serde::{Deserialize, Serialize};

/// An element-wise function with a derivative that its own output determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Nonlinearity {
    /// The hyperbolic tangent.
    #[serde(rename = "tanh")]
    Tanh,
    /// `1 / (1 + e^−x)`
    #[serde(rename = "sigmoid")]
    Sigmoid,
    /// `max(x, 0)`
    #[serde(rename = "relu")]
    Relu,
    /// `clip(x, −1, 1)`
    #[serde(rename = "quantTanh")]
    QuantTanh,
    /// `clip((x + 1)/2, 0, 1)`
    #[serde(rename = "quantSigm")]
    QuantSigm,
    /// `clip((x + 2)/4, 0, 1)`
    #[serde(rename = "quantSigm4")]
    QuantSigm4,
}

impl Nonlinearity {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Tanh, Self::Sigmoid, Self::Relu, Self::QuantTanh, Self::QuantSigm, Self::QuantSigm4];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Relu => "relu",
            Self::QuantTanh => "quantTanh",
            Self::QuantSigm => "quantSigm",
            Self::QuantSigm4 => "quantSigm4",
        }
    }

    /// The nonlinearity called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }

    /// The function in f64.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Tanh => x.tanh(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Relu => x.max(0.0),
            Self::QuantTanh => x.clamp(-1.0, 1.0),
            Self::QuantSigm => (0.5 * (x + 1.0)).clamp(0.0, 1.0),
            Self::QuantSigm4 => (0.25 * (x + 2.0)).clamp(0.0, 1.0),
        }
    }

    /// The derivative at the point whose function value is `y`; 0 where the function is clipped.
    pub fn slope_at_value(self, y: f64) -> f64 {
        let inside = |low: f64, slope: f64| if y > low && y < 1.0 { slope } else { 0.0 };
        match self {
            Self::Tanh => 1.0 - y * y,
            Self::Sigmoid => y * (1.0 - y),
            Self::Relu => f64::from(y > 0.0),
            Self::QuantTanh => inside(-1.0, 1.0),
            Self::QuantSigm => inside(0.0, 0.5),
            Self::QuantSigm4 => inside(0.0, 0.25),
        }
    }

    /// An argument whose function value is `y`, for starting a gate at a wanted value in (0, 1).
    pub fn inverse(self, y: f64) -> f64 {
        match self {
            Self::Tanh => y.atanh(),
            Self::Sigmoid => (y / (1.0 - y)).ln(),
            Self::Relu | Self::QuantTanh => y,
            Self::QuantSigm => 2.0 * y - 1.0,
            Self::QuantSigm4 => 4.0 * y - 2.0,
        }
    }
}

impl std::fmt::Display for Nonlinearity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
