//! What a model costs: bytes, RAM, multiplications. The same questions for floats and integers.

use super::Model;
use fastgrnn_core::cells::Role;
use fastgrnn_core::net::{Network, View};
use fastgrnn_data::features::Tables;
use fastgrnn_runtime::float;
use serde::Serialize;

/// Bytes of a device image; all but `bytes_as_in_paper` and `front_end` add up to `total`.
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
    /// Vectors of tokens, where the model reads texts. Those of a tied embedding are the head's weights, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub embedding: usize,
    /// The table of the smooth nonlinearities.
    pub table: usize,
    /// Magic, version, sizes, codes, check sum.
    pub header: usize,
    /// The same model as the paper counts it: see [`bytes_as_in_paper`].
    pub bytes_as_in_paper: usize,
    /// Tables of the front end that makes features from sound, beside the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<usize>,
}

fn is_zero(bytes: &usize) -> bool {
    *bytes == 0
}

fn is_head(view: &View) -> bool {
    view.name.starts_with("head.")
}

impl Model {
    /// Where the bytes of the parameters go, 4 for each. Normalisation is not among them.
    ///
    /// ```
    /// use fastgrnn_core::cells::{Cell, CellKind, Start};
    /// use fastgrnn_model::model::{Model, Task};
    /// use fastgrnn_core::net::Network;
    /// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], 2);
    /// let params = net.start(Start::default(), 10, 0);
    /// let labels = vec!["still".to_string(), "moving".to_string()];
    /// let sizes = Model::new(net, params, Task::Classes { labels }).sizes();
    /// assert_eq!((sizes.weights, sizes.biases, sizes.head), (4 * (8 + 16), 4 * (8 + 2), 4 * (8 + 2)));
    /// assert_eq!(sizes.total, sizes.weights + sizes.biases + sizes.head);
    /// ```
    pub fn sizes(&self) -> Sizes {
        let layout = self.network.layout();
        let of = |wanted: fn(&View) -> bool| {
            4 * layout.views().iter().filter(|v| wanted(v)).map(View::len).sum::<usize>()
        };
        Sizes {
            total: self.parameter_bytes(),
            weights: of(|v| v.role == Role::Weight && !is_head(v)),
            biases: of(|v| matches!(v.role, Role::Bias | Role::Gain | Role::Raw) && !is_head(v)),
            head: of(|v| v.role != Role::Step && is_head(v)),
            embedding: of(|v| v.role == Role::Embedding),
            bytes_as_in_paper: bytes_as_in_paper(&self.network, &self.params),
            front_end: self.front_end_bytes(),
            ..Sizes::default()
        }
    }

    /// Bytes of the tables with which a device makes features from sound, where the model listens.
    pub fn front_end_bytes(&self) -> Option<usize> {
        self.audio.as_ref().map(|spec| Tables::new(spec).bytes())
    }

    /// Bytes of the parameters as f32 with each matrix dense or as a bitmap and its entries that are
    /// not 0, whichever is smaller: what sparsity saves a float model.
    pub fn sparse_bytes(&self) -> usize {
        let layout = self.network.layout();
        let of = |view: &View| {
            let nonzero = self.params[view.range()].iter().filter(|p| **p != 0.0).count();
            let bitmap = 4 * nonzero + view.len().div_ceil(8);
            if view.role == Role::Weight { bitmap.min(4 * view.len()) } else { 4 * view.len() }
        };
        layout.views().iter().filter(|view| view.role != Role::Step).map(of).sum()
    }

    /// RAM of the float runtime: states, sums, one normalised input and the scores.
    pub fn ram_bytes(&self) -> usize {
        let mut rest = &self.params[..];
        let (mut states, mut scratch) = (0, 0);
        for cell in &self.network.layers {
            let (layer, after) = float::FloatLayer::new(&cell.into(), rest)
                .expect("a model has the parameters of its network");
            states += layer.state_len();
            scratch = scratch.max(layer.scratch_len());
            rest = after;
        }
        4 * (states + scratch + self.network.step_input() + self.network.outputs)
    }

    /// Weights that are not 0, the head's included.
    pub fn nonzero(&self) -> usize {
        self.count_nonzero(|_| true)
    }

    /// Multiplications with weights that are not 0 in a step of all layers, without the head's.
    pub fn macs_per_step(&self) -> usize {
        self.count_nonzero(|v| !is_head(v))
    }

    fn count_nonzero(&self, wanted: impl Fn(&View) -> bool) -> usize {
        let layout = self.network.layout();
        let weights = layout.views().iter().filter(|v| v.role == Role::Weight && wanted(v));
        weights.map(|v| self.params[v.range()].iter().filter(|p| **p != 0.0).count()).sum()
    }
}

/// A matrix as the paper counts it: an index as large as its value, unless more than half is kept.
pub(crate) fn kept_bytes(entries: usize, kept: usize, width: usize) -> usize {
    if 2 * kept > entries { width * entries } else { 2 * width * kept }
}

/// Bytes of a float network as the paper counts them: 4 for a value, and 4 for its index where at
/// most half of a matrix is kept. Of a network that reads texts it counts the cells alone.
pub fn bytes_as_in_paper(network: &Network, params: &[f32]) -> usize {
    let views = network.layout();
    let is_of_cells = |view: &View| network.embedding.is_none() || view.name.starts_with("layer");
    let is_counted = |view: &&View| view.role != Role::Step && is_of_cells(view);
    let of = |view: &View| {
        let values = &params[view.range()];
        let sparse = view.role == Role::Weight && !view.name.starts_with("head");
        let kept = if sparse { values.iter().filter(|v| **v != 0.0).count() } else { values.len() };
        kept_bytes(values.len(), kept, 4)
    };
    views.views().iter().filter(is_counted).map(of).sum()
}

impl Sizes {
    /// Bytes of the cells, without head and embedding.
    pub fn cells(&self) -> usize {
        self.total - self.head - self.embedding
    }
}
