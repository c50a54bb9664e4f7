//! How each matrix of an integer model is stored.

use super::IntegerModel;
use fastgrnn_core::cells::Role;
use fastgrnn_runtime::int::{Matrix, Storage};
use serde::Serialize;

/// A matrix in a device image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixSize {
    /// `layer0.w1`, …
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// How it is stored: `dense`, `by-row`, `by-column`, `bitmap` or `diagonal`.
    pub form: &'static str,
    /// Entries that are not 0.
    pub nonzero: usize,
    /// The same as a fraction of all entries.
    pub kept: f64,
    /// Bytes of stored entries.
    pub values: usize,
    /// Bytes that say where they are.
    pub indices: usize,
}

impl MatrixSize {
    fn of(name: String, matrix: Matrix<'_>) -> Self {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let mut nonzero = 0;
        matrix.for_each(|_, _, value| nonzero += usize::from(value != 0));
        let form = matrix.storage().name();
        let kept = nonzero as f64 / (rows * cols).max(1) as f64;
        let (values, indices) = (matrix.value_bytes(), matrix.index_bytes());
        Self { name, rows, cols, form, nonzero, kept, values, indices }
    }
}

impl IntegerModel {
    /// Every matrix with the form it is stored in: the layers' in order, then the head's.
    pub fn matrix_sizes(&self) -> Vec<MatrixSize> {
        let view = self.view();
        let layers = view.layers().iter().flat_map(|layer| {
            let ((w1, w2), (u1, u2)) = (layer.w(), layer.u());
            let stored = [Some(w1), w2, Some(u1), u2].into_iter().flatten();
            stored.filter(|matrix| matrix.storage() != Storage::Absent)
        });
        let layout = self.model.network.layout();
        let names = layout.views().iter().filter(|v| v.role == Role::Weight).map(|v| v.name.clone());
        names
            .zip(layers.chain((!view.is_tied()).then(|| view.head())))
            .map(|(name, matrix)| MatrixSize::of(name, matrix))
            .collect()
    }
}
