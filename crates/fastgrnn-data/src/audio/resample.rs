//! Another rate for a recording: a windowed sinc, band-limited to the lower of the two rates.
//!
//! Output sample `n` lies at input position `n · from / to`, exactly, by integer arithmetic. Its
//! value is the input weighted by a Kaiser-windowed sinc around that position; beyond its ends a
//! recording is silence. The passband reaches 0.89 of the lower half rate, and whatever would fold
//! back into it is 80 dB down. Sums are taken in a fixed order: the same bits on every machine
//! that has the same sine.

use super::{Audio, AudioError, MAX_SAMPLES};

/// Zero crossings of the sinc on either side.
const CROSSINGS: f64 = 48.0;

/// Where the sinc cuts, as a share of the lower half rate: its transition ends at that rate.
const CUT: f64 = 0.945;

/// The window's shape, for 80 dB.
const BETA: f64 = 7.86;

/// Positions between two input samples for which weights are kept. With more than these, weights
/// are interpolated, which costs 1e-6 of full scale.
const MAX_PHASES: usize = 512;

/// Sums kept apart, so that they can be taken side by side.
const LANES: usize = 8;

/// Weights that take recordings of one rate to another. Make it once for many recordings.
///
/// ```
/// use fastgrnn_data::audio::Resampler;
/// let resampler = Resampler::new(48_000, 16_000);
/// assert_eq!(resampler.apply(&[100.0; 4_800]).len(), 1_600);
/// ```
#[derive(Clone, Debug)]
pub struct Resampler {
    from: u64,
    to: u64,
    phases: usize,
    /// Weights of a phase: input samples before and at the position, then as many after it.
    taps: usize,
    /// `phases + 1` rows of `taps`.
    weights: Vec<f32>,
}

impl Resampler {
    /// From `from` samples a second to `to`; both are taken as at least 1.
    pub fn new(from: u32, to: u32) -> Self {
        let (from, to) = (u64::from(from.max(1)), u64::from(to.max(1)));
        let common = gcd(from, to);
        let (from, to) = (from / common, to / common);
        let phases = usize::try_from(to).unwrap_or(usize::MAX).min(MAX_PHASES);
        // The cut in cycles an input sample, times two.
        let cut = CUT * (to as f64 / from as f64).min(1.0);
        let reach = CROSSINGS / cut;
        let half = (reach.ceil() as usize).next_multiple_of(LANES / 2);
        let taps = 2 * half;
        let mut weights = Vec::with_capacity((phases + 1) * taps);
        for phase in 0..=phases {
            let at = phase as f64 / phases as f64;
            let row = |k: usize| {
                let distance = k as f64 - (half - 1) as f64 - at;
                sinc(cut * distance) * window(distance / reach)
            };
            let sum: f64 = (0..taps).map(row).sum();
            weights.extend((0..taps).map(|k| (row(k) / sum) as f32));
        }
        Self { from, to, phases, taps, weights }
    }

    /// Samples that `n` of them become.
    pub fn length(&self, n: usize) -> usize {
        let exact = (n as u128 * u128::from(self.to) + u128::from(self.from) / 2) / u128::from(self.from);
        usize::try_from(exact).unwrap_or(usize::MAX).max(usize::from(n > 0))
    }

    /// The samples at the new rate.
    pub fn apply(&self, samples: &[f32]) -> Vec<f32> {
        if self.from == self.to {
            return samples.to_vec();
        }
        let half = self.taps / 2;
        let mut padded = vec![0.0; half];
        padded.extend_from_slice(samples);
        padded.resize(samples.len() + self.taps + 1, 0.0);
        let value = |n: u64| {
            let at = n * self.from;
            let (start, rest) = ((at / self.to) as usize, at % self.to);
            // With a row for every position the division leaves nothing.
            let scaled = rest * self.phases as u64;
            let (phase, between) = ((scaled / self.to) as usize, scaled % self.to);
            let Some(around) = padded.get(start + 1..start + 1 + self.taps) else { return 0.0 };
            let left = dot(around, self.row(phase));
            if between == 0 {
                return left;
            }
            let share = (between as f64 / self.to as f64) as f32;
            left + share * (dot(around, self.row(phase + 1)) - left)
        };
        (0..self.length(samples.len()) as u64).map(value).collect()
    }

    fn row(&self, phase: usize) -> &[f32] {
        &self.weights[phase * self.taps..(phase + 1) * self.taps]
    }
}

/// `audio` at `rate` samples a second; unchanged if that is its rate.
///
/// ```
/// use fastgrnn_data::audio::{Audio, resample};
/// let audio = Audio { rate: 8_000, samples: vec![0.0; 8_000] };
/// assert_eq!(resample(&audio, 16_000)?.samples.len(), 16_000);
/// # Ok::<(), fastgrnn_data::audio::AudioError>(())
/// ```
pub fn resample(audio: &Audio, rate: u32) -> Result<Audio, AudioError> {
    let rate = super::samples::checked_rate("resampling", rate)?;
    if rate == audio.rate {
        return Ok(audio.clone());
    }
    let resampler = Resampler::new(audio.rate, rate);
    if resampler.length(audio.samples.len()) > MAX_SAMPLES {
        return Err(super::samples::too_long(&format!(
            "{:.0} s at {rate} samples a second",
            audio.seconds()
        )));
    }
    Ok(Audio { rate, samples: resampler.apply(&audio.samples) })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

fn sinc(x: f64) -> f64 {
    let x = std::f64::consts::PI * x;
    if x.abs() < 1e-9 { 1.0 } else { x.sin() / x }
}

/// Kaiser's window, from -1 to 1.
fn window(x: f64) -> f64 {
    if x.abs() >= 1.0 { 0.0 } else { bessel(BETA * (1.0 - x * x).sqrt()) / bessel(BETA) }
}

/// The modified Bessel function of order 0, by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..64 {
        term *= (x / 2.0 / f64::from(k)).powi(2);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, hertz: f64, n: usize) -> Vec<f32> {
        let step = std::f64::consts::TAU * hertz / f64::from(rate);
        (0..n).map(|i| (10_000.0 * (step * i as f64).sin()) as f32).collect()
    }

    /// The largest value away from the ends, in dB below the tone's amplitude.
    fn level(samples: impl Iterator<Item = f32>) -> f64 {
        let peak = samples.fold(0.0f32, |peak, v| peak.max(v.abs()));
        20.0 * (f64::from(peak) / 10_000.0).log10()
    }

    #[test]
    fn tones_below_the_passband_edge_come_out_as_themselves() {
        for (from, to) in
            [(48_000, 16_000), (44_100, 16_000), (8_000, 16_000), (22_051, 16_000), (16_000, 44_100)]
        {
            for share in [0.01, 0.3, 0.6, 0.88] {
                let hertz = share * f64::from(from.min(to)) / 2.0;
                let out = Resampler::new(from, to).apply(&tone(from, hertz, from as usize / 4));
                let expected = tone(to, hertz, out.len());
                let (skip, keep) = (out.len() / 4, out.len() / 2);
                let error = level(out.iter().zip(&expected).skip(skip).take(keep).map(|(a, b)| a - b));
                assert!(error < -70.0, "{hertz} Hz from {from} to {to}: {error:.1} dB");
            }
        }
    }

    #[test]
    fn tones_that_would_alias_are_gone() {
        for (from, to) in [(48_000, 16_000), (44_100, 16_000), (22_051, 16_000), (16_000, 8_000)] {
            for share in [1.0, 1.1, 1.3] {
                let hertz = share * f64::from(to) / 2.0;
                let out = Resampler::new(from, to).apply(&tone(from, hertz, from as usize / 4));
                let (skip, keep) = (out.len() / 4, out.len() / 2);
                let left = level(out.into_iter().skip(skip).take(keep));
                assert!(left < -70.0, "{hertz} Hz from {from} to {to}: {left:.1} dB");
            }
        }
    }

    #[test]
    fn images_of_a_lower_rate_are_gone() {
        // 3 kHz at 8 kHz has an image at 5 kHz once there are 16,000 samples a second.
        let out = Resampler::new(8_000, 16_000).apply(&tone(8_000, 3_000.0, 4_000));
        let expected = tone(16_000, 3_000.0, out.len());
        assert!(level(out.iter().zip(&expected).skip(1_000).take(6_000).map(|(a, b)| a - b)) < -70.0);
    }

    #[test]
    fn a_constant_stays_what_it_is() {
        for (from, to) in [(44_100, 16_000), (11_025, 16_000), (15_991, 16_000)] {
            let out = Resampler::new(from, to).apply(&vec![1_234.0; 4_000]);
            assert!(out[500..1_000].iter().all(|v| (v - 1_234.0).abs() < 0.01));
        }
    }

    #[test]
    fn lengths_are_those_of_the_same_time() {
        for (from, to, n, expected) in [
            (48_000, 16_000, 48_000, 16_000),
            (44_100, 16_000, 44_100, 16_000),
            (48_000, 16_000, 1, 1),
            (8_000, 16_000, 3, 6),
            (9, 7, 0, 0),
        ] {
            assert_eq!(Resampler::new(from, to).apply(&vec![1.0; n]).len(), expected);
        }
    }

    #[test]
    fn the_same_rate_changes_nothing_and_no_rate_is_refused() {
        let audio = Audio { rate: 16_000, samples: vec![1.0, -7.0] };
        assert_eq!(resample(&audio, 16_000).unwrap(), audio);
        assert!(matches!(resample(&audio, 0), Err(AudioError::Rate { rate: 0, .. })));
    }
}
