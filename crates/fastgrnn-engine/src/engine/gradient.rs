//! A gradient, of which the part of an embedding is mostly zero.

use fastgrnn_core::net::{EMBEDDING, Network};
use std::ops::Range;

/// The gradient of a loss by every parameter.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// One entry for each parameter, in the network's layout.
    pub values: Vec<f32>,
    /// The embedding's table, if its gradient has few rows that are not zero.
    table: Range<usize>,
    /// Entries of a row of the table.
    dim: usize,
    /// The rows of the table that may be other than zero, ascending.
    rows: Vec<u32>,
}

impl Gradient {
    /// A zero gradient for `network`.
    pub fn new(network: &Network) -> Self {
        let layout = network.layout();
        let table = layout.view(EMBEDDING).filter(|_| !network.is_tied());
        Self {
            values: vec![0.0; layout.len()],
            table: table.map_or(0..0, |view| view.range()),
            dim: table.map_or(0, |view| view.cols),
            rows: Vec::new(),
        }
    }

    /// The rows of an embedding that may be other than zero, ascending; `None` if all may be, as those of
    /// a tied embedding.
    pub fn rows(&self) -> Option<&[u32]> {
        (!self.table.is_empty()).then_some(&self.rows)
    }

    /// Sets the rows that are not zero to zero.
    pub(super) fn clear_rows(&mut self) {
        for row in self.rows.drain(..) {
            let at = self.table.start + row as usize * self.dim;
            self.values[at..at + self.dim].fill(0.0);
        }
    }

    /// Notes which rows may be other than zero.
    pub(super) fn set_rows(&mut self, rows: impl Iterator<Item = u32>) {
        self.rows.clear();
        self.rows.extend(rows);
        self.rows.sort_unstable();
        self.rows.dedup();
    }
}
