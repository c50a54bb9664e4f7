//! Entries of inputs or states that are set to zero at random.

use crate::simd::Buffer;
use fastgrnn_core::batch::Batch;
use fastgrnn_core::regularize::Place;

/// A mask over rows of values, `[t][row][width]`, and the values that it leaves.
#[derive(Default)]
pub(super) struct Dropped {
    /// Entries of the mask; 0 where nothing is dropped.
    len: usize,
    mask: Buffer,
    values: Buffer,
    of_sequence: Vec<f32>,
}

impl Dropped {
    /// Draws the mask of the sequences in `order`: `dim` entries a step, in rows of `width`.
    pub(super) fn draw(
        &mut self,
        batch: &Batch,
        place: Place,
        order: &[usize],
        rows: usize,
        dim: usize,
        width: usize,
    ) {
        let dropout = &batch.regularization.dropout;
        if dropout.rate(place) == 0.0 {
            return self.clear();
        }
        let longest = order.first().map_or(0, |&i| batch.steps(i));
        self.len = longest * rows * width;
        self.mask.reserve(self.len);
        self.mask[..self.len].fill(0.0);
        for (row, &i) in order.iter().enumerate() {
            self.of_sequence.resize(batch.steps(i) * dim, 0.0);
            dropout.fill(place, i, dim, &mut self.of_sequence);
            for (t, step) in self.of_sequence.chunks_exact(dim).enumerate() {
                self.mask[(t * rows + row) * width..][..dim].copy_from_slice(step);
            }
        }
    }

    /// Drops nothing.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Whether nothing is dropped.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Keeps what the mask leaves of `values`.
    pub(super) fn copy(&mut self, values: &[f32]) {
        self.values.reserve(self.len);
        for ((to, mask), value) in self.values.iter_mut().zip(&self.mask[..self.len]).zip(values) {
            *to = mask * value;
        }
    }

    /// What the mask leaves; `values` themselves where nothing is dropped.
    pub(super) fn or<'a>(&'a self, values: &'a [f32]) -> &'a [f32] {
        if self.is_empty() { values } else { &self.values[..self.len] }
    }

    /// Multiplies `values` with the mask.
    pub(super) fn apply(&self, values: &mut [f32]) {
        values.iter_mut().zip(&self.mask[..self.len]).for_each(|(value, mask)| *value *= mask);
    }
}
