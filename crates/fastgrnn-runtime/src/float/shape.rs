//! What a layer is: its cell, sizes, matrix forms, nonlinearities and scalars.

use crate::{CellKind, MatrixForm, Nonlinearity, Scalar};

/// Everything about a layer besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The cell.
    pub kind: CellKind,
    /// Features of its input.
    pub input: usize,
    /// Units.
    pub hidden: usize,
    /// The form of W.
    pub w: MatrixForm,
    /// The form of U.
    pub u: MatrixForm,
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
    /// A layer with full matrices, the cell's own nonlinearities and learnt scalars.
    pub const fn new(kind: CellKind, input: usize, hidden: usize) -> Self {
        let declaration = kind.declaration();
        Self {
            kind,
            input,
            hidden,
            w: MatrixForm::Full,
            u: if declaration.reads_state { MatrixForm::Full } else { MatrixForm::Absent },
            gate: declaration.gate,
            update: declaration.update,
            alpha: Scalar::Learnt,
            beta: Scalar::Learnt,
            zeta: Scalar::Learnt,
            nu: Scalar::Learnt,
        }
    }
}
