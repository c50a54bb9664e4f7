//! A whole model on a board: choosing the form of its code, generating it, measuring it.

use crate::platform::Platform;
use crate::report::BoardReport;
use crate::text::measure_text;
use crate::{BoardError, Compare, MeasureOptions, Outcome, choose_optimization, measure, measure_sound};
use fastgrnn::device::Board;
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::{COptions, Optimize, c_source, float_source};

/// The arithmetic of generated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Integers: every bit must be the host's.
    #[default]
    Integer,
    /// Soft float, for comparisons: only classes are compared.
    Float,
}

impl Arithmetic {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float => "float",
        }
    }
}

/// What a model is run on.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Windows of counts.
    pub windows: &'a [Vec<i16>],
    /// What the host computes for each window.
    pub expected: &'a [Outcome],
    /// Recordings at the rate of the model's audio front end. Where there are none, or where the model
    /// or the board has no front end, it is not measured.
    pub recordings: &'a [Vec<i16>],
}

/// Generates the C of `model`, builds it for a board, runs it and compares it with the host.
///
/// Without [`MeasureOptions::optimize`], [`choose_optimization`] decides, and code for speed that turns out
/// not to fit is replaced by code for size. [`MeasureOptions::compare`] follows from `arithmetic`.
pub fn measure_model(
    board: Board,
    model: &IntegerModel,
    arithmetic: Arithmetic,
    inputs: &Inputs,
    options: &MeasureOptions,
) -> Result<BoardReport, BoardError> {
    let chosen = options.optimize.unwrap_or_else(|| choose_optimization(model, board));
    let compare = match arithmetic {
        Arithmetic::Integer => Compare::Bits,
        Arithmetic::Float => Compare::Classes,
    };
    let mut used = MeasureOptions { optimize: Some(chosen), compare, ..options.clone() };
    let mut measured = measure_frames(board, model, arithmetic, inputs, &used);
    let may_shrink = options.optimize.is_none() && chosen == Optimize::Speed;
    if may_shrink && arithmetic == Arithmetic::Integer && matches!(measured, Err(BoardError::TooLarge { .. }))
    {
        // The folder to keep files in now holds those of the first attempt.
        used = MeasureOptions { optimize: Some(Optimize::Size), keep: None, ..used };
        measured = measure_frames(board, model, arithmetic, inputs, &used);
    }
    let mut report = measured?;
    let is_asked = arithmetic == Arithmetic::Integer && !Platform::new(board).is_simavr();
    if let Some(end) = model.end_of_line().filter(|_| is_asked) {
        let source = c_source(&model.network, &c_options(model, &used))?;
        report.text = Some(measure_text(board, model, end, &source, &used)?);
    }
    let has_front_end = board.info().costs.front_end.is_some();
    let fed = has_front_end && arithmetic == Arithmetic::Integer && !inputs.recordings.is_empty();
    let Some(front) = model.front().filter(|_| fed) else { return Ok(report) };
    let source = c_source(&model.network, &COptions { front: Some(front), ..c_options(model, &used) })?;
    let sound = measure_sound(board, model, &front, &source, inputs.recordings, &used)?;
    Ok(BoardReport { sound: Some(sound), ..report })
}

/// Measures the network alone, fed with frames.
fn measure_frames(
    board: Board,
    model: &IntegerModel,
    arithmetic: Arithmetic,
    inputs: &Inputs,
    options: &MeasureOptions,
) -> Result<BoardReport, BoardError> {
    let source = match arithmetic {
        Arithmetic::Integer => c_source(&model.network, &c_options(model, options))?,
        Arithmetic::Float => float_source(&model.network, &c_options(model, options))?,
    };
    measure(board, &source, inputs.windows, inputs.expected, options)
}

fn c_options(model: &IntegerModel, options: &MeasureOptions) -> COptions {
    let optimize = options.optimize.unwrap_or_default();
    COptions { optimize, end_of_line: model.end_of_line(), ..COptions::default() }
}
