//! Varied copies of training clips, made from their audio when a folder is read.
//!
//! What is changed is what changes between a quiet room and a kitchen: when the word begins, how
//! loud it is, and what else is heard. What a copy draws depends on its clip and its number alone.

use super::super::speech::{Background, Pick, Split};
use super::job::Job;
use fastgrnn_core::rng::{Rng, stream};

/// The most that a copy is moved in time, in seconds.
const SHIFT: f64 = 0.1;

/// The most that a copy is made louder or softer, in dB.
const GAIN: f64 = 6.0;

/// Share of the copies with noise in the background.
const NOISY: f64 = 0.8;

/// Default signal-to-noise ratios, in dB.
const SNR: (f64, f64) = (5.0, 25.0);

/// How many copies, and how noisy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vary {
    /// Varied copies of each training clip.
    pub copies: usize,
    /// Least signal-to-noise ratio in dB; 0 with `high` means the usual range.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Vary {
    /// No copies.
    pub fn none() -> Self {
        Self::default()
    }

    /// The copies of `jobs`: those of recordings, copy by copy.
    pub fn copies(&self, jobs: &[Job]) -> Vec<Job> {
        let clips = || jobs.iter().filter(|job| matches!(job.pick, Pick::Clip(_)));
        (1..=self.copies).flat_map(|copy| clips().map(move |job| Job { copy, ..job.clone() })).collect()
    }

    /// Changes `samples` as the copy `job` says.
    pub fn apply(&self, samples: &mut [i16], job: &Job, rate: u32, background: Option<&Background>) {
        let Pick::Clip(clip) = job.pick else { return };
        let mut rng = Rng::keyed(0, &[stream::SPEECH, 3, clip as u64, job.copy as u64]);
        shift(samples, (rng.range(-SHIFT, SHIFT) * f64::from(rate)).round() as isize);
        let gain = decibels(rng.range(-GAIN, GAIN));
        let (low, high) = if (self.low, self.high) == (0.0, 0.0) { SNR } else { (self.low, self.high) };
        let (is_noisy, snr, number) = (rng.uniform() < NOISY, rng.range(low, high), rng.next_u64());
        let noise =
            background.filter(|_| is_noisy).map(|noise| noise.drawn(Split::Train, number, samples.len()));
        let noise = noise.unwrap_or(&[]);
        let factor = match (level(samples), level(noise)) {
            (signal, noise) if signal > 0.0 && noise > 0.0 => gain * signal / noise / decibels(snr),
            _ => 0.0,
        };
        for (i, sample) in samples.iter_mut().enumerate() {
            let other = noise.get(i).map_or(0.0, |&noise| factor * f64::from(noise));
            *sample = (gain * f64::from(*sample) + other).round() as i16;
        }
    }
}

fn decibels(level: f64) -> f64 {
    10f64.powf(level / 20.0)
}

/// The root of the mean square.
fn level(samples: &[i16]) -> f64 {
    let sum: f64 = samples.iter().map(|&s| f64::from(s) * f64::from(s)).sum();
    (sum / samples.len().max(1) as f64).sqrt()
}

/// Moves `samples` later by `by`, or earlier; what comes in is silence.
fn shift(samples: &mut [i16], by: isize) {
    let (n, gap) = (samples.len(), by.unsigned_abs().min(samples.len()));
    if by >= 0 {
        samples.copy_within(..n - gap, gap);
        samples[..gap].fill(0);
    } else {
        samples.copy_within(gap.., 0);
        samples[n - gap..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Spec;

    fn tone() -> Vec<i16> {
        (0..16_000).map(|i| (3_000.0 * (0.2 * f64::from(i)).sin()) as i16).collect()
    }

    fn job(clip: usize, copy: usize) -> Job {
        Job { copy, ..Job::of(Pick::Clip(clip), Split::Train) }
    }

    #[test]
    fn a_shift_fills_with_silence_and_never_wraps() {
        let shifted = |by| {
            let mut samples = [1, 2, 3, 4];
            shift(&mut samples, by);
            samples
        };
        assert_eq!(shifted(1), [0, 1, 2, 3]);
        assert_eq!(shifted(-3), [4, 0, 0, 0]);
        assert_eq!(shifted(9), [0; 4]);
        assert_eq!(shifted(-9), [0; 4]);
    }

    #[test]
    fn a_copy_depends_on_its_clip_and_number_alone() {
        let copy = |clip, copy| {
            let mut samples = tone();
            Vary { copies: 2, ..Vary::none() }.apply(&mut samples, &job(clip, copy), 16_000, None);
            samples
        };
        assert_eq!(copy(3, 1), copy(3, 1));
        assert_ne!(copy(3, 1), copy(3, 2));
        assert_ne!(copy(3, 1), copy(4, 1));
    }

    #[test]
    fn noise_is_mixed_in_at_the_ratio_asked_for() {
        let mut rng = Rng::new(1);
        let hiss = (0..16_000 * 10).map(|_| (2_000.0 * rng.normal()) as i16).collect();
        let background = Background::new(&Spec::default(), vec![hiss]).unwrap();
        let mut met = 0;
        for clip in 0..20 {
            let copy = |low| {
                let mut samples = tone();
                Vary { copies: 1, low, high: low }.apply(
                    &mut samples,
                    &job(clip, 1),
                    16_000,
                    Some(&background),
                );
                samples
            };
            // Against a copy with next to no noise, what is left is the noise.
            let (clean, noisy) = (copy(90.0), copy(6.0));
            let noise: Vec<i16> = noisy.iter().zip(&clean).map(|(a, b)| a - b).collect();
            if level(&noise) > 1.0 {
                let snr = 20.0 * (level(&clean) / level(&noise)).log10();
                assert!((snr - 6.0).abs() < 0.2, "{snr}");
                met += 1;
            }
        }
        assert!((10..20).contains(&met), "{met} of 20 are noisy");
    }

    #[test]
    fn silence_has_no_copies() {
        let jobs = [job(0, 0), Job::of(Pick::Noise(0), Split::Train), job(1, 0)];
        let copies = Vary { copies: 2, ..Vary::none() }.copies(&jobs);
        assert_eq!(copies.iter().map(|job| job.copy).collect::<Vec<_>>(), [1, 1, 2, 2]);
    }
}
