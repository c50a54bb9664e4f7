//! Networks at the extremes of what the arithmetic allows, on the boards whose kernels are written
//! by hand: every parameter over its whole range, so that nearly everything saturates.

use crate::networks;
use crate::tools::runs;
use fastgrnn::device::Board;
use fastgrnn::quantize::HostModel;
use fastgrnn_boards::{MeasureOptions, measure, outcomes_of};
use fastgrnn_export::{COptions, Optimize, c_source};
use fastgrnn_testing::oracle::random::{CELLS, Case, Manner, case, extended, network};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

fn agree(
    board: Board,
    network: &fastgrnn_testing::oracle::network::Network,
    inputs: &[Vec<i16>],
    about: &str,
) {
    let network = networks::integer_network(network);
    // Each window one frame longer than the one before.
    let windows: Vec<Vec<i16>> = (0..=inputs.len()).map(|n| inputs[..n].concat()).collect();
    let image = network.image();
    let model = HostModel::read(&image).expect("the generator draws networks that are accepted");
    let expected = outcomes_of(&model, &windows);
    // Straight code of these networks is more than an Uno holds.
    let made_for: &[Optimize] =
        if board == Board::Uno { &[Optimize::Size] } else { &[Optimize::Size, Optimize::Speed] };
    for &optimize in made_for {
        let source = c_source(&network, &COptions { optimize, ..COptions::default() }).unwrap();
        let options = MeasureOptions { optimize: Some(optimize), ..MeasureOptions::default() };
        let report = measure(board, &source, &windows, &expected, &options).unwrap();
        assert_eq!(report.mismatches, 0, "{about} {optimize:?}: {:?}", report.first_mismatch);
    }
}

fn wild(board: Board) {
    if !runs(board) {
        return;
    }
    let mut runner = TestRunner::deterministic();
    for code in CELLS {
        let Case { network, inputs, .. } = case(code, Manner::Wild).new_tree(&mut runner).unwrap().current();
        agree(board, &network, &inputs, &format!("cell {code}"));
        let Case { network, inputs, .. } =
            extended(case(code, Manner::Wild)).new_tree(&mut runner).unwrap().current();
        agree(board, &network, &inputs, &format!("cell {code} with 4 bits"));
    }
    // Rows longer than a byte offset reaches.
    let long = network(vec![3], vec![140, 10], Manner::Wild).new_tree(&mut runner).unwrap().current();
    agree(board, &long, &[vec![12_345; 140], vec![i16::MIN; 140]], "long rows");
}

#[test]
fn wild_networks_have_the_hosts_bits_on_the_uno() {
    wild(Board::Uno);
}

#[test]
fn wild_networks_have_the_hosts_bits_on_the_cortex_m0plus() {
    wild(Board::M0plus);
}

#[test]
fn wild_networks_have_the_hosts_bits_on_the_cortex_m3() {
    wild(Board::M3);
}
