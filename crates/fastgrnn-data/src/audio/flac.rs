//! FLAC, decoded by claxon: frame by frame, every frame's checksum verified.

use claxon::{Error, FlacReader, FlacReaderOptions};

use super::error::AudioError;
use super::samples::{Audio, MAX_SAMPLES, checked_rate, too_long};

pub(super) fn decode(file: &str, bytes: &[u8]) -> Result<Audio, AudioError> {
    let options = FlacReaderOptions { metadata_only: false, read_vorbis_comment: false };
    let mut reader =
        FlacReader::new_ext(bytes, options).map_err(|error| explain(file, "header".into(), error))?;
    let info = reader.streaminfo();
    let rate = checked_rate(file, info.sample_rate)?;
    let scale = 2f64.powi(16 - info.bits_per_sample as i32) / f64::from(info.channels);
    let mut samples: Vec<f32> = Vec::new();
    let (mut blocks, mut buffer) = (reader.blocks(), Vec::new());
    for frame in 0u64.. {
        let place = format!("frame {frame}, after {} samples", samples.len());
        let block = match blocks.read_next_or_eof(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) => {
                return Err(cut_off(file, &info, samples.len(), &error)
                    .unwrap_or_else(|| explain(file, place, error)));
            }
        };
        if block.channels() != info.channels {
            let problem = format!("{} channels, but the header says {}", block.channels(), info.channels);
            return Err(AudioError::Corrupt { file: file.into(), place, problem });
        }
        if samples.len() + block.duration() as usize > MAX_SAMPLES {
            return Err(too_long(file));
        }
        let channels: Vec<&[i32]> = (0..block.channels()).map(|channel| block.channel(channel)).collect();
        samples.extend((0..block.duration() as usize).map(|i| {
            let sum: f64 = channels.iter().map(|channel| f64::from(channel[i])).sum();
            (sum * scale) as f32
        }));
        buffer = block.into_buffer();
    }
    match info.samples {
        Some(expected) if expected > samples.len() as u64 => Err(truncated(file, expected, samples.len())),
        _ => Ok(Audio { rate, samples }),
    }
}

/// The error for a file that ends inside a frame.
fn cut_off(
    file: &str,
    info: &claxon::metadata::StreamInfo,
    found: usize,
    error: &Error,
) -> Option<AudioError> {
    match (error, info.samples) {
        (Error::IoError(_), Some(expected)) if expected > found as u64 => {
            Some(truncated(file, expected, found))
        }
        _ => None,
    }
}

fn truncated(file: &str, expected: u64, found: usize) -> AudioError {
    let (place, found) = ("FLAC stream".into(), found as u64);
    AudioError::Truncated { file: file.into(), place, unit: "samples", expected, found }
}

fn explain(file: &str, place: String, error: Error) -> AudioError {
    let (file, place) = (file.into(), format!("FLAC {place}"));
    match error {
        Error::Unsupported(problem) => AudioError::Unsupported { file, place, problem: problem.into() },
        Error::FormatError(problem) => AudioError::Corrupt { file, place, problem: problem.into() },
        Error::IoError(_) => AudioError::Corrupt { file, place, problem: "the file ends too early".into() },
    }
}
