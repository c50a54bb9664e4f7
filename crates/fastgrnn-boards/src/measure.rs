//! Measuring C code on a board.

use crate::BoardError;
use crate::counts::{CycleCounts, RunCounts};
use crate::emulate::{RunOptions, RunResult, emulate};
use crate::firmware::{Firmware, FirmwareInput, build};
use crate::optimization::default_optimization;
use crate::outcome::{Outcome, encode, hash};
use crate::platform::{Platform, missing_tools};
use crate::report::{BoardReport, Compare, mismatches};
use crate::work::WorkFolder;
use fastgrnn::device::Board;
use fastgrnn_export::{CSource, Optimize};
use std::path::PathBuf;
use std::time::Duration;

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Wait states of the flash; by default those of the board. No effect on boards without wait states.
    pub wait_states: Option<u32>,
    /// What the compiler optimises for; by default what
    /// [`default_optimization`] returns for the board.
    pub optimize: Option<Optimize>,
    /// What is compared with the host: every bit, or, for code in floats, the class of each window.
    pub compare: Compare,
    /// A folder that does not exist yet, to keep everything that was built and written.
    pub keep: Option<PathBuf>,
    /// How long the emulator may run.
    pub limit: Duration,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self {
            wait_states: None,
            optimize: None,
            compare: Compare::Bits,
            keep: None,
            limit: Duration::from_secs(1800),
        }
    }
}

/// Builds `source` (whose names have the prefix `model`) for a board, runs it on `windows` of counts and
/// compares the results with those that are `expected`.
///
/// Different results are not an error; [`BoardReport::mismatches`] counts them.
pub fn measure(
    board: Board,
    source: &CSource,
    windows: &[Vec<i16>],
    expected: &[Outcome],
    options: &MeasureOptions,
) -> Result<BoardReport, BoardError> {
    if windows.is_empty() || windows.len() != expected.len() {
        return Err(BoardError::Windows { windows: windows.len(), expected: expected.len() });
    }
    if let Some(path) = options.keep.as_ref().filter(|path| path.exists()) {
        return Err(BoardError::KeepExists { path: path.clone() });
    }
    if let Some(missing) = missing_tools(board).into_iter().next() {
        return Err(missing);
    }
    let work = WorkFolder::new(board)?;
    let measured = in_folder(&work, source, windows, expected, options);
    // Failed builds are kept as well, because they are the ones to look into.
    if let Some(folder) = &options.keep {
        work.keep(folder)?;
    }
    measured
}

fn in_folder(
    work: &WorkFolder,
    source: &CSource,
    windows: &[Vec<i16>],
    expected: &[Outcome],
    options: &MeasureOptions,
) -> Result<BoardReport, BoardError> {
    let (board, platform) = (work.board, Platform::new(work.board));
    let flag = platform.optimization_flag(options.optimize.unwrap_or_else(|| default_optimization(board)));
    let firmware = build(work, &platform, flag, source, FirmwareInput::Frames)?;
    if let Some((window, outcome)) =
        expected.iter().enumerate().find(|(_, o)| o.scores.len() != firmware.outputs)
    {
        return Err(BoardError::Outputs { window, found: outcome.scores.len(), outputs: firmware.outputs });
    }
    work.write("windows", &encode(windows, firmware.features)?)?;
    let wait_states = platform.wait_states().map(|own| options.wait_states.unwrap_or(own));
    let how =
        RunOptions { windows: windows.len(), wait_states: wait_states.unwrap_or(0), limit: options.limit };
    let run = emulate(work, &platform, &firmware, &how)?;
    check_stack(board, &firmware, run.stack)?;
    let report = report(&platform, &firmware, &run, expected, options.compare);
    let optimize = if source.optimize == Optimize::Speed { "speed" } else { "size" };
    Ok(BoardReport { optimize, compiler_flag: flag, wait_states, ..report })
}

/// Whether the flash of the board has wait states, so that [`MeasureOptions::wait_states`] has an effect.
pub fn has_wait_states(board: Board) -> bool {
    Platform::new(board).wait_states().is_some()
}

/// Checks that variables and stack fit the RAM together.
pub(crate) fn check_stack(board: Board, firmware: &Firmware, stack: usize) -> Result<(), BoardError> {
    let info = board.info();
    let needed = firmware.app.ram() + stack;
    match info.ram {
        Some(available) if needed > available => {
            Err(BoardError::TooLarge { name: info.name, memory: "RAM", needed, available })
        }
        _ => Ok(()),
    }
}

fn report(
    platform: &Platform,
    firmware: &Firmware,
    run: &RunResult,
    expected: &[Outcome],
    compare: Compare,
) -> BoardReport {
    let info = platform.info;
    let RunCounts { reset, step, classify } = run.counts;
    let windows = expected.len() as f64;
    let per_step = |sum: u64| if step.calls == 0 { 0.0 } else { sum as f64 / step.calls as f64 };
    let per_inference = |of: fn(&CycleCounts) -> u64| {
        (of(&reset.cycles) + of(&step.cycles) + of(&classify.cycles)) as f64 / windows
    };
    let counted = platform.counts_instructions_only();
    let cycles = |n: f64| (!counted).then_some(n);
    let ms = |n: f64| info.clock.filter(|_| !counted).map(|hz| n / f64::from(hz) * 1e3);
    let (count, first) = mismatches(expected, &run.outcomes, compare);
    let own = per_inference(|c| c.own);
    let zero_wait = per_inference(|c| c.zero_wait);
    let uncached = per_inference(|c| c.uncached);
    BoardReport {
        board: info.id,
        name: info.name,
        flash_bytes: firmware.app.flash().saturating_sub(firmware.empty.flash()),
        ram_static_bytes: firmware.app.ram().saturating_sub(firmware.empty.ram()),
        stack_bytes: run.stack,
        instructions_per_step: per_step(step.instructions),
        cycles_per_step: cycles(per_step(step.cycles.own)),
        cycles_per_inference: cycles(own),
        ms_per_step: ms(per_step(step.cycles.own)),
        ms_per_inference: ms(own),
        measured_or_modelled: match platform.is_simavr() {
            true => "measured",
            false if counted => "counted",
            false => "modelled",
        },
        mismatches: count,
        first_mismatch: first,
        windows: expected.len(),
        steps: step.calls,
        hash: format!("{:016x}", hash(run.outcomes.iter().flat_map(|o| o.scores.iter().copied()))),
        instructions_per_inference: (reset.instructions + step.instructions + classify.instructions) as f64
            / windows,
        cycles_per_step_most: (!counted).then_some(step.most),
        clock_hz: info.clock,
        wait_states: None,
        cycles_per_step_zero_wait: cycles(per_step(step.cycles.zero_wait)),
        cycles_per_inference_zero_wait: cycles(zero_wait),
        ms_per_inference_zero_wait: ms(zero_wait),
        cycles_per_step_uncached: cycles(per_step(step.cycles.uncached)),
        cycles_per_inference_uncached: cycles(uncached),
        ms_per_inference_uncached: ms(uncached),
        image_flash_bytes: firmware.app.flash(),
        optimize: "",
        compiler_flag: "",
        emulator: platform.emulator_name(),
        sound: None,
        text: None,
    }
}
