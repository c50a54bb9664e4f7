//! The length of a device image before there is one: from the network's shape alone.
//!
//! A search for models within a budget asks this thousands of times; building an image each time
//! would need trained parameters.

use super::BiasBits;
use super::network::stored_scalars;
use fastgrnn_core::cells::{Cell, MatrixForm, Role, WeightBits};
use fastgrnn_core::net::{Network, View};
use fastgrnn_runtime::int::TABLE_LEN;

/// Bytes before the input's offsets.
const HEADER: usize = 17;
/// Bytes of a layer before its matrices.
const LAYER_HEADER: usize = 18;
/// What version 3 of the format adds: the kind of input and the window; multipliers and the bytes of a bias of
/// a layer, and of the head.
const EXTENDED_HEADER: usize = 3;
const EXTENDED_LAYER: usize = 5;
const EXTENDED_HEAD: usize = 3;

/// Bytes of the device image of `network`, where the weight matrix `view` has `nonzero(view)`
/// entries that are not 0. States start from 0, and biases have their usual bits.
///
/// Exact for these numbers. A trained model may come out smaller, because small weights round to 0.
///
/// ```
/// use fastgrnn_core::cells::{Cell, CellKind};
/// use fastgrnn_core::net::{Network, View};
/// use fastgrnn_model::quantize::image_bytes;
/// let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 8, 16)], 10);
/// let dense = image_bytes(&network, View::len);
/// let half = image_bytes(&network, |view| view.len().div_ceil(2));
/// assert_eq!((dense, half), (834, 630));
/// ```
pub fn image_bytes(network: &Network, nonzero: impl Fn(&View) -> usize) -> usize {
    image_bytes_with(network, BiasBits::usual(network), nonzero)
}

/// [`image_bytes`] where biases have other bits than usual.
pub fn image_bytes_with(network: &Network, bias_bits: BiasBits, nonzero: impl Fn(&View) -> usize) -> usize {
    let layout = network.layout();
    let mut views = layout.views().iter().filter(|view| view.role == Role::Weight);
    let mut matrices = 0;
    for matrix in network.layers.iter().flat_map(|cell| [cell.w(), cell.u()]) {
        if matrix.form == MatrixForm::Absent {
            matrices += 1;
        }
        for v in views.by_ref().take(matrix.params().len()) {
            matrices += 1 + match (matrix.form, matrix.bits) {
                (MatrixForm::Diagonal, _) => v.len(),
                (_, WeightBits::Four) => pair_bytes(v),
                (_, WeightBits::Eight) => matrix_bytes(v.rows, v.cols, nonzero(v)),
            };
        }
    }
    let is_four = network.bits_head == WeightBits::Four;
    let bytes = |v: &View| if is_four { pair_bytes(v) } else { matrix_bytes(v.rows, v.cols, nonzero(v)) };
    let head: usize = views.map(|v| 1 + bytes(v)).sum();
    matrices += head;
    let of_layer = |cell| LAYER_HEADER + bias_bits.bytes() * biases(cell) + 2 * scalars(cell) + gains(cell);
    let layers: usize = network.layers.iter().map(of_layer).sum();
    let four_bits = layout.stepped().next().is_some();
    let extended = match four_bits || bias_bits == BiasBits::Eight || !network.window.is_frame() {
        true => EXTENDED_HEADER + EXTENDED_LAYER * network.layers.len() + EXTENDED_HEAD,
        false => 0,
    };
    let table = if network.layers.iter().any(Cell::reads_table) { 2 * TABLE_LEN } else { 0 };
    // The head has a shift, its scores' fraction bits and a bias for each output.
    let input = match network.embedding {
        // Two bytes more for the number of tokens.
        Some(embedding) => 2 + embedding.vocabulary * network.input(),
        None => 4 * network.input(),
    };
    HEADER + extended + input + layers + matrices + 2 + bias_bits.bytes() * network.outputs + table
}

/// Biases of a cell.
fn biases(cell: &Cell) -> usize {
    cell.params().iter().filter(|p| p.role == Role::Bias).map(|p| p.rows).sum()
}

/// Scalars of a cell, 16 bits each.
fn scalars(cell: &Cell) -> usize {
    stored_scalars(cell).map(|(_, entries)| entries).sum()
}

/// Entries of 4 bits, those of two rows in a byte.
fn pair_bytes(view: &View) -> usize {
    view.rows.div_ceil(2) * view.cols
}

/// Gains of a cell, a byte each.
fn gains(cell: &Cell) -> usize {
    cell.params().iter().filter(|p| p.role == Role::Gain).map(|p| p.rows).sum()
}

/// The smallest of the forms that a matrix may take, without the byte that says which.
fn matrix_bytes(rows: usize, cols: usize, nonzero: usize) -> usize {
    let listed = |lines: usize, length: usize| (length <= 256).then_some(lines + 2 * nonzero);
    let bitmap = (rows * cols).div_ceil(8) + nonzero;
    let lists = [listed(rows, cols), listed(cols, rows)];
    lists.into_iter().flatten().fold((rows * cols).min(bitmap), usize::min)
}

/// Entries of `n` that a sparse matrix keeps: the fraction, rounded up, and at least one.
pub fn kept_entries(fraction: f64, n: usize) -> usize {
    ((fraction * n as f64 - 1e-9).ceil().max(1.0) as usize).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Task};
    use crate::quantize::{Options, quantize};
    use fastgrnn_core::cells::MatrixForm::{Absent, Diagonal, Full, LowRank};
    use fastgrnn_core::cells::{CellKind, Nonlinearity};
    use fastgrnn_core::window::Window;
    use fastgrnn_data::data::Sequences;

    /// Weights of which a share is 0 and the others are far from rounding to it.
    fn model(cell: Cell, share: f64) -> Model {
        let network = Network::new(vec![cell], 5);
        let mut params = vec![0.25; network.layout().len()];
        for view in network.layout().views().iter().filter(|v| v.role == Role::Weight) {
            let kept = kept_entries(share, view.len());
            params[view.range()].iter_mut().enumerate().for_each(|(i, p)| {
                // 7 has no factor in common with the sizes below.
                *p = if i * 7 % view.len() < kept { 0.1 + 0.001 * i as f32 } else { 0.0 };
            });
        }
        let labels = (0..5).map(|i| i.to_string()).collect();
        Model::new(network, params, Task::Classes { labels })
    }

    #[test]
    fn the_image_has_the_length_that_was_foretold() {
        let mut x = Sequences::new(6);
        x.push(&[0.5; 12]);
        for declaration in fastgrnn_core::cells::CELLS.iter().filter(|cell| cell.has_integers()) {
            for (w, u, smooth) in [
                (Full, Full, true),
                (LowRank(3), LowRank(3), false),
                (Full, Diagonal, true),
                (Diagonal, LowRank(2), true),
                (LowRank(3), Absent, false),
            ] {
                for share in [1.0, 0.6, 0.3, 0.05] {
                    let mut cell = Cell::new(declaration.kind, 6, 6);
                    cell.form_w = w;
                    if declaration.reads_state {
                        cell.form_u = u;
                    }
                    if !smooth {
                        (cell.gate, cell.update) = (Nonlinearity::QuantSigm, Nonlinearity::QuantTanh);
                    }
                    let model = model(cell, share);
                    let integer = quantize(&model, &x, &[0], &Options::default()).unwrap();
                    let foretold = image_bytes(&model.network, |v| kept_entries(share, v.len()));
                    assert_eq!(integer.image().len(), foretold, "{} {w} {u} {share}", declaration.name);
                }
            }
        }
    }

    #[test]
    fn images_of_4_bits_and_of_short_biases_have_the_length_that_was_foretold() {
        let mut x = Sequences::new(6);
        x.push(&[0.5; 12]);
        let all = [WeightBits::Four, WeightBits::Eight];
        for (w, u, head) in
            all.into_iter().flat_map(|w| all.into_iter().flat_map(move |u| all.map(|h| (w, u, h))))
        {
            for bias_bits in [None, Some(BiasBits::Eight), Some(BiasBits::Sixteen)] {
                let cell = Cell::new(CellKind::FastGrnn, 6, 7).with_ranks(Some(3), None).with_bits(w, u);
                let mut model = model(cell, 1.0);
                model.network.bits_head = head;
                model.params.resize(model.network.layout().len(), 0.0);
                model.network.layout().start_steps(&mut model.params);
                let options = Options { bias_bits, ..Options::default() };
                let integer = quantize(&model, &x, &[0], &options).unwrap();
                let bits = bias_bits.unwrap_or(BiasBits::usual(&model.network));
                let foretold = image_bytes_with(&model.network, bits, View::len);
                assert_eq!(integer.image().len(), foretold, "{w:?} {u:?} {head:?} {bias_bits:?}");
                let sizes = integer.sizes();
                let plain = bits == BiasBits::Sixteen && [w, u, head] == [WeightBits::Eight; 3];
                assert_eq!(integer.image()[2], if plain { 1 } else { 3 });
                // The image's fields, a layer's ten bytes before its scales, and the forms of four matrices.
                assert_eq!(sizes.header, 15 + 10 + 4 + if plain { 0 } else { EXTENDED_HEADER });
            }
        }
    }

    #[test]
    fn the_image_of_a_network_with_a_window_has_the_length_that_was_foretold() {
        let mut x = Sequences::new(2);
        x.push(&[0.5; 12]);
        let projection = Cell::new(CellKind::Rnn, 6, 3).with_forms(Full, Absent);
        let window = Window { frames: 3, stride: 2 };
        let layers = vec![projection, Cell::new(CellKind::FastGrnn, 3, 5)];
        let network = Network { window, ..Network::new(layers, 2) };
        let params = vec![0.25; network.layout().len()];
        let labels = vec!["a".to_string(), "b".to_string()];
        let model = Model::new(network, params, Task::Classes { labels });
        let integer = quantize(&model, &x, &[0], &Options::default()).unwrap();
        assert_eq!(integer.image().len(), image_bytes(&model.network, View::len));
    }

    #[test]
    fn long_lines_cannot_be_listed() {
        assert_eq!(matrix_bytes(1, 300, 10), 38 + 10);
        assert_eq!(matrix_bytes(300, 1, 10), 38 + 10, "a column of more than 256 rows cannot be a list");
        assert_eq!(matrix_bytes(250, 1, 10), 1 + 20);
        assert_eq!(matrix_bytes(300, 300, 10), 300 * 300 / 8 + 10);
    }
}
