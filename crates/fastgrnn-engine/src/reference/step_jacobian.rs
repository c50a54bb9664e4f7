//! The derivative of a state by the state before.

/// The derivative of a layer's state after a step by its state before the step.
///
/// The state is h, followed by c where the cell has one.
#[derive(Clone, Debug, PartialEq)]
pub struct StepJacobian {
    /// Numbers of the state.
    pub size: usize,
    /// The derivative: row-major, a row for each number of the new state.
    pub matrix: Vec<f64>,
    /// What of it goes through the matrix U. The rest is the old state that the cell keeps.
    pub through_u: Vec<f64>,
    /// The largest magnitude of a factor of a row of U in it.
    pub slope: f64,
}

impl StepJacobian {
    pub(super) fn zero(size: usize) -> Self {
        let zeros = vec![0.0; size * size];
        Self { size, matrix: zeros.clone(), through_u: zeros, slope: 0.0 }
    }

    /// Adds a row of U with a factor to `row`.
    pub(super) fn add_through_u(&mut self, row: usize, slope: f64, from: &[f64]) {
        let start = row * self.size;
        self.slope = self.slope.max(slope.abs());
        let places = self.matrix[start..].iter_mut().zip(&mut self.through_u[start..]);
        for ((whole, through), u) in places.zip(from) {
            *whole += slope * u;
            *through += slope * u;
        }
    }

    /// Adds what of the old state is kept.
    pub(super) fn add_direct(&mut self, row: usize, column: usize, value: f64) {
        self.matrix[row * self.size + column] += value;
    }
}
