//! Clips and noise as sound, which goes through the whole front end.

use super::material::Material;
use super::schedule::Schedule;
use super::words::{AUDIBLE_DB, last_audible};
use fastgrnn_data::features::{IntegerFront, Spec};

/// Clips with their classes, and recordings of noise, as samples at the front end's rate.
pub struct Recordings<'a> {
    spec: Spec,
    clips: &'a [(Option<usize>, Vec<i16>)],
    noise: &'a [Vec<i16>],
    /// Power of each recording, and of the median clip.
    powers: Vec<f64>,
    speech: f64,
}

impl<'a> Recordings<'a> {
    /// Clips, each with the model's class where it has one, and noise.
    pub fn new(spec: &Spec, clips: &'a [(Option<usize>, Vec<i16>)], noise: &'a [Vec<i16>]) -> Self {
        let mut powers: Vec<f64> = clips.iter().map(|(_, samples)| power(samples)).collect();
        powers.sort_by(f64::total_cmp);
        let speech = powers.get(powers.len() / 2).copied().unwrap_or(0.0);
        let powers = noise.iter().map(|samples| power(samples)).collect();
        Self { spec: *spec, clips, noise, powers, speech }
    }

    /// The sound of a schedule, in chunks of one frame.
    pub fn sound(&self, schedule: &Schedule, chunk: &mut dyn FnMut(&[i16])) {
        let hop = self.spec.hop();
        let mut mixed = vec![0; hop];
        let (mut items, mut segments) =
            (schedule.items.iter().peekable(), schedule.segments.iter().peekable());
        for t in 0..schedule.frames {
            while items.next_if(|item| item.start + item.frames <= t).is_some() {}
            while segments.next_if(|segment| segment.end <= t).is_some() {}
            let word = items.peek().filter(|item| item.start <= t);
            let word = word
                .map_or(&[][..], |item| self.clips[item.clip].1.get((t - item.start) * hop..).unwrap_or(&[]));
            let noise = segments.peek().map(|segment| {
                let own = &self.noise[segment.recording];
                let gain = (self.speech
                    / self.powers[segment.recording].max(1e-9)
                    / 10_f64.powf(segment.snr / 10.0))
                .sqrt();
                (own, (segment.offset + t - segment.start) * hop, gain)
            });
            for (i, out) in mixed.iter_mut().enumerate() {
                let word = word.get(i).map_or(0.0, |&s| f64::from(s));
                let noise = noise.map_or(0.0, |(own, at, gain)| gain * f64::from(own[(at + i) % own.len()]));
                *out = (word + noise).round() as i16;
            }
            chunk(&mixed);
        }
    }
}

impl Material for Recordings<'_> {
    fn clips(&self) -> Vec<usize> {
        self.clips.iter().map(|(_, samples)| samples.len().div_ceil(self.spec.hop())).collect()
    }

    fn class(&self, clip: usize) -> Option<usize> {
        self.clips[clip].0
    }

    fn word_end(&self, clip: usize) -> usize {
        let levels: Vec<f64> =
            self.clips[clip].1.chunks(self.spec.hop()).map(|c| 10.0 * (power(c) + 1e-9).log10()).collect();
        last_audible(&levels, AUDIBLE_DB)
    }

    fn recordings(&self) -> Vec<usize> {
        self.noise.iter().map(|samples| samples.len() / self.spec.hop()).collect()
    }

    fn play(&self, schedule: &Schedule, frame: &mut dyn FnMut(&[i16])) {
        let mut front = IntegerFront::new(&self.spec);
        self.sound(schedule, &mut |samples| front.push(samples, &mut |counts| frame(counts)));
        front.finish(&mut |counts| frame(counts));
    }
}

/// Mean of squares.
fn power(samples: &[i16]) -> f64 {
    samples.iter().map(|&s| f64::from(s).powi(2)).sum::<f64>() / samples.len().max(1) as f64
}
