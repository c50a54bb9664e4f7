//! Label smoothing and mixup, applied to batches that have been filled.
//!
//! Mixup puts a part of another sequence of the batch into each one, and the same part of its
//! target. Which one and how much is keyed by seed, pass, epoch and number of the batch. The own
//! part is always the larger one, so that a row's class is still its class.

use super::Config;
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::rng::Rng;

/// Changes a batch's targets from one class to shares of several.
pub(super) struct SoftTargets {
    smoothing: f32,
    /// The parameter of the beta distribution that parts are drawn from; 0 for no mixing.
    alpha: f64,
    outputs: usize,
    sequences: Vec<f32>,
    targets: Vec<f32>,
    weights: Vec<f32>,
}

impl SoftTargets {
    /// `None` if the configuration uses neither.
    pub(super) fn new(config: &Config, outputs: usize) -> Option<Self> {
        let smoothing = config.training.label_smoothing.unwrap_or(0.0) as f32;
        let alpha = config.training.mixup.unwrap_or(0.0);
        let (sequences, targets, weights) = (Vec::new(), Vec::new(), Vec::new());
        (smoothing > 0.0 || alpha > 0.0).then_some(Self {
            smoothing,
            alpha,
            outputs,
            sequences,
            targets,
            weights,
        })
    }

    /// Makes the targets of `batch` soft, and mixes its sequences.
    pub(super) fn apply(&mut self, batch: &mut Batch, mut rng: Rng) {
        self.smooth(batch);
        if self.alpha > 0.0 {
            self.mix(batch, &mut rng);
        }
    }

    /// Takes a share from the class of each row and divides it among all.
    fn smooth(&self, batch: &mut Batch) {
        let Targets::Class(classes) = &batch.targets else { return };
        // A single output tells two classes apart.
        let each = self.smoothing / self.outputs.max(2) as f32;
        for &class in classes {
            let is_wanted = |k: usize| if self.outputs == 1 { class == 1 } else { class as usize == k };
            let share = |k: usize| each + if is_wanted(k) { 1.0 - self.smoothing } else { 0.0 };
            batch.soft.extend((0..self.outputs).map(share));
        }
    }

    fn mix(&mut self, batch: &mut Batch, rng: &mut Rng) {
        let n = batch.len();
        let mut partner: Vec<usize> = (0..n).collect();
        rng.shuffle(&mut partner);
        self.sequences.clear();
        (0..n).for_each(|i| self.sequences.extend_from_slice(batch.sequence(i)));
        self.targets.clone_from(&batch.soft);
        self.weights.clone_from(&batch.weights);
        let length = self.sequences.len() / n.max(1);
        for (i, &other) in partner.iter().enumerate() {
            let part = rng.beta(self.alpha);
            let own = part.max(1.0 - part) as f32;
            let blend = |into: &mut [f32], all: &[f32], width: usize| {
                let from = &all[other * width..(other + 1) * width];
                into.iter_mut().zip(from).for_each(|(v, o)| *v = own * *v + (1.0 - own) * o);
            };
            blend(batch.sequence_mut(i), &self.sequences, length);
            let row = i * self.outputs..(i + 1) * self.outputs;
            blend(&mut batch.soft[row], &self.targets, self.outputs);
            if let Some(weight) = batch.weights.get_mut(i) {
                *weight = own * *weight + (1.0 - own) * self.weights[other];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soft(smoothing: f32, alpha: f64, outputs: usize) -> SoftTargets {
        let (sequences, targets, weights) = (Vec::new(), Vec::new(), Vec::new());
        SoftTargets { smoothing, alpha, outputs, sequences, targets, weights }
    }

    fn batch(n: usize, classes: u32) -> Batch {
        let mut batch = Batch::new(1);
        (0..n).for_each(|i| batch.push(&[i as f32, 1.0]));
        batch.targets = Targets::Class((0..n as u32).map(|i| i % classes).collect());
        batch
    }

    #[test]
    fn smoothing_takes_its_share_from_the_class_and_divides_it_among_all() {
        let mut three = batch(2, 3);
        soft(0.3, 0.0, 3).apply(&mut three, Rng::new(0));
        let expected = [0.8, 0.1, 0.1, 0.1, 0.8, 0.1];
        assert!(three.soft.iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6));
        let mut one = batch(2, 2);
        soft(0.2, 0.0, 1).apply(&mut one, Rng::new(0));
        assert!((one.soft[0] - 0.1).abs() < 1e-6 && (one.soft[1] - 0.9).abs() < 1e-6);
    }

    #[test]
    fn mixing_blends_sequences_targets_and_weights_by_the_same_parts() {
        let mut mixed = batch(40, 4);
        // The weight of a sequence is its first value, so that both must stay equal.
        mixed.weights = (0..40).map(|i| i as f32).collect();
        soft(0.0, 0.4, 4).apply(&mut mixed, Rng::new(7));
        let Targets::Class(classes) = &mixed.targets else { panic!("classes") };
        let mut changed = 0;
        for (i, &class) in classes.iter().enumerate() {
            let row = &mixed.soft[i * 4..(i + 1) * 4];
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(row[class as usize] >= 0.5 - 1e-6, "the own part is the larger one: {row:?}");
            let sequence = mixed.sequence(i);
            assert!((sequence[0] - mixed.weights[i]).abs() < 1e-3 && (sequence[1] - 1.0).abs() < 1e-6);
            changed += usize::from(sequence[0] != i as f32);
        }
        assert!(changed > 20, "{changed}");
    }
}
