//! What is measured: the paper's shapes, and the arithmetic in a training step of each.

use fastgrnn_core::cells::{Cell, CellKind, MatrixForm};
use fastgrnn_core::net::Network;

/// Sequences in a batch.
pub const BATCH: usize = 100;

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
    /// Classes.
    pub classes: usize,
}

/// The four shapes that `fastgrnn bench train` measures.
pub const SHAPES: [Shape; 4] = [
    Shape { name: "har", steps: 128, input: 9, hidden: 80, rank_w: 5, rank_u: 40, classes: 2 },
    Shape { name: "google12", steps: 99, input: 32, hidden: 100, rank_w: 16, rank_u: 25, classes: 12 },
    Shape { name: "wakeword", steps: 162, input: 32, hidden: 32, rank_w: 10, rank_u: 15, classes: 2 },
    Shape { name: "pixelmnist", steps: 784, input: 1, hidden: 128, rank_w: 1, rank_u: 30, classes: 10 },
];

impl Shape {
    /// The shape called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        SHAPES.into_iter().find(|shape| shape.name == name)
    }

    /// The network of this shape with the given cell.
    pub fn network(&self, kind: CellKind, low_rank: bool) -> Network {
        let ranks = if low_rank { (Some(self.rank_w), Some(self.rank_u)) } else { (None, None) };
        Network::new(
            vec![Cell::new(kind, self.input, self.hidden).with_ranks(ranks.0, ranks.1)],
            self.classes,
        )
    }
}

/// Floating-point operations of the matrix products of one training step on `batch` sequences of
/// `steps` steps: forward, and backward by parameters and states, but not by the first layer's
/// input. A low-rank product counts as two thin ones, however it is evaluated.
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
        for (matrix, needs_input_gradient) in [(cell.w(), l > 0), (cell.u(), true)] {
            let last = if needs_input_gradient { 3.0 } else { 2.0 };
            per_step += match matrix.form {
                MatrixForm::LowRank(rank) => {
                    3.0 * product(matrix.rows, rank) + last * product(rank, matrix.cols)
                }
                form => last * product(matrix.rows, form.terms(matrix.cols)),
            };
        }
    }
    batch as f64 * (steps as f64 * per_step + 3.0 * product(net.outputs, net.hidden()))
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
