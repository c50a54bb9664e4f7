//! The pages of runs, comparisons and size sweeps, put together from [`fastgrnn_report`]'s parts.

mod boards;
mod compare;
mod data;
mod pareto;
mod run;
mod sequences;

pub use boards::{BOARD_COLUMNS, BoardRow, board_notes, board_rows};
pub use compare::{CompareReport, Named};
pub use pareto::{PARETO_HEADING, ParetoReport, pareto_row};
pub use run::{run_report, tensors};
