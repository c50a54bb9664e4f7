//! What a model said about single sequences: its worst mistakes, and predicted beside true numbers.

use fastgrnn_data::data::Labels;
use fastgrnn_model::model::Predictions;
use serde::{Deserialize, Serialize};

/// Mistakes that are kept.
const MOST_MISTAKES: usize = 20;
/// Sequences of which predicted and true numbers are kept, and the numbers of each.
const MOST_PAIRS: usize = 1_000;
const MOST_TARGETS: usize = 4;

/// The part of the data that a seed is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedPart {
    /// The test set.
    Test,
    /// The validation part; with cross-validation all training sequences, each by the network of its fold.
    Validation,
}

impl JudgedPart {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Validation => "validation",
        }
    }
}

/// A sequence about which the model was wrong. Indices count from 0 in the test or the training set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mistake {
    /// It has another class than predicted.
    Class {
        /// Its index.
        index: u32,
        /// Its class.
        true_class: u32,
        /// The class that was predicted.
        predicted_class: u32,
        /// The probability that the model gave to that class.
        probability: f32,
    },
    /// It has another number than predicted.
    Value {
        /// Its index.
        index: u32,
        /// Which of its numbers is furthest off, from 0.
        target: usize,
        /// This number.
        true_value: f32,
        /// What was predicted in its place.
        predicted_value: f32,
    },
}

impl Mistake {
    /// The index of the sequence.
    pub fn index(&self) -> usize {
        match self {
            Self::Class { index, .. } | Self::Value { index, .. } => *index as usize,
        }
    }
}

/// What a model said about single sequences of the part that it is judged on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceResults {
    /// The part.
    pub part: JudgedPart,
    /// Sequences of the part.
    pub n: usize,
    /// How many of them have another class than predicted; 0 for numbers.
    pub wrong: usize,
    /// The worst mistakes, the worst first: of classes those with the greatest probability; of numbers those
    /// with the greatest error, in units of the deviation of each target.
    pub mistakes: Vec<Mistake>,
    /// True and predicted values of the first targets, for sequences spread over the part; empty for classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Vec<(f32, f32)>>,
}

impl SequenceResults {
    /// Of `predictions` for the examples at `indices`, which have the labels `y`.
    pub(super) fn new(part: JudgedPart, y: &Labels, indices: &[u32], predictions: &Predictions) -> Self {
        let mut results = Self { part, n: indices.len(), wrong: 0, mistakes: Vec::new(), pairs: Vec::new() };
        match y {
            Labels::Class { index, .. } => results.add_classes(index, indices, predictions),
            Labels::Value { width, values } => results.add_values(*width, values, indices, predictions),
            Labels::Sets { .. } | Labels::Next | Labels::None => {}
        }
        results
    }

    fn add_classes(&mut self, classes: &[u32], indices: &[u32], predictions: &Predictions) {
        let found = indices.iter().zip(&predictions.classes).enumerate();
        let mut wrong: Vec<(f32, Mistake)> = found
            .map(|(i, (&index, &predicted_class))| (i, index, classes[index as usize], predicted_class))
            .filter(|(_, _, true_class, predicted_class)| true_class != predicted_class)
            .map(|(i, index, true_class, predicted_class)| {
                let probability = predictions.row(i)[predicted_class as usize];
                (probability, Mistake::Class { index, true_class, predicted_class, probability })
            })
            .collect();
        self.wrong = wrong.len();
        wrong.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.index().cmp(&b.1.index())));
        self.mistakes = wrong.into_iter().take(MOST_MISTAKES).map(|(_, mistake)| mistake).collect();
    }

    /// Predictions that are no finite numbers, which a file cannot hold, are left out.
    fn add_values(&mut self, width: usize, values: &[f32], indices: &[u32], predictions: &Predictions) {
        let truth = |index: u32, target: usize| values[index as usize * width + target];
        let scales: Vec<f64> = (0..width)
            .map(|target| deviation(indices.iter().map(|&index| f64::from(truth(index, target)))))
            .collect();
        let mut errors: Vec<(f64, Mistake)> = Vec::new();
        for (i, &index) in indices.iter().enumerate() {
            let row = predictions.row(i).iter().enumerate().filter(|(_, value)| value.is_finite());
            let worst = row
                .map(|(target, &predicted_value)| {
                    let true_value = truth(index, target);
                    let error = (f64::from(true_value) - f64::from(predicted_value)).abs() / scales[target];
                    (error, Mistake::Value { index, target, true_value, predicted_value })
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            errors.extend(worst.filter(|(error, _)| *error > 0.0));
        }
        errors.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.index().cmp(&b.1.index())));
        self.mistakes = errors.into_iter().take(MOST_MISTAKES).map(|(_, mistake)| mistake).collect();
        let every = indices.len().div_ceil(MOST_PAIRS).max(1);
        let pair = |target: usize, i: usize| (truth(indices[i], target), predictions.row(i)[target]);
        let of_target = |target: usize| {
            let pairs = (0..indices.len()).step_by(every).map(|i| pair(target, i));
            pairs.filter(|(_, predicted)| predicted.is_finite()).collect()
        };
        self.pairs = (0..width.min(MOST_TARGETS)).map(of_target).collect();
    }
}

/// The deviation of some values, or 1 where they do not vary.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_confident_mistakes_come_first() {
        let names = vec!["a".into(), "b".into()];
        let y = Labels::Class { index: vec![0, 1, 0, 1, 1], names };
        let values = vec![0.1, 0.9, 0.3, 0.7, 0.4, 0.6, 0.95, 0.05, 0.8, 0.2];
        let predictions = Predictions { classes: vec![1, 1, 1, 0, 0], width: 2, values };
        // The sequences are 4, 3, 2, 1 and 0: their classes are b, b, a, b and a.
        let results = SequenceResults::new(JudgedPart::Test, &y, &[4, 3, 2, 1, 0], &predictions);
        let found: Vec<(usize, f32)> = results
            .mistakes
            .iter()
            .map(|m| match m {
                Mistake::Class { probability, .. } => (m.index(), *probability),
                Mistake::Value { .. } => panic!("a class"),
            })
            .collect();
        assert_eq!((found, results.wrong, results.n), (vec![(1, 0.95), (2, 0.6)], 2, 5));
    }

    #[test]
    fn at_most_twenty_mistakes_are_kept_and_all_are_counted() {
        let y = Labels::Class { index: vec![0; 50], names: vec!["a".into(), "b".into()] };
        let predictions = Predictions { classes: vec![1; 50], width: 2, values: vec![0.5; 100] };
        let all: Vec<u32> = (0..50).collect();
        let results = SequenceResults::new(JudgedPart::Validation, &y, &all, &predictions);
        assert_eq!((results.wrong, results.mistakes.len()), (50, MOST_MISTAKES));
        // Equal ones keep the order of the data.
        assert!(results.mistakes.iter().enumerate().all(|(i, m)| m.index() == i));
    }

    #[test]
    fn errors_of_targets_in_different_units_are_compared_by_their_deviations() {
        let y = Labels::Value { width: 2, values: vec![0.0, 0.0, 1.0, 1_000.0, 2.0, 2_000.0] };
        let values = vec![0.1, 0.0, 1.0, 1_100.0, 0.0, f32::NAN];
        let predictions = Predictions { classes: Vec::new(), width: 2, values };
        let results = SequenceResults::new(JudgedPart::Test, &y, &[0, 1, 2], &predictions);
        let order: Vec<usize> = results.mistakes.iter().map(Mistake::index).collect();
        assert_eq!(order[0], 2);
        assert_eq!(results.pairs[0], [(0.0, 0.1), (1.0, 1.0), (2.0, 0.0)]);
        assert_eq!(results.pairs[1], [(0.0, 0.0), (1_000.0, 1_100.0)]);
        let json = serde_json::to_string(&results).unwrap();
        assert_eq!(serde_json::from_str::<SequenceResults>(&json).unwrap(), results);
    }

    #[test]
    fn large_parts_are_thinned() {
        let values: Vec<f32> = (0..5_000).map(|i| i as f32).collect();
        let predictions = Predictions { classes: Vec::new(), width: 1, values: values.clone() };
        let all: Vec<u32> = (0..5_000).collect();
        let y = Labels::Value { width: 1, values };
        let results = SequenceResults::new(JudgedPart::Test, &y, &all, &predictions);
        assert!(results.mistakes.is_empty(), "nothing is off");
        assert_eq!((results.pairs[0].len(), results.pairs[0][999]), (1_000, (4_995.0, 4_995.0)));
    }
}
