//! The threshold and smoothing with the fewest errors.

use super::count::{Counts, Occurrence};
use super::trace::Trace;
use fastgrnn_model::quantize::Detector;

/// Thresholds to try, even in the logarithm of the odds: from 0.018 to 0.9997.
pub fn thresholds() -> Vec<u16> {
    let odds = (0..=48).map(|i| f64::from(i) * 0.25 - 4.0);
    odds.map(|x| (f64::from(Detector::ONE) / (1.0 + f64::exp(-x))).round() as u16).collect()
}

/// Smoothings to try.
pub const SMOOTHINGS: std::ops::RangeInclusive<u8> = 0..=6;

/// A setting and what it does on the stream that it was chosen on.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The threshold.
    pub threshold: u16,
    /// The smoothing.
    pub smoothing: u8,
    /// Hits and misses.
    pub counts: Counts,
}

/// Chooses the setting with the fewest false negatives and false positives together. Neighbouring
/// thresholds count half: a point beside a cliff is not taken. Of equals the first smoothing and the
/// highest threshold win. Also says what it cost.
pub fn choose(
    trace: &Trace,
    targets: &[Occurrence],
    tolerance: u64,
    thresholds: &[u16],
    smoothings: &[u8],
) -> Option<(usize, Choice)> {
    let mut best: Option<(usize, Choice)> = None;
    for &smoothing in smoothings {
        let counts: Vec<Counts> = thresholds
            .iter()
            .map(|&threshold| Counts::of(targets, &trace.heard(threshold, smoothing), tolerance))
            .collect();
        let errors: Vec<usize> = counts.iter().map(|c| c.false_negatives + c.false_positives).collect();
        for i in (0..thresholds.len()).rev() {
            let at = |j: usize| errors.get(j).copied().unwrap_or(errors[i]);
            let cost = 2 * errors[i] + at(i + 1) + i.checked_sub(1).map_or(errors[i], at);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let (threshold, counts) = (thresholds[i], counts[i].clone());
                best = Some((cost, Choice { threshold, smoothing, counts }));
            }
        }
    }
    best
}
