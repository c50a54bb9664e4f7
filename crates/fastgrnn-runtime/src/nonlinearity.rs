//! The nonlinearities of gates and updates.

/// An element-wise function whose own output determines its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Nonlinearity {
    /// The hyperbolic tangent.
    #[cfg_attr(feature = "serde", serde(rename = "tanh"))]
    Tanh,
    /// `1 / (1 + e^−x)`
    #[cfg_attr(feature = "serde", serde(rename = "sigmoid"))]
    Sigmoid,
    /// `max(x, 0)`
    #[cfg_attr(feature = "serde", serde(rename = "relu"))]
    Relu,
    /// `clip(x, −1, 1)`
    #[cfg_attr(feature = "serde", serde(rename = "quantTanh"))]
    QuantTanh,
    /// `clip((x + 1)/2, 0, 1)`
    #[cfg_attr(feature = "serde", serde(rename = "quantSigm"))]
    QuantSigm,
    /// `clip((x + 2)/4, 0, 1)`
    #[cfg_attr(feature = "serde", serde(rename = "quantSigm4"))]
    QuantSigm4,
    /// `x`
    #[cfg_attr(feature = "serde", serde(rename = "identity"))]
    Identity,
}

impl Nonlinearity {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Tanh,
        Self::Sigmoid,
        Self::Relu,
        Self::QuantTanh,
        Self::QuantSigm,
        Self::QuantSigm4,
        Self::Identity,
    ];

    /// The code in device images, which never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Tanh => 0,
            Self::Sigmoid => 1,
            Self::Relu => 2,
            Self::QuantTanh => 3,
            Self::QuantSigm => 4,
            Self::QuantSigm4 => 5,
            Self::Identity => 6,
        }
    }

    /// The nonlinearity with this code in device images.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.code() == code)
    }

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Relu => "relu",
            Self::QuantTanh => "quantTanh",
            Self::QuantSigm => "quantSigm",
            Self::QuantSigm4 => "quantSigm4",
            Self::Identity => "identity",
        }
    }

    /// The nonlinearity called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }

    /// Whether values may be negative.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Tanh | Self::QuantTanh | Self::Identity)
    }

    /// Whether values lie between −1 and 1.
    pub const fn is_bounded(self) -> bool {
        !matches!(self, Self::Relu | Self::Identity)
    }

    /// Whether an integer model reads the table for it.
    pub const fn reads_table(self) -> bool {
        matches!(self, Self::Sigmoid | Self::Tanh)
    }

    /// Fraction bits of its value in an integer model.
    pub const fn value_bits(self) -> u32 {
        if self.is_bounded() { 15 } else { 11 }
    }
}

impl core::fmt::Display for Nonlinearity {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
