//! What the benchmark measures.

use super::shape::{SHAPES, Shape, ShapeKind};
use std::path::PathBuf;
use std::time::Duration;

/// What to measure, and for how long.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Measure PyTorch, too.
    pub against_torch: bool,
    /// The Python to use; else one is found, or made.
    pub python: Option<PathBuf>,
    /// Threads of either side.
    pub threads: usize,
    /// Which shapes.
    pub shapes: Vec<Shape>,
    /// Length of a block.
    pub block: Duration,
    /// Undisturbed blocks wanted of each side.
    pub blocks: usize,
    /// Time for everything, installing torch included. What is not measured by then is measured
    /// briefly or reported as missing.
    pub budget: Duration,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            against_torch: false,
            python: None,
            threads: 2,
            shapes: SHAPES.into_iter().filter(|shape| shape.kind == ShapeKind::Classifier).collect(),
            block: Duration::from_millis(500),
            blocks: 12,
            budget: Duration::from_secs(60 * 60),
        }
    }
}
