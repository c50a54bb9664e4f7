//! The recurrent cells, each declared once.
//!
//! A [`Declaration`] holds everything about a cell that is not arithmetic: its stacked blocks, its
//! parameters and their starting values, its names and its code in device images. All crates derive
//! layouts, sizes, checks, file names and help from it. The arithmetic is written where it has to
//! differ; `docs/adding-a-cell.md` lists those places.
//!
//! All cells share one frame. `W·x` and `U·h` give `blocks` stacked vectors of `hidden` entries; an
//! element-wise rule makes the next state from them. W and U are parameterised by a
//! [`MatrixForm`](crate::MatrixForm).

use crate::Nonlinearity;

/// The recurrent cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CellKind {
    /// `h' = f(Wx + Uh + b)`
    #[cfg_attr(feature = "serde", serde(rename = "rnn"))]
    Rnn,
    /// `h̃ = f(Wx + Uh + b)`, `h' = α·h̃ + β·h`
    #[cfg_attr(feature = "serde", serde(rename = "fastrnn"))]
    FastRnn,
    /// FastRNN with a vector α and `β = ζ(1−α) + ν`
    #[cfg_attr(feature = "serde", serde(rename = "fastrnn-vector"))]
    FastRnnVector,
    /// `z = g(Wx + Uh + b_z)`, `h̃ = f(Wx + Uh + b_h)`, `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`
    #[cfg_attr(feature = "serde", serde(rename = "fastgrnn"))]
    FastGrnn,
    /// FastGRNN with a gain for each unit's gate: `a = Wx + Uh`, `z = g(γ⊙a + b_z)`, `h̃ = f(a + b_h)`
    #[cfg_attr(feature = "serde", serde(rename = "fastgrnn-gain"))]
    FastGrnnGain,
    /// `z = g(W_z x + U_z h + b_z)`, `h̃ = f(W_h x + U_h h + b_h)`, `h' = z⊙h + (1−z)⊙h̃`
    #[cfg_attr(feature = "serde", serde(rename = "ugrnn"))]
    Ugrnn,
    /// `r, z = g(…)`, `n = f(W_n x + b_n + r⊙(U_n h + b_hn))`, `h' = (1−z)⊙n + z⊙h`
    #[cfg_attr(feature = "serde", serde(rename = "gru"))]
    Gru,
    /// `i, f, o = g(…)`, `c̃ = u(…)`, `c' = f⊙c + i⊙c̃`, `h' = o⊙u(c')`
    #[cfg_attr(feature = "serde", serde(rename = "lstm"))]
    Lstm,
    /// `z = g(W_z x + b_z)`, `h̃ = f(W_h x + b_h)`, `h' = (1−z)⊙h + z⊙h̃`
    #[cfg_attr(feature = "serde", serde(rename = "mingru"))]
    MinGru,
    /// Pairs of units are complex numbers: `z = Wx + Uh`, `h' = f(|z| + b)·z/|z|`
    #[cfg_attr(feature = "serde", serde(rename = "eurnn"))]
    Eurnn,
}

/// All cells, in the order in which they are listed to users.
pub const CELLS: &[Declaration] =
    &[RNN, FAST_RNN, FAST_RNN_VECTOR, FAST_GRNN, FAST_GRNN_GAIN, UGRNN, GRU, LSTM, MIN_GRU, EURNN];

/// The length from which on a complex number has a direction: the rule of the EURNN makes a shorter one 0, whose
/// direction would be that of rounding errors.
pub const SHORTEST: f32 = 1e-6;

impl CellKind {
    /// The declaration of this cell.
    pub const fn declaration(self) -> &'static Declaration {
        match self {
            Self::Rnn => &RNN,
            Self::FastRnn => &FAST_RNN,
            Self::FastRnnVector => &FAST_RNN_VECTOR,
            Self::FastGrnn => &FAST_GRNN,
            Self::FastGrnnGain => &FAST_GRNN_GAIN,
            Self::Ugrnn => &UGRNN,
            Self::Gru => &GRU,
            Self::Lstm => &LSTM,
            Self::MinGru => &MIN_GRU,
            Self::Eurnn => &EURNN,
        }
    }

    /// The numbers of the declaration. Unlike [`CellKind::declaration`] it refers to no text, so a
    /// device does not pay for names and equations.
    pub const fn shape(self) -> CellShape {
        match self {
            Self::Rnn => const { RNN.shape() },
            Self::FastRnn => const { FAST_RNN.shape() },
            Self::FastRnnVector => const { FAST_RNN_VECTOR.shape() },
            Self::FastGrnn => const { FAST_GRNN.shape() },
            Self::FastGrnnGain => const { FAST_GRNN_GAIN.shape() },
            Self::Ugrnn => const { UGRNN.shape() },
            Self::Gru => const { GRU.shape() },
            Self::Lstm => const { LSTM.shape() },
            Self::MinGru => const { MIN_GRU.shape() },
            Self::Eurnn => const { EURNN.shape() },
        }
    }
}

const RNN: Declaration = Declaration {
    name: "rnn",
    title: "RNN",
    equation: "h' = f(W x + U h + b)",
    blocks: &["h"],
    pointwise: &[update_bias("b")],
    ..Declaration::new(CellKind::Rnn, Some(0))
};

const FAST_RNN: Declaration = Declaration {
    name: "fastrnn",
    title: "FastRNN",
    equation: "c = f(W x + U h + b); h' = alpha c + beta h",
    blocks: &["h"],
    pointwise: &[
        update_bias("b"),
        scalar(ScalarName::Alpha, -3.0, SlowStart::Alpha),
        scalar(ScalarName::Beta, 3.0, SlowStart::Beta),
    ],
    ..Declaration::new(CellKind::FastRnn, Some(1))
};

const FAST_RNN_VECTOR: Declaration = Declaration {
    name: "fastrnn-vector",
    title: "FastRNN-vector",
    equation: "c = f(W x + U h + b); h' = alpha * c + (zeta (1 - alpha) + nu) * h",
    blocks: &["h"],
    pointwise: &[
        update_bias("b"),
        Pointwise { is_vector: true, ..scalar(ScalarName::Alpha, -3.0, SlowStart::Alpha) },
        // ζ + ν = 1, so that β starts at about 1 − α.
        scalar(ScalarName::Zeta, 1.0, SlowStart::Value(4.0)),
        NU,
    ],
    ..Declaration::new(CellKind::FastRnnVector, Some(2))
};

const FAST_GRNN: Declaration = Declaration {
    name: "fastgrnn",
    title: "FastGRNN",
    equation: "a = W x + U h; z = g(a + b_z); c = f(a + b_h); h' = (zeta (1 - z) + nu) * c + z * h",
    blocks: &["h"],
    pointwise: &[gate_bias("b_z", SlowStart::Keep), update_bias("b_h"), ZETA, NU],
    signed_gates: true,
    update_share: 2,
    ..Declaration::new(CellKind::FastGrnn, Some(3))
};

const FAST_GRNN_GAIN: Declaration = Declaration {
    kind: CellKind::FastGrnnGain,
    code: Some(8),
    name: "fastgrnn-gain",
    title: "FastGRNN-gain",
    equation: "a = W x + U h; z = g(gamma * a + b_z); c = f(a + b_h); h' = (zeta (1 - z) + nu) * c + z * h",
    pointwise: &[gate_bias("b_z", SlowStart::Keep), update_bias("b_h"), GAMMA, ZETA, NU],
    ..FAST_GRNN
};

const UGRNN: Declaration = Declaration {
    name: "ugrnn",
    title: "UGRNN",
    equation: "z = g(W_z x + U_z h + b_z); c = f(W_h x + U_h h + b_h); h' = z * h + (1 - z) * c",
    blocks: &["z", "h"],
    pointwise: &[gate_bias("b_z", SlowStart::Keep), update_bias("b_h")],
    ..Declaration::new(CellKind::Ugrnn, Some(4))
};

const GRU: Declaration = Declaration {
    name: "gru",
    title: "GRU",
    equation: "r, z = g(W x + U h + b); n = f(W_n x + b_n + r * (U_n h + b_hn)); h' = (1 - z) * n + z * h",
    blocks: &["r", "z", "n"],
    pointwise: &[
        gate_bias("b_r", ZERO),
        gate_bias("b_z", SlowStart::Keep),
        update_bias("b_n"),
        Pointwise { usage: Usage::RecurrentBias, ..update_bias("b_hn") },
    ],
    ..Declaration::new(CellKind::Gru, Some(5))
};

const LSTM: Declaration = Declaration {
    name: "lstm",
    title: "LSTM",
    equation: "i, f, o = g(W x + U h + b); c~ = u(W_g x + U_g h + b_g); c' = f * c + i * c~; h' = o * u(c')",
    blocks: &["i", "f", "g", "o"],
    states: 2,
    pointwise: &[
        gate_bias("b_i", SlowStart::Admit),
        gate_bias("b_f", SlowStart::Keep),
        update_bias("b_g"),
        gate_bias("b_o", ZERO),
    ],
    signed_gates: true,
    ..Declaration::new(CellKind::Lstm, Some(6))
};

const MIN_GRU: Declaration = Declaration {
    name: "mingru",
    title: "minGRU",
    equation: "z = g(W_z x + b_z); c = f(W_h x + b_h); h' = (1 - z) * h + z * c",
    blocks: &["z", "h"],
    reads_state: false,
    // The gate admits: a small z keeps the state.
    pointwise: &[gate_bias("b_z", SlowStart::Admit), update_bias("b_h")],
    update: Nonlinearity::Identity,
    ..Declaration::new(CellKind::MinGru, Some(7))
};

const EURNN: Declaration = Declaration {
    name: "eurnn",
    title: "EURNN",
    equation: "z = W x + U h; h' = f(|z| + b) z / |z|, where pairs of units are complex numbers",
    blocks: &["h"],
    has_pairs: true,
    // With a bias of 0, lengths are kept at first.
    pointwise: &[Pointwise { authors: 0.0, ..update_bias("b") }],
    update: Nonlinearity::Relu,
    ..Declaration::new(CellKind::Eurnn, None)
};

/// Everything about a cell that is not arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The cell.
    pub kind: CellKind,
    /// Its code in device images, which never changes. A cell without one has no integer form.
    pub code: Option<u8>,
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// Its name in tables for people.
    pub title: &'static str,
    /// The step, for people.
    pub equation: &'static str,
    /// Names of the `hidden`-row blocks stacked in W and U.
    pub blocks: &'static [&'static str],
    /// Vectors of `hidden` entries carried from step to step: h, and for an LSTM c.
    pub states: usize,
    /// Whether the cell reads `U·h`. The form of U is `none` if it does not.
    pub reads_state: bool,
    /// Whether the rule reads pairs of units, the real and the imaginary part of a complex number. The number of units
    /// is even then, and a vector of parameters has an entry for each pair.
    pub has_pairs: bool,
    /// The parameters besides W and U, in layout order: biases, then gains, then scalars.
    pub pointwise: &'static [Pointwise],
    /// Whether integer models may use a gate nonlinearity with negative values.
    pub signed_gates: bool,
    /// The largest weight that the rule gives the update, for gates between 0 and 1. Integer models
    /// reserve bits for it.
    pub update_share: u32,
    /// The gate nonlinearity that is used by default.
    pub gate: Nonlinearity,
    /// The update nonlinearity that is used by default.
    pub update: Nonlinearity,
}

impl Declaration {
    const fn new(kind: CellKind, code: Option<u8>) -> Self {
        Self {
            kind,
            code,
            name: "",
            title: "",
            equation: "",
            blocks: &[],
            states: 1,
            reads_state: true,
            has_pairs: false,
            pointwise: &[],
            signed_gates: false,
            update_share: 1,
            gate: Nonlinearity::Sigmoid,
            update: Nonlinearity::Tanh,
        }
    }

    /// Whether networks of this cell can be computed in integers.
    pub const fn has_integers(&self) -> bool {
        self.code.is_some()
    }

    /// Whether the cell has a gate, and so a gate nonlinearity.
    pub const fn gated(&self) -> bool {
        self.gates() > 0
    }

    /// Gates that a unit evaluates in a step.
    pub const fn gates(&self) -> usize {
        self.count(Usage::GateBias)
    }

    /// Update nonlinearities that a unit evaluates in a step. A cell with a memory applies one more
    /// to the memory.
    pub const fn updates(&self) -> usize {
        self.count(Usage::UpdateBias) + self.states - 1
    }

    /// The bias of the last block's `U·h` where the rule needs that product apart from `W·x`.
    pub fn recurrent_bias(&self) -> Option<&'static str> {
        self.pointwise.iter().find(|p| p.usage == Usage::RecurrentBias).map(|p| p.name)
    }

    /// The parameters α, β, ζ, ν of this cell, in layout order.
    pub fn scalars(&self) -> impl Iterator<Item = (ScalarName, &'static Pointwise)> {
        self.pointwise.iter().filter_map(|p| match p.usage {
            Usage::Scalar(name) => Some((name, p)),
            _ => None,
        })
    }

    /// The bias vectors of this cell, in layout order.
    pub fn biases(&self) -> impl Iterator<Item = &'static Pointwise> {
        self.pointwise.iter().filter(|p| !p.through_sigmoid() && p.usage != Usage::GateGain)
    }

    /// The gains of gates of this cell, in layout order.
    pub fn gains(&self) -> impl Iterator<Item = &'static Pointwise> {
        self.pointwise.iter().filter(|p| p.usage == Usage::GateGain)
    }

    const fn count(&self, usage: Usage) -> usize {
        let (mut i, mut n) = (0, 0);
        while i < self.pointwise.len() {
            n += (self.pointwise[i].usage.number() == usage.number()) as usize;
            i += 1;
        }
        n
    }

    const fn shape(&self) -> CellShape {
        let mut alphas = Alphas::None;
        let mut i = 0;
        while i < self.pointwise.len() {
            if let Usage::Scalar(ScalarName::Alpha) = self.pointwise[i].usage {
                alphas = if self.pointwise[i].is_vector { Alphas::PerUnit } else { Alphas::One };
            }
            i += 1;
        }
        let apart = self.count(Usage::RecurrentBias) > 0;
        CellShape {
            code: self.code,
            blocks: self.blocks.len(),
            states: self.states,
            biases: self.gates() + self.count(Usage::UpdateBias) + self.count(Usage::RecurrentBias),
            has_gain: self.count(Usage::GateGain) > 0,
            gated: self.gated(),
            signed_gates: self.signed_gates,
            reads_state: self.reads_state,
            has_pairs: self.has_pairs,
            keeps_apart: apart,
            update_share: self.update_share,
            alphas,
            has_beta: self.count(Usage::Scalar(ScalarName::Beta)) > 0,
            has_zeta: self.count(Usage::Scalar(ScalarName::Zeta)) > 0,
        }
    }
}

/// The numbers of a [`Declaration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellShape {
    /// The code in device images, if there is one.
    pub code: Option<u8>,
    /// Blocks of `hidden` rows stacked in W and U.
    pub blocks: usize,
    /// Vectors of `hidden` entries carried from step to step.
    pub states: usize,
    /// Bias vectors.
    pub biases: usize,
    /// Whether there is a gain for each unit's gate.
    pub has_gain: bool,
    /// Whether there is a gate nonlinearity.
    pub gated: bool,
    /// Whether integer models may use a gate nonlinearity with negative values.
    pub signed_gates: bool,
    /// Whether the cell reads `U·h`.
    pub reads_state: bool,
    /// Whether the rule reads pairs of units.
    pub has_pairs: bool,
    /// Whether the last block of `U·h` stays apart from `W·x`, behind the other sums.
    pub keeps_apart: bool,
    /// The largest weight of the update.
    pub update_share: u32,
    /// How many numbers α is.
    pub alphas: Alphas,
    /// Whether there is a β.
    pub has_beta: bool,
    /// Whether there are ζ and ν.
    pub has_zeta: bool,
}

impl CellShape {
    /// Sums of one unit in a step.
    pub const fn sums(&self) -> usize {
        self.blocks + self.keeps_apart as usize
    }

    /// Entries of a vector of parameters for this many units.
    pub const fn vector_len(&self, hidden: usize) -> usize {
        if self.has_pairs { hidden / 2 } else { hidden }
    }

    /// The place among a unit's sums to which block `block` of `U·h` is added.
    pub const fn place_of_u(&self, block: usize) -> usize {
        block + (self.keeps_apart && block + 1 == self.blocks) as usize
    }

    /// The most fraction bits of an integer state, given those of the update's value.
    pub const fn most_state_bits(&self, value_bits: u32, gate: Nonlinearity) -> u32 {
        match self.update_share {
            1 => value_bits,
            // A gate down to −1 gives the update three times its weight.
            _ if gate.is_signed() => value_bits - 2,
            _ => value_bits - 1,
        }
    }
}

/// How many numbers α is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphas {
    /// The cell has no α.
    None,
    /// One for all units.
    One,
    /// One for each unit.
    PerUnit,
}

/// One declared parameter besides the matrices W and U.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointwise {
    /// Its name in layouts and files.
    pub name: &'static str,
    /// An entry for each unit or pair of units, or one for all.
    pub is_vector: bool,
    /// What the rule does with it.
    pub usage: Usage,
    /// The stored value at the start called `authors`.
    pub authors: f32,
    /// The stored value at the start called `slow`.
    pub slow: SlowStart,
}

impl Pointwise {
    /// The cell uses `sigmoid(stored)`, which keeps the value in (0, 1).
    pub const fn through_sigmoid(&self) -> bool {
        matches!(self.usage, Usage::Scalar(_))
    }
}

/// What a rule does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// A bias before the gate nonlinearity.
    GateBias,
    /// A bias before the update nonlinearity.
    UpdateBias,
    /// A bias of `U·h` alone, which a gate multiplies before it reaches the update.
    RecurrentBias,
    /// A factor of a sum on its way into the gate; see [`GAIN_BITS`].
    GateGain,
    /// One of α, β, ζ, ν, stored before its sigmoid.
    Scalar(ScalarName),
}

/// Fraction bits of a gain in an integer model, where it is a signed byte.
pub const GAIN_BITS: u32 = 5;

impl Usage {
    /// A number for each usage, because `==` is not available to constants.
    const fn number(self) -> u8 {
        match self {
            Self::GateBias => 0,
            Self::UpdateBias => 1,
            Self::RecurrentBias => 2,
            Self::GateGain => 3,
            Self::Scalar(name) => 4 + name as u8,
        }
    }
}

/// The scalars that a cell may have. A layout stores them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarName {
    /// Weight of the update in FastRNN and FastRNN-vector.
    Alpha,
    /// Weight of the old state in FastRNN.
    Beta,
    /// ζ of FastGRNN and FastRNN-vector.
    Zeta,
    /// ν of FastGRNN and FastRNN-vector.
    Nu,
}

impl ScalarName {
    /// All of them, in layout order.
    pub const ALL: [Self; 4] = [Self::Alpha, Self::Beta, Self::Zeta, Self::Nu];

    /// The name in layouts and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alpha => "alpha",
            Self::Beta => "beta",
            Self::Zeta => "zeta",
            Self::Nu => "nu",
        }
    }

    /// Fraction bits of its value in an integer model.
    pub const fn fraction_bits(self) -> u32 {
        match self {
            Self::Alpha | Self::Beta => 15,
            Self::Zeta | Self::Nu => 14,
        }
    }
}

/// How one of α, β, ζ, ν gets its value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Scalar {
    /// Trained, through the sigmoid.
    #[default]
    Learnt,
    /// Held at this value, which may be 0 or 1 exactly; not stored with the parameters.
    Fixed(f32),
    /// `β = 1 − α`; only for FastRNN's β. Not stored.
    Tied,
}

/// Where a parameter starts at the start called `slow`, for sequences of T steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// At this value.
    Value(f32),
    /// So that its gate keeps a share `1 − 1/u` of the state, u uniform in (1.5, T) for each unit.
    Keep,
    /// So that its gate admits a share `1/u`: what the keeping gate of the same unit, if there is
    /// one, forgets.
    Admit,
    /// So that its sigmoid is `8/(8 + T)`.
    Alpha,
    /// So that its sigmoid is `1 − 8/(8 + T)`.
    Beta,
}

const ZERO: SlowStart = SlowStart::Value(0.0);
const ZETA: Pointwise = scalar(ScalarName::Zeta, 1.0, SlowStart::Value(1.0));
// With a gain of 1 the cell is FastGRNN.
const GAMMA: Pointwise = Pointwise {
    name: "gamma",
    is_vector: true,
    usage: Usage::GateGain,
    authors: 1.0,
    slow: SlowStart::Value(1.0),
};
const NU: Pointwise = scalar(ScalarName::Nu, -4.0, SlowStart::Value(-4.0));

const fn gate_bias(name: &'static str, slow: SlowStart) -> Pointwise {
    Pointwise { name, is_vector: true, usage: Usage::GateBias, authors: 1.0, slow }
}

const fn update_bias(name: &'static str) -> Pointwise {
    Pointwise { usage: Usage::UpdateBias, ..gate_bias(name, ZERO) }
}

const fn scalar(scalar: ScalarName, authors: f32, slow: SlowStart) -> Pointwise {
    Pointwise { name: scalar.name(), is_vector: false, usage: Usage::Scalar(scalar), authors, slow }
}

impl CellKind {
    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The cell called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        CELLS.iter().find(|d| d.name == name).map(|d| d.kind)
    }

    /// The cell with this code in device images.
    pub fn from_code(code: u8) -> Option<Self> {
        const CODES: [(Option<u8>, CellKind); CELLS.len()] = codes();
        CODES.iter().find(|(of_cell, _)| *of_cell == Some(code)).map(|&(_, kind)| kind)
    }
}

/// Code and kind of every cell, without its text.
const fn codes() -> [(Option<u8>, CellKind); CELLS.len()] {
    let mut codes = [(None, CellKind::Rnn); CELLS.len()];
    let mut i = 0;
    while i < CELLS.len() {
        codes[i] = (CELLS[i].code, CELLS[i].kind);
        i += 1;
    }
    codes
}

impl core::fmt::Display for CellKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_kind_finds_its_own_declaration() {
        for d in CELLS {
            assert_eq!(d.kind.declaration().name, d.name);
            assert_eq!(CellKind::from_name(d.name), Some(d.kind));
            assert_eq!(d.code.map(CellKind::from_code), d.code.map(|_| Some(d.kind)));
            assert_eq!(d.kind.shape(), d.shape());
        }
    }

    #[test]
    fn biases_come_first_then_gains_then_scalars_in_their_order() {
        for d in CELLS {
            let (biases, gains) = (d.biases().count(), d.gains().count());
            let order: Vec<_> = d.biases().chain(d.gains()).map(|p| p.name).collect();
            let names: Vec<_> = d.pointwise.iter().map(|p| p.name).collect();
            assert_eq!(order, names[..biases + gains], "{}", d.name);
            assert!(d.pointwise[biases + gains..].iter().all(Pointwise::through_sigmoid), "{}", d.name);
            assert_eq!(d.shape().has_gain, gains > 0, "{}", d.name);
            let scalars: Vec<ScalarName> = d.scalars().map(|(name, _)| name).collect();
            assert!(scalars.is_sorted(), "{}", d.name);
            assert_eq!(d.shape().biases, biases, "{}", d.name);
            let zeta = scalars.contains(&ScalarName::Zeta);
            assert_eq!(zeta, scalars.contains(&ScalarName::Nu), "{}: zeta comes with nu", d.name);
        }
    }

    #[test]
    fn shapes_are_those_of_the_equations() {
        let shape = |kind: CellKind| {
            let (d, s) = (kind.declaration(), kind.shape());
            (s.blocks, s.states, s.biases, s.sums(), d.gates(), d.updates())
        };
        assert_eq!(shape(CellKind::Rnn), (1, 1, 1, 1, 0, 1));
        assert_eq!(shape(CellKind::FastRnn), (1, 1, 1, 1, 0, 1));
        assert_eq!(shape(CellKind::FastRnnVector), (1, 1, 1, 1, 0, 1));
        assert_eq!(shape(CellKind::FastGrnn), (1, 1, 2, 1, 1, 1));
        assert_eq!(shape(CellKind::FastGrnnGain), (1, 1, 2, 1, 1, 1));
        assert_eq!(shape(CellKind::Ugrnn), (2, 1, 2, 2, 1, 1));
        assert_eq!(shape(CellKind::Gru), (3, 1, 4, 4, 2, 1));
        assert_eq!(shape(CellKind::Lstm), (4, 2, 4, 4, 3, 2));
        assert_eq!(shape(CellKind::MinGru), (2, 1, 2, 2, 1, 1));
        assert_eq!(shape(CellKind::Eurnn), (1, 1, 1, 1, 0, 1));
    }
}
