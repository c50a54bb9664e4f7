//! Measures networks on boards for the tables of the paper.

use crate::interrupt;
use fastgrnn::data::{self, DataRecipe};
use fastgrnn::reproduce::{BoardJob, BoardProblem, BoardTime};
use fastgrnn_boards::{
    Arithmetic, BoardError, BoardReport, Inputs, MeasureOptions, measure_model, missing_tools, outcomes,
};

/// Sequences that a network computes: its time hardly depends on what they hold.
const SEQUENCES: usize = 20;
/// The same for floats, which boards compute in software.
const FLOAT_SEQUENCES: usize = 3;

/// Builds the network, runs it on the emulated board and reads off what it took.
pub fn measure(job: &BoardJob) -> Result<BoardTime, BoardProblem> {
    if let Some(missing) = missing_tools(job.board).into_iter().next() {
        return Err(BoardProblem::Failed(missing.to_string()));
    }
    let failed = |error: &dyn std::fmt::Display| BoardProblem::Failed(error.to_string());
    let model = job.network.build().map_err(|error| failed(&error))?;
    let count = if job.is_float { FLOAT_SEQUENCES } else { SEQUENCES };
    let request = model.model.request(format!("random:{count}"), None, DataRecipe::default());
    let data = data::load(&request).map_err(|error| failed(&error))?;
    let windows: Vec<Vec<i16>> = (0..data.train.x.len())
        .map(|i| {
            let mut counts = Vec::new();
            model.sequence_counts(&data.train.x, i, &mut counts);
            counts
        })
        .collect();
    let expected = outcomes(&model, &windows);
    let inputs = Inputs { windows: &windows, expected: &expected, recordings: &[] };
    let arithmetic = if job.is_float { Arithmetic::Float } else { Arithmetic::Integer };
    let measured = measure_model(job.board, &model, arithmetic, &inputs, &MeasureOptions::default());
    match measured {
        _ if interrupt::is_requested() => Err(BoardProblem::Interrupted),
        Ok(report) if !job.is_float && report.mismatches > 0 => {
            let text = format!("{} of its values differ from the host's", report.mismatches);
            Err(BoardProblem::Failed(text))
        }
        Ok(report) => Ok(time(&report)),
        Err(error @ (BoardError::TooLarge { .. } | BoardError::EmulatorTooSmall { .. })) => {
            Err(BoardProblem::TooLarge(error.to_string()))
        }
        Err(error) => Err(failed(&error)),
    }
}

fn time(report: &BoardReport) -> BoardTime {
    BoardTime {
        ms: report.ms_per_inference,
        instructions: report.instructions_per_inference,
        basis: report.measured_or_modelled.to_owned(),
        flash: report.flash_bytes,
        ram: report.ram_static_bytes + report.stack_bytes,
    }
}
