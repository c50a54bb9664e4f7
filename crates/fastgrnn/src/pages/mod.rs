//! The pages of runs, comparisons, searches, reproductions, analyses and size sweeps, put together from
//! [`fastgrnn_report`]'s parts.

mod analysis;
mod analysis_rows;
mod boards;
mod compare;
mod data;
mod pareto;
mod power;
mod reproduction;
mod reproduction_plots;
mod run;
mod score;
mod search;
mod sequences;

pub use analysis::AnalysisReport;
pub use analysis_rows::{
    AnalyzedNetwork, BOUND_COLUMNS, BOUND_NOTE, CONDITION_COLUMNS, CONDITION_NOTE, CONDITIONS_COLUMNS,
    GRADIENT_COLUMNS, GRADIENT_NOTE, QUANTITY_COLUMNS, STATE_COLUMNS, STATE_NOTE, WEIGHT_COLUMNS,
    WEIGHT_NOTE, bound_rows, condition_rows, conditions_rows, gradient_rows, quantity_rows, ratio_lines,
    sequence_lines, state_rows, weight_rows,
};
pub use boards::{BOARD_COLUMNS, BoardRow, board_notes, board_rows};
pub use compare::{CompareReport, Named};
pub use pareto::{PARETO_HEADING, ParetoReport, pareto_row};
pub use power::power_of_ten;
pub use reproduction::{ReproductionReport, SetTable, reproduction_summary};
pub use run::{run_report, tensors};
pub use search::{FRONT_HEADING, IMPORTANCE_HEADING, SearchReport, front_row, importance_row};
