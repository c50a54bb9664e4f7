//! Measuring a model with an audio front end, which is fed sound.
//!
//! The firmware calls the generated `push` with one hop of samples at a time, as a microphone's driver
//! would. Its states and scores must be those of the host's integer front end and runtime. A second
//! image is fed the frames that the host computes from the same sound; it shows what the network's
//! step takes, and the difference is the front end's share.

use crate::counts::RunCounts;
use crate::emulate::{RunOptions, emulate};
use crate::firmware::{FirmwareInput, build};
use crate::measure::{check_stack, measure};
use crate::optimization::default_optimization;
use crate::platform::Platform;
use crate::report::{SoundReport, mismatches};
use crate::work::WorkFolder;
use crate::{BoardError, BoardReport, Compare, MeasureOptions, outcomes};
use fastgrnn::device::Board;
use fastgrnn::features::{IntegerFront, Spec};
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::{CSource, FrontEndInfo};

/// Runs `source`, which was generated from `model` with the front end `front`, on recordings at the
/// front end's rate.
pub fn measure_sound(
    board: Board,
    model: &IntegerModel,
    front: &Spec,
    source: &CSource,
    recordings: &[Vec<i16>],
    options: &MeasureOptions,
) -> Result<SoundReport, BoardError> {
    let platform = Platform::new(board);
    let id = board.id();
    let Some(FrontEndInfo { table_bytes, ram_bytes, .. }) = source.front else {
        return Err(BoardError::NoSound {
            board: id,
            why: "the code was generated without an audio front end",
        });
    };
    if platform.info.costs.front_end.is_none() {
        let why = "it has no room for an audio front end";
        return Err(BoardError::NoSound { board: id, why });
    }
    let frames = frames(front, recordings);
    let expected = outcomes(model, &frames);
    let network =
        measure(board, source, &frames, &expected, &MeasureOptions { keep: None, ..options.clone() })?;

    let work = WorkFolder::new(board)?;
    let flag = platform.optimization_flag(options.optimize.unwrap_or_else(|| default_optimization(board)));
    let firmware = build(&work, &platform, flag, source, FirmwareInput::Sound)?;
    work.write("windows", &encode(recordings))?;
    let wait_states = platform.wait_states().map_or(0, |wait| options.wait_states.unwrap_or(wait));
    let how = RunOptions { windows: recordings.len(), wait_states, limit: options.limit };
    let run = emulate(&work, &platform, &firmware, &how)?;
    if let Some(folder) = &options.keep {
        work.keep(&folder.with_extension("sound"))?;
    }
    check_stack(board, &firmware, run.stack)?;
    let (mismatches, first_mismatch) = mismatches(&expected, &run.outcomes, Compare::Bits);
    let report = timed(board, front, &run.counts, &network);
    let flash_bytes = firmware.app.flash().saturating_sub(firmware.empty.flash());
    Ok(SoundReport {
        flash_bytes,
        flash_front_end_bytes: flash_bytes.saturating_sub(network.flash_bytes),
        table_bytes,
        ram_static_bytes: firmware.app.ram().saturating_sub(firmware.empty.ram()),
        ram_front_end_bytes: ram_bytes,
        stack_bytes: run.stack,
        mismatches,
        first_mismatch,
        ..report
    })
}

/// The averages per frame of what all calls took.
fn timed(board: Board, front: &Spec, counts: &RunCounts, network: &BoardReport) -> SoundReport {
    let frames = network.steps;
    let per_frame = |sum: u64| if frames == 0 { 0.0 } else { sum as f64 / frames as f64 };
    let cycles = network.cycles_per_step.map(|_| per_frame(counts.step.cycles.own));
    let front_end = cycles.zip(network.cycles_per_step).map(|(all, network)| all - network);
    let ms = |cycles: Option<f64>| Some(cycles? / f64::from(board.info().clock?) * 1e3);
    let between = front.hop() as f64 / f64::from(front.rate()) * 1e3;
    SoundReport {
        frames,
        cycles_per_frame: cycles,
        cycles_front_end: front_end,
        cycles_network: network.cycles_per_step,
        instructions_per_frame: per_frame(counts.step.instructions),
        ms_per_frame: ms(cycles),
        ms_front_end: ms(front_end),
        ms_between_frames: between,
        duty: ms(cycles).map(|ms| ms / between),
        ..SoundReport::default()
    }
}

/// The complete frames of each recording.
fn frames(front: &Spec, recordings: &[Vec<i16>]) -> Vec<Vec<i16>> {
    let of = |samples: &Vec<i16>| {
        let mut rows = Vec::new();
        IntegerFront::new(front).push(samples, &mut |row| rows.extend_from_slice(row));
        rows
    };
    recordings.iter().map(of).collect()
}

/// The file `windows` from which the firmware reads sound.
fn encode(recordings: &[Vec<i16>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for samples in recordings {
        bytes.extend((samples.len() as u32).to_le_bytes());
        bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    }
    bytes
}
