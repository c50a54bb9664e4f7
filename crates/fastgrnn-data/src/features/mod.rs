//! The audio front end: sound in, one row of features every 10 ms out, defined once.
//!
//! A [`Spec`] says everything there is to say (rate, window, hop, filters, floor); it is what a
//! recipe and a model file carry, as one line of text. From it come [`Front`], the log-mel of the
//! paper in floating point, and [`IntegerFront`], what devices compute, in integers only. A front end is fed like a microphone feeds
//! it: chunks of any size, frames out as soon as they are whole, and the same values as for all
//! samples at once.
//!
//! ```
//! use fastgrnn_data::features::{Front, Spec, extract};
//!
//! let spec: Spec = "log-mel,filters=20".parse()?;
//! let second: Vec<i16> = (0..16_000).map(|i| ((i * i / 97) % 2_000) as i16).collect();
//! let whole = extract(&spec, &second);
//! assert_eq!(whole.len(), spec.frames(16_000) * spec.dim());
//!
//! let (mut front, mut rows) = (Front::new(&spec), Vec::new());
//! for chunk in second.chunks(37) {
//!     front.push(chunk, &mut |row| rows.extend_from_slice(row));
//! }
//! front.finish(&mut |row| rows.extend_from_slice(row));
//! assert_eq!(rows, whole);
//! # Ok::<(), fastgrnn_data::features::SpecError>(())
//! ```
mod dct;
mod error;
mod fft;
mod front;
mod integer;
mod mel;
mod spec;
mod tables;
mod text;

pub use error::SpecError;
pub use front::Front;
pub use integer::IntegerFront;
pub use spec::{Kind, Spec};
pub use tables::Tables;

/// What one count of an integer feature is worth, in nats.
pub const COUNT: f32 = 1.0 / 256.0;

/// The features of all samples at once, frame by frame; the last window is padded with zeros.
pub fn extract(spec: &Spec, samples: &[i16]) -> Vec<f32> {
    let mut rows = Vec::with_capacity(spec.frames(samples.len()) * spec.dim());
    let mut front = Front::new(spec);
    front.push(samples, &mut |row| rows.extend_from_slice(row));
    front.finish(&mut |row| rows.extend_from_slice(row));
    rows
}

/// The same as integer counts, as a device computes them.
///
/// ```
/// use fastgrnn_data::features::{COUNT, Spec, extract, extract_counts};
/// let chirp: Vec<i16> = (0..8_000).map(|i| (i * i % 9_001) as i16).collect();
/// let (float, counts) = (extract(&Spec::default(), &chirp), extract_counts(&Spec::default(), &chirp));
/// assert!(float.iter().zip(&counts).all(|(f, &n)| (f - f32::from(n) * COUNT).abs() < 0.05));
/// ```
pub fn extract_counts(spec: &Spec, samples: &[i16]) -> Vec<i16> {
    let mut rows = Vec::with_capacity(spec.frames(samples.len()) * spec.dim());
    let mut front = IntegerFront::new(spec);
    front.push(samples, &mut |row| rows.extend_from_slice(row));
    front.finish(&mut |row| rows.extend_from_slice(row));
    rows
}
