//! Every way in which a recording can be unreadable.

use std::path::PathBuf;

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioError {
    /// The operating system refused to read the file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Neither WAV nor FLAC, whatever the file is called.
    #[error(
        "{file}: this is {found}; WAV and FLAC are read: convert it, for example with ffmpeg -i FILE -c:a pcm_s16le NEW.wav"
    )]
    NotAudio {
        /// The file.
        file: String,
        /// What it seems to be.
        found: String,
    },
    /// WAV or FLAC of a kind that is not read.
    #[error("{file}: {place}: {problem}; convert it, for example with ffmpeg -i FILE -c:a pcm_s16le NEW.wav")]
    Unsupported {
        /// The file.
        file: String,
        /// Where in the file.
        place: String,
        /// What is not read, and what is.
        problem: String,
    },
    /// A file that ends before its content does.
    #[error("{file}: {place}: {expected} {unit} are announced, {found} are there; copy or record it again")]
    Truncated {
        /// The file.
        file: String,
        /// What is cut off.
        place: String,
        /// What is counted: bytes or samples.
        unit: &'static str,
        /// How many there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A file that breaks the rules of its format.
    #[error("{file}: {place}: {problem}; the file is damaged: copy or record it again")]
    Corrupt {
        /// The file.
        file: String,
        /// Where in the file.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// A float sample that is no number.
    #[error("{file}: sample {sample} is {value}, not a finite number; export the recording again")]
    NotFinite {
        /// The file.
        file: String,
        /// Which sample, counted from 0.
        sample: usize,
        /// What stands there.
        value: f64,
    },
    /// A rate that no recording has.
    #[error("{file}: {rate} samples a second; 1,000 to 768,000 make sense: is the header right?")]
    Rate {
        /// The file.
        file: String,
        /// The rate.
        rate: u32,
    },
    /// No sound in it.
    #[error("{file}: there is no sound in it ({what}); record it again, or remove it")]
    Empty {
        /// The file.
        file: String,
        /// What is there.
        what: &'static str,
    },
    /// More than is read into memory.
    #[error("{file}: longer than {limit}; cut it into shorter recordings")]
    TooLong {
        /// The file.
        file: String,
        /// The limit.
        limit: String,
    },
}
