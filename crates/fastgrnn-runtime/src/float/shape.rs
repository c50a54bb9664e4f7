//! What a layer is: its cell, sizes, ranks, nonlinearities and scalars.

use super::math;

/// The recurrent cells; equations as in the training library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `h' = f(Wx + Uh + b)`
    Rnn,
    /// `h̃ = f(Wx + Uh + b)`, `h' = α·h̃ + β·h`
    FastRnn,
    /// FastRNN with a vector α and `β = ζ(1−α) + ν`
    FastRnnVector,
    /// `z = g(Wx + Uh + b_z)`, `h̃ = f(Wx + Uh + b_h)`, `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`
    FastGrnn,
    /// `z = g(W_z x + U_z h + b_z)`, `h̃ = f(W_h x + U_h h + b_h)`, `h' = z⊙h + (1−z)⊙h̃`
    Ugrnn,
    /// `r, z = g(…)`, `n = f(W_n x + b_n + r⊙(U_n h + b_hn))`, `h' = (1−z)⊙n + z⊙h`
    Gru,
    /// `i, f, o = g(…)`, `c̃ = u(…)`, `c' = f⊙c + i⊙c̃`, `h' = o⊙u(c')`
    Lstm,
}

impl Kind {
    /// Blocks of `hidden` rows stacked in W and U.
    pub const fn blocks(self) -> usize {
        match self {
            Self::Rnn | Self::FastRnn | Self::FastRnnVector | Self::FastGrnn => 1,
            Self::Ugrnn => 2,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

/// The nonlinearities of gates and updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonlinearity {
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^−x)`
    Sigmoid,
    /// `max(x, 0)`
    Relu,
    /// `clip(x, −1, 1)`
    QuantTanh,
    /// `clip((x + 1)/2, 0, 1)`
    QuantSigm,
    /// `clip((x + 2)/4, 0, 1)`
    QuantSigm4,
}

impl Nonlinearity {
    /// The function's value.
    pub fn value(self, x: f32) -> f32 {
        match self {
            Self::Tanh => math::tanh(x),
            Self::Sigmoid => math::sigmoid(x),
            Self::Relu => x.max(0.0),
            Self::QuantTanh => x.clamp(-1.0, 1.0),
            Self::QuantSigm => (0.5 * (x + 1.0)).clamp(0.0, 1.0),
            Self::QuantSigm4 => (0.25 * (x + 2.0)).clamp(0.0, 1.0),
        }
    }
}

/// How one of α, β, ζ, ν gets its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// The sigmoid of what the parameters store.
    Learnt,
    /// This value; not stored.
    Fixed(f32),
    /// `1 − α`; not stored. For FastRNN's β only.
    Tied,
}

/// Everything about a layer besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The cell.
    pub kind: Kind,
    /// Features of its input.
    pub input: usize,
    /// Units.
    pub hidden: usize,
    /// Rank of W, or full.
    pub rank_w: Option<usize>,
    /// Rank of U, or full.
    pub rank_u: Option<usize>,
    /// Nonlinearity of the gates.
    pub gate: Nonlinearity,
    /// Nonlinearity of the update.
    pub update: Nonlinearity,
    /// α of FastRNN and FastRNN-vector.
    pub alpha: Scalar,
    /// β of FastRNN.
    pub beta: Scalar,
    /// ζ of FastGRNN and FastRNN-vector.
    pub zeta: Scalar,
    /// ν of FastGRNN and FastRNN-vector.
    pub nu: Scalar,
}

impl Shape {
    /// A full-rank layer with sigmoid gates, tanh update and learnt scalars.
    pub const fn new(kind: Kind, input: usize, hidden: usize) -> Self {
        Self {
            kind,
            input,
            hidden,
            rank_w: None,
            rank_u: None,
            gate: Nonlinearity::Sigmoid,
            update: Nonlinearity::Tanh,
            alpha: Scalar::Learnt,
            beta: Scalar::Learnt,
            zeta: Scalar::Learnt,
            nu: Scalar::Learnt,
        }
    }
}
