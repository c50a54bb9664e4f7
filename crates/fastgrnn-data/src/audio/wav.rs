//! WAV: chunks of a RIFF file, and PCM or float samples.
//!
//! Written here, because an error is to say where in the file it is wrong and what stands there.
//!
//! Programs that write to a pipe do not know the length of what they write, and leave 0, 2³²−1 or a
//! number close to 2³¹ in its place: such a data chunk goes on to the end of the file.

use super::error::AudioError;
use super::samples::{Audio, MAX_SAMPLES, checked_rate, too_long};

/// Lengths from here on are placeholders of programs that write to a pipe.
const UNKNOWN_LENGTH: u64 = 0x7fff_f000;

/// How a sample is stored, always little-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SampleKind {
    Integer,
    Float,
}

struct SampleFormat {
    kind: SampleKind,
    channels: usize,
    rate: u32,
    /// Bytes a sample of one channel.
    width: usize,
}

pub(super) fn decode(file: &str, bytes: &[u8]) -> Result<Audio, AudioError> {
    let corrupt = |place: String, problem: String| AudioError::Corrupt { file: file.into(), place, problem };
    if bytes.len() < 12 {
        let (expected, found) = (12, bytes.len() as u64);
        let place = "RIFF header".into();
        return Err(AudioError::Truncated { file: file.into(), place, unit: "bytes", expected, found });
    }
    if bytes[8..12] != *b"WAVE" {
        let problem = format!("a RIFF file of form '{}', not 'WAVE'", bytes[8..12].escape_ascii());
        return Err(AudioError::Unsupported { file: file.into(), place: "byte 8".into(), problem });
    }
    let is_piped = matches!(u32_at(bytes, 4), Some(0 | u32::MAX));
    let (mut format, mut long_length, mut at) = (None, None, 12);
    while let (Some(id), Some(length)) = (bytes.get(at..at + 4), u32_at(bytes, at + 4)) {
        let (start, length) = (at + 8, u64::from(length));
        let rest = &bytes[start..];
        let body = &rest[..rest.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        match id {
            b"fmt " => format = Some(SampleFormat::read(file, start, body)?),
            b"ds64" => long_length = body.get(8..16).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes),
            b"data" => {
                let place = format!("data chunk at byte {at}");
                let format = format.ok_or_else(|| corrupt(place.clone(), "no fmt chunk before it".into()))?;
                let length = long_length.filter(|_| length == u64::from(u32::MAX)).unwrap_or(length);
                let open = length >= UNKNOWN_LENGTH && length > rest.len() as u64 || length == 0 && is_piped;
                let expected = if open { rest.len() as u64 } else { length };
                let Some(data) = usize::try_from(expected).ok().and_then(|length| rest.get(..length)) else {
                    let (file, found) = (file.into(), rest.len() as u64);
                    return Err(AudioError::Truncated { file, place, unit: "bytes", expected, found });
                };
                return format.samples(file, data);
            }
            _ => {}
        }
        let end = start as u64 + length;
        at = match usize::try_from(end).ok().filter(|&end| end < bytes.len()) {
            Some(end) => padded(bytes, end),
            None => break,
        };
    }
    Err(corrupt(format!("byte {at}"), "the file ends without a data chunk".into()))
}

/// Where the chunk after one that ends at `end` begins: at an even byte, unless the writer forgot.
fn padded(bytes: &[u8], end: usize) -> usize {
    let forgotten = [b"data", b"fmt ", b"fact", b"LIST"].iter().any(|id| bytes[end..].starts_with(*id));
    end + usize::from(end % 2 == 1 && !forgotten)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl SampleFormat {
    /// Reads the body of a `fmt ` chunk, which lies at byte `at`.
    fn read(file: &str, at: usize, body: &[u8]) -> Result<Self, AudioError> {
        let place = format!("fmt chunk at byte {at}");
        let (Some(tag), Some(channels), Some(rate), Some(block), Some(bits)) =
            (u16_at(body, 0), u16_at(body, 2), u32_at(body, 4), u16_at(body, 12), u16_at(body, 14))
        else {
            let (expected, found) = (16, body.len() as u64);
            return Err(AudioError::Truncated { file: file.into(), place, unit: "bytes", expected, found });
        };
        let unsupported = |problem: String| {
            let (file, place) = (file.into(), place.clone());
            Err(AudioError::Unsupported { file, place, problem })
        };
        // WAVE_FORMAT_EXTENSIBLE: the real tag opens the sub-format at byte 24.
        let tag = if tag == 0xfffe { u16_at(body, 24).unwrap_or(tag) } else { tag };
        let kind = match tag {
            1 => SampleKind::Integer,
            3 => SampleKind::Float,
            _ => {
                let name = match tag {
                    2 | 0x11 => " (ADPCM)",
                    6 => " (A-law)",
                    7 => " (mu-law)",
                    0x55 => " (MP3)",
                    _ => "",
                };
                return unsupported(format!("format tag {tag}{name}; PCM (1) and float (3) are read"));
            }
        };
        // Fewer bits than bytes hold are stored at their upper end: 12 bits read as 16.
        let width = usize::from(bits).div_ceil(8);
        match (kind, width) {
            (SampleKind::Integer, 1..=4) => {}
            (SampleKind::Float, 4 | 8) if bits.is_multiple_of(32) => {}
            (SampleKind::Integer, _) => {
                return unsupported(format!("{bits}-bit integers; 1 to 32 bits are read"));
            }
            (SampleKind::Float, _) => {
                return unsupported(format!("{bits}-bit floats; 32 and 64 bits are read"));
            }
        }
        let corrupt = |problem: String| {
            let (file, place) = (file.into(), place.clone());
            Err(AudioError::Corrupt { file, place, problem })
        };
        let channels = usize::from(channels);
        if channels == 0 {
            return corrupt("0 channels".into());
        }
        if block != 0 && usize::from(block) != channels * width {
            return corrupt(format!(
                "{channels} channels of {bits} bits are {} bytes a frame, but it says {block}",
                channels * width
            ));
        }
        Ok(Self { kind, channels, rate: checked_rate(file, rate)?, width })
    }

    /// Mixes the samples in `data` down; an incomplete frame at its end is left out.
    fn samples(&self, file: &str, data: &[u8]) -> Result<Audio, AudioError> {
        let frame = self.channels * self.width;
        if data.len() / frame > MAX_SAMPLES {
            return Err(too_long(file));
        }
        let mut samples = Vec::with_capacity(data.len() / frame);
        for frame in data.chunks_exact(frame) {
            let sum: f64 = frame.chunks_exact(self.width).map(|sample| value(self.kind, sample)).sum();
            let mean = sum / self.channels as f64;
            if !(mean as f32).is_finite() {
                let (file, sample, value) = (file.into(), samples.len(), mean);
                return Err(AudioError::NotFinite { file, sample, value });
            }
            samples.push(mean as f32);
        }
        Ok(Audio { rate: self.rate, samples })
    }
}

/// A stored sample on the scale of 16-bit integers.
fn value(kind: SampleKind, bytes: &[u8]) -> f64 {
    match (kind, bytes) {
        (SampleKind::Integer, &[b]) => (f64::from(b) - 128.0) * 256.0,
        (SampleKind::Integer, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
        (SampleKind::Integer, &[a, b, c]) => f64::from(i32::from_le_bytes([0, a, b, c])) / 65_536.0,
        (SampleKind::Integer, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])) / 65_536.0,
        (SampleKind::Float, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])) * 32_768.0,
        (SampleKind::Float, &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h]) * 32_768.0
        }
        _ => unreachable!("SampleFormat::read lets no other width pass"),
    }
}
