//! Models that the library quantises: their images are those of the page, and the host's engine
//! gives the scores that the oracle gives.

use fastgrnn_core::cells::{CELLS, Cell, CellKind, Nonlinearity, Start, WeightBits};
use fastgrnn_core::net::{InitialState, Network};
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::Sequences;
use fastgrnn_model::model::{Model, Task};
use fastgrnn_model::quantize::{IntegerModel, MatrixBits, Options, quantize};
use fastgrnn_runtime::int::Place;
use fastgrnn_testing::oracle::compute::{Cut, Cuts, NetworkOracle};
use fastgrnn_testing::oracle::image::{Forms, write};
use fastgrnn_testing::oracle::network::true_table;
use fastgrnn_testing::oracle::reader::read;

const PLACES: [(Place, Cut); 7] = [
    (Place::Input, Cut::Input),
    (Place::ProjectedW, Cut::ProjectedW),
    (Place::ProjectedU, Cut::ProjectedU),
    (Place::Recurrent, Cut::Recurrent),
    (Place::Update, Cut::Update),
    (Place::Memory, Cut::Memory),
    (Place::State, Cut::State),
];

/// Sequences of unequal length; those past the first ten are far larger, and saturate a model
/// calibrated on the first.
fn recordings(dim: usize) -> Sequences {
    let mut rng = Rng::keyed(5, &[dim as u64]);
    let mut x = Sequences::new(dim);
    for i in 0..23 {
        let size = if i < 10 { 1.0 } else { 40.0 };
        let values: Vec<f32> = (0..dim * (3 + i)).map(|_| size * rng.normal() as f32).collect();
        x.push(&values);
    }
    x
}

/// A model of untrained layers in which all but each `keep`-th value of a matrix is 0.
fn model(cells: Vec<Cell>, keep: usize) -> Model {
    let network = Network::new(cells, 3);
    let mut params = network.start(Start::default(), 20, 11);
    for view in network.layout().views() {
        if view.rows > 1 && view.cols > 1 {
            let values = params[view.range()].iter_mut().enumerate();
            values.filter(|(i, _)| i % keep != 0).for_each(|(_, value)| *value = 0.0);
        }
    }
    let labels = ["a", "b", "c"].map(String::from).to_vec();
    Model {
        initial_state: InitialState::Given(vec![0.5]),
        ..Model::new(network, params, Task::Classes { labels })
    }
}

/// Compares image, scores and saturations; how many there were of the last.
fn check(integer: &IntegerModel, x: &Sequences) -> u64 {
    let image = integer.image();
    let network = read(image, 3).expect("the library writes what a reader accepts");
    assert!(write(&network, &Forms::Smallest) == image, "each matrix is in its smallest form");
    assert!(!network.reads_the_table() || network.table == true_table());

    let all: Vec<u32> = (0..x.len() as u32).collect();
    let found = integer.scores(x, &all, 2);
    let mut cuts = Cuts::new();
    let mut expected = Vec::new();
    for i in 0..x.len() {
        let mut counts = Vec::new();
        integer.counts(x.get(i), &mut counts);
        let mut oracle = NetworkOracle::new(&network);
        for counts in counts.chunks(x.dim()) {
            oracle.step(counts);
        }
        expected.extend(oracle.scores());
        oracle.cuts.into_iter().for_each(|(place, times)| *cuts.entry(place).or_default() += times);
    }
    assert!(found.scores.iter().map(|score| i64::from(*score)).eq(expected), "the host's scores");
    for layer in 0..network.layers.len() {
        for (place, cut) in PLACES {
            let expected = cuts.get(&(layer, cut)).copied().unwrap_or(0);
            assert_eq!(found.saturations.count(layer, place), expected, "layer {layer}, {place:?}");
        }
    }
    assert_eq!(found.saturations.total(), cuts.values().sum::<u64>());
    found.saturations.total()
}

#[test]
fn the_library_s_images_are_those_of_the_page_and_its_scores_the_oracle_s() {
    let x = recordings(3);
    let calibration: Vec<u32> = (0..10).collect();
    let curves = [
        (Nonlinearity::Sigmoid, Nonlinearity::Tanh),
        (Nonlinearity::QuantSigm, Nonlinearity::QuantTanh),
        (Nonlinearity::QuantSigm4, Nonlinearity::Relu),
    ];
    let mut saturations = 0;
    for kind in CELLS.iter().filter(|cell| cell.has_integers()).map(|declaration| declaration.kind) {
        for (gate, update) in curves {
            for (ranks, keep) in [((None, None), 1), ((Some(2), Some(5)), 2), ((None, Some(3)), 7)] {
                let cell =
                    Cell::new(kind, 3, 13).with_ranks(ranks.0, ranks.1).with_nonlinearities(gate, update);
                let above = Cell::new(CellKind::FastGrnn, 13, 6);
                let model = model(vec![cell, above], keep);
                let bits = |four: bool| if four { WeightBits::Four } else { WeightBits::Eight };
                let has_u = kind.declaration().reads_state;
                let bits = MatrixBits { w: bits(keep == 2 || !has_u), u: bits(has_u), head: bits(keep == 7) };
                let four = model.with_bits(bits).unwrap();
                for model in [model, four] {
                    let integer = quantize(&model, &x, &calibration, &Options::default())
                        .unwrap_or_else(|error| panic!("{kind} {gate} {update}: {error}"));
                    saturations += check(&integer, &x);
                }
            }
        }
    }
    assert!(saturations > 100, "{saturations} saturations are too few to tell");
}

#[test]
fn a_hundred_thousand_steps_of_recordings_without_a_reset_stay_in_range_and_never_wrap() {
    let digits = fastgrnn_data::data::load(&fastgrnn_data::data::Request::new("digits")).unwrap().train.x;
    let all: Vec<u32> = (0..digits.len() as u32).collect();
    for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm] {
        let cell = Cell::new(kind, 8, 10).with_ranks(Some(4), Some(4));
        let model = model(vec![cell], 1);
        let integer = quantize(&model, &digits, &all, &Options::default()).unwrap();
        let network = read(integer.image(), 1).unwrap();
        // The oracle asserts the width of every value that it computes.
        let mut oracle = NetworkOracle::new(&network);
        let view = integer.view();
        let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
        let mut state = view.start(&mut memory, &mut scratch).unwrap();
        let mut steps = 0;
        for i in (0..digits.len()).cycle() {
            let mut counts = Vec::new();
            integer.counts(digits.get(i), &mut counts);
            for step in counts.chunks(8) {
                oracle.step(step);
                view.step(&mut state, step).unwrap();
                steps += 1;
            }
            assert!(state.layers().iter().map(|&h| i64::from(h)).eq(oracle.state(0)), "{kind}, step {steps}");
            if steps >= 100_000 {
                break;
            }
        }
    }
}
