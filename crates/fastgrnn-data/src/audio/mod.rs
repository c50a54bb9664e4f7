//! Recordings: WAV and FLAC files as one channel of samples.
//!
//! [`read`] and [`decode`] tell the format by the content, never by the file's ending, mix all
//! channels down to one and keep the file's own rate; [`resample()`] changes it. Samples are
//! `f32` on the scale of 16-bit integers, whatever the file's width: a 16-bit mono file passes
//! through [`Audio::to_i16`] bit for bit.
//!
//! Files are not trusted. Whatever the bytes say, the result is [`Audio`] or an [`AudioError`]
//! that names file, place and value, and memory follows what the file holds, not what it claims.
//!
//! ```
//! use fastgrnn_data::audio;
//! let mut wav = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
//! wav.extend(16_000u32.to_le_bytes());
//! wav.extend(32_000u32.to_le_bytes());
//! wav.extend(b"\x02\0\x10\0data\x04\0\0\0\x01\0\xff\x7f");
//! let audio = audio::decode("two.wav", &wav)?;
//! assert_eq!((audio.rate, audio.to_i16()), (16_000, vec![1, 32_767]));
//! # Ok::<(), audio::AudioError>(())
//! ```

mod error;
mod flac;
mod resample;
mod samples;
mod wav;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::AudioError;
pub use resample::{Resampler, resample};
pub use samples::{Audio, MAX_BYTES, MAX_SAMPLES};

/// Reads the WAV or FLAC file at `path`.
pub fn read(path: &Path) -> Result<Audio, AudioError> {
    let io = |source| AudioError::Io { path: path.into(), source };
    let name = path.display().to_string();
    let file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(AudioError::TooLong { file: name, limit: format!("{MAX_BYTES} bytes") });
    }
    decode(&name, &bytes)
}

/// Decodes the `bytes` of a WAV or FLAC file; `name` is what errors call it.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Audio, AudioError> {
    let audio = match bytes {
        [b'R', b'I', b'F', b'F', ..] | [b'R', b'F', b'6', b'4', ..] | [b'B', b'W', b'6', b'4', ..] => {
            wav::decode(name, bytes)?
        }
        _ if after_tag(bytes).starts_with(b"fLaC") => flac::decode(name, after_tag(bytes))?,
        [] => return Err(AudioError::Empty { file: name.into(), what: "the file has no bytes" }),
        _ => return Err(AudioError::NotAudio { file: name.into(), found: looks_like(bytes) }),
    };
    if audio.samples.is_empty() {
        return Err(AudioError::Empty {
            file: name.into(),
            what: "its header is whole, but no sample follows",
        });
    }
    Ok(audio)
}

/// What follows an ID3v2 tag, which some programs write before FLAC.
fn after_tag(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'I', b'D', b'3', _, _, _, size @ ..] if size.len() >= 4 => {
            let size = size[..4].iter().fold(0, |sum, &byte| sum << 7 | usize::from(byte & 0x7f));
            bytes.get(10 + size..).unwrap_or(&[])
        }
        _ => bytes,
    }
}

/// What the first bytes of a file that is not read say about it.
fn looks_like(bytes: &[u8]) -> String {
    let known: [(&[u8], &str); 7] = [
        (b"OggS", "an Ogg file"),
        (b"ID3", "an MP3 file"),
        (b"\xff\xfb", "an MP3 file"),
        (b"FORM", "an AIFF file"),
        (b"RIFX", "a big-endian WAV file"),
        (b"caff", "a CAF file"),
        (b".snd", "an AU file"),
    ];
    match known.iter().find(|(start, _)| bytes.starts_with(start)) {
        Some((_, name)) => (*name).into(),
        None => {
            let start: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("a file that begins with the bytes {}", start.join(" "))
        }
    }
}

/// Whether a file of this name is taken for a recording. Its content decides how it is read.
pub fn is_recording(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["wav", "wave", "flac"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}
