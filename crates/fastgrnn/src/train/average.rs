//! An average of the parameters, which validation and delivery use in their place.
//!
//! A moving average begins as a copy, follows fast at first and then by `1 − decay` a step. The mean of
//! averaged gradient descent begins at the first plateau of validation; until then the parameters count.
//!
//! A projection may exchange the support, so an average begins anew after each: within one support all it
//! averages is zero outside, and so is the average. Grids change nothing: they round what they are given.

use serde::{Deserialize, Serialize};

/// What is averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Rule {
    /// Nothing: there is no average.
    #[default]
    None,
    /// Recent parameters: an older step counts `decay` times as much as the next one.
    Moving {
        /// The decay.
        decay: f32,
    },
    /// All parameters since the first plateau equally.
    SincePlateau,
}

/// An average of the parameters, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Average {
    rule: Rule,
    /// Whether it counts in the parameters' place.
    is_begun: bool,
    /// Steps since it began, or began anew.
    steps: u64,
    /// A tensor of the checkpoint.
    #[serde(skip)]
    pub values: Vec<f32>,
}

impl Average {
    /// Of `params`, from here on.
    pub(super) fn new(rule: Rule, params: &[f32]) -> Self {
        let values = if rule == Rule::None { Vec::new() } else { params.to_vec() };
        Self { rule, is_begun: matches!(rule, Rule::Moving { .. }), steps: 0, values }
    }

    /// Takes in the parameters after a step, `plateaus` after the start of the training.
    pub(super) fn follow(&mut self, params: &[f32], plateaus: usize) {
        let Some(share) = self.count_step(plateaus) else { return };
        for (value, p) in self.values.iter_mut().zip(params) {
            *value += share * (p - *value);
        }
    }

    /// Counts a step, and says by which share the average moves towards the parameters after it; nothing while
    /// the parameters count themselves.
    pub(super) fn count_step(&mut self, plateaus: usize) -> Option<f32> {
        if self.rule == Rule::SincePlateau && plateaus > 0 {
            self.is_begun = true;
        }
        if !self.is_begun {
            return None;
        }
        self.steps += 1;
        let steps = self.steps as f32;
        let decay = match self.rule {
            // Early on, the mean of the few steps there are; the decay once it is the slower one.
            Rule::Moving { decay } => decay.min(steps / (steps + 10.0)),
            Rule::None | Rule::SincePlateau => (steps - 1.0) / steps,
        };
        Some(1.0 - decay)
    }

    /// Forgets what was before, where there is an average.
    pub(super) fn restart(&mut self, params: &[f32]) {
        if self.is_there() {
            self.values.copy_from_slice(params);
            self.forget_steps();
        }
    }

    /// Counts steps from here on, where the average has become a copy of the parameters.
    pub(super) fn forget_steps(&mut self) {
        self.steps = 0;
    }

    /// Whether there is an average.
    pub(super) fn is_there(&self) -> bool {
        !self.values.is_empty()
    }

    /// Begins a training from `params`.
    pub(super) fn reset(&mut self, params: &[f32]) {
        *self = Self::new(self.rule, params);
    }

    /// The average, or `params` where there is none.
    pub(super) fn of<'a>(&'a self, params: &'a [f32]) -> &'a [f32] {
        if self.is_begun { &self.values } else { params }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_average_follows_and_forgets() {
        let mut average = Average::new(Rule::Moving { decay: 0.5 }, &[1.0, 0.0]);
        (0..200).for_each(|_| average.follow(&[3.0, 0.0], 0));
        assert!((average.of(&[])[0] - 3.0).abs() < 1e-4 && average.values[1] == 0.0);
        average.restart(&[7.0, 7.0]);
        assert_eq!(average.of(&[0.0, 0.0]), [7.0, 7.0]);
        average.follow(&[8.0, 7.0], 0);
        assert!(average.values[0] > 7.9, "the first steps count most: {}", average.values[0]);
    }

    #[test]
    fn a_slow_average_lies_between_the_first_and_the_last_and_none_is_the_parameters() {
        let mut slow = Average::new(Rule::Moving { decay: 0.999 }, &[0.0]);
        (0..500).for_each(|k| slow.follow(&[k as f32], 0));
        assert!((200.0..480.0).contains(&slow.values[0]), "{}", slow.values[0]);
        let mut none = Average::new(Rule::None, &[1.0]);
        none.follow(&[5.0], 1);
        assert_eq!(none.of(&[2.0]), [2.0]);
    }

    #[test]
    fn the_mean_of_averaged_descent_is_that_of_all_steps_since_the_first_plateau() {
        let mut mean = Average::new(Rule::SincePlateau, &[9.0]);
        mean.follow(&[8.0], 0);
        assert_eq!(mean.of(&[8.0]), [8.0], "the parameters count before it");
        for k in [1.0f32, 2.0, 3.0, 6.0] {
            mean.follow(&[k], 1);
        }
        assert!((mean.of(&[6.0])[0] - 3.0).abs() < 1e-6, "{:?}", mean.values);
        mean.restart(&[5.0]);
        assert_eq!(mean.of(&[0.0]), [5.0]);
        mean.follow(&[7.0], 2);
        assert_eq!(mean.of(&[0.0]), [7.0]);
    }
}
