//! The parameter tensors of a cell.

use fastgrnn_runtime::cells::Pointwise;

/// What a parameter is, for code that walks a layout without knowing cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A matrix or factor: may be decayed and is quantised to bytes.
    Weight,
    /// A bias vector.
    Bias,
    /// A gain of each unit's gate: it is not decayed, and a byte of a fixed grid in integers.
    Gain,
    /// α, β, ζ or ν before their sigmoid.
    Raw,
    /// What makes an orthogonal matrix: it is not decayed, and the bytes of a device hold the matrix instead.
    Basis,
    /// The vectors of tokens.
    Embedding,
    /// The logarithm of the step of a matrix whose entries have 4 bits: it is not decayed.
    Step,
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
