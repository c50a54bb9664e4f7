//! `fastgrnn board`

use crate::args::{BoardArgs, Boards};
use crate::console::Console;
use crate::failure::Stopped;
use crate::interrupt;
use crate::misuse::misuse;
use crate::table::{facts, table};
use crate::{board_sound, board_text, dataset, model};
use anyhow::{Context, anyhow};
use fastgrnn::data::Sequences;
use fastgrnn::device::Board;
use fastgrnn::model::AnyModel;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::count;
use fastgrnn_boards::{
    Arithmetic, BoardError, BoardReport, Inputs, MeasureOptions, choose_optimization, has_wait_states, hash,
    measure_model, missing_tools, outcomes,
};
use fastgrnn_export::Optimize;
use serde::Serialize;
use std::path::Path;

/// The default number of windows to run.
const SAMPLES: usize = 100;

#[derive(Serialize)]
struct BoardOutput<'a> {
    boards: Vec<BoardReport>,
    /// Boards that `all` included and that have no room for the model.
    does_not_fit: Vec<Problem>,
    /// Boards whose run failed, when there were several.
    failed: Vec<Problem>,
    dataset: &'a str,
    split: &'a str,
    windows: usize,
    /// `integer` or `float`: the arithmetic on the boards. The host computes in integers.
    arithmetic: &'static str,
    /// Hash of the host's scores.
    hash: String,
}

#[derive(Serialize)]
struct Problem {
    board: &'static str,
    why: String,
}

/// Builds the model for boards, runs it there and compares.
pub fn run(args: BoardArgs, console: Console) -> anyhow::Result<()> {
    let model = integer(&args.model)?;
    let boards = chosen(&args.boards);
    if let Some(missing) = boards.iter().flat_map(|&b| missing_tools(b)).next() {
        return Err(missing.into());
    }
    let data = dataset::load_any(&model.model, &args.source.dataset, args.source.test, args.data, console)?;
    let (split, part) = dataset::part(&model.model, data, args.source.split, console)?;
    model
        .model
        .check_sequences(&part.x)
        .with_context(|| format!("the model does not fit '{}'", args.source.dataset))?;
    let windows = windows(&model, &part.x, args.samples.map_or(SAMPLES, |n| n as usize));
    let expected = outcomes(&model, &windows);
    let recordings = board_sound::recordings(&model, &args.wav)?;
    let arithmetic = if args.float { Arithmetic::Float } else { Arithmetic::Integer };
    let mut answer = BoardOutput {
        boards: Vec::new(),
        does_not_fit: Vec::new(),
        failed: Vec::new(),
        dataset: &args.source.dataset,
        split: split.name(),
        windows: windows.len(),
        arithmetic: arithmetic.name(),
        hash: format!("{:016x}", hash(expected.iter().flat_map(|o| o.scores.iter().copied()))),
    };
    let named = |board: Board| args.boards.contains(&Boards::One(board));
    if args.wait_states.is_some()
        && let Some(board) = boards.iter().find(|&&b| named(b) && !has_wait_states(b))
    {
        return Err(misuse(format!(
            "--wait-states has no meaning for {}: there is no model of wait states for its flash; leave it out",
            board.id()
        )));
    }
    interrupt::end_boards();
    let inputs = Inputs { windows: &windows, expected: &expected, recordings: &recordings };
    for &board in &boards {
        let id = board.id();
        console.note(&format!("{id}: {} windows of '{}'", windows.len(), args.source.dataset));
        let options = MeasureOptions {
            wait_states: args.wait_states.filter(|_| has_wait_states(board)),
            optimize: args.optimize.map(Into::into),
            keep: args.keep.as_ref().map(|folder| folder.join(id)),
            ..MeasureOptions::default()
        };
        let measured = measure_model(board, &model, arithmetic, &inputs, &options);
        if interrupt::is_requested() {
            return Err(Stopped { what: "nothing was kept".into(), resume: None }.into());
        }
        match measured {
            Ok(report) => {
                let expected_speed =
                    options.optimize.is_none() && choose_optimization(&model, board) == Optimize::Speed;
                if expected_speed && report.optimize == "size" {
                    console.note(&format!("{id}: code for speed does not fit; code for size"));
                }
                answer.boards.push(report);
            }
            Err(error @ BoardError::TooLarge { .. }) if !named(board) => {
                answer.does_not_fit.push(Problem { board: id, why: error.to_string() });
            }
            // One board's failure does not take the others' figures away.
            Err(error) if boards.len() > 1 => {
                answer.failed.push(Problem { board: id, why: with_flag(error).to_string() });
            }
            Err(error) => return Err(with_flag(error)),
        }
    }
    console.answer(&answer, || describe(&answer))?;
    if let Some(failed) = answer.failed.first() {
        return Err(anyhow!(
            "{} of {} boards failed; {}: {}",
            answer.failed.len(),
            boards.len(),
            failed.board,
            failed.why
        ));
    }
    // Floats round otherwise: a class may differ where two scores are close.
    if args.float { Ok(()) } else { agreed(&answer.boards) }
}

/// The error with the flag that helps, where there is one.
fn with_flag(error: BoardError) -> anyhow::Error {
    let hint = match &error {
        BoardError::Timeout { .. } => "fewer windows take less time: --samples",
        BoardError::KeepExists { .. } => "name another folder with --keep",
        _ => return error.into(),
    };
    anyhow!("{error}; {hint}")
}

/// Reads the model, which must be an integer model.
fn integer(path: &Path) -> anyhow::Result<Box<IntegerModel>> {
    match model::load(path)? {
        AnyModel::Integer(model) => Ok(model),
        AnyModel::Float(model) => Err(model::not_integer(&model, path, "and boards compute in integers")),
    }
}

/// Each board once, in the order of the table.
fn chosen(requested: &[Boards]) -> Vec<Board> {
    let wanted = |b: &Board| requested.contains(&Boards::All) || requested.contains(&Boards::One(*b));
    Board::ALL.into_iter().filter(wanted).collect()
}

/// Tokens of a language model's text that make a window.
const PIECE: usize = 64;

/// About `samples` sequences as counts, spread over all; of a language model's texts, pieces.
fn windows(model: &IntegerModel, x: &Sequences, samples: usize) -> Vec<Vec<i16>> {
    if model.end_of_line().is_some() {
        let mut all = Vec::new();
        (0..x.len()).for_each(|i| model.sequence_counts(x, i, &mut all));
        let pieces: Vec<&[i16]> = all.chunks(PIECE).collect();
        let samples = samples.min(pieces.len());
        return (0..samples).map(|k| pieces[k * pieces.len() / samples].to_vec()).collect();
    }
    let samples = samples.min(x.len());
    let window = |k: usize| {
        let mut counts = Vec::new();
        model.sequence_counts(x, k * x.len() / samples, &mut counts);
        counts
    };
    (0..samples).map(window).collect()
}

/// An error that shows the first value that is not the host's.
fn agreed(boards: &[BoardReport]) -> anyhow::Result<()> {
    for report in boards {
        let heard = report.sound.as_ref();
        let first = report.first_mismatch.as_ref().or(heard.and_then(|sound| sound.first_mismatch.as_ref()));
        let wrote = report.text.as_ref();
        let first = first.or(wrote.and_then(|text| text.first_mismatch.as_ref()));
        if let Some(first) = first {
            return Err(anyhow!(
                "the board {} differs from the host in {} values; first in window {}: {} is {}, and {} on the host",
                report.board,
                report.mismatches
                    + heard.map_or(0, |sound| sound.mismatches)
                    + wrote.map_or(0, |text| text.mismatches),
                first.window,
                first.value,
                first.found,
                first.expected
            ));
        }
    }
    Ok(())
}

fn describe(answer: &BoardOutput) -> String {
    let optional = |n: Option<f64>, places: usize| n.map_or("-".to_owned(), |n| format!("{n:.places$}"));
    let rows = answer.boards.iter().map(|b| {
        vec![
            b.board.to_owned(),
            format!("{} {}", b.optimize, b.compiler_flag),
            count(b.flash_bytes as u64),
            count(b.ram_static_bytes as u64),
            count(b.stack_bytes as u64),
            count(b.instructions_per_step.round() as u64),
            b.cycles_per_step.map_or("-".to_owned(), |n| count(n.round() as u64)),
            optional(b.ms_per_step, 3),
            optional(b.ms_per_inference, 2),
            optional(b.ms_per_inference_zero_wait, 2),
            optional(b.ms_per_inference_uncached, 2),
            b.measured_or_modelled.to_owned(),
            b.mismatches.to_string(),
        ]
    });
    let heading = [
        "board",
        "made for",
        "flash, B",
        "RAM, B",
        "stack, B",
        "instr/step",
        "cycles/step",
        "ms/step",
        "ms/window",
        "no wait",
        "no cache",
        "cycles are",
        "mismatches",
    ];
    let mut text = facts(&[
        ("data", format!("{} ({}), {} windows", answer.dataset, answer.split, answer.windows)),
        ("scores", format!("hash {} on the host", answer.hash)),
        ("boards", format!("compute with {}s", answer.arithmetic)),
    ]);
    text.push_str(&format!("\n{}", table(&heading, &rows.collect::<Vec<_>>())));
    text.push_str(&board_sound::describe(&answer.boards));
    text.push_str(&board_text::describe(&answer.boards));
    for small in answer.does_not_fit.iter().chain(&answer.failed) {
        text.push_str(&format!("  {}: {}\n", small.board, small.why));
    }
    text.push_str(
        "\n  ms/window: a whole window at the board's clock and flash; `no wait` if flash had no wait states,\n  \
         `no cache` if every access to it had them. Modelled cycles are no measurement: docs/board-models.md.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_boards::Mismatch;

    #[test]
    fn boards_are_measured_once_each_in_one_order() {
        let requested = [Boards::One(Board::M3), Boards::One(Board::Uno), Boards::One(Board::M3)];
        assert_eq!(chosen(&requested), [Board::Uno, Board::M3]);
        assert_eq!(chosen(&[Boards::One(Board::M3), Boards::All]).len(), Board::ALL.len());
    }

    #[test]
    fn a_board_that_differs_is_a_failure_that_shows_the_first_value() {
        let same = BoardReport { board: "uno", ..BoardReport::default() };
        assert!(agreed(std::slice::from_ref(&same)).is_ok());
        let first = Mismatch { window: 7, value: "score 2".into(), expected: 5, found: -5 };
        let other = BoardReport { board: "m3", mismatches: 9, first_mismatch: Some(first), ..same.clone() };
        let error = agreed(&[same, other]).unwrap_err().to_string();
        for part in ["m3", "9 values", "window 7", "score 2 is -5", "5 on the host"] {
            assert!(error.contains(part), "{part} is not in {error}");
        }
    }
}
