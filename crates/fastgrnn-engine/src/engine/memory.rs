//! How much memory a training step needs.

use super::head::WIDE_ROWS;
use super::tile;
use fastgrnn_core::cells::Cell;
use fastgrnn_core::net::Network;

/// Vectors of states are padded to a multiple of this many values.
const PADDING: usize = 16;

/// About how many bytes of buffers the workers need for a batch of `sequences` of `steps` time steps.
///
/// For each sequence of a tile and each time step, a worker keeps the input, the state, what backward
/// needs of each block, the low-rank products, and the gradient that one layer passes to the next. The
/// scores of a few rows come to it.
pub fn workspace_bytes(network: &Network, sequences: usize, steps: usize, threads: usize) -> u64 {
    let layer = |cell: &Cell| {
        let ranks = cell.form_w.rank().unwrap_or(0) + cell.form_u.rank().unwrap_or(0);
        (cell.blocks() + 3) * cell.hidden.next_multiple_of(PADDING) + 2 * ranks
    };
    let values: usize = network.step_input() + network.layers.iter().map(layer).sum::<usize>();
    let rows = sequences.min(tile::ROWS);
    let product = |factors: &[usize]| factors.iter().fold(1u64, |all, &n| all.saturating_mul(n as u64));
    let states = product(&[values, rows, steps]);
    let scores = product(&[network.outputs, WIDE_ROWS.max(rows)]);
    states.saturating_add(scores).saturating_mul(product(&[threads, size_of::<f32>()]))
}
