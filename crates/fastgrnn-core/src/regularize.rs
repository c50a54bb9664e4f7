//! What keeps a network from learning its training data by heart: dropout, and penalties on states.
//!
//! Draws are keyed, like all randomness: the mask of a sequence depends on the seed of the optimiser
//! step, on the place in the network and on the sequence, never on threads.
//!
//! ```
//! use fastgrnn_core::regularize::{Dropout, Place};
//! let dropout = Dropout { seed: 3, output: 0.5, is_per_sequence: true, ..Dropout::default() };
//! let mut mask = vec![0.0; 8];
//! dropout.fill(Place::Output, 0, 4, &mut mask);
//! assert!(mask.iter().all(|m| *m == 0.0 || *m == 2.0));
//! assert_eq!(mask[..4], mask[4..], "the same at both steps");
//! ```

use crate::rng::{Rng, stream};

/// Penalties and dropout of a training step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regularization {
    /// What is set to zero at random.
    pub dropout: Dropout,
    /// Factor of the mean square of the states that the head reads, after dropout.
    pub activation: f32,
    /// Factor of the mean square of the changes of the last layer's state from step to step, before
    /// dropout.
    pub temporal: f32,
}

/// Shares that are set to zero at random. What remains is divided by its share, so that sums keep
/// their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// The seed of the draws, another one for each optimiser step.
    pub seed: u64,
    /// Share of the tokens whose vectors are zero wherever they occur in the batch.
    pub embedding: f32,
    /// Share of the features, or of the entries of the vectors of tokens.
    pub input: f32,
    /// Share of the states that a layer hands to the layer above it.
    pub layer: f32,
    /// Share of the states that the head reads.
    pub output: f32,
    /// Whether a sequence loses the same entries at all its steps, instead of others at each.
    pub is_per_sequence: bool,
}

/// Where in the network entries are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Vectors of tokens, as a whole.
    Embedding,
    /// What the first layer reads.
    Input,
    /// What the layer above this one reads.
    Layer(usize),
    /// What the head reads.
    Output,
}

impl Place {
    fn key(self) -> u64 {
        match self {
            Self::Embedding => 0,
            Self::Input => 1,
            Self::Output => 2,
            Self::Layer(i) => 3 + i as u64,
        }
    }
}

impl Dropout {
    /// The share that is dropped at a place.
    pub fn rate(&self, place: Place) -> f32 {
        match place {
            Place::Embedding => self.embedding,
            Place::Input => self.input,
            Place::Layer(_) => self.layer,
            Place::Output => self.output,
        }
    }

    /// Factors of sequence `i` at a place, `width` a step: 0, or one over the share that remains.
    pub fn fill(&self, place: Place, i: usize, width: usize, mask: &mut [f32]) {
        let mut rng = Rng::keyed(self.seed, &[stream::DROPOUT, place.key(), i as u64]);
        let rate = self.rate(place);
        let drawn = if self.is_per_sequence { width.min(mask.len()) } else { mask.len() };
        mask[..drawn].iter_mut().for_each(|m| *m = factor(&mut rng, rate));
        for first in (drawn..mask.len()).step_by(width.max(1)) {
            mask.copy_within(..width, first);
        }
    }

    /// The factor of the vector of a token.
    pub fn of_token(&self, token: u32) -> f32 {
        if self.embedding == 0.0 {
            return 1.0;
        }
        let key = [stream::DROPOUT, Place::Embedding.key(), u64::from(token)];
        factor(&mut Rng::keyed(self.seed, &key), self.embedding)
    }
}

fn factor(rng: &mut Rng, rate: f32) -> f32 {
    if rng.uniform() < f64::from(rate) { 0.0 } else { 1.0 / (1.0 - rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_their_mean_and_depend_on_their_key_alone() {
        let dropout = Dropout { seed: 9, input: 0.3, embedding: 0.1, ..Dropout::default() };
        let mask = |i: usize| {
            let mut mask = vec![0.0; 50_000];
            dropout.fill(Place::Input, i, 10, &mut mask);
            mask
        };
        let first = mask(0);
        assert_eq!(first, mask(0));
        assert_ne!(first, mask(1));
        assert_ne!(first[..10], first[10..20], "each step draws its own");
        let mean = first.iter().sum::<f32>() / first.len() as f32;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let kept = (0..10_000).filter(|&token| dropout.of_token(token) != 0.0).count();
        assert!((8_800..9_200).contains(&kept), "{kept}");
        assert_eq!(Dropout::default().of_token(3), 1.0);
    }
}
