//! The host's vectors against the runtime: every engine gives the bits, and counts the
//! saturations, of the runtime's `step` folded over each sequence.

use fastgrnn_core::cells::{Alphas, Cell, CellKind, MatrixForm, Nonlinearity, WeightBits};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_core::window::Window;
use fastgrnn_data::data::Sequences;
use fastgrnn_model::model::{Model, Scorer, Task};
use fastgrnn_model::quantize::{
    BiasBits, EntryGrid, Grid, InputScale, IntegerEngine, IntegerFactors, IntegerLayer, IntegerMatrix,
    IntegerModel, IntegerNetwork, IntegerScores, Options, Saturations, StepGrid, quantize,
};
use fastgrnn_runtime::int::{Meaning, Place, Shifts};
use fastgrnn_testing::networks::{FORMS, integer_kinds, network, network_of_forms, nonlinearities, params};

/// The runtime, sequence by sequence.
fn folded(model: &IntegerModel, x: &Sequences, indices: &[u32]) -> IntegerScores {
    let view = model.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut saturations = Saturations::new(view.layers().len());
    let mut scores = vec![0; indices.len() * view.outputs()];
    for (&i, scores) in indices.iter().zip(scores.chunks_mut(view.outputs())) {
        let mut state = view.start(&mut memory, &mut scratch).unwrap();
        let mut counts = Vec::new();
        model.counts(x.get(i as usize), &mut counts);
        for frame in counts.chunks(view.inputs()) {
            let is_step = view.step_watched(&mut state, frame, &mut saturations).unwrap();
            saturations.steps += u64::from(is_step);
        }
        view.scores(&state, scores).unwrap();
    }
    IntegerScores { scores, saturations }
}

/// Compares every engine with the runtime, and returns what saturated.
fn check(model: &IntegerModel, x: &Sequences, indices: &[u32], threads: &[usize]) -> Saturations {
    let expected = folded(model, x, indices);
    for engine in IntegerEngine::available() {
        for &threads in threads {
            let found = model.scores_by(engine, x, indices, threads).unwrap();
            assert_eq!(found.scores, expected.scores, "{engine:?} {threads} {:?}", model.model.network);
            let (found, expected) = (&found.saturations, &expected.saturations);
            assert_eq!(found, expected, "{engine:?} {threads} {:?}", model.model.network);
        }
    }
    assert_eq!(model.scores(x, indices, threads[0]), expected);
    expected.saturations
}

fn model(net: &Network, params: Vec<f32>) -> Model {
    let labels = (0..net.outputs).map(|i| i.to_string()).collect();
    Model::new(net.clone(), params, Task::Classes { labels })
}

fn sequences(dim: usize, lengths: &[usize], scale: f64, rng: &mut Rng) -> Sequences {
    let mut x = Sequences::new(dim);
    for &steps in lengths {
        x.push(&(0..steps * dim).map(|_| (scale * rng.normal()) as f32).collect::<Vec<_>>());
    }
    x
}

fn all(x: &Sequences) -> Vec<u32> {
    (0..x.len() as u32).collect()
}

/// Whether the document allows the gate in the cell.
fn allowed(kind: CellKind, gate: Nonlinearity) -> bool {
    let declaration = kind.declaration();
    let signed = gate.is_signed() && !declaration.signed_gates;
    !declaration.gated() || (gate.is_bounded() && !signed)
}

/// Lengths with ties, gaps and nothing, for more lanes than any engine has.
fn lengths(rng: &mut Rng) -> Vec<usize> {
    (0..37).map(|_| if rng.below(6) == 0 { 0 } else { 1 + rng.below(9) }).collect()
}

#[test]
fn quantised_networks_of_every_cell_nonlinearity_and_rank_give_the_runtimes_bits() {
    for kind in integer_kinds() {
        for (gate, update) in nonlinearities(kind) {
            if !allowed(kind, gate) {
                continue;
            }
            for ranks in [(None, None), (Some(2), Some(3)), (None, Some(5))] {
                let cell = Cell::new(kind, 3, 7).with_nonlinearities(gate, update);
                let net = network(&cell, 1, ranks, 3, Readout::Last);
                let mut rng = Rng::keyed(1, &[kind as u64, gate as u64, update as u64]);
                let model = model(&net, params(&net, &mut rng));
                let x = sequences(3, &lengths(&mut rng), 1.0, &mut rng);
                let calibration: Vec<u32> =
                    (0..x.len() as u32).filter(|&i| x.steps(i as usize) > 0).collect();
                let integer = quantize(&model, &x, &calibration, &Options::default()).unwrap();
                check(&integer, &x, &all(&x), &[1]);
            }
        }
    }
}

#[test]
fn quantised_networks_of_every_cell_and_matrix_form_give_the_runtimes_bits() {
    for kind in integer_kinds() {
        for (i, forms) in FORMS.into_iter().enumerate() {
            for (layers, input) in [(1, 7), (2, 3)] {
                let net = network_of_forms(&Cell::new(kind, input, 7), layers, forms, 3, Readout::Last);
                let mut rng = Rng::keyed(6, &[kind as u64, i as u64, layers as u64]);
                let model = model(&net, params(&net, &mut rng));
                let x = sequences(input, &[9, 4, 7], 1.0, &mut rng);
                let integer = quantize(&model, &x, &[0, 1, 2], &Options::default()).unwrap();
                check(&integer, &x, &all(&x), &[1]);
            }
        }
    }
}

/// A layer that reads frames through a window, below cells of another kind.
fn windowed(kind: CellKind, features: usize, window: Window, rank_w: Option<usize>) -> Network {
    let projection = Cell::new(CellKind::Rnn, window.frames * features, 5)
        .with_forms(MatrixForm::of_rank(rank_w), MatrixForm::Absent)
        .with_nonlinearities(Nonlinearity::Sigmoid, Nonlinearity::Relu);
    let layers = vec![projection, Cell::new(kind, 5, 6)];
    let net = Network { window, ..Network::new(layers, 3) };
    net.check().unwrap();
    net
}

#[test]
fn networks_that_read_several_frames_in_a_step_give_the_runtimes_bits() {
    let windows = [(3, 2), (2, 2), (4, 1), (5, 3), (1, 1)];
    for (i, kind) in integer_kinds().enumerate() {
        for (frames, stride) in windows {
            for features in [1, 2, 3] {
                let window = Window { frames, stride };
                let net = windowed(kind, features, window, (i % 2 == 0 && features > 1).then_some(2));
                let mut rng = Rng::keyed(7, &[kind as u64, frames as u64, features as u64]);
                let of_model = model(&net, params(&net, &mut rng));
                let x = sequences(features, &lengths(&mut rng), 1.0, &mut rng);
                let long: Vec<u32> = (0..x.len() as u32).filter(|&i| x.steps(i as usize) >= stride).collect();
                let integer = quantize(&of_model, &x, &long, &Options::default()).unwrap();
                check(&integer, &x, &all(&x), &[1, 2]);
                let mut scorer = Scorer::new(&net, 1).unwrap();
                let (expected, _) = scorer.score(&of_model, &of_model.params, &x, None, &long).unwrap();
                let unit = f64::from(integer.network.score_bits()).exp2();
                let found = integer.scores(&x, &long, 1).scores;
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (f64::from(*found) / unit - f64::from(*expected)).abs();
                    assert!(error < 0.25, "{error} of {expected} in {net:?}");
                }
                let extreme = extreme(&net, 0.7, &mut rng);
                check(&extreme, &x, &all(&x), &[1]);
            }
        }
    }
}

/// A network of integers at their extremes, drawn until a reader accepts it.
fn extreme(net: &Network, kept: f64, rng: &mut Rng) -> IntegerModel {
    let model = model(net, vec![0.0; net.layout().len()]);
    for _ in 0..100 {
        if let Ok(integer) = IntegerModel::new(&model, draw(net, kept, rng)) {
            return integer;
        }
    }
    panic!("no draw for {net:?} was accepted");
}

fn draw(net: &Network, kept: f64, rng: &mut Rng) -> IntegerNetwork {
    let words = |n: usize, rng: &mut Rng| -> Vec<i16> {
        (0..n).map(|_| *pick(&[i16::MIN, -9_000, -1, 0, 77, 20_000, i16::MAX], rng)).collect()
    };
    let biases = |n: usize, bits: BiasBits, rng: &mut Rng| -> Vec<i16> {
        let most = bits.largest();
        words(n, rng).into_iter().map(|bias| bias.clamp(-most - 1, most)).collect()
    };
    let bits = [BiasBits::Eight, BiasBits::Sixteen];
    let input = InputScale {
        lsb: (0..net.input()).map(|_| *pick(&[0.25, 1.0, 0.1], rng)).collect(),
        offsets: words(net.input(), rng),
        factors: (0..net.input()).map(|_| *pick(&[0, 1, 300, 16_383, 0x4000 | 900, 0xFFFF], rng)).collect(),
        shift: *pick(&[0, 3, 14, 30], rng),
        offset_shift: *pick(&[0, 5, 14], rng),
        bits: 8,
    };
    let layers = net.layers.iter().map(|cell| {
        let (shape, value_bits) = (cell.kind.shape(), cell.update.value_bits());
        let most_state = shape.most_state_bits(value_bits, cell.gate);
        let wide = [cell.gate, cell.update].contains(&Nonlinearity::QuantSigm4);
        let sums = *pick(&[4, 7, 11, 12, if wide { 13 } else { 14 }], rng);
        let is_lstm = shape.states > 1;
        let low = |form: MatrixForm, shift: u32| if form.rank().is_some() { shift } else { 0 };
        let shifts = Shifts {
            sums,
            state: *pick(&[0, 6, 13, 14], rng).min(&most_state),
            memory: if is_lstm { *pick(&[0, 4, 14], rng).min(&(value_bits - 1)).min(&sums) } else { 0 },
            bias: *pick(&[0, 3, 12], rng),
            w2: low(cell.form_w, *pick(&[0, 5, 20], rng)),
            w1: *pick(&[0, 2, 9, 30], rng),
            u2: low(cell.form_u, *pick(&[0, 4, 9], rng)),
            u1: if cell.form_u == MatrixForm::Absent { 0 } else { *pick(&[0, 3, 8, 20], rng) },
        };
        let rows = cell.blocks() * cell.hidden;
        let bias_bits = *pick(&bits, rng);
        let unit = |one: u16, rng: &mut Rng| *pick(&[0, one / 3, one - 1, one], rng);
        IntegerLayer {
            cell: cell.clone(),
            shifts,
            w: factors(rows, cell.input, cell.form_w, kept, rng),
            u: factors(rows, cell.hidden, cell.form_u, kept, rng),
            biases: cell
                .params()
                .iter()
                .filter(|p| p.role == fastgrnn_core::cells::Role::Bias)
                .map(|_| biases(cell.hidden, bias_bits, rng))
                .collect(),
            gains: (0..if shape.has_gain { cell.hidden } else { 0 })
                .map(|_| *pick(&[-128, -33, 0, 1, 32, 90, 127], rng))
                .collect(),
            bias_bits,
            alpha: match shape.alphas {
                Alphas::One => vec![unit(1 << 15, rng)],
                Alphas::PerUnit => (0..cell.hidden).map(|_| unit(1 << 15, rng)).collect(),
                Alphas::None => Vec::new(),
            },
            beta: unit(1 << 15, rng),
            zeta: unit(1 << 14, rng),
            nu: unit(1 << 14, rng),
            start: if rng.below(2) == 0 {
                Vec::new()
            } else {
                words(cell.hidden * if is_lstm { 2 } else { 1 }, rng)
            },
        }
    });
    let layers: Vec<IntegerLayer> = layers.collect();
    let head_bias_bits = *pick(&bits, rng);
    IntegerNetwork {
        embedding: None,
        input,
        window: net.window,
        layers,
        head: matrix(net.outputs, net.hidden(), kept, grid(rng), rng),
        head_biases: biases(net.outputs, head_bias_bits, rng),
        head_bias_bits,
        head_shift: *pick(&[0, 9, 14], rng),
        meaning: Meaning::Classes,
    }
}

fn pick<'a, T>(from: &'a [T], rng: &mut Rng) -> &'a T {
    &from[rng.below(from.len())]
}

/// A third of the matrices have entries of 4 bits, most of them with a multiplier.
fn grid(rng: &mut Rng) -> EntryGrid {
    match rng.below(3) {
        0 => EntryGrid::FourBits(StepGrid { step: *pick(&[0.3, 8.001, 15.99, 16.0], rng) }),
        _ => EntryGrid::Bytes(Grid { exponent: 7 }),
    }
}

fn matrix(rows: usize, cols: usize, kept: f64, grid: EntryGrid, rng: &mut Rng) -> IntegerMatrix {
    let entry = |rng: &mut Rng| *pick(&[-128, -128, -60, -1, 1, 50, 127, 127], rng);
    let kept_bits = if grid.bits() == WeightBits::Four { -16 } else { -1 };
    let entries = (0..rows * cols).map(|_| if rng.uniform() < kept { entry(rng) & kept_bits } else { 0 });
    IntegerMatrix { rows, cols, entries: entries.collect(), grid }
}

fn factors(rows: usize, cols: usize, form: MatrixForm, kept: f64, rng: &mut Rng) -> IntegerFactors {
    let bytes = EntryGrid::Bytes(Grid { exponent: 7 });
    match form {
        MatrixForm::Full => IntegerFactors { first: matrix(rows, cols, kept, grid(rng), rng), second: None },
        MatrixForm::Diagonal => IntegerFactors { first: matrix(rows, 1, kept, bytes, rng), second: None },
        MatrixForm::Absent => IntegerFactors::absent(),
        MatrixForm::LowRank(rank) => {
            let grid = grid(rng);
            IntegerFactors {
                first: matrix(rows, rank, kept, grid, rng),
                second: Some(matrix(cols, rank, kept, grid, rng)),
            }
        }
    }
}

#[test]
fn extremes_of_every_cell_and_nonlinearity_saturate_alike_at_every_place() {
    let mut seen = [0; Place::ALL.len()];
    for kind in integer_kinds() {
        for (gate, update) in nonlinearities(kind) {
            if !allowed(kind, gate) {
                continue;
            }
            for (seed, (ranks, kept)) in
                [((None, None), 1.0), ((Some(3), Some(4)), 0.9), ((Some(1), Some(5)), 0.2)]
                    .into_iter()
                    .enumerate()
            {
                let mut rng = Rng::keyed(2, &[kind as u64, gate as u64, update as u64, seed as u64]);
                let hidden = 1 + rng.below(11);
                let cell = Cell::new(kind, 1 + rng.below(4), hidden).with_nonlinearities(gate, update);
                let net = network(&cell, 1 + seed % 2, ranks, 1 + rng.below(4), Readout::Last);
                let integer = extreme(&net, kept, &mut rng);
                let x = sequences(net.input(), &lengths(&mut rng), 20_000.0, &mut rng);
                let found = check(&integer, &x, &all(&x), &[1]);
                for (seen, place) in seen.iter_mut().zip(Place::ALL) {
                    *seen += (0..net.layers.len()).map(|layer| found.count(layer, place)).sum::<u64>();
                }
            }
        }
        for (seed, forms) in FORMS.into_iter().enumerate() {
            let mut rng = Rng::keyed(7, &[kind as u64, seed as u64]);
            let cell = Cell::new(kind, 9, 9);
            let net = network_of_forms(&cell, 1 + seed % 2, forms, 3, Readout::Last);
            let integer = extreme(&net, 0.9, &mut rng);
            let x = sequences(net.input(), &lengths(&mut rng), 20_000.0, &mut rng);
            check(&integer, &x, &all(&x), &[1]);
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

#[test]
fn large_sparse_stacked_networks_and_long_sequences_give_the_runtimes_bits_on_any_threads() {
    for (seed, kind) in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm].into_iter().enumerate() {
        for kept in [0.1, 0.5, 1.0] {
            let mut rng = Rng::keyed(3, &[seed as u64, (10.0 * kept) as u64]);
            let net = network(&Cell::new(kind, 41, 37), 2, (Some(9), Some(11)), 5, Readout::Last);
            let integer = extreme(&net, kept, &mut rng);
            let lengths: Vec<usize> = (0..71).map(|_| 20 + rng.below(40)).collect();
            let x = sequences(41, &lengths, 3_000.0, &mut rng);
            check(&integer, &x, &all(&x), &[1, 2, 3]);
        }
    }
}

#[test]
fn any_number_of_sequences_in_any_order_gives_the_runtimes_bits() {
    let mut rng = Rng::new(4);
    let net = network(&Cell::new(CellKind::FastGrnn, 2, 6), 1, (None, Some(2)), 2, Readout::Last);
    let integer = extreme(&net, 0.8, &mut rng);
    let lengths: Vec<usize> = (0..40).map(|_| 1 + rng.below(5)).collect();
    let x = sequences(2, &lengths, 1_000.0, &mut rng);
    for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100] {
        let indices: Vec<u32> = (0..n).map(|_| rng.below(40) as u32).collect();
        check(&integer, &x, &indices, &[1, 2, 3]);
    }
}

#[test]
fn values_that_no_sensor_delivers_give_the_runtimes_bits() {
    let mut rng = Rng::new(5);
    let net = network(&Cell::new(CellKind::FastGrnn, 3, 6), 1, (None, None), 2, Readout::Last);
    let integer = extreme(&net, 1.0, &mut rng);
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -0.0, f32::MIN_POSITIVE, 0.5, 1e9];
    let mut x = Sequences::new(3);
    for _ in 0..20 {
        x.push(&(0..12).map(|_| *pick(&odd, &mut rng)).collect::<Vec<_>>());
    }
    check(&integer, &x, &all(&x), &[1]);
}
