//! The part of `fastgrnn board` that feeds sound to models with an audio front end.

use crate::misuse::misuse;
use crate::table::table;
use fastgrnn::audio;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::count;
use fastgrnn::rng::Rng;
use fastgrnn_boards::{BoardReport, SoundReport};
use std::path::PathBuf;

/// The recordings, at the front end's rate, that a model with an audio front end is fed: those in the
/// files, or noise that grows from a whisper to full scale. Empty for other models.
pub fn recordings(model: &IntegerModel, files: &[PathBuf]) -> anyhow::Result<Vec<Vec<i16>>> {
    let Some(front) = model.front() else {
        return match files {
            [] => Ok(Vec::new()),
            _ => Err(misuse("--wav is for models that listen; this one has no audio front end".to_owned())),
        };
    };
    let read = |path: &PathBuf| Ok(audio::resample(&audio::read(path)?, front.rate())?.to_i16());
    let mut recordings = files.iter().map(read).collect::<Result<Vec<_>, audio::AudioError>>()?;
    if recordings.is_empty() {
        let mut rng = Rng::new(6);
        let samples = 2 * front.rate() as usize;
        let noise = |i: usize| {
            (rng.range(-1.0, 1.0) * 32_767.0 * (12.0 * (i as f64 / samples as f64 - 1.0)).exp2()) as i16
        };
        recordings.push((0..samples).map(noise).collect());
    }
    Ok(recordings)
}

/// A table of the boards that were fed sound; empty where none was.
pub fn describe(boards: &[BoardReport]) -> String {
    let row = |board: &BoardReport, sound: &SoundReport| {
        let cycles = |n: Option<f64>| n.map_or("-".to_owned(), |n| count(n.round() as u64));
        vec![
            board.board.to_owned(),
            cycles(sound.cycles_front_end),
            cycles(sound.cycles_network),
            sound.ms_per_frame.map_or("-".to_owned(), |ms| format!("{ms:.3}")),
            sound.duty.map_or("-".to_owned(), |duty| format!("{:.1}", 100.0 * duty)),
            count(sound.flash_front_end_bytes as u64),
            count((sound.flash_bytes - sound.flash_front_end_bytes) as u64),
            count(sound.ram_front_end_bytes as u64),
            count((sound.ram_static_bytes.saturating_sub(sound.ram_front_end_bytes)) as u64),
            count(sound.stack_bytes as u64),
            sound.mismatches.to_string(),
        ]
    };
    let rows: Vec<_> = boards.iter().filter_map(|board| Some(row(board, board.sound.as_ref()?))).collect();
    let Some((frames, apart)) = boards
        .iter()
        .find_map(|board| board.sound.as_ref().map(|sound| (sound.frames, sound.ms_between_frames)))
    else {
        return String::new();
    };
    let heading = [
        "board",
        "front end, cycles",
        "network, cycles",
        "ms/frame",
        "busy, %",
        "front end, flash",
        "network, flash",
        "front end, RAM",
        "other RAM",
        "stack, B",
        "mismatches",
    ];
    format!(
        "\n  Sound in: {} frames, one every {apart} ms; front end and network apart.\n\n{}",
        count(frames),
        table(&heading, &rows)
    )
}
