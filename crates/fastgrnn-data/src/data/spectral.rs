//! Random changes of log-mel frames that leave the word in them the same.
//!
//! Values are logarithms of energies, so a gain is a sum, and mixing two sounds adds energies before
//! the logarithm ([`mix`]). Masks hide whole filters or frames behind the mean, so they act on
//! normalised values. Unlike changes of the audio itself, all of this works on stored features.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

use super::{DataError, Sequences};
use crate::features::{Kind, Spec};
use fastgrnn_core::rng::Rng;

/// How to change log-mel sequences; the default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spectral {
    /// The most that the level is raised or lowered, in nats of energy (1 nat is 4.3 dB).
    pub gain: f32,
    /// Share of the sequences that background noise is mixed into.
    pub background: f32,
    /// Least signal-to-noise ratio of that, in dB.
    pub snr_low: f32,
    /// Largest.
    pub snr_high: f32,
    /// The most frames of other training sequences that come before a sequence.
    pub lead_in: usize,
    /// Bands of neighbouring filters that are hidden.
    pub freq_masks: usize,
    /// The most filters of such a band.
    pub freq_width: usize,
    /// Stretches of frames that are hidden.
    pub time_masks: usize,
    /// The most frames of such a stretch.
    pub time_width: usize,
}

/// Where noise and lead-ins are taken from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Recordings of background noise.
    pub background: Option<&'a Sequences>,
    /// The least value there is, in nats: what digital silence gives.
    pub floor: f32,
    /// Sequences that a lead-in is cut from, and which of them may be.
    pub sequences: &'a Sequences,
    /// See there.
    pub indices: &'a [u32],
}

impl Spectral {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        !self.changes_raw() && !self.masks()
    }

    /// Whether [`before`](Self::before) changes anything.
    pub fn changes_raw(&self) -> bool {
        self.gain != 0.0 || self.background != 0.0 || self.lead_in != 0
    }

    fn masks(&self) -> bool {
        self.freq_masks * self.freq_width + self.time_masks * self.time_width > 0
    }

    /// Checks the settings against the data they are meant for.
    pub fn check(
        &self,
        dim: usize,
        audio: Option<&Spec>,
        background: Option<&Sequences>,
    ) -> Result<(), DataError> {
        let wrong = |option: &str, problem: String| {
            Err(DataError::Setting { key: format!("augment {option}"), problem })
        };
        if !self.gain.is_finite() || self.gain < 0.0 {
            return wrong("gain", format!("{} is not a number of nats; use 0 or more", self.gain));
        }
        let is_log_mel = audio.is_some_and(|spec| spec.kind() == Kind::LogMel);
        for (option, value) in [("gain", self.gain), ("background", self.background)] {
            if value != 0.0 && !is_log_mel {
                return wrong(
                    option,
                    format!(
                        "{value} is about logarithms of energies; it needs recordings and log-mel features"
                    ),
                );
            }
        }
        if !(0.0..=1.0).contains(&self.background) {
            return wrong("background", format!("{} is not a share between 0 and 1", self.background));
        }
        if self.background > 0.0 {
            if background.is_none_or(Sequences::is_empty) {
                return wrong("background", "this data set brings no background noise; it needs a folder of audio with _background_noise_ in it, or google12, google30 or wakeword:<word>".into());
            }
            let (low, high) = (self.snr_low, self.snr_high);
            if !low.is_finite() || !high.is_finite() || low > high {
                return wrong("snr-low", format!("{low} to {high} dB is no range"));
            }
        }
        if self.freq_masks > 0 && self.freq_width >= dim {
            let problem = format!("{} filters hide all {dim} features; use fewer", self.freq_width);
            return wrong("freq-width", problem);
        }
        for (option, masks, width) in [
            ("freq-masks", self.freq_masks, self.freq_width),
            ("time-masks", self.time_masks, self.time_width),
        ] {
            if (masks == 0) != (width == 0) {
                return wrong(
                    option,
                    format!("{masks} masks of up to {width} do nothing; set both, or neither"),
                );
            }
            if masks > 64 {
                return wrong(option, format!("{masks} masks are too many; use at most 64"));
            }
        }
        Ok(())
    }

    /// Changes one sequence of `dim` features a step, in nats, before normalisation. A lead-in makes
    /// it longer.
    pub fn before(&self, raw: &mut Vec<f32>, dim: usize, from: Sources<'_>, rng: &mut Rng) {
        if self.gain != 0.0 {
            let gain = between(-self.gain, self.gain, rng);
            let floor = from.floor;
            raw.iter_mut().filter(|v| **v > floor).for_each(|v| *v = (*v + gain).max(floor));
        }
        if self.lead_in != 0 {
            self.lead(raw, dim, from, rng);
        }
        if self.background != 0.0
            && let Some(noise) = from.background
            && rng.uniform() < f64::from(self.background)
        {
            let recording = noise.get(rng.below(noise.len()));
            let steps = (raw.len() / dim).min(recording.len() / dim);
            let start = rng.below(recording.len() / dim - steps + 1);
            let snr = between(self.snr_low, self.snr_high, rng);
            let stretch = &recording[start * dim..(start + steps) * dim];
            let gain = level(raw) - level(stretch) - snr * std::f32::consts::LN_10 / 10.0;
            mix(&mut raw[..steps * dim], stretch, gain, from.floor);
        }
    }

    /// Puts the end of other sequences, or of several, in front.
    fn lead(&self, raw: &mut Vec<f32>, dim: usize, from: Sources<'_>, rng: &mut Rng) {
        let mut wanted = rng.below(self.lead_in + 1) * dim;
        let own = raw.len();
        while wanted > 0 && !from.indices.is_empty() {
            let other = from.sequences.get(from.indices[rng.below(from.indices.len())] as usize);
            let taken = wanted.min(other.len());
            if taken == 0 {
                break;
            }
            raw.extend_from_slice(&other[other.len() - taken..]);
            wanted -= taken;
        }
        raw.rotate_left(own);
    }

    /// Hides filters and frames of one normalised sequence behind 0, its mean.
    pub fn after(&self, normalised: &mut [f32], dim: usize, rng: &mut Rng) {
        if !self.masks() {
            return;
        }
        let steps = normalised.len() / dim;
        for _ in 0..self.freq_masks {
            let (start, width) = stretch(dim, self.freq_width, rng);
            normalised.chunks_exact_mut(dim).for_each(|step| step[start..start + width].fill(0.0));
        }
        for _ in 0..self.time_masks {
            let (start, width) = stretch(steps, self.time_width, rng);
            normalised[start * dim..(start + width) * dim].fill(0.0);
        }
    }
}

/// A random stretch of at most `most` of `n`.
fn stretch(n: usize, most: usize, rng: &mut Rng) -> (usize, usize) {
    let width = rng.below(most.min(n) + 1);
    (rng.below(n - width + 1), width)
}

fn between(low: f32, high: f32, rng: &mut Rng) -> f32 {
    low + (high - low) * rng.uniform() as f32
}

/// Mean energy of log-mel values, in nats.
pub fn level(values: &[f32]) -> f32 {
    let sum: f64 = values.iter().map(|v| f64::from(v.exp())).sum();
    (sum / values.len().max(1) as f64).ln() as f32
}

/// Adds `noise`, raised by `gain` nats, to `signal`: ln(e^a + e^(b + gain)), at least `floor`.
///
/// ```
/// let mut signal = [3.0, 10.0, -2.0];
/// fastgrnn_data::data::spectral::mix(&mut signal, &[3.0, 0.0, 6.0], 0.0, -2.0);
/// assert!((signal[0] - 3.0 - 2f32.ln()).abs() < 1e-3);
/// assert!((signal[1] - 10.0).abs() < 1e-3 && (signal[2] - 6.0).abs() < 1e-3);
/// ```
pub fn mix(signal: &mut [f32], noise: &[f32], gain: f32, floor: f32) {
    for (a, b) in signal.iter_mut().zip(noise) {
        let b = b + gain;
        *a = (a.max(b) + softplus((*a - b).abs())).max(floor);
    }
}

/// ln(1 + e^−x) for x ≥ 0, to 3 decimals: twelve nats in steps of 1/64, linear between them.
fn softplus(x: f32) -> f32 {
    const STEPS: usize = 12 * 64;
    static TABLE: LazyLock<Vec<f32>> =
        LazyLock::new(|| (0..STEPS + 2).map(|i| (-(i as f64) / 64.0).exp().ln_1p() as f32).collect());
    let place = x * 64.0;
    let at = place as usize;
    if at >= STEPS {
        return 0.0;
    }
    TABLE[at] + (TABLE[at + 1] - TABLE[at]) * (place - at as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: f32 = -2.0;

    fn noise() -> Sequences {
        let mut noise = Sequences::new(2);
        noise.push(&(0..400).map(|i| (i % 7) as f32).collect::<Vec<_>>());
        noise
    }

    fn words() -> Sequences {
        let mut words = Sequences::new(2);
        (0..3).for_each(|k| words.push(&[10.0 * k as f32; 12]));
        words
    }

    fn changed(spectral: Spectral, key: u64) -> Vec<f32> {
        let (noise, words) = (noise(), words());
        let from = Sources { background: Some(&noise), floor: FLOOR, sequences: &words, indices: &[0, 2] };
        let mut raw = vec![5.0; 20];
        spectral.before(&mut raw, 2, from, &mut Rng::keyed(1, &[key]));
        raw
    }

    #[test]
    fn mixing_adds_energies() {
        for (a, b, gain) in [(1.0f32, 1.0f32, 0.0f32), (5.0, 3.5, 0.25), (-2.0, 4.0, -3.0), (20.0, 2.0, 0.0)]
        {
            let mut mixed = [a];
            mix(&mut mixed, &[b], gain, FLOOR);
            let exact = (a.exp() + (b + gain).exp()).ln();
            assert!((mixed[0] - exact).abs() < 1e-3, "{} {exact}", mixed[0]);
        }
    }

    #[test]
    fn noise_comes_at_the_ratio_asked_for() {
        let spectral = Spectral { background: 1.0, snr_low: 6.0, snr_high: 6.0, ..Spectral::default() };
        for key in 0..20 {
            let mixed = changed(spectral, key);
            let noise: f64 = mixed.iter().map(|v| f64::from(v.exp()) - 5f64.exp()).sum::<f64>() / 20.0;
            let decibels = 10.0 * (5f64.exp() / noise).log10();
            assert!((decibels - 6.0).abs() < 0.1, "{decibels}");
        }
    }

    #[test]
    fn a_gain_moves_every_value_alike_and_leaves_silence_silent() {
        let spectral = Spectral { gain: 2.0, ..Spectral::default() };
        let louder = changed(spectral, 3);
        assert!(louder.iter().all(|&v| v == louder[0]) && louder[0] != 5.0);
        let words = words();
        let from = Sources { background: None, floor: FLOOR, sequences: &words, indices: &[] };
        let mut silent = vec![FLOOR; 4];
        spectral.before(&mut silent, 2, from, &mut Rng::keyed(1, &[5]));
        assert_eq!(silent, [FLOOR; 4]);
    }

    #[test]
    fn a_lead_in_comes_before_and_from_the_sequences_allowed() {
        let spectral = Spectral { lead_in: 15, ..Spectral::default() };
        let mut lengths = std::collections::BTreeSet::new();
        for key in 0..200 {
            let led = changed(spectral, key);
            assert!(led.ends_with(&[5.0; 20]), "{led:?}");
            assert!(led[..led.len() - 20].iter().all(|&v| v == 0.0 || v == 20.0));
            lengths.insert(led.len() / 2 - 10);
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), (0..=15).collect::<Vec<_>>());
    }

    #[test]
    fn masks_hide_at_most_their_width() {
        let spectral = Spectral { freq_masks: 1, freq_width: 2, ..Spectral::default() };
        let other = Spectral { time_masks: 1, time_width: 3, ..Spectral::default() };
        for key in 0..100 {
            let mut values = vec![1.0; 40];
            spectral.after(&mut values, 4, &mut Rng::keyed(2, &[key]));
            let hidden = values[..4].iter().filter(|v| **v == 0.0).count();
            assert!(hidden <= 2 && values.chunks(4).all(|step| step == &values[..4]));
            let mut values = vec![1.0; 40];
            other.after(&mut values, 4, &mut Rng::keyed(2, &[key]));
            assert!(values.iter().filter(|v| **v == 0.0).count() <= 12);
        }
    }

    #[test]
    fn settings_that_do_nothing_or_hide_everything_are_refused() {
        let audio = Spec::default();
        let problem = |spectral: Spectral| spectral.check(4, Some(&audio), None).unwrap_err().to_string();
        let loud = Spectral { gain: 1.0, ..Spectral::default() };
        assert!(loud.check(4, None, None).unwrap_err().to_string().contains("log-mel"));
        assert!(loud.check(4, Some(&audio), None).is_ok());
        assert!(problem(Spectral { gain: -1.0, ..Spectral::default() }).contains("-1"));
        assert!(problem(Spectral { background: 0.5, ..Spectral::default() }).contains("_background_noise_"));
        assert!(problem(Spectral { freq_masks: 1, freq_width: 4, ..Spectral::default() }).contains("all 4"));
        assert!(problem(Spectral { time_masks: 2, ..Spectral::default() }).contains("set both"));
    }
}
