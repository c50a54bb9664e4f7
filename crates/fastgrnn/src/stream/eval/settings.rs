//! What to play, how to count, and why an evaluation fails.

use super::choose::{SMOOTHINGS, thresholds};
use crate::stream::StreamError;

/// Which policies of resets are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resets {
    /// The detector's own.
    Own,
    /// None, and after quiet frames: how many and how quiet is chosen.
    Search,
}

/// What to play and how to count.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalSettings {
    /// What streams are drawn from.
    pub seed: u64,
    /// Targets of the test stream, all different.
    pub targets: usize,
    /// Frames of the test stream.
    pub frames: usize,
    /// Frames a second.
    pub rate: f64,
    /// Words are this many dB above the noise, from and to.
    pub snr: (f64, f64),
    /// Frames after a target's clip in which a detection still counts.
    pub tolerance: usize,
    /// Thresholds to choose from.
    pub thresholds: Vec<u16>,
    /// Smoothings to choose from.
    pub smoothings: Vec<u8>,
    /// Resets to choose from.
    pub resets: Resets,
}

impl Default for EvalSettings {
    /// The streaming wake-word task: 50 targets in 20 minutes at 100 frames a second.
    fn default() -> Self {
        Self {
            seed: 0,
            targets: 50,
            frames: 120_000,
            rate: 100.0,
            snr: (5.0, 25.0),
            tolerance: 50,
            thresholds: thresholds(),
            smoothings: SMOOTHINGS.collect(),
            resets: Resets::Search,
        }
    }
}

/// Why a model cannot be evaluated on streams.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The model cannot listen.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// No clip of a keyword.
    #[error("the {part} part has no clip of {}; stream-eval needs clips of what it should detect", .keywords.join(", "))]
    NoTargets {
        /// Which part of the data.
        part: &'static str,
        /// What the detector reports.
        keywords: Vec<String>,
    },
    /// Nothing to choose from.
    #[error("no threshold or no smoothing to choose from")]
    NoChoice,
}
