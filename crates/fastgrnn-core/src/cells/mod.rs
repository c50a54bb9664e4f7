//! What each recurrent cell is, declared once.
//!
//! A [`Declaration`] names a cell's stacked matrix blocks and its other parameters; layouts, sizes,
//! checks, help and file names derive from it. The computations are elsewhere: the scalar f64
//! version in [`reference`](fastgrnn_engine::reference), the fast one in [`engine`](fastgrnn_engine::engine).
//!
//! All cells share one shape. `a = W·x + U·h` gives `blocks` stacked vectors of `hidden` entries;
//! W and U may be low-rank (`W = W1·W2ᵀ`, `U = U1·U2ᵀ`, one factorisation for the whole stack);
//! an element-wise rule makes the next state from them.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! let cell = Cell::new(CellKind::FastGrnn, 9, 80).with_ranks(Some(5), Some(40));
//! let names: Vec<_> = cell.params().iter().map(|p| p.name).collect();
//! assert_eq!(names, ["w1", "w2", "u1", "u2", "b_z", "b_h", "zeta", "nu"]);
//! ```
mod nonlinearity;
mod runtime;
mod start;

pub use nonlinearity::Nonlinearity;
pub use start::Start;

use serde::{Deserialize, Serialize};

/// The recurrent cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// `h' = f(Wx + Uh + b)`
    Rnn,
    /// `h̃ = f(Wx + Uh + b)`, `h' = α·h̃ + β·h`
    #[serde(rename = "fastrnn")]
    FastRnn,
    /// FastRNN with a vector α and `β = ζ(1−α) + ν`
    #[serde(rename = "fastrnn-vector")]
    FastRnnVector,
    /// `z = g(Wx + Uh + b_z)`, `h̃ = f(Wx + Uh + b_h)`, `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`
    #[serde(rename = "fastgrnn")]
    FastGrnn,
    /// `z = g(W_z x + U_z h + b_z)`, `h̃ = f(W_h x + U_h h + b_h)`, `h' = z⊙h + (1−z)⊙h̃`
    Ugrnn,
    /// `r, z = g(…)`, `n = f(W_n x + b_n + r⊙(U_n h + b_hn))`, `h' = (1−z)⊙n + z⊙h`
    Gru,
    /// `i, f, o = g(…)`, `c̃ = u(…)`, `c' = f⊙c + i⊙c̃`, `h' = o⊙u(c')`
    Lstm,
}

/// One declared parameter besides the matrices W and U.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointwise {
    /// Its name in layouts and files.
    pub name: &'static str,
    /// `hidden` entries, or one.
    pub is_vector: bool,
    /// The cell uses `sigmoid(stored)`, which keeps the value in (0, 1).
    pub through_sigmoid: bool,
    /// What is stored at [`Start::Authors`].
    pub authors: f32,
    /// What is stored at [`Start::Slow`].
    pub slow: SlowStart,
}

/// Where a parameter begins at [`Start::Slow`], for sequences of T steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// At this value.
    Value(f32),
    /// So that its gate keeps a share `1 − 1/u` of the state, u uniform in (1.5, T) for each unit.
    Keep,
    /// So that its gate admits what the keeping one of the same unit forgets, `1/u`.
    Admit,
    /// So that its sigmoid is `8/(8 + T)`.
    Alpha,
    /// So that its sigmoid is `1 − 8/(8 + T)`.
    Beta,
}

const fn bias(name: &'static str, slow: SlowStart) -> Pointwise {
    Pointwise { name, is_vector: true, through_sigmoid: false, authors: 1.0, slow }
}

const fn scalar(name: &'static str, authors: f32, slow: SlowStart) -> Pointwise {
    Pointwise { name, is_vector: false, through_sigmoid: true, authors, slow }
}

const ZERO: SlowStart = SlowStart::Value(0.0);
const ZETA: Pointwise = scalar("zeta", 1.0, SlowStart::Value(1.0));
const NU: Pointwise = scalar("nu", -4.0, SlowStart::Value(-4.0));

/// Everything about a cell that is not arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The cell.
    pub kind: CellKind,
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// Its name in the paper's tables.
    pub title: &'static str,
    /// Names of the `hidden`-row blocks stacked in W and U.
    pub blocks: &'static [&'static str],
    /// The other parameters, in layout order.
    pub pointwise: &'static [Pointwise],
    /// Whether the cell has a gate, and so a gate nonlinearity.
    pub gated: bool,
    /// The step, for people.
    pub equation: &'static str,
}

/// All cells, in the order in which the paper introduces them.
pub const CELLS: &[Declaration] = &[
    Declaration {
        kind: CellKind::Rnn,
        name: "rnn",
        title: "RNN",
        blocks: &["h"],
        pointwise: &[bias("b", ZERO)],
        gated: false,
        equation: "h' = f(W x + U h + b)",
    },
    Declaration {
        kind: CellKind::FastRnn,
        name: "fastrnn",
        title: "FastRNN",
        blocks: &["h"],
        pointwise: &[
            bias("b", ZERO),
            scalar("alpha", -3.0, SlowStart::Alpha),
            scalar("beta", 3.0, SlowStart::Beta),
        ],
        gated: false,
        equation: "c = f(W x + U h + b); h' = alpha c + beta h",
    },
    Declaration {
        kind: CellKind::FastRnnVector,
        name: "fastrnn-vector",
        title: "FastRNN-vector",
        blocks: &["h"],
        pointwise: &[
            bias("b", ZERO),
            Pointwise { is_vector: true, ..scalar("alpha", -3.0, SlowStart::Alpha) },
            // ζ + ν = 1, so that β starts at about 1 − α.
            scalar("zeta", 1.0, SlowStart::Value(4.0)),
            NU,
        ],
        gated: false,
        equation: "c = f(W x + U h + b); h' = alpha * c + (zeta (1 - alpha) + nu) * h",
    },
    Declaration {
        kind: CellKind::FastGrnn,
        name: "fastgrnn",
        title: "FastGRNN",
        blocks: &["h"],
        pointwise: &[bias("b_z", SlowStart::Keep), bias("b_h", ZERO), ZETA, NU],
        gated: true,
        equation: "a = W x + U h; z = g(a + b_z); c = f(a + b_h); h' = (zeta (1 - z) + nu) * c + z * h",
    },
    Declaration {
        kind: CellKind::Ugrnn,
        name: "ugrnn",
        title: "UGRNN",
        blocks: &["z", "h"],
        pointwise: &[bias("b_z", SlowStart::Keep), bias("b_h", ZERO)],
        gated: true,
        equation: "z = g(W_z x + U_z h + b_z); c = f(W_h x + U_h h + b_h); h' = z * h + (1 - z) * c",
    },
    Declaration {
        kind: CellKind::Gru,
        name: "gru",
        title: "GRU",
        blocks: &["r", "z", "n"],
        pointwise: &[bias("b_r", ZERO), bias("b_z", SlowStart::Keep), bias("b_n", ZERO), bias("b_hn", ZERO)],
        gated: true,
        equation: "r, z = g(W x + U h + b); n = f(W_n x + b_n + r * (U_n h + b_hn)); h' = (1 - z) * n + z * h",
    },
    Declaration {
        kind: CellKind::Lstm,
        name: "lstm",
        title: "LSTM",
        blocks: &["i", "f", "g", "o"],
        pointwise: &[
            bias("b_i", SlowStart::Admit),
            bias("b_f", SlowStart::Keep),
            bias("b_g", ZERO),
            bias("b_o", ZERO),
        ],
        gated: true,
        equation: "i, f, o = g(W x + U h + b); c~ = u(W_g x + U_g h + b_g); c' = f * c + i * c~; h' = o * u(c')",
    },
];

impl CellKind {
    /// The declaration of this cell.
    pub fn declaration(self) -> &'static Declaration {
        &CELLS[self as usize]
    }

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The cell called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        CELLS.iter().find(|d| d.name == name).map(|d| d.kind)
    }
}

impl std::fmt::Display for CellKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// How one of α, β, ζ, ν gets its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scalar {
    /// Trained, through the sigmoid.
    #[default]
    Learnt,
    /// Held at this value, which may be 0 or 1 exactly; not stored with the parameters.
    Fixed(f32),
    /// `β = 1 − α`; only for FastRNN's β.
    Tied,
}

/// The mode of each of α, β, ζ, ν; those a cell does not have are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scalars {
    /// FastRNN's and FastRNN-vector's weight of the new candidate.
    pub alpha: Scalar,
    /// FastRNN's weight of the old state.
    pub beta: Scalar,
    /// FastGRNN's and FastRNN-vector's ζ.
    pub zeta: Scalar,
    /// FastGRNN's and FastRNN-vector's ν.
    pub nu: Scalar,
}

impl Scalars {
    /// The mode of the scalar called `name`; anything else is learnt.
    pub fn mode(&self, name: &str) -> Scalar {
        match name {
            "alpha" => self.alpha,
            "beta" => self.beta,
            "zeta" => self.zeta,
            "nu" => self.nu,
            _ => Scalar::Learnt,
        }
    }
}

/// A cell with its sizes and choices: one layer of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Which cell.
    pub kind: CellKind,
    /// Features of the input.
    pub input: usize,
    /// Entries of the state.
    pub hidden: usize,
    /// Rank of W, or full.
    pub rank_w: Option<usize>,
    /// Rank of U, or full.
    pub rank_u: Option<usize>,
    /// Nonlinearity of the gates.
    pub gate: Nonlinearity,
    /// Nonlinearity of the update.
    pub update: Nonlinearity,
    /// How α, β, ζ, ν get their values.
    #[serde(default)]
    pub scalars: Scalars,
}

/// What a parameter is, for those who walk a layout without knowing cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A matrix or factor: may be decayed, projected to sparsity, quantised to bytes.
    Weight,
    /// A bias vector.
    Bias,
    /// α, β, ζ or ν before their sigmoid.
    Raw,
}

/// Name, shape and role of one parameter tensor of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name within the layer.
    pub name: &'static str,
    /// Rows of the row-major matrix.
    pub rows: usize,
    /// Columns; 1 for vectors and scalars.
    pub cols: usize,
    /// What it is.
    pub role: Role,
    /// Its declaration, unless it is a matrix.
    pub pointwise: Option<Pointwise>,
}

impl Cell {
    /// A full-rank cell with sigmoid gates, tanh update and learnt scalars.
    pub fn new(kind: CellKind, input: usize, hidden: usize) -> Self {
        Self {
            kind,
            input,
            hidden,
            rank_w: None,
            rank_u: None,
            gate: Nonlinearity::Sigmoid,
            update: Nonlinearity::Tanh,
            scalars: Scalars::default(),
        }
    }

    /// The same cell with these ranks of W and U.
    pub fn with_ranks(mut self, rank_w: Option<usize>, rank_u: Option<usize>) -> Self {
        self.rank_w = rank_w;
        self.rank_u = rank_u;
        self
    }

    /// The same cell with these nonlinearities.
    pub fn with_nonlinearities(mut self, gate: Nonlinearity, update: Nonlinearity) -> Self {
        self.gate = gate;
        self.update = update;
        self
    }

    /// Entries of the state: h, and for an LSTM c after it.
    pub fn state_len(&self) -> usize {
        if self.kind == CellKind::Lstm { 2 * self.hidden } else { self.hidden }
    }

    /// Number of `hidden`-row blocks stacked in W and U.
    pub fn blocks(&self) -> usize {
        self.kind.declaration().blocks.len()
    }

    /// The parameter tensors in layout order: W's, U's, then the declared others.
    ///
    /// Full rank: `w` is `blocks·hidden × input`. Low rank: `w1` is `blocks·hidden × rank`, `w2`
    /// is `input × rank`. U likewise with `hidden` for `input`.
    pub fn params(&self) -> Vec<Param> {
        let mut params = Vec::new();
        let stacked = self.blocks() * self.hidden;
        let weight = |name, rows, cols| Param { name, rows, cols, role: Role::Weight, pointwise: None };
        match self.rank_w {
            None => params.push(weight("w", stacked, self.input)),
            Some(r) => params.extend([weight("w1", stacked, r), weight("w2", self.input, r)]),
        }
        match self.rank_u {
            None => params.push(weight("u", stacked, self.hidden)),
            Some(r) => params.extend([weight("u1", stacked, r), weight("u2", self.hidden, r)]),
        }
        for p in self.kind.declaration().pointwise {
            if p.through_sigmoid && self.scalars.mode(p.name) != Scalar::Learnt {
                continue;
            }
            let rows = if p.is_vector { self.hidden } else { 1 };
            let role = if p.through_sigmoid { Role::Raw } else { Role::Bias };
            params.push(Param { name: p.name, rows, cols: 1, role, pointwise: Some(*p) });
        }
        params
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_indexed_by_kind() {
        for d in CELLS {
            assert_eq!(d.kind.declaration().name, d.name);
            assert_eq!(CellKind::from_name(d.name), Some(d.kind));
            assert_eq!(serde_json::to_value(d.kind).unwrap(), d.name);
        }
    }
}
