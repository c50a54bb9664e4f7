//! One of the two matrix products of a step.

use fastgrnn::cells::{MatrixForm, WeightBits};
use fastgrnn::quantize::{IntegerFactors, IntegerMatrix};

/// One of the two matrix products of a step.
pub(super) struct MatrixProduct<'a> {
    /// `w` or `u`.
    pub(super) letter: char,
    pub(super) form: MatrixForm,
    /// The matrix, its first factor, or its diagonals.
    pub(super) first: &'a IntegerMatrix,
    pub(super) hidden: usize,
    /// The second factor.
    pub(super) second: Option<&'a IntegerMatrix>,
    /// Shift after the second factor.
    pub(super) inner: u32,
    /// Multiplier of the product with the first factor; 0 for none.
    pub(super) multiplier: u16,
    /// Shift after the first factor.
    pub(super) outer: u32,
    /// The C vector that the first factor is multiplied with.
    pub(super) vector: String,
    /// The C type of the vector's entries.
    pub(super) kind: &'static str,
}

impl<'a> MatrixProduct<'a> {
    pub(super) fn new(
        letter: char,
        (form, hidden): (MatrixForm, usize),
        factors: &'a IntegerFactors,
        [inner, outer]: [u32; 2],
        input: (&str, &'static str),
        between: &'static str,
    ) -> Self {
        let second = factors.second.as_ref();
        let (vector, kind) = match second {
            Some(_) => (format!("m{letter}"), between),
            None => (input.0.to_string(), input.1),
        };
        let (first, multiplier) = (&factors.first, factors.product_scale().multiplier);
        Self { letter, form, first, hidden, second, inner, multiplier, outer, vector, kind }
    }

    /// Whether rows are tables of entries of 4 bits, in code for size.
    pub(super) fn has_four_bits(&self) -> bool {
        self.first.bits() == WeightBits::Four
    }

    /// Columns of the matrix that is multiplied with the vector; 0 for an absent one.
    pub(super) fn cols(&self) -> usize {
        match self.form {
            MatrixForm::Full | MatrixForm::LowRank(_) => self.first.cols,
            MatrixForm::Diagonal => self.hidden,
            MatrixForm::Absent => 0,
        }
    }

    /// An entry of that matrix.
    pub(super) fn entry(&self, row: usize, col: usize) -> i8 {
        match self.form {
            MatrixForm::Full | MatrixForm::LowRank(_) => self.first.entries[row * self.first.cols + col],
            MatrixForm::Diagonal if row % self.hidden == col => self.first.entries[row],
            MatrixForm::Diagonal | MatrixForm::Absent => 0,
        }
    }
}
