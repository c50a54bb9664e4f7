//! What streams are made of: clips of words and recordings of noise.

use super::schedule::Schedule;

/// What a stream is made of.
pub trait Material {
    /// Frames of each clip.
    fn clips(&self) -> Vec<usize>;
    /// The model's class of a clip, where it has one.
    fn class(&self, clip: usize) -> Option<usize>;
    /// The frame of a clip in which its word ends: the last at most [`AUDIBLE_DB`](super::AUDIBLE_DB) dB below the loudest.
    fn word_end(&self, clip: usize) -> usize;
    /// Frames of each recording of noise.
    fn recordings(&self) -> Vec<usize>;
    /// Plays a schedule frame by frame, in counts.
    fn play(&self, schedule: &Schedule, frame: &mut dyn FnMut(&[i16]));
}
