//! Sound fed to emulated boards: the host's bits, and the front end's cost apart from the network's.

use crate::tools::runs;
use fastgrnn::cells::{Cell, CellKind, Start};
use fastgrnn::data::Sequences;
use fastgrnn::device::Board;
use fastgrnn::features::Spec;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::Network;
use fastgrnn::quantize::{IntegerModel, Options as Quantize, quantize};
use fastgrnn::rng::Rng;
use fastgrnn_boards::{BoardError, MeasureOptions, SoundReport, measure_sound};
use fastgrnn_export::{COptions, CSource, c_source};

/// A network of random weights behind a front end.
fn model(front: &Spec) -> IntegerModel {
    let mut rng = Rng::new(1);
    let network = Network::new(vec![Cell::new(CellKind::FastGrnn, front.dim(), 12)], 3);
    let params = network.start(Start::default(), 20, 5);
    let labels = ["yes", "no", "noise"].map(str::to_owned).to_vec();
    let mut x = Sequences::new(front.dim());
    x.push(&(0..50 * front.dim()).map(|_| rng.range(-2.0, 20.0) as f32).collect::<Vec<_>>());
    let model = Model { audio: Some(*front), ..Model::new(network, params, Task::Classes { labels }) };
    quantize(&model, &x, &[0], &Quantize::default()).unwrap()
}

/// Noise of rising loudness, the extremes, and too little for a frame.
fn recordings(front: &Spec) -> Vec<Vec<i16>> {
    let mut rng = Rng::new(2);
    let n = front.window() + 12 * front.hop() + 17;
    let noise = (0..n).map(|i| (rng.range(-1.0, 1.0) * (15.0 * i as f64 / n as f64).exp2()) as i16).collect();
    vec![noise, vec![i16::MIN; front.window() + front.hop()], vec![7; front.window() - 1]]
}

fn source(model: &IntegerModel) -> CSource {
    c_source(&model.network, &COptions { front: model.front(), ..COptions::default() }).unwrap()
}

fn heard(board: Board, front: &Spec) -> Option<SoundReport> {
    if !runs(board) {
        return None;
    }
    let model = model(front);
    assert_eq!(model.front(), Some(*front));
    let report =
        measure_sound(board, &model, front, &source(&model), &recordings(front), &MeasureOptions::default());
    let report = report.unwrap();
    assert_eq!((report.mismatches, report.frames), (0, 13 + 2), "{:?}", report.first_mismatch);
    Some(report)
}

#[test]
fn a_cortex_m0_plus_hears_in_real_time_and_in_three_kilobytes() {
    let Some(report) = heard(Board::M0plus, &Spec::default()) else { return };
    assert!(report.cycles_front_end.is_some_and(|cycles| cycles < 100_000.0), "{report:?}");
    assert!(report.duty.is_some_and(|duty| duty < 0.25), "{report:?}");
    assert!(report.table_bytes <= 4_096 && report.ram_front_end_bytes <= 3_072, "{report:?}");
    let (all, parts) = (report.cycles_per_frame.unwrap(), [report.cycles_front_end, report.cycles_network]);
    assert!((all - parts.iter().flatten().sum::<f64>()).abs() < 1.0, "{report:?}");
}

#[test]
fn other_boards_hear_the_same() {
    for board in [Board::M3, Board::M4, Board::Riscv32, Board::Aarch64] {
        heard(board, &Spec::default());
    }
    heard(Board::M3, &"mfcc,coefficients=10".parse().unwrap());
}

#[test]
fn an_uno_is_not_fed_sound() {
    let front = Spec::default();
    let model = model(&front);
    let error = measure_sound(
        Board::Uno,
        &model,
        &front,
        &source(&model),
        &recordings(&front),
        &MeasureOptions::default(),
    );
    assert!(matches!(error, Err(BoardError::NoSound { board: "uno", .. })));
}
