//! A cell with its sizes and choices: one layer of a network.
//!
//! What each cell *is* (blocks, parameters, names, codes) is declared once, in
//! [`fastgrnn_runtime::cells`], and re-exported here. A [`Cell`] adds the sizes, the forms of W and U,
//! nonlinearities and scalar modes; parameter layouts, sizes and checks derive from the two. The
//! computations are elsewhere: the scalar f64 version and the fast one in `fastgrnn-engine`.
//!
//! `a = W·x + U·h` gives `blocks` stacked vectors of `hidden` entries; a [`MatrixForm`] says how W and U
//! are made from parameters (full, low-rank, diagonal, none); an element-wise rule makes the next state.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! let cell = Cell::new(CellKind::FastGrnn, 9, 80).with_ranks(Some(5), Some(40));
//! let names: Vec<_> = cell.params().iter().map(|p| p.name).collect();
//! assert_eq!(names, ["w1", "w2", "u1", "u2", "b_z", "b_h", "zeta", "nu"]);
//! ```
mod nonlinearity;
mod orthogonal;
mod param;
mod start;
mod weight_bits;

pub use fastgrnn_runtime::cells::{
    Alphas, CELLS, CellKind, CellShape, Declaration, GAIN_BITS, Pointwise, SHORTEST, Scalar, ScalarName,
    SlowStart, Usage,
};
pub use fastgrnn_runtime::{MatrixForm, Nonlinearity};
pub use nonlinearity::NonlinearityF64;
pub use orthogonal::Orthogonal;
pub use param::{Param, Role};
pub use start::Start;
pub use weight_bits::WeightBits;

use fastgrnn_runtime::float;
use serde::{Deserialize, Serialize};

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
    /// The form of W.
    pub form_w: MatrixForm,
    /// The form of U.
    pub form_u: MatrixForm,
    /// How the blocks of U are made where they are orthogonal, or nearly so; U is then full for everything that reads it.
    /// Networks in training have it, models in files do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orthogonal_u: Option<Orthogonal>,
    /// Bits of the entries of W, or of its factors, on a device.
    #[serde(default, skip_serializing_if = "WeightBits::is_eight")]
    pub bits_w: WeightBits,
    /// Bits of the entries of U, or of its factors, on a device.
    #[serde(default, skip_serializing_if = "WeightBits::is_eight")]
    pub bits_u: WeightBits,
    /// Nonlinearity of the gates.
    pub gate: Nonlinearity,
    /// Nonlinearity of the update.
    pub update: Nonlinearity,
    /// How α, β, ζ, ν get their values.
    #[serde(default)]
    pub scalars: Scalars,
}

/// W or U of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellMatrix {
    /// `'w'` or `'u'`.
    pub letter: char,
    /// The parameterisation.
    pub form: MatrixForm,
    /// How the blocks are made where they are orthogonal, or nearly so.
    pub orthogonal: Option<Orthogonal>,
    /// Bits of its entries, or of those of its factors, on a device.
    pub bits: WeightBits,
    /// Rows: the blocks stacked.
    pub rows: usize,
    /// Columns: the features or states that it reads.
    pub cols: usize,
}

impl CellMatrix {
    /// Its parameter tensors.
    ///
    /// Full: `w` is `rows × cols`. Low rank: `w1` is `rows × rank`, `w2` is `cols × rank`. Diagonal:
    /// `w` is `rows × 1`, the diagonals of the blocks. Absent: none. U likewise.
    pub fn params(&self) -> Vec<Param> {
        if let Some(orthogonal) = self.orthogonal {
            return orthogonal.params(self.rows / self.cols, self.cols);
        }
        let names = if self.letter == 'w' { ["w", "w1", "w2"] } else { ["u", "u1", "u2"] };
        let weight = |name, rows, cols| Param { name, rows, cols, role: Role::Weight, pointwise: None };
        match self.form {
            MatrixForm::Full => vec![weight(names[0], self.rows, self.cols)],
            MatrixForm::LowRank(rank) => {
                vec![weight(names[1], self.rows, rank), weight(names[2], self.cols, rank)]
            }
            MatrixForm::Diagonal => vec![weight(names[0], self.rows, 1)],
            MatrixForm::Absent => Vec::new(),
        }
    }

    /// The steps of its tensors, in their order, if their entries have 4 bits.
    fn steps(&self) -> Vec<Param> {
        let name = |of: &str| match of {
            "w" => "step_w",
            "w1" => "step_w1",
            "w2" => "step_w2",
            "u" => "step_u",
            "u1" => "step_u1",
            _ => "step_u2",
        };
        let step =
            |p: &Param| Param { name: name(p.name), rows: 1, cols: 1, role: Role::Step, pointwise: None };
        match self.bits {
            WeightBits::Four => self.params().iter().map(step).collect(),
            WeightBits::Eight => Vec::new(),
        }
    }
}

impl Cell {
    /// A cell with full matrices, the nonlinearities of its declaration and learnt scalars.
    pub fn new(kind: CellKind, input: usize, hidden: usize) -> Self {
        let declaration = kind.declaration();
        Self {
            kind,
            input,
            hidden,
            form_w: MatrixForm::Full,
            form_u: if declaration.reads_state { MatrixForm::Full } else { MatrixForm::Absent },
            orthogonal_u: None,
            bits_w: WeightBits::Eight,
            bits_u: WeightBits::Eight,
            gate: declaration.gate,
            update: declaration.update,
            scalars: Scalars::default(),
        }
    }

    /// The same cell with these ranks of W and U. A U that the cell does not have stays absent.
    pub fn with_ranks(mut self, rank_w: Option<usize>, rank_u: Option<usize>) -> Self {
        self.form_w = MatrixForm::of_rank(rank_w);
        if self.kind.declaration().reads_state {
            self.form_u = MatrixForm::of_rank(rank_u);
        }
        self
    }

    /// The same cell with these forms of W and U.
    pub fn with_forms(mut self, form_w: MatrixForm, form_u: MatrixForm) -> Self {
        (self.form_w, self.form_u) = (form_w, form_u);
        self
    }

    /// The same cell with a U that is made in this way.
    pub fn with_orthogonal_u(mut self, orthogonal: Orthogonal) -> Self {
        (self.form_u, self.orthogonal_u) = (MatrixForm::Full, Some(orthogonal));
        self
    }

    /// The same cell with entries of W and U of so many bits on a device.
    pub fn with_bits(mut self, bits_w: WeightBits, bits_u: WeightBits) -> Self {
        (self.bits_w, self.bits_u) = (bits_w, bits_u);
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
        self.kind.shape().states * self.hidden
    }

    /// Number of `hidden`-row blocks stacked in W and U.
    pub fn blocks(&self) -> usize {
        self.kind.shape().blocks
    }

    /// W.
    pub fn w(&self) -> CellMatrix {
        let rows = self.blocks() * self.hidden;
        CellMatrix {
            letter: 'w',
            form: self.form_w,
            orthogonal: None,
            bits: self.bits_w,
            rows,
            cols: self.input,
        }
    }

    /// U.
    pub fn u(&self) -> CellMatrix {
        let rows = self.blocks() * self.hidden;
        let (form, orthogonal) = (self.form_u, self.orthogonal_u);
        CellMatrix { letter: 'u', form, orthogonal, bits: self.bits_u, rows, cols: self.hidden }
    }

    /// Whether a nonlinearity of the cell reads the table of integer models.
    pub fn reads_table(&self) -> bool {
        self.update.reads_table() || (self.kind.declaration().gated() && self.gate.reads_table())
    }

    /// The steps of the matrices whose entries have 4 bits, in the order of the matrices.
    pub fn steps(&self) -> impl Iterator<Item = Param> + use<> {
        self.w().steps().into_iter().chain(self.u().steps())
    }

    /// The parameter tensors in layout order: W's, U's (see [`CellMatrix::params`]), then the declared
    /// others.
    pub fn params(&self) -> Vec<Param> {
        let mut params = self.w().params();
        params.extend(self.u().params());
        for p in self.kind.declaration().pointwise {
            if p.through_sigmoid() && self.scalars.mode(p.name) != Scalar::Learnt {
                continue;
            }
            let rows = if p.is_vector { self.kind.shape().vector_len(self.hidden) } else { 1 };
            let role = match p.usage {
                Usage::Scalar(_) => Role::Raw,
                Usage::GateGain => Role::Gain,
                Usage::GateBias | Usage::UpdateBias | Usage::RecurrentBias => Role::Bias,
            };
            params.push(Param { name: p.name, rows, cols: 1, role, pointwise: Some(*p) });
        }
        params
    }
}

/// A cell as the device runtime describes it.
///
/// ```
/// use fastgrnn_core::cells::{Cell, CellKind};
/// let shape: fastgrnn_runtime::float::Shape = (&Cell::new(CellKind::Gru, 3, 8)).into();
/// assert_eq!((shape.input, shape.hidden), (3, 8));
/// ```
impl From<&Cell> for float::Shape {
    fn from(cell: &Cell) -> Self {
        let Scalars { alpha, beta, zeta, nu } = cell.scalars;
        Self {
            kind: cell.kind,
            input: cell.input,
            hidden: cell.hidden,
            w: cell.form_w,
            u: cell.form_u,
            gate: cell.gate,
            update: cell.update,
            alpha,
            beta,
            zeta,
            nu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_nonlinearities_are_stored_by_their_names() {
        for d in CELLS {
            assert_eq!(serde_json::to_value(d.kind).unwrap(), d.name);
        }
        for f in Nonlinearity::ALL {
            assert_eq!(serde_json::to_value(f).unwrap(), f.name());
        }
    }

    #[test]
    fn matrix_forms_are_stored_by_name_or_rank() {
        let forms = [MatrixForm::Full, MatrixForm::LowRank(5), MatrixForm::Diagonal, MatrixForm::Absent];
        let text = serde_json::to_string(&forms).unwrap();
        assert_eq!(text, r#"["full",5,"diagonal","none"]"#);
        assert_eq!(serde_json::from_str::<[MatrixForm; 4]>(&text).unwrap(), forms);
        for wrong in ["\"low-rank\"", "-1", "null", "1.5"] {
            assert!(serde_json::from_str::<MatrixForm>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn matrices_of_4_bits_have_steps() {
        let cell = Cell::new(CellKind::FastGrnn, 4, 6).with_ranks(Some(2), None);
        let cell = cell.with_bits(WeightBits::Four, WeightBits::Four);
        let names: Vec<_> = cell.steps().map(|p| p.name).collect();
        assert_eq!(names, ["step_w1", "step_w2", "step_u"]);
        assert!(cell.params().iter().all(|p| p.role != Role::Step));
        let text = serde_json::to_string(&cell).unwrap();
        assert!(text.contains(r#""bits_w":4,"bits_u":4"#), "{text}");
        assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell);
        assert!(!serde_json::to_string(&Cell::new(CellKind::Rnn, 1, 1)).unwrap().contains("bits"));
        assert!(serde_json::from_str::<Cell>(&text.replace("\"bits_w\":4", "\"bits_w\":5")).is_err());
    }

    #[test]
    fn a_diagonal_has_one_entry_a_row_and_an_absent_matrix_has_none() {
        let cell = Cell::new(CellKind::Gru, 4, 6).with_forms(MatrixForm::Full, MatrixForm::Diagonal);
        let shapes: Vec<_> = cell.params().iter().map(|p| (p.name, p.rows, p.cols)).collect();
        assert_eq!(shapes[..3], [("w", 18, 4), ("u", 18, 1), ("b_r", 6, 1)]);
        let cell = cell.with_forms(MatrixForm::LowRank(2), MatrixForm::Absent);
        let names: Vec<_> = cell.params().iter().map(|p| p.name).collect();
        assert_eq!(names[..3], ["w1", "w2", "b_r"]);
    }
}
