//! Which boards a model fits, by estimates alone.

use crate::table::table;
use fastgrnn::device::{Board, Estimate, Footprint};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::{count, number};
use serde::Serialize;

/// The estimate of a model on a board. `fastgrnn board` measures.
#[derive(Serialize)]
pub struct BoardRow {
    board: &'static str,
    name: &'static str,
    fits: bool,
    /// What is missing; empty where it fits.
    short: Vec<String>,
    /// `derived`: bytes are bounds from the shape, cycles a model.
    how: &'static str,
    /// `loops` over tables, or `straight` code where that fits.
    form: &'static str,
    flash_bytes: usize,
    flash_data_bytes: usize,
    flash_code_bytes: usize,
    /// Left to a network once the board's own code has its part; null where it is no limit.
    flash_left_bytes: Option<usize>,
    ram_bytes: usize,
    ram_static_bytes: usize,
    stack_bytes: usize,
    ram_left_bytes: Option<usize>,
    cycles_per_step: u64,
    cycles_per_inference: u64,
    /// Null where the board has no clock.
    ms_per_step: Option<f64>,
    ms_per_inference: Option<f64>,
}

/// The estimates of the model on every board.
pub fn rows(model: &IntegerModel) -> Vec<BoardRow> {
    let footprint = Footprint::of_model(model);
    Board::ALL.into_iter().map(|board| row(&footprint.estimate(board), model.model.steps)).collect()
}

fn row(e: &Estimate, steps: usize) -> BoardRow {
    let info = e.board.info();
    BoardRow {
        board: info.id,
        name: info.name,
        fits: e.fits(),
        short: e.shortages(),
        how: "derived",
        form: e.form.name(),
        flash_bytes: e.flash_bytes(),
        flash_data_bytes: e.data_bytes,
        flash_code_bytes: e.code_bytes,
        flash_left_bytes: e.flash_left,
        ram_bytes: e.ram_bytes(),
        ram_static_bytes: e.static_bytes,
        stack_bytes: e.stack_bytes,
        ram_left_bytes: e.ram_left,
        cycles_per_step: e.cycles_per_step,
        cycles_per_inference: e.cycles_per_inference(steps),
        ms_per_step: e.ms_per_step(),
        ms_per_inference: e.ms_per_inference(steps),
    }
}

/// The estimates as a table.
pub fn describe(model: &IntegerModel) -> String {
    let ms = |v: Option<f64>| v.map_or("-".to_owned(), number);
    let of = |used: usize, left: Option<usize>| match left {
        Some(left) => format!("{} of {}", count(used as u64), count(left as u64)),
        None => count(used as u64),
    };
    let rows = rows(model).into_iter().map(|r| {
        let verdict =
            if r.fits { "yes".to_owned() } else { format!("no, short of {}", r.short.join(" and ")) };
        vec![
            r.board.to_owned(),
            verdict,
            of(r.flash_bytes, r.flash_left_bytes),
            of(r.ram_bytes, r.ram_left_bytes),
            r.form.to_owned(),
            ms(r.ms_per_step),
            ms(r.ms_per_inference),
        ]
    });
    let heading = ["board", "fits", "flash, B", "RAM, B", "code", "ms a step", "ms a sequence"];
    let sound = match model.front() {
        Some(_) => {
            "  Bytes are with the audio front end, but on the Uno, which has no room for it and takes frames of\n  \
             features; times are the network's.\n"
        }
        None => "",
    };
    format!(
        "{}  All derived from the shape: bytes are upper bounds (tables and code; state, frame, scores and\n  \
         stack) of what the board leaves to a network, times are a model. Measured: fastgrnn board.\n{sound}",
        table(&heading, &rows.collect::<Vec<_>>())
    )
}
