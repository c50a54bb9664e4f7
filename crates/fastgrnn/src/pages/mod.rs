//! The pages of runs, comparisons and size sweeps, put together from [`fastgrnn_report`]'s parts.

mod compare;
mod pareto;
mod run;

pub use compare::{CompareReport, Named};
pub use pareto::{PARETO_HEADING, ParetoReport, pareto_row};
pub use run::{run_report, tensors};
