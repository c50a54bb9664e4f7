//! What is derived from a shape against what is counted: bytes are bounds, times are near.

use crate::tools::runs;
use fastgrnn::cells::{Cell, CellKind, WeightBits};
use fastgrnn::device::{Board, CodeForm, Footprint};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::random::RandomModel;
use fastgrnn_boards::{MeasureOptions, measure, outcomes};
use fastgrnn_export::{COptions, Optimize, c_source};

/// How far a derived time may lie from the counted one.
const NEAR: std::ops::RangeInclusive<f64> = 0.75..=1.33;

fn models() -> [(&'static str, IntegerModel); 4] {
    let shape = |kind, dim, hidden, ranks: (usize, usize), kept| {
        let cell = Cell::new(kind, dim, hidden).with_ranks(Some(ranks.0), Some(ranks.1));
        RandomModel { kept_w: kept, kept_u: kept, ..RandomModel::new(cell, 2, 10) }
    };
    let dense = RandomModel::new(Cell::new(CellKind::Gru, 9, 16), 6, 10);
    let four = WeightBits::Four;
    let cell = Cell::new(CellKind::FastGrnn, 16, 40).with_ranks(Some(8), Some(13)).with_bits(four, four);
    let four_bits = RandomModel { bits_head: four, ..RandomModel::new(cell, 6, 10) };
    [
        ("4 bits", four_bits.build().unwrap()),
        ("wakeword", shape(CellKind::FastGrnn, 32, 32, (10, 15), 0.3).build().unwrap()),
        ("uno", shape(CellKind::FastGrnn, 3, 16, (2, 8), 0.5).build().unwrap()),
        ("gru", dense.build().unwrap()),
    ]
}

#[test]
fn what_is_derived_bounds_the_bytes_and_is_near_the_cycles() {
    for board in [Board::Uno, Board::M0plus, Board::M3, Board::Riscv32].into_iter().filter(|&b| runs(b)) {
        for (name, model) in models() {
            let features = model.model.network.input();
            let windows: Vec<Vec<i16>> =
                vec![(0..10 * features).map(|i| ((i * 7_919) % 16_384) as i16 - 8_192).collect()];
            let expected = outcomes(&model, &windows);
            for (form, optimize) in [(CodeForm::Loops, Optimize::Size), (CodeForm::Straight, Optimize::Speed)]
            {
                let Some(derived) = Footprint::of_model(&model).estimate_form(board, form) else { continue };
                let source = c_source(&model.network, &COptions { optimize, ..COptions::default() }).unwrap();
                let options = MeasureOptions { optimize: Some(optimize), ..MeasureOptions::default() };
                let counted = measure(board, &source, &windows, &expected, &options).unwrap();
                let about = format!("{name} on {} as {}: {derived:?} {counted:?}", board.id(), form.name());
                assert!(counted.flash_bytes <= derived.flash_bytes(), "{about}");
                assert!(counted.stack_bytes <= derived.stack_bytes, "{about}");
                let ram = counted.ram_static_bytes + counted.stack_bytes;
                assert!(ram <= derived.ram_bytes(), "{about}");
                let ratio = derived.cycles_per_step as f64 / counted.cycles_per_step.unwrap_or(f64::NAN);
                assert!(NEAR.contains(&ratio), "{ratio}: {about}");
            }
        }
    }
}
