//! The front end in floating point: the definition, as the paper's archive was computed.

use super::fft::Fft;
use super::spec::{Kind, Spec};
use super::{dct, mel};
use std::f64::consts::PI;

/// Added to every energy before its logarithm.
const TINY: f64 = 1e-10;

/// Turns samples into frames of features, in 64-bit floats inside.
///
/// `y[n] = x[n] - p x[n-1]`, with 0 before the first sample; windows of `y` times a Hamming window,
/// padded with zeros to the transform's length `N`; power `|Y|^2 / N`; triangular filters; natural
/// logarithm of the energy plus 1e-10, at least the floor; for MFCC the orthonormal DCT-II of that.
pub struct Front {
    spec: Spec,
    fft: Fft,
    hamming: Vec<f64>,
    edges: Vec<usize>,
    dct: Vec<f64>,
    /// Pre-emphasised samples that the next window starts with.
    waiting: Vec<f64>,
    /// How many of them a window has already seen.
    seen: usize,
    previous: f64,
    work: Work,
}

/// What one frame needs on its way.
struct Work {
    power: Vec<f64>,
    mel: Vec<f64>,
    row: Vec<f32>,
}

impl Front {
    /// A front end at the start of a recording.
    pub fn new(spec: &Spec) -> Self {
        let work = Work {
            power: vec![0.0; spec.fft() / 2 + 1],
            mel: vec![0.0; spec.filters],
            row: vec![0.0; spec.dim()],
        };
        Self {
            spec: *spec,
            fft: Fft::new(spec.fft()),
            hamming: hamming(spec).collect(),
            edges: spec.edges(),
            dct: match spec.kind {
                Kind::LogMel => Vec::new(),
                Kind::Mfcc => dct::matrix(spec.coefficients, spec.filters),
            },
            waiting: Vec::with_capacity(spec.window),
            seen: 0,
            previous: 0.0,
            work,
        }
    }

    /// What it computes.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Takes samples; `frame` gets every frame that they complete.
    pub fn push(&mut self, samples: &[i16], frame: &mut impl FnMut(&[f32])) {
        for &sample in samples {
            let sample = f64::from(sample);
            self.waiting.push(sample - self.spec.pre_emphasis * self.previous);
            self.previous = sample;
            if self.waiting.len() == self.spec.window {
                self.emit(frame);
                self.waiting.drain(..self.spec.hop);
                self.seen = self.waiting.len();
            }
        }
    }

    /// The recording ends: samples that no window has seen make a last one, padded with zeros.
    /// Then everything is as at the start.
    pub fn finish(&mut self, frame: &mut impl FnMut(&[f32])) {
        if self.waiting.len() > self.seen {
            self.emit(frame);
        }
        self.reset();
    }

    /// As at the start of a recording.
    pub fn reset(&mut self) {
        self.waiting.clear();
        self.seen = 0;
        self.previous = 0.0;
    }

    /// The frame of what is waiting.
    fn emit(&mut self, frame: &mut impl FnMut(&[f32])) {
        let Work { power, mel, row } = &mut self.work;
        let windowed = |n: usize| self.waiting.get(n).map_or(0.0, |y| y * self.hamming[n]);
        self.fft.power(windowed, power);
        power.iter_mut().for_each(|p| *p /= self.spec.fft() as f64);
        mel::energies(&self.edges, power, mel);
        mel.iter_mut().for_each(|e| *e = (*e + TINY).ln().max(self.spec.floor));
        match self.spec.kind {
            Kind::LogMel => row.iter_mut().zip(&*mel).for_each(|(out, &value)| *out = value as f32),
            Kind::Mfcc => {
                for (out, cosines) in row.iter_mut().zip(self.dct.chunks_exact(mel.len())) {
                    *out = cosines.iter().zip(&*mel).map(|(c, value)| c * value).sum::<f64>() as f32;
                }
            }
        }
        frame(row);
    }
}

/// The Hamming window.
pub(super) fn hamming(spec: &Spec) -> impl Iterator<Item = f64> + use<> {
    let turn = 2.0 * PI / (spec.window - 1) as f64;
    (0..spec.window).map(move |n| 0.54 - 0.46 * (turn * n as f64).cos())
}

#[cfg(test)]
mod tests {
    use super::super::extract;
    use super::*;

    #[test]
    fn silence_is_the_floor_and_its_mfcc_one_constant() {
        assert!(extract(&Spec::default(), &[0; 16_000]).iter().all(|&value| value == -2.0));
        let mfcc: Spec = "mfcc".parse().unwrap();
        for row in extract(&mfcc, &[0; 1_000]).chunks(13) {
            assert!((row[0] + 2.0 * 32_f32.sqrt()).abs() < 1e-5, "{row:?}");
            assert!(row[1..].iter().all(|value| value.abs() < 1e-5), "{row:?}");
        }
    }

    #[test]
    fn frames_are_as_many_as_the_spec_says() {
        let spec = Spec::default();
        for n in [0, 1, 399, 400, 401, 559, 560, 561, 1_000, 16_000] {
            assert_eq!(extract(&spec, &vec![7; n]).len(), spec.frames(n) * 32, "{n} samples");
        }
    }

    #[test]
    fn a_tone_is_loudest_in_its_own_filter() {
        let tone = |n: usize| (8_000.0 * (2.0 * PI * 1_000.0 * n as f64 / 16_000.0).sin()) as i16;
        let samples: Vec<i16> = (0..4_000).map(tone).collect();
        let rows = extract(&Spec::default(), &samples);
        for row in rows.chunks(32).take(20) {
            let loudest = (0..32).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            // Point 32 of the spectrum is between the edges 29 and 33: filters 10 and 11.
            assert!(loudest == 10 || loudest == 11, "{loudest}");
        }
    }

    #[test]
    fn a_finished_front_end_starts_anew() {
        let samples: Vec<i16> = (0..1_700).map(|i| (i * 31 % 4_001) as i16).collect();
        let mut front = Front::new(&Spec::default());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for rows in [&mut first, &mut second] {
            front.push(&samples, &mut |row| rows.extend_from_slice(row));
            front.finish(&mut |row| rows.extend_from_slice(row));
        }
        assert_eq!(first, second);
    }
}
