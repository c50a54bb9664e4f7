//! What the benchmark on a GPU measures.

use crate::shape::{SHAPES, Shape, ShapeKind};
use fastgrnn_core::cells::CellKind;
use std::path::PathBuf;
use std::time::Duration;

/// The sizes that are measured of each shape: networks, and sequences in the batch of each.
pub const GPU_SIZES: [(usize, usize); 3] = [(1, 100), (1, 1024), (256, 100)];

/// The shapes of which GRU and LSTM are measured, too.
const WITH_OTHER_CELLS: [&str; 2] = ["har", "wakeword"];

/// What to measure on a GPU, and for how long.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// The number of the GPU.
    pub device: usize,
    /// The library of CUDA's driver, if it is not the usual one.
    pub library: Option<PathBuf>,
    /// Measure PyTorch, too.
    pub against_torch: bool,
    /// The Python to use; else one is found, or made.
    pub python: Option<PathBuf>,
    /// What is measured.
    pub cases: Vec<GpuCase>,
    /// About how long a block of steps takes.
    pub block: Duration,
    /// Blocks of each turn.
    pub blocks: usize,
    /// Time for everything, finding torch included. Of PyTorch, what is not measured by then is reported as missing.
    pub budget: Duration,
}

impl Default for GpuOptions {
    fn default() -> Self {
        let shapes: Vec<Shape> =
            SHAPES.into_iter().filter(|shape| shape.kind == ShapeKind::Classifier).collect();
        Self {
            device: 0,
            library: None,
            against_torch: false,
            python: None,
            cases: GpuCase::usual(&shapes, &GPU_SIZES),
            block: Duration::from_millis(50),
            blocks: 5,
            budget: Duration::from_secs(90),
        }
    }
}

/// Cells that are measured by turns with the same peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCase {
    /// The shape; its ranks are not used, since W and U are full.
    pub shape: Shape,
    /// Networks that are trained at once, each on its own batch.
    pub networks: usize,
    /// The cells of our rows.
    pub cells: Vec<CellKind>,
}

impl GpuCase {
    /// FastGRNN at these shapes and sizes (see [`GPU_SIZES`]); of `har` and `wakeword` also a GRU and an LSTM alone.
    ///
    /// ```
    /// use fastgrnn_bench::{GPU_SIZES, GpuCase, SHAPES};
    /// let cases = GpuCase::usual(&SHAPES[..2], &GPU_SIZES);
    /// let rows = |case: &GpuCase| (case.shape.name, case.networks, case.shape.batch, case.cells.len());
    /// assert_eq!(rows(&cases[0]), ("har", 1, 100, 3));
    /// assert_eq!(rows(&cases[5]), ("google12", 256, 100, 1));
    /// ```
    pub fn usual(shapes: &[Shape], sizes: &[(usize, usize)]) -> Vec<Self> {
        let case = |shape: &Shape, &(networks, batch): &(usize, usize)| {
            let cells = match networks == 1 && WITH_OTHER_CELLS.contains(&shape.name) {
                true => vec![CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm],
                false => vec![CellKind::FastGrnn],
            };
            Self { shape: Shape { batch, ..*shape }, networks, cells }
        };
        shapes.iter().flat_map(|shape| sizes.iter().map(move |size| case(shape, size))).collect()
    }
}
