//! What comes out of a tile.

use super::tokens::TokenGradient;
use crate::simd::Buffer;

/// What a tile computes.
#[derive(Default)]
pub(super) struct TileOut {
    /// Gradients, padded and transposed; see [`Plan`](super::plan::Plan).
    pub(super) grads: Buffer,
    /// Gradients of the vectors of the tokens that occur.
    pub(super) tokens: TokenGradient,
    /// Scores of the tile's readout rows, in the batch's order.
    pub(super) scores: Vec<f32>,
    /// The whole state of each sequence after its last step, in the batch's order.
    pub(super) states: Vec<f32>,
    pub(super) loss: f64,
    pub(super) penalty: f64,
    pub(super) correct: usize,
}
