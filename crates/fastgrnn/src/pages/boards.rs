//! What an integer model takes on each board: the rows that `fastgrnn info` prints and a report shows.

use fastgrnn_core::format::{count, number};
use fastgrnn_model::device::{Board, Estimate, Footprint};
use fastgrnn_model::quantize::IntegerModel;
use serde::Serialize;

/// The estimate of a model on a board. `fastgrnn board` measures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardRow {
    /// The id of the board.
    pub board: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Whether the board has room for the model.
    pub fits: bool,
    /// What is missing; empty where it fits.
    pub short: Vec<String>,
    /// `derived`: bytes are bounds from the shape, cycles a model.
    pub how: &'static str,
    /// `loops` over tables, or `straight` code where that fits.
    pub form: &'static str,
    /// Bytes of flash: tables and code, also those of an audio front end.
    pub flash_bytes: usize,
    /// Bytes of tables in flash.
    pub flash_data_bytes: usize,
    /// Bytes of code in flash.
    pub flash_code_bytes: usize,
    /// Left to a network once the board's own code has its part; null where it is no limit.
    pub flash_left_bytes: Option<usize>,
    /// Bytes of RAM, stack and buffers of an audio front end included.
    pub ram_bytes: usize,
    /// Bytes of RAM without the stack.
    pub ram_static_bytes: usize,
    /// Bytes of stack.
    pub stack_bytes: usize,
    /// Left to a network once the board's own code has its part; null where it is no limit.
    pub ram_left_bytes: Option<usize>,
    /// Cycles of a step of the network.
    pub cycles_per_step: u64,
    /// Cycles of a whole sequence and its decision.
    pub cycles_per_inference: u64,
    /// Null where the board has no clock.
    pub ms_per_step: Option<f64>,
    /// Null where the board has no clock.
    pub ms_per_inference: Option<f64>,
}

/// Columns of a table of boards, and where their numbers come from.
pub const BOARD_COLUMNS: [(&str, &str); 7] = [
    ("board", ""),
    ("fits", "derived"),
    ("flash, B", "derived"),
    ("RAM, B", "derived"),
    ("code", ""),
    ("ms a step", "modelled"),
    ("ms a sequence", "modelled"),
];

/// The estimates of the model on every board.
pub fn board_rows(model: &IntegerModel) -> Vec<BoardRow> {
    let footprint = Footprint::of_model(model);
    Board::ALL.into_iter().map(|board| BoardRow::new(&footprint.estimate(board), model.model.steps)).collect()
}

impl BoardRow {
    fn new(e: &Estimate, steps: usize) -> Self {
        let info = e.board.info();
        Self {
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

    /// The cells under [`BOARD_COLUMNS`].
    pub fn cells(&self) -> Vec<String> {
        let ms = |v: Option<f64>| v.map_or("–".to_owned(), number);
        let of = |used: usize, left: Option<usize>| match left {
            Some(left) => format!("{} of {}", count(used as u64), count(left as u64)),
            None => count(used as u64),
        };
        let verdict = match self.fits {
            true => "yes".to_owned(),
            false => format!("no, short of {}", self.short.join(" and ")),
        };
        vec![
            self.board.to_owned(),
            verdict,
            of(self.flash_bytes, self.flash_left_bytes),
            of(self.ram_bytes, self.ram_left_bytes),
            self.form.to_owned(),
            ms(self.ms_per_step),
            ms(self.ms_per_inference),
        ]
    }
}

/// What to know about the rows of this model: sentences for people.
pub fn board_notes(model: &IntegerModel) -> Vec<&'static str> {
    let mut notes = vec![
        "Bytes are derived from the shape: upper bounds for tables and code, and for state, frame, scores and \
         stack, beside what the board leaves to a network. Times are modelled. `fastgrnn board` measures both.",
    ];
    if model.front().is_some() {
        notes.push(
            "Bytes include the audio front end, except on the Uno, which has no room for it and takes frames of \
             features. Times are those of the network alone.",
        );
    }
    notes
}
