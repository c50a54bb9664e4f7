//! How good predictions are: accuracy, F1 and confusion for classes, errors for numbers.
//!
//! All shares are fractions from 0 to 1.
//!
//! ```
//! use fastgrnn_core::metrics::Confusion;
//! let mut confusion = Confusion::new(2);
//! for (truth, predicted) in [(0, 0), (0, 1), (1, 1), (1, 1)] {
//!     confusion.add(truth, predicted);
//! }
//! assert_eq!(confusion.accuracy(), 0.75);
//! assert_eq!(confusion.class(1).recall, 1.0);
//! ```

use serde::{Deserialize, Serialize};

/// Counts of predictions: a row for each true class, a column for each predicted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confusion {
    counts: Vec<Vec<u64>>,
}

/// How well one class is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// Share of the predictions of this class that are right; 0 if there are none.
    pub precision: f64,
    /// Share of the sequences of this class that are found; 0 if there are none.
    pub recall: f64,
    /// Harmonic mean of precision and recall; 0 if both are.
    pub f1: f64,
    /// Sequences of this class.
    pub support: u64,
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Confusion {
    /// No predictions yet among `classes` classes.
    pub fn new(classes: usize) -> Self {
        Self { counts: vec![vec![0; classes]; classes] }
    }

    /// Counts one prediction; both classes must be below the number of classes.
    pub fn add(&mut self, truth: usize, predicted: usize) {
        self.counts[truth][predicted] += 1;
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.counts.len()
    }

    /// The counts: a row for each true class, a column for each predicted one.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }

    /// Number of predictions.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Share of right predictions; 0 if there are none.
    pub fn accuracy(&self) -> f64 {
        ratio((0..self.classes()).map(|c| self.counts[c][c]).sum(), self.total())
    }

    /// Precision, recall and F1 of one class.
    pub fn class(&self, class: usize) -> ClassMetrics {
        let hits = self.counts[class][class];
        let support = self.counts[class].iter().sum();
        let predicted: u64 = self.counts.iter().map(|row| row[class]).sum();
        ClassMetrics {
            precision: ratio(hits, predicted),
            recall: ratio(hits, support),
            f1: ratio(2 * hits, support + predicted),
            support,
        }
    }

    /// Mean F1 over the classes that occur, as truth or as prediction.
    pub fn f1_macro(&self) -> f64 {
        let occurs =
            |c: &usize| self.counts[*c].iter().any(|&n| n > 0) || self.counts.iter().any(|row| row[*c] > 0);
        let f1: Vec<f64> = (0..self.classes()).filter(occurs).map(|c| self.class(c).f1).collect();
        if f1.is_empty() { 0.0 } else { f1.iter().sum::<f64>() / f1.len() as f64 }
    }
}

/// The numbers that describe predictions in one line. Those that do not apply are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Share of right predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean F1 over the classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1_macro: Option<f64>,
    /// F1 of the positive class, or of the second one of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Precision of the positive class, where the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Recall of the positive class, where the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// The probability of the positive class above which the model decides for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Mean loss, in the units that training minimises.
    pub loss: f64,
    /// Root of the mean squared error, in the data's units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Mean absolute error, in the data's units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
    /// Share of the targets' variance that is explained; absent where the targets do not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// Sequences.
    #[serde(default)]
    pub n: usize,
}

impl Scores {
    /// Mean and sample deviation (n − 1) over several seeds; no deviation of a single one.
    pub fn mean_and_deviation(all: &[Scores]) -> Option<(Scores, Option<Scores>)> {
        let first = all.first()?;
        let over = |pick: &dyn Fn(&Scores) -> Option<f64>, reduce: fn(&[f64]) -> f64| {
            let values: Option<Vec<f64>> = all.iter().map(pick).collect();
            values.map(|v| reduce(&v))
        };
        let build = |reduce: fn(&[f64]) -> f64| Scores {
            accuracy: over(&|s| s.accuracy, reduce),
            f1_macro: over(&|s| s.f1_macro, reduce),
            f1: over(&|s| s.f1, reduce),
            precision: over(&|s| s.precision, reduce),
            recall: over(&|s| s.recall, reduce),
            threshold: over(&|s| s.threshold, reduce),
            loss: over(&|s| Some(s.loss), reduce).unwrap_or(0.0),
            rmse: over(&|s| s.rmse, reduce),
            mae: over(&|s| s.mae, reduce),
            r2: over(&|s| s.r2, reduce),
            n: first.n,
        };
        Some((build(mean), (all.len() > 1).then(|| build(deviation))))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let m = mean(values);
    (values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// Everything that `eval` says about a model on labelled data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The numbers in one line.
    #[serde(flatten)]
    pub scores: Scores,
    /// Counts of predictions by true and predicted class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Confusion>,
    /// Names of the classes, in the order of the confusion matrix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// How well each class is found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_class: Vec<ClassMetrics>,
}

impl Evaluation {
    /// Of predicted classes; `loss` is their mean loss.
    pub fn of_classes(labels: &[String], truth: &[u32], predicted: &[u32], loss: f64) -> Self {
        let mut confusion = Confusion::new(labels.len());
        for (&t, &p) in truth.iter().zip(predicted) {
            confusion.add(t as usize, p as usize);
        }
        let scores = Scores {
            accuracy: Some(confusion.accuracy()),
            f1_macro: Some(confusion.f1_macro()),
            f1: (labels.len() == 2).then(|| confusion.class(1).f1),
            loss,
            n: truth.len(),
            ..Scores::default()
        };
        let per_class = (0..labels.len()).map(|c| confusion.class(c)).collect();
        Self { scores, confusion: Some(confusion), labels: labels.to_vec(), per_class }
    }

    /// The same, with how well `class` is found at `threshold` among the scores.
    pub fn of_positive(mut self, class: usize, threshold: f64) -> Self {
        if let Some(found) = self.per_class.get(class) {
            let scores = &mut self.scores;
            (scores.f1, scores.precision) = (Some(found.f1), Some(found.precision));
            (scores.recall, scores.threshold) = (Some(found.recall), Some(threshold));
        }
        self
    }

    /// Of predicted numbers, `width` a sequence; `loss` is their mean loss.
    pub fn of_values(width: usize, truth: &[f32], predicted: &[f32], loss: f64) -> Self {
        let count = truth.len().max(1) as f64;
        let pairs = || truth.iter().zip(predicted).map(|(&t, &p)| (f64::from(t), f64::from(p)));
        let squared: f64 = pairs().map(|(t, p)| (t - p) * (t - p)).sum();
        let absolute: f64 = pairs().map(|(t, p)| (t - p).abs()).sum();
        let mut spread = 0.0;
        for column in 0..width {
            let values = || truth.iter().skip(column).step_by(width).map(|&t| f64::from(t));
            let m = values().sum::<f64>() / (truth.len() / width).max(1) as f64;
            spread += values().map(|t| (t - m) * (t - m)).sum::<f64>();
        }
        let scores = Scores {
            loss,
            rmse: Some((squared / count).sqrt()),
            mae: Some(absolute / count),
            r2: (spread > 0.0).then(|| 1.0 - squared / spread),
            n: truth.len() / width.max(1),
            ..Scores::default()
        };
        Self { scores, confusion: None, labels: Vec::new(), per_class: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("class {i}")).collect()
    }

    #[test]
    fn class_metrics_match_a_hand_count() {
        // truth:     0 0 0 1 1 2
        // predicted: 0 1 0 1 2 2
        let e = Evaluation::of_classes(&names(3), &[0, 0, 0, 1, 1, 2], &[0, 1, 0, 1, 2, 2], 0.5);
        let confusion = e.confusion.as_ref().unwrap();
        assert_eq!(confusion.counts(), [vec![2, 1, 0], vec![0, 1, 1], vec![0, 0, 1]]);
        assert!((e.scores.accuracy.unwrap() - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(e.per_class[0].precision, 1.0);
        assert!((e.per_class[0].recall - 2.0 / 3.0).abs() < 1e-12);
        assert!((e.per_class[0].f1 - 0.8).abs() < 1e-12);
        let expected = (0.8 + 0.5 + 2.0 / 3.0) / 3.0;
        assert!((e.scores.f1_macro.unwrap() - expected).abs() < 1e-12);
        assert_eq!(e.scores.f1, None);
    }

    #[test]
    fn two_classes_have_the_f1_of_the_second() {
        let e = Evaluation::of_classes(&names(2), &[0, 1, 1, 0], &[0, 1, 0, 1], 0.0);
        assert_eq!(e.scores.f1, Some(0.5));
    }

    #[test]
    fn a_positive_class_has_precision_recall_and_threshold_among_the_scores() {
        let e = Evaluation::of_classes(&names(2), &[0, 0, 0, 1], &[0, 0, 1, 1], 0.0).of_positive(0, 0.3);
        assert_eq!((e.scores.precision, e.scores.recall), (Some(1.0), Some(2.0 / 3.0)));
        assert_eq!((e.scores.f1, e.scores.threshold), (Some(0.8), Some(0.3)));
    }

    #[test]
    fn a_class_that_never_occurs_does_not_lower_the_mean_f1() {
        let e = Evaluation::of_classes(&names(3), &[0, 1], &[0, 1], 0.0);
        assert_eq!(e.scores.f1_macro, Some(1.0));
        let wrongly_predicted = Evaluation::of_classes(&names(3), &[0, 1], &[0, 2], 0.0);
        assert!((wrongly_predicted.scores.f1_macro.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn errors_of_numbers_match_a_hand_count() {
        let e = Evaluation::of_values(1, &[1.0, 2.0, 3.0], &[1.0, 2.0, 5.0], 0.0);
        assert!((e.scores.rmse.unwrap() - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((e.scores.mae.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((e.scores.r2.unwrap() - (1.0 - 4.0 / 2.0)).abs() < 1e-12);
        assert_eq!(Evaluation::of_values(1, &[1.0, 1.0], &[1.0, 1.0], 0.0).scores.r2, None);
    }

    #[test]
    fn no_predictions_are_no_panic() {
        assert_eq!(Evaluation::of_classes(&names(2), &[], &[], 0.0).scores.accuracy, Some(0.0));
        assert_eq!(Evaluation::of_values(2, &[], &[], 0.0).scores.n, 0);
    }

    #[test]
    fn seeds_are_averaged_with_their_sample_deviation() {
        let of = |a| Scores { accuracy: Some(a), loss: 1.0, n: 5, ..Scores::default() };
        let (mean, sd) = Scores::mean_and_deviation(&[of(0.8), of(0.9), of(1.0)]).unwrap();
        assert!((mean.accuracy.unwrap() - 0.9).abs() < 1e-12);
        assert!((sd.unwrap().accuracy.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(mean.rmse, None);
        assert!(Scores::mean_and_deviation(&[of(1.0)]).unwrap().1.is_none());
    }

    #[test]
    fn json_has_the_keys_of_the_eval_contract() {
        let e = Evaluation::of_classes(&names(2), &[0, 1], &[0, 1], 0.25);
        let json = serde_json::to_value(&e).unwrap();
        assert_eq!(json["accuracy"], 1.0);
        assert_eq!(json["f1_macro"], 1.0);
        assert_eq!(json["f1"], 1.0);
        assert_eq!(json["n"], 2);
        assert_eq!(json["confusion"], serde_json::json!([[1, 0], [0, 1]]));
        assert_eq!(json["labels"][1], "class 1");
    }
}
