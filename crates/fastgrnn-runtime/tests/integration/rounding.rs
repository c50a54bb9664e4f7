//! The roundings inside a cell's sum. One that is wrong by 1 shows in the state only where the
//! second rounding stands at a half: for about one value of h in 2^15. So all of them are tried.

use fastgrnn_runtime::int::Model;
use fastgrnn_testing::oracle::compare::{Counter, buffers};
use fastgrnn_testing::oracle::compute::NetworkOracle;
use fastgrnn_testing::oracle::image::{Forms, write};
use fastgrnn_testing::oracle::network::{Cell, Curve, Matrix, Network, Product, blocks};
use fastgrnn_testing::oracle::random::{CELLS, Manner, network, numbers};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

/// Units of the networks here; a step tries as many values of h.
const UNITS: usize = 256;

/// A network of `UNITS` units that are all like the one of `network`, and whose U is 0.
fn widened(mut network: Network) -> Network {
    let layer = &mut network.layers[0];
    let rows = blocks(layer.cell.code()) * UNITS;
    // One unit reads one input: its diagonal W is a full one.
    if let Product::Diagonal { a, s1 } = &layer.w {
        let a = Matrix { rows: a.len(), columns: 1, entries: a.clone() };
        layer.w = Product::Full { a, s1: *s1 };
    }
    let (Product::Full { a, .. } | Product::Low { a1: a, .. }) = &mut layer.w else {
        unreachable!("a layer has a W");
    };
    let entries = a.entries.chunks(a.columns).flat_map(|row| row.repeat(UNITS)).collect();
    *a = Matrix { rows, columns: a.columns, entries };
    let zeros = |rows| Matrix { rows, columns: 1, entries: vec![0; rows] };
    if layer.cell.code() != 7 {
        layer.u = Product::Low { a1: zeros(rows), a2: zeros(UNITS), s2: 0, s1: 22 };
    }
    layer.biases.iter_mut().for_each(|bias| *bias = bias.repeat(UNITS));
    if let Cell::FastRnnVector { alpha, .. } = &mut layer.cell {
        *alpha = alpha.repeat(UNITS);
    }
    if let Cell::FastGrnnGain { gamma, .. } = &mut layer.cell {
        *gamma = gamma.repeat(UNITS);
    }
    layer.start = None;
    layer.hidden = UNITS;
    let head = &mut network.head.a;
    *head = Matrix { rows: head.rows, columns: UNITS, entries: vec![1; head.rows * UNITS] };
    network
}

/// The network with curves that give odd numbers, too: then all remainders occur.
fn smooth(mut network: Network) -> Network {
    let layer = &mut network.layers[0];
    layer.update = Curve::Tanh;
    match &mut layer.cell {
        Cell::Rnn | Cell::FastRnn { .. } | Cell::FastRnnVector { .. } => {}
        Cell::FastGrnn { gate, .. } | Cell::FastGrnnGain { gate, .. } => *gate = Curve::Sigmoid,
        Cell::Ugrnn { gate } => *gate = Curve::Sigmoid,
        Cell::Gru { gate } | Cell::Lstm { gate, .. } => *gate = Curve::Sigmoid,
        Cell::MinGru { gate } => *gate = Curve::Sigmoid,
    }
    network
}

/// Every h, and every c of an LSTM, in steps from states that hold `UNITS` of them.
fn every_state_agrees(network: &Network, count: i16) {
    let image = write(network, &Forms::Smallest);
    let model = Model::<3>::read(&image).expect("the image keeps all rules");
    let (mut memory, mut scratch) = buffers(&model);
    let mut state = model.start(&mut memory, &mut scratch).expect("the model said what it needs");
    let mut oracle = NetworkOracle::new(network);
    let mut counter = Counter::default();
    let values: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    for values in values.chunks(UNITS) {
        let values = values.repeat(state.layers().len() / UNITS);
        state.layers_mut().copy_from_slice(&values);
        oracle.set_state(0, &values);
        model.step_watched(&mut state, &[count], &mut counter).expect("a step has D counts");
        oracle.step(&[count]);
        assert!(state.layers().iter().map(|h| i64::from(*h)).eq(oracle.state(0)), "from {}", values[0]);
    }
    assert_eq!(counter.0, oracle.cuts);
}

#[test]
fn every_rounding_of_every_cell_equals_the_oracle_from_every_state() {
    for code in CELLS.filter(|code| *code != 0) {
        let networks = prop_oneof![
            3 => network(vec![code], vec![1, 1], Manner::Tame).prop_map(smooth),
            1 => network(vec![code], vec![1, 1], Manner::Wild),
        ];
        let counts = prop_oneof![numbers(1).prop_map(|counts| counts[0]), select(vec![0, 999])];
        let mut runner =
            TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&(networks, counts), |(network, count)| {
            every_state_agrees(&widened(network), count);
            Ok(())
        });
        outcome.unwrap();
    }
}
