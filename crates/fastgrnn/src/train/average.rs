//! A moving average of the parameters, which validation and delivery use in their place.
//!
//! It begins as a copy, follows fast at first and then by `1 − decay` a step. A projection may
//! exchange the support, so the average begins anew after each: within one support all it averages
//! is zero outside, and so is the average. Grids change nothing: they round what they are given.

use serde::{Deserialize, Serialize};

/// A moving average of the parameters, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Average {
    decay: f32,
    /// Steps since it began anew.
    steps: u64,
    /// A tensor of the checkpoint.
    #[serde(skip)]
    pub values: Vec<f32>,
}

impl Average {
    /// Of `params`, from here on; of nothing where there is no decay.
    pub(super) fn new(decay: Option<f64>, params: &[f32]) -> Self {
        match decay.filter(|&decay| decay > 0.0) {
            Some(decay) => Self { decay: decay as f32, steps: 0, values: params.to_vec() },
            None => Self::default(),
        }
    }

    /// Takes in the parameters after a step.
    pub(super) fn follow(&mut self, params: &[f32]) {
        if self.values.is_empty() {
            return;
        }
        self.steps += 1;
        // Early on, the mean of the few steps there are; the decay once it is the slower one.
        let decay = self.decay.min(self.steps as f32 / (self.steps as f32 + 10.0));
        for (value, p) in self.values.iter_mut().zip(params) {
            *value += (1.0 - decay) * (p - *value);
        }
    }

    /// Forgets what was before, where there is an average.
    pub(super) fn restart(&mut self, params: &[f32]) {
        if !self.values.is_empty() {
            self.values.copy_from_slice(params);
            self.steps = 0;
        }
    }

    /// The average, or `params` where there is none.
    pub(super) fn of<'a>(&'a self, params: &'a [f32]) -> &'a [f32] {
        if self.values.is_empty() { params } else { &self.values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_follows_and_forgets() {
        let mut average = Average::new(Some(0.5), &[1.0, 0.0]);
        (0..200).for_each(|_| average.follow(&[3.0, 0.0]));
        assert!((average.of(&[])[0] - 3.0).abs() < 1e-4 && average.values[1] == 0.0);
        average.restart(&[7.0, 7.0]);
        assert_eq!(average.of(&[0.0, 0.0]), [7.0, 7.0]);
        average.follow(&[8.0, 7.0]);
        assert!(average.values[0] > 7.9, "the first steps count most: {}", average.values[0]);
    }

    #[test]
    fn a_slow_average_lies_between_the_first_and_the_last_and_none_is_the_parameters() {
        let mut slow = Average::new(Some(0.999), &[0.0]);
        (0..500).for_each(|k| slow.follow(&[k as f32]));
        assert!((200.0..480.0).contains(&slow.values[0]), "{}", slow.values[0]);
        for decay in [None, Some(0.0)] {
            let mut none = Average::new(decay, &[1.0]);
            none.follow(&[5.0]);
            assert_eq!(none.of(&[2.0]), [2.0]);
        }
    }
}
