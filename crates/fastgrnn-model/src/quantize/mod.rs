//! From a float model to one that computes in integers only.
//!
//! `docs/integer-arithmetic.md` in the repository specifies what every integer means. The steps:
//! [`quantize`] runs a float model on recorded data, chooses every scale and rounds; the result,
//! an [`IntegerModel`], holds the integers as data ([`IntegerNetwork`]) and as the image that a
//! device stores, and predicts with the device's bits.

mod analytic;
mod build;
mod calibrate;
mod detector;
mod engine;
mod entry_grid;
mod error;
mod file;
mod grid;
mod image;
mod input_scale;
mod language;
mod matrices;
mod matrix_bits;
mod model;
mod network;
mod saturation;
mod size;
mod step_grid;
mod threshold;

pub use analytic::{image_bytes, image_bytes_with, kept_entries};
pub use build::check_form;
pub use build::{MOST_TERMS, Options};
pub use detector::{Detector, DetectorProblem, REST, Reset};
pub use engine::{IntegerEngine, IntegerScores};
pub use entry_grid::{EntryGrid, ProductScale};
pub use error::QuantizeError;
pub use grid::Grid;
pub use image::sigmoid_table;
pub use input_scale::check_lsb;
pub use matrices::MatrixSize;
pub use matrix_bits::MatrixBits;
pub use model::{HostModel, IntegerModel, quantize};
pub use network::{
    BiasBits, InputScale, IntegerEmbedding, IntegerFactors, IntegerLayer, IntegerMatrix, IntegerNetwork,
};
pub use saturation::{SaturationRow, Saturations};
pub use step_grid::StepGrid;
