//! What is measured: the paper's shapes, and the arithmetic in a training step of each.

use fastgrnn_core::cells::{Cell, CellKind, MatrixForm};
use fastgrnn_core::net::{Embedding, Network, Readout};

/// A problem size of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its name in the report.
    pub name: &'static str,
    /// Time steps.
    pub steps: usize,
    /// Features a step.
    pub input: usize,
    /// Units.
    pub hidden: usize,
    /// Rank of W in the low-rank network.
    pub rank_w: usize,
    /// Rank of U in the low-rank network.
    pub rank_u: usize,
    /// Classes, or words of a language model.
    pub classes: usize,
    /// Sequences in a batch.
    pub batch: usize,
    /// What a network of this shape does.
    pub kind: ShapeKind,
}

/// What a network of a shape does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// Reads numbers and names the class at the end.
    Classifier,
    /// Reads words and says the next one at every step; its vectors of words are the weights of its head.
    LanguageModel,
}

/// A shape of a classifier, with the paper's batches of 100.
const fn classifier(
    name: &'static str,
    steps: usize,
    input: usize,
    hidden: usize,
    (rank_w, rank_u): (usize, usize),
    classes: usize,
) -> Shape {
    Shape { name, steps, input, hidden, rank_w, rank_u, classes, batch: 100, kind: ShapeKind::Classifier }
}

/// The shapes that `fastgrnn bench train` knows. It measures the classifiers if none is named.
pub const SHAPES: [Shape; 5] = [
    classifier("har", 128, 9, 80, (5, 40), 2),
    classifier("google12", 99, 32, 100, (16, 25), 12),
    classifier("wakeword", 162, 32, 32, (10, 15), 2),
    classifier("pixelmnist", 784, 1, 128, (1, 30), 10),
    Shape {
        name: "ptb",
        steps: 70,
        input: 256,
        hidden: 256,
        rank_w: 64,
        rank_u: 64,
        classes: 10_000,
        batch: 20,
        kind: ShapeKind::LanguageModel,
    },
];

impl Shape {
    /// The shape called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        SHAPES.into_iter().find(|shape| shape.name == name)
    }

    /// The network of this shape with the given cell.
    pub fn network(&self, kind: CellKind, low_rank: bool) -> Network {
        let ranks = if low_rank { (Some(self.rank_w), Some(self.rank_u)) } else { (None, None) };
        let cell = Cell::new(kind, self.input, self.hidden).with_ranks(ranks.0, ranks.1);
        let network = Network::new(vec![cell], self.classes);
        match self.kind {
            ShapeKind::Classifier => network,
            ShapeKind::LanguageModel => Network {
                embedding: Some(Embedding { vocabulary: self.classes, tied: true }),
                readout: Readout::Every,
                ..network
            },
        }
    }
}

/// Floating-point operations of the matrix products of one training step on `batch` sequences of
/// `steps` steps: forward, and backward by parameters and states, but not by the first layer's
/// input unless that is learnt, too. A low-rank product counts as two thin ones, however it is evaluated.
///
/// ```
/// use fastgrnn_bench::{flops, SHAPES};
/// use fastgrnn_core::cells::CellKind;
/// let [low, full] = [true, false].map(|low| flops(&SHAPES[3].network(CellKind::FastGrnn, low), 784, 100));
/// assert!(full > 2.0 * low);
/// ```
pub fn flops(net: &Network, steps: usize, batch: usize) -> f64 {
    let product = |rows: usize, cols: usize| 2.0 * (rows * cols) as f64;
    let mut per_step = 0.0;
    for (l, cell) in net.layers.iter().enumerate() {
        let is_input_learnt = l > 0 || net.embedding.is_some();
        for (matrix, needs_input_gradient) in [(cell.w(), is_input_learnt), (cell.u(), true)] {
            let last = if needs_input_gradient { 3.0 } else { 2.0 };
            per_step += match matrix.form {
                MatrixForm::LowRank(rank) => {
                    3.0 * product(matrix.rows, rank) + last * product(rank, matrix.cols)
                }
                form => last * product(matrix.rows, form.terms(matrix.cols)),
            };
        }
    }
    let head_steps = if net.readout == Readout::Every { steps } else { 1 };
    batch as f64 * (steps as f64 * per_step + head_steps as f64 * 3.0 * product(net.outputs, net.hidden()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_rank_counts_three_products_of_u_and_two_of_w() {
        let net = Network::new(vec![Cell::new(CellKind::Gru, 5, 7)], 2);
        let (w, u, head) = (2.0 * 21.0 * 5.0, 2.0 * 21.0 * 7.0, 2.0 * 2.0 * 7.0);
        assert_eq!(flops(&net, 10, 3), 3.0 * (10.0 * (2.0 * w + 3.0 * u) + 3.0 * head));
    }

    #[test]
    fn low_rank_counts_both_thin_products() {
        let cell = Cell::new(CellKind::FastGrnn, 5, 7).with_ranks(Some(2), Some(3));
        let net = Network::new(vec![cell], 1);
        let w = 3.0 * 2.0 * 14.0 + 2.0 * 2.0 * 10.0;
        let u = 3.0 * 2.0 * (21.0 + 21.0);
        assert_eq!(flops(&net, 1, 1), w + u + 3.0 * 2.0 * 7.0);
    }

    #[test]
    fn every_shape_makes_valid_networks() {
        for shape in SHAPES {
            for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm] {
                shape.network(kind, true).check().unwrap();
                shape.network(kind, false).check().unwrap();
            }
            assert_eq!(Shape::from_name(shape.name), Some(shape));
        }
    }
}
