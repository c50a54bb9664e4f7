//! Every byte of an integer model, by what it is for.

use super::{IntegerModel, IntegerNetwork};
use crate::model::{Sizes, kept_bytes};
use fastgrnn_runtime::int::TABLE_LEN;

impl IntegerModel {
    /// Where the bytes of the image go.
    pub fn sizes(&self) -> Sizes {
        let view = self.view();
        let mut sizes = Sizes { total: self.image().len(), ..Sizes::default() };
        match view.tokens() {
            Some(vectors) => {
                sizes.scales = 1;
                sizes.embedding = vectors.value_bytes();
            }
            // The input's two shifts; offsets and factors.
            None => sizes.scales = 2 + 4 * view.inputs(),
        }
        for (layer, own) in view.layers().iter().zip(&self.network.layers) {
            let ((w1, w2), (u1, u2)) = (layer.w(), layer.u());
            for matrix in [Some(w1), w2, Some(u1), u2].into_iter().flatten() {
                sizes.weights += matrix.value_bytes();
                sizes.indices += matrix.index_bytes();
            }
            // Two multipliers and the bytes of a bias.
            sizes.scales += if self.network.is_extended() { 8 + 5 } else { 8 };
            let scalars: usize = own.stored_scalars().map(|(_, entries)| entries).sum();
            sizes.biases += layer.bias_bytes() + 2 * (scalars + own.start.len()) + own.gains.len();
        }
        sizes.scales += if self.network.is_extended() { 2 + 3 } else { 2 };
        sizes.head = view.head_bias_bytes();
        if !view.is_tied() {
            sizes.indices += view.head().index_bytes();
            sizes.head += view.head().value_bytes();
        }
        sizes.table = if view.has_table() { 2 * TABLE_LEN } else { 0 };
        let counted = [sizes.weights, sizes.indices, sizes.scales, sizes.biases, sizes.head, sizes.embedding];
        sizes.header = sizes.total - sizes.table - counted.iter().sum::<usize>();
        sizes.bytes_as_in_paper = self.network.bytes_as_in_paper();
        sizes.front_end = self.model.front_end_bytes();
        sizes
    }

    /// RAM that a device needs: states, normalised input, products, one input and the scores.
    pub fn ram_bytes(&self) -> usize {
        let view = self.view();
        2 * (view.memory_len() + view.inputs()) + 4 * (view.scratch_len() + view.outputs())
    }

    /// Multiplications with weights in a step of all layers; the head's are not in it.
    pub fn macs_per_step(&self) -> usize {
        let layers = self.network.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices()));
        layers.map(super::IntegerMatrix::nonzero).sum()
    }

    /// Weights that are not 0, the head's included.
    pub fn nonzero(&self) -> usize {
        self.network.matrices().map(super::IntegerMatrix::nonzero).sum()
    }
}

impl IntegerNetwork {
    fn bytes_as_in_paper(&self) -> usize {
        let matrices = self.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices()));
        let weights: usize = matrices.map(|m| kept_bytes(m.entries.len(), m.nonzero(), 1)).sum();
        let others = self.layers.iter().map(|l| {
            let biases: usize = l.biases.iter().map(Vec::len).sum();
            biases + l.gains.len() + l.stored_scalars().map(|(_, entries)| entries).sum::<usize>()
        });
        let cells = weights + others.sum::<usize>();
        // Of a network that reads texts, the paper counts the cells alone.
        if self.embedding.is_some() {
            cells
        } else {
            cells + self.head.entries.len() + self.head_biases.len()
        }
    }
}
