//! Clips of log-mel features and the noise to mix them with.

use super::material::Material;
use super::schedule::Schedule;
use fastgrnn_data::data::spectral::{level, mix};
use fastgrnn_data::data::{Examples, Labels, Sequences};
use fastgrnn_model::quantize::IntegerModel;
use std::f64::consts::LN_10;

/// A frame belongs to a word if it is at most this far below the clip's loudest, in dB.
pub const AUDIBLE_DB: f64 = 20.0;

/// Clips with their classes, and recordings of noise, all as log-mel frames in nats.
pub struct Words<'a> {
    model: &'a IntegerModel,
    x: &'a Sequences,
    classes: Vec<Option<usize>>,
    noise: Option<&'a Sequences>,
    /// Level of each recording, and of the median clip.
    levels: Vec<f32>,
    speech: f32,
    floor: f32,
}

impl<'a> Words<'a> {
    /// The examples of a data set, their classes matched to the model's by name. A class that the
    /// model does not know is one more that it should keep silent about.
    pub fn new(model: &'a IntegerModel, examples: &'a Examples, noise: Option<&'a Sequences>) -> Self {
        let labels = model.model.labels();
        let classes = match &examples.y {
            Labels::Class { index, names } => {
                let own: Vec<Option<usize>> =
                    names.iter().map(|name| labels.iter().position(|label| label == name)).collect();
                index.iter().map(|&class| own[class as usize]).collect()
            }
            _ => vec![None; examples.len()],
        };
        let x = &examples.x;
        let floor = model.model.audio.unwrap_or_default().floor() as f32;
        let mut levels: Vec<f32> = (0..x.len()).map(|i| level(x.get(i))).collect();
        levels.sort_by(f32::total_cmp);
        let speech = levels.get(levels.len() / 2).copied().unwrap_or(floor);
        let levels = noise.map_or_else(Vec::new, |n| (0..n.len()).map(|i| level(n.get(i))).collect());
        Self { model, x, classes, noise, levels, speech, floor }
    }
}

impl Material for Words<'_> {
    fn clips(&self) -> Vec<usize> {
        (0..self.x.len()).map(|i| self.x.steps(i)).collect()
    }

    fn class(&self, clip: usize) -> Option<usize> {
        self.classes[clip]
    }

    fn word_end(&self, clip: usize) -> usize {
        let levels: Vec<f64> =
            self.x.get(clip).chunks_exact(self.x.dim()).map(|row| f64::from(level(row))).collect();
        last_audible(&levels, AUDIBLE_DB * LN_10 / 10.0)
    }

    fn recordings(&self) -> Vec<usize> {
        self.noise.map_or_else(Vec::new, |noise| (0..noise.len()).map(|i| noise.steps(i)).collect())
    }

    fn play(&self, schedule: &Schedule, frame: &mut dyn FnMut(&[i16])) {
        let dim = self.x.dim();
        let (mut row, mut counts) = (vec![0.0; dim], Vec::new());
        let (mut items, mut segments) =
            (schedule.items.iter().peekable(), schedule.segments.iter().peekable());
        for t in 0..schedule.frames {
            while items.next_if(|item| item.start + item.frames <= t).is_some() {}
            while segments.next_if(|segment| segment.end <= t).is_some() {}
            match items.peek().filter(|item| item.start <= t) {
                Some(item) => row.copy_from_slice(&self.x.get(item.clip)[(t - item.start) * dim..][..dim]),
                None => row.fill(self.floor),
            }
            if let (Some(noise), Some(segment)) = (self.noise, segments.peek()) {
                let at = (segment.offset + t - segment.start) % noise.steps(segment.recording);
                let gain = self.speech - self.levels[segment.recording] - (segment.snr * LN_10 / 10.0) as f32;
                mix(&mut row, &noise.get(segment.recording)[at * dim..][..dim], gain, self.floor);
            }
            counts.clear();
            self.model.counts(&row, &mut counts);
            frame(&counts);
        }
    }
}

/// The last of these levels that is at most `range` below the largest.
pub(super) fn last_audible(levels: &[f64], range: f64) -> usize {
    let largest = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    levels.iter().rposition(|level| *level >= largest - range).unwrap_or(0)
}
