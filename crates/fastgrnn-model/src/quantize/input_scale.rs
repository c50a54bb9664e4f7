//! Choosing what a count is worth, and how counts become the network's input.

use super::calibrate::{Feature, Ranges};
use super::network::scaled;
use super::{InputScale, QuantizeError};
use crate::model::Model;
use fastgrnn_data::data::Sequences;
use fastgrnn_data::features;

/// The largest 16-bit number.
pub(super) const MOST: f32 = 32_767.0;
/// Room for inputs larger than in calibration.
const INPUT_HEADROOM: f32 = 1.25;

/// The most fraction bits with which `largest` fits 16 bits.
pub(super) fn bits_for(largest: f32) -> i32 {
    if largest > 0.0 { (MOST / largest).log2().floor().clamp(-100.0, 100.0) as i32 } else { 30 }
}

/// How counts of the features become the network's input. `given` is what one count of each is worth.
pub(super) fn input_scale(
    model: &Model,
    ranges: &Ranges,
    given: Option<&[f32]>,
) -> Result<InputScale, QuantizeError> {
    let dim = ranges.features.len();
    let lsb = match given {
        // A front end delivers counts of its own.
        None if model.audio.is_some() => vec![features::COUNT; dim],
        None => ranges.features.iter().map(chosen_lsb).collect(),
        Some(given) => given_lsb(given, &ranges.features)?,
    };
    let of = |values: &[f32], d: usize, otherwise: f64| values.get(d).map_or(otherwise, |&v| f64::from(v));
    let scale = |d: usize| of(&model.normalizer.scale, d, 1.0);
    let mean = |d: usize| of(&model.normalizer.mean, d, 0.0);
    // What one count moves the normalised input by.
    let worth: Vec<f64> = (0..dim).map(|d| f64::from(lsb[d]) * scale(d)).collect();
    let largest = worth.iter().fold(0f64, |top, &w| top.max(w));
    let mut bits = bits_for(ranges.input * INPUT_HEADROOM).clamp(0, 14);
    // The largest factor takes 14 bits; the shift must lie between 0 and 30.
    let shift_for = |bits: i32| (MOST_FACTOR / (largest * f64::from(bits).exp2())).log2().floor() as i32;
    while shift_for(bits) < 0 && bits > 0 {
        bits -= 1;
    }
    let shift = shift_for(bits).clamp(0, 30);
    // Small factors are shifted further, to keep their bits.
    let scale_of = |d: usize, longer: u16| f64::from(bits + shift + 4 * i32::from(longer)).exp2() * worth[d];
    let longest = ((30 - shift) / 4).min(3) as u16;
    let longer: Vec<u16> =
        (0..dim).map(|d| (0..longest).find(|&k| scale_of(d, k) >= SMALL_FACTOR).unwrap_or(longest)).collect();
    let mut factors = Vec::with_capacity(dim);
    for (feature, &k) in longer.iter().enumerate() {
        let factor = scale_of(feature, k).round();
        if !(LEAST_FACTOR..=MOST_FACTOR).contains(&factor) {
            return Err(QuantizeError::Worth { feature, lsb: lsb[feature], worth: worth[feature] });
        }
        factors.push(factor as u16 | k << 14);
    }
    let offsets: Vec<f64> = (0..dim).map(|d| mean(d) / f64::from(lsb[d]) * scale_of(d, longer[d])).collect();
    let furthest = offsets.iter().fold(0f64, |top, v| top.max(v.abs()));
    let offset_shift = (furthest / 32_767.0).log2().ceil().clamp(0.0, 14.0) as u32;
    let unit = f64::from(offset_shift).exp2();
    if let Some(feature) = offsets.iter().position(|o| (o / unit).abs() > 32_768.0) {
        return Err(QuantizeError::Mean { feature, mean: mean(feature) });
    }
    let offsets = offsets.iter().map(|o| (o / unit).round().clamp(-32_768.0, 32_767.0) as i16).collect();
    Ok(InputScale { lsb, offsets, factors, shift: shift as u32, offset_shift, bits: bits as u32 })
}

/// The largest factor of an input: 14 bits.
const MOST_FACTOR: f64 = 16_383.0;
/// A smaller factor is shifted further.
const SMALL_FACTOR: f64 = 256.0;
/// The smallest factor that still is a scale.
const LEAST_FACTOR: f64 = 32.0;
/// A feature that varies must do so by this many counts.
const LEAST_COUNTS: f64 = 2.0;

/// Whether counts of these sizes hold the data: the part of quantising that a long training need
/// not wait for.
pub fn check_lsb(given: Option<&[f32]>, x: &Sequences) -> Result<(), QuantizeError> {
    let Some(given) = given else { return Ok(()) };
    if x.has_tokens() {
        return Err(QuantizeError::LsbOfText);
    }
    let all: Vec<u32> = (0..x.len() as u32).collect();
    given_lsb(given, &Feature::all(x, &all)).map(drop)
}

/// One worth for each feature, with which its counts are neither too many nor too few.
fn given_lsb(given: &[f32], features: &[Feature]) -> Result<Vec<f32>, QuantizeError> {
    let dim = features.len();
    let lsb = match given.len() {
        1 => vec![given[0]; dim],
        found if found == dim => given.to_vec(),
        found => return Err(QuantizeError::LsbCount { found, expected: dim }),
    };
    for (feature, (&lsb, seen)) in lsb.iter().zip(features).enumerate() {
        if !(lsb.is_finite() && lsb > 0.0) {
            return Err(QuantizeError::Lsb { feature, value: lsb });
        }
        let largest = seen.largest();
        let counts = f64::from(largest) / f64::from(lsb);
        if counts > 32_768.0 {
            // Rounded up at the digits that the message shows.
            let least = f64::from(largest) / 32_767.0 * 1.01;
            return Err(QuantizeError::TooManyCounts { feature, largest, lsb, counts, least });
        }
        let counts = (f64::from(seen.high) - f64::from(seen.low)) / f64::from(lsb);
        if counts > 0.0 && counts < LEAST_COUNTS && !(seen.whole && counts >= 1.0) {
            return Err(QuantizeError::TooFewCounts { feature, low: seen.low, high: seen.high, lsb, counts });
        }
    }
    Ok(lsb)
}

/// Whole numbers are counts already; others get the power of two that uses 16 bits well.
fn chosen_lsb(feature: &Feature) -> f32 {
    if feature.whole && feature.largest() <= MOST {
        return 1.0;
    }
    scaled(1.0, -bits_for(feature.largest() * INPUT_HEADROOM))
}
