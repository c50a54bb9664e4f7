//! Every byte of an integer model, by what it is for.

use super::{IntegerModel, IntegerNetwork};
use fastgrnn_core::cells::Role;
use fastgrnn_core::net::Network;
use fastgrnn_runtime::int::TABLE_LEN;
use serde::Serialize;

/// Bytes of a device image; all but `paper_way` and `front_end` add up to `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// The image.
    pub total: usize,
    /// Entries of W and U.
    pub weights: usize,
    /// What says where entries of sparse matrices are, the head's included.
    pub indices: usize,
    /// The input's normalisation, shifts and fraction bits.
    pub scales: usize,
    /// Biases, α, β, ζ and ν, and a stored state.
    pub biases: usize,
    /// Entries and biases of the head.
    pub head: usize,
    /// The table of the smooth nonlinearities.
    pub table: usize,
    /// Magic, version, sizes, codes, check sum.
    pub header: usize,
    /// The same model as the paper counts it: see [`paper_way`].
    pub paper_way: usize,
    /// Tables of the front end that makes features from sound, beside the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<usize>,
}

impl IntegerModel {
    /// Where the bytes of the image go.
    pub fn sizes(&self) -> Sizes {
        let view = self.view();
        let mut sizes = Sizes { total: self.image().len(), ..Sizes::default() };
        // The input's two shifts; offsets and factors.
        sizes.scales = 2 + 4 * view.inputs();
        for (layer, own) in view.layers().iter().zip(&self.network.layers) {
            let ((w1, w2), (u1, u2)) = (layer.w(), layer.u());
            for matrix in [Some(w1), w2, Some(u1), u2].into_iter().flatten() {
                sizes.weights += matrix.value_bytes();
                sizes.indices += matrix.index_bytes();
            }
            sizes.scales += 8;
            let scalars = own.alpha.len() + own.scalar_words();
            sizes.biases += 2 * (layer.bias_vectors() * layer.hidden() + scalars + own.start.len());
        }
        sizes.indices += view.head().index_bytes();
        sizes.scales += 2;
        sizes.head = view.head().value_bytes() + 2 * view.outputs();
        sizes.table = if view.has_table() { 2 * TABLE_LEN } else { 0 };
        let counted = sizes.weights + sizes.indices + sizes.scales + sizes.biases + sizes.head + sizes.table;
        sizes.header = sizes.total - counted;
        sizes.paper_way = self.network.paper_way();
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
    fn paper_way(&self) -> usize {
        let matrices = self.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices()));
        let weights: usize = matrices.map(|m| kept_bytes(m.entries.len(), m.nonzero(), 1)).sum();
        let others = self.layers.iter().map(|l| {
            let biases: usize = l.biases.iter().map(Vec::len).sum();
            biases + l.alpha.len() + l.scalar_words()
        });
        weights + others.sum::<usize>() + self.head.entries.len() + self.head_biases.len()
    }
}

impl super::IntegerLayer {
    /// Stored β, ζ and ν.
    fn scalar_words(&self) -> usize {
        use fastgrnn_core::cells::CellKind;
        match self.cell.kind {
            CellKind::FastRnn => 1,
            CellKind::FastRnnVector | CellKind::FastGrnn => 2,
            CellKind::Rnn | CellKind::Ugrnn | CellKind::Gru | CellKind::Lstm => 0,
        }
    }
}

/// A matrix as the paper counts it: an index as large as its value, unless more than half is kept.
fn kept_bytes(entries: usize, kept: usize, width: usize) -> usize {
    if 2 * kept > entries { width * entries } else { 2 * width * kept }
}

/// Bytes of a float network as the paper counts them: 4 for a value, and 4 for its index where at
/// most half of a matrix is kept.
pub fn paper_way(network: &Network, params: &[f32]) -> usize {
    let views = network.layout();
    let of = |view: &fastgrnn_core::net::View| {
        let values = &params[view.range()];
        let sparse = view.role == Role::Weight && !view.name.starts_with("head");
        let kept = if sparse { values.iter().filter(|v| **v != 0.0).count() } else { values.len() };
        kept_bytes(values.len(), kept, 4)
    };
    views.views().iter().map(of).sum()
}
