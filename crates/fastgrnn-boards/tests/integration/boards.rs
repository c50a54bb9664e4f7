//! Every cell on every board: the host's bits, and errors that say what to do.

use crate::tiny;
use crate::tools::runs;
use fastgrnn::cells::{CELLS, Cell, CellKind, MatrixForm, Nonlinearity, Role, Start, WeightBits};
use fastgrnn::data::Sequences;
use fastgrnn::device::Board;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::Network;
use fastgrnn::quantize::{IntegerModel, Options as Quantize, quantize};
use fastgrnn::rng::Rng;
use fastgrnn::window::Window;
use fastgrnn_boards::{
    BoardError, BoardReport, MeasureOptions, Outcome, default_optimization, hash, measure, outcomes,
};
use fastgrnn_export::{COptions, CSource, Optimize, c_source};

const FEATURES: usize = 4;
const CLASSES: usize = 3;

/// Cells and a head with random weights, about half of them there, made integer.
fn model(layers: Vec<Cell>, seed: u64) -> IntegerModel {
    integer_model(Network::new(layers, CLASSES), seed)
}

/// A network with random weights, about half of them there, made integer.
fn integer_model(network: Network, seed: u64) -> IntegerModel {
    let mut rng = Rng::new(seed);
    let mut params = network.start(Start::default(), 20, rng.next_u64());
    for view in network.layout().views() {
        for value in &mut params[view.range()] {
            match view.role {
                Role::Weight if rng.uniform() > 0.5 => *value = 0.0,
                Role::Weight => *value = rng.range(-0.9, 0.9) as f32,
                _ => *value += rng.range(-0.5, 0.5) as f32,
            }
        }
    }
    let labels = (0..CLASSES).map(|k| format!("class {k}")).collect();
    let mut x = Sequences::new(FEATURES);
    let recording: Vec<f32> = (0..60 * FEATURES).map(|_| rng.normal() as f32).collect();
    x.push(&recording);
    quantize(&Model::new(network, params, Task::Classes { labels }), &x, &[0], &Quantize::default()).unwrap()
}

/// Windows of different lengths, one of them empty, quiet and loud, with the extremes.
fn windows(seed: u64) -> Vec<Vec<i16>> {
    let mut rng = Rng::new(seed);
    let window = |frames: usize| {
        let width = 200 << (frames % 8);
        let count = |i: usize| match i % 17 {
            15 => i16::MIN,
            16 => i16::MAX,
            _ => (rng.below(2 * width) as i32 - width as i32) as i16,
        };
        (0..frames * FEATURES).map(count).collect()
    };
    [7, 1, 0, 12].map(window).to_vec()
}

fn source(model: &IntegerModel, optimize: Optimize) -> CSource {
    c_source(&model.network, &COptions { optimize, ..COptions::default() }).unwrap()
}

fn every_cell(board: Board) {
    if !runs(board) {
        return;
    }
    for (i, cell) in CELLS.iter().filter(|cell| cell.has_integers()).enumerate() {
        let smooth = Cell::new(cell.kind, FEATURES, 9);
        let piecewise = Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..smooth };
        let low_rank = piecewise.clone().with_ranks(Some(2), Some(4));
        let model = model(vec![if i % 2 == 0 { low_rank } else { smooth }], i as u64);
        let optimize = if i % 3 == 0 { Optimize::Speed } else { Optimize::Size };
        agrees(board, &model, optimize, cell.name);
    }
    let below = Cell { update: Nonlinearity::Relu, ..Cell::new(CellKind::FastRnn, FEATURES, 6) };
    agrees(
        board,
        &model(vec![below, Cell::new(CellKind::Lstm, 6, 5)], 99),
        default_optimization(board),
        "two layers",
    );
    for (i, optimize) in [Optimize::Size, Optimize::Speed].into_iter().enumerate() {
        agrees(board, &windowed(i as u64), optimize, "a window and 4 bits");
    }
}

/// A network that reads three frames at a stride of two, with gains of its gates and entries of 4 bits.
fn windowed(seed: u64) -> IntegerModel {
    let (window, four) = (Window { frames: 3, stride: 2 }, WeightBits::Four);
    let input = Cell { update: Nonlinearity::Relu, ..Cell::new(CellKind::Rnn, 3 * FEATURES, 5) };
    let input = input.with_forms(MatrixForm::Full, MatrixForm::Absent).with_bits(four, WeightBits::Eight);
    let cell = Cell::new(CellKind::FastGrnnGain, 5, 9).with_ranks(Some(3), Some(4)).with_bits(four, four);
    let cell = Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..cell };
    let network = Network::new(vec![input, cell], CLASSES);
    integer_model(Network { window, bits_head: four, ..network }, seed)
}

fn agrees(board: Board, model: &IntegerModel, optimize: Optimize, about: &str) {
    let windows = windows(7);
    let expected = outcomes(model, &windows);
    let source = source(model, optimize);
    let options = MeasureOptions { optimize: Some(optimize), ..MeasureOptions::default() };
    let report = measure(board, &source, &windows, &expected, &options).unwrap();
    assert_eq!(report.mismatches, 0, "{about}: {:?}", report.first_mismatch);
    let of_host = hash(expected.iter().flat_map(|o| o.scores.iter().copied()));
    assert_eq!(report.hash, format!("{of_host:016x}"), "{about}");
    check_numbers(&report, &source, about);
}

/// What must hold of any report.
fn check_numbers(r: &BoardReport, source: &CSource, about: &str) {
    assert_eq!((r.windows, r.steps), (4, 20), "{about}");
    assert!(r.flash_bytes > source.data_bytes && r.image_flash_bytes > r.flash_bytes, "{about}: {r:?}");
    // State, frame and scores; alignment and the decision may add a little.
    let least = source.state_bytes + 2 * FEATURES + 4 * CLASSES;
    assert!((least..least + 64).contains(&r.ram_static_bytes), "{about}: {} for {least}", r.ram_static_bytes);
    assert!(r.stack_bytes > 0 && r.instructions_per_step > 50.0, "{about}: {r:?}");
    let cycles = [r.cycles_per_step_zero_wait, r.cycles_per_step, r.cycles_per_step_uncached];
    match r.measured_or_modelled {
        "counted" => assert_eq!(cycles, [None; 3], "{about}"),
        _ => {
            let [zero_wait, own, uncached] = cycles.map(Option::unwrap);
            assert!(r.instructions_per_step <= zero_wait, "{about}: {r:?}");
            assert!(zero_wait <= own && own <= uncached, "{about}: {cycles:?}");
            assert!(own <= r.cycles_per_step_most.unwrap() as f64, "{about}: {r:?}");
        }
    }
}

#[test]
fn every_cell_has_the_hosts_bits_on_the_uno() {
    every_cell(Board::Uno);
}

#[test]
fn every_cell_has_the_hosts_bits_on_the_cortex_m0plus() {
    every_cell(Board::M0plus);
}

#[test]
fn every_cell_has_the_hosts_bits_on_the_cortex_m3() {
    every_cell(Board::M3);
}

#[test]
fn every_cell_has_the_hosts_bits_on_the_cortex_m4() {
    every_cell(Board::M4);
}

#[test]
fn every_cell_has_the_hosts_bits_on_riscv32() {
    every_cell(Board::Riscv32);
}

#[test]
fn every_cell_has_the_hosts_bits_on_aarch64() {
    every_cell(Board::Aarch64);
}

/// A small model, its code, windows and what the host makes of them.
fn small() -> (CSource, Vec<Vec<i16>>, Vec<Outcome>) {
    let model = model(vec![Cell::new(CellKind::FastGrnn, FEATURES, 4)], 5);
    let windows = windows(5);
    let expected = outcomes(&model, &windows);
    (source(&model, Optimize::Size), windows, expected)
}

#[test]
fn wrong_scores_classes_and_confidences_are_each_found() {
    let (source, windows, mut expected) = small();
    if !runs(Board::M0plus) {
        return;
    }
    expected[1].scores[2] += 1;
    expected[3].class ^= 1;
    expected[3].confidence ^= 1;
    let report = measure(Board::M0plus, &source, &windows, &expected, &MeasureOptions::default()).unwrap();
    assert_eq!(report.mismatches, 3);
    let first = report.first_mismatch.unwrap();
    assert_eq!((first.window, first.value.as_str(), first.expected - first.found), (1, "score 2", 1));
}

#[test]
fn figures_are_the_same_in_two_runs() {
    let (source, windows, expected) = small();
    for board in [Board::Uno, Board::M3] {
        if runs(board) {
            let run = || measure(board, &source, &windows, &expected, &MeasureOptions::default()).unwrap();
            assert_eq!(run(), run());
        }
    }
}

#[test]
fn firmware_that_does_not_fit_is_refused_with_the_numbers() {
    if !runs(Board::Uno) {
        return;
    }
    let expected = [Outcome { scores: vec![0], class: 0, confidence: 1, states: None }];
    let run =
        |source: &CSource| measure(Board::Uno, source, &[vec![1]], &expected, &MeasureOptions::default());
    let tables = "#include <avr/pgmspace.h>
static const int16_t a[10000] PROGMEM = { 1 };
static const int16_t b[10000] PROGMEM = { 1 };
void model_step(model_state *state, const int16_t *counts)
{
    state->h[0] = (int16_t)(pgm_read_word(a + counts[0]) + pgm_read_word(b + counts[0]));
}";
    match run(&tiny::model(tables, 0)) {
        Err(error @ BoardError::TooLarge { memory: "flash", needed: 40_000.., available: 32_256, .. }) => {
            assert!(error.to_string().contains("Arduino Uno"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let nothing = "void model_step(model_state *state, const int16_t *counts) { state->h[0] = *counts; }";
    match run(&tiny::model(nothing, 2000)) {
        Err(BoardError::TooLarge { memory: "RAM", needed: 4000.., available: 2048, .. }) => {}
        other => panic!("{other:?}"),
    }
    // The variables alone fit, the stack on top of them does not.
    let deep = "void model_step(model_state *state, const int16_t *counts)
{
    volatile int16_t large[300];
    uint16_t i;
    for (i = 0; i < 300; i++)
        large[i] = *counts;
    state->h[0] = (int16_t)(large[0] * 0);
}";
    match run(&tiny::model(deep, 800)) {
        Err(BoardError::TooLarge { memory: "RAM", needed: 2200.., available: 2048, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_with_another_prefix_is_refused_by_its_name() {
    let (mut source, windows, expected) = small();
    if !runs(Board::M3) {
        return;
    }
    source.name = "gesture".into();
    let error = measure(Board::M3, &source, &windows, &expected, &MeasureOptions::default()).unwrap_err();
    assert!(matches!(&error, BoardError::Name { found } if found == "gesture"), "{error}");
}

#[test]
fn a_compilers_complaint_is_shown() {
    let (mut source, windows, expected) = small();
    if !runs(Board::M3) {
        return;
    }
    source.source.push_str("int broken(void) { return nothing; }\n");
    let error =
        measure(Board::M3, &source, &windows, &expected, &MeasureOptions::default()).unwrap_err().to_string();
    assert!(error.contains("arm-none-eabi-gcc cannot build model.c"), "{error}");
    assert!(error.contains("nothing") && error.contains("undeclared"), "{error}");
}

#[test]
fn what_is_kept_appears_as_a_whole_and_never_replaces_anything() {
    let (source, windows, expected) = small();
    if !runs(Board::M3) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("firmware").join("m3");
    let options = MeasureOptions { keep: Some(keep.clone()), ..MeasureOptions::default() };
    measure(Board::M3, &source, &windows, &expected, &options).unwrap();
    for file in ["model.c", "app.elf", "test.elf", "windows", "results", "counts", "plugin/count.c"] {
        assert!(keep.join(file).is_file(), "{file}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("firmware")).unwrap().count(), 1);
    let again = measure(Board::M3, &source, &windows, &expected, &options).unwrap_err();
    assert!(matches!(again, BoardError::KeepExists { .. }), "{again}");
}

#[test]
fn windows_that_do_not_fit_the_model_are_refused() {
    let (source, mut windows, mut expected) = small();
    let run = |windows: &[Vec<i16>], expected: &[Outcome]| {
        measure(Board::M3, &source, windows, expected, &MeasureOptions::default()).unwrap_err()
    };
    assert!(matches!(run(&[], &[]), BoardError::Windows { windows: 0, .. }));
    assert!(matches!(run(&windows, &expected[1..]), BoardError::Windows { windows: 4, expected: 3 }));
    if !runs(Board::M3) {
        return;
    }
    windows[2].push(1);
    let error = run(&windows, &expected);
    assert!(matches!(error, BoardError::Window { window: 2, counts: 1, features: FEATURES }), "{error}");
    windows[2].clear();
    expected[3].scores.push(0);
    let error = run(&windows, &expected);
    assert!(matches!(error, BoardError::Outputs { window: 3, found: 4, outputs: 3 }), "{error}");
}

/// The sizes are those that the tool chain's own `size` prints.
#[test]
fn sizes_are_those_of_the_tool_chain() {
    let (source, windows, expected) = small();
    for (board, size) in [(Board::Uno, "avr-size"), (Board::M0plus, "arm-none-eabi-size")] {
        if !runs(board) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let keep = folder.path().join("kept");
        let options = MeasureOptions { keep: Some(keep.clone()), ..MeasureOptions::default() };
        let report = measure(board, &source, &windows, &expected, &options).unwrap();
        let sizes = |image: &str| -> Vec<usize> {
            let output = std::process::Command::new(size).arg(keep.join(image)).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let line = text.lines().nth(1).unwrap().to_owned();
            line.split_whitespace().take(3).map(|n| n.parse().unwrap()).collect()
        };
        let (app, empty) = (sizes("app.elf"), sizes("empty.elf"));
        assert_eq!(report.flash_bytes, app[0] + app[1] - empty[0] - empty[1], "{size}");
        assert_eq!(report.ram_static_bytes, app[1] + app[2] - empty[1] - empty[2], "{size}");
    }
}
