//! How good predictions are: accuracy, F1 and confusion for classes, rankings and F1 for sets of labels,
//! errors for numbers.
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
//! assert_eq!(confusion.class(1).recall, Some(1.0));
//! ```
//!
//! A figure about a class that does not occur is nothing, never 0 or 1.

mod sets;

pub use sets::{SetCounts, SetScores, SetThreshold, best_ranked};

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// Counts of predictions: a row for each true class, a column for each predicted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confusion {
    counts: Vec<Vec<u64>>,
}

/// How well one class is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// Share of the predictions of this class that are right; nothing if there are none.
    pub precision: Option<f64>,
    /// Share of the sequences of this class that are found; nothing if there are none.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall; nothing if there is no sequence of this class.
    pub f1: Option<f64>,
    /// Sequences of this class.
    pub support: u64,
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
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
        ratio((0..self.classes()).map(|c| self.counts[c][c]).sum(), self.total()).unwrap_or(0.0)
    }

    /// Precision, recall and F1 of one class.
    pub fn class(&self, class: usize) -> ClassMetrics {
        let hits = self.counts[class][class];
        let support: u64 = self.counts[class].iter().sum();
        let predicted: u64 = self.counts.iter().map(|row| row[class]).sum();
        ClassMetrics {
            precision: ratio(hits, predicted),
            recall: ratio(hits, support),
            f1: ratio(2 * hits, support + predicted).filter(|_| support > 0),
            support,
        }
    }

    /// Mean F1 over the classes; nothing if there is no sequence of one of them.
    pub fn f1_macro(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = (0..self.classes()).map(|c| self.class(c).f1).collect();
        all.filter(|f1| !f1.is_empty()).map(|f1| mean(&f1))
    }
}

/// The figure by which epochs, seeds and networks are compared on validation data. Where the scores
/// lack it, as those of numbers do, the loss is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The share of right predictions.
    #[default]
    Accuracy,
    /// The mean F1 over the classes.
    F1Macro,
    /// The F1 of the positive class.
    F1,
}

impl Metric {
    /// This figure among the scores, if they have it; for sets of labels the micro F1. Larger is better.
    pub fn of(self, scores: &Scores) -> Option<f64> {
        if let Some(sets) = &scores.sets {
            return sets.micro_f1;
        }
        match self {
            Self::Accuracy => scores.accuracy,
            Self::F1Macro => scores.f1_macro,
            Self::F1 => scores.f1,
        }
    }
}

/// The numbers that describe predictions in one line. A file leaves those out that do not apply;
/// accuracy, F1 and macro F1 of classes are always there, and so are precision and recall of a positive
/// class. They are null where they have no meaning.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Scores {
    /// Share of right predictions.
    pub accuracy: Option<f64>,
    /// Mean F1 over the classes; nothing if there is no sequence of one of them.
    pub f1_macro: Option<f64>,
    /// F1 of the positive class, or of the second one of two; nothing if there is no sequence of it.
    pub f1: Option<f64>,
    /// Precision of the positive class, where the model has one.
    pub precision: Option<f64>,
    /// Recall of the positive class, where the model has one.
    pub recall: Option<f64>,
    /// The probability of the positive class, or of a label, above which the model decides for it.
    pub threshold: Option<f64>,
    /// Of sets of labels.
    #[serde(flatten)]
    pub sets: Option<SetScores>,
    /// Mean loss, in the units that training minimises.
    pub loss: f64,
    /// Root of the mean squared error, in the data's units.
    pub rmse: Option<f64>,
    /// Mean absolute error, in the data's units.
    pub mae: Option<f64>,
    /// Share of the targets' variance that is explained; absent where the targets do not vary.
    pub r2: Option<f64>,
    /// Of a language model: e to the power of the mean loss of a token.
    pub perplexity: Option<f64>,
    /// Of a language model: tokens that were predicted.
    pub tokens: Option<usize>,
    /// Of a language model: different tokens that it knows.
    pub vocabulary: Option<usize>,
    /// Of a language model: share of the tokens that it does not know.
    pub unknown_rate: Option<f64>,
    /// Sequences.
    #[serde(default)]
    pub n: usize,
    /// Classes of which there is no sequence.
    #[serde(default)]
    pub absent: Vec<String>,
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.perplexity.is_some() {
            map.serialize_entry("perplexity", &self.perplexity)?;
            map.serialize_entry("tokens", &self.tokens)?;
            map.serialize_entry("vocabulary", &self.vocabulary)?;
            map.serialize_entry("unknown_rate", &self.unknown_rate)?;
        }
        if self.accuracy.is_some() {
            map.serialize_entry("accuracy", &self.accuracy)?;
            map.serialize_entry("f1_macro", &self.f1_macro)?;
            map.serialize_entry("f1", &self.f1)?;
        }
        for (key, value) in self.sets.iter().flat_map(SetScores::entries) {
            map.serialize_entry(key, &value)?;
        }
        let found = [("precision", self.precision), ("recall", self.recall), ("threshold", self.threshold)];
        let errors = [("rmse", self.rmse), ("mae", self.mae), ("r2", self.r2)];
        let is_positive = self.threshold.is_some() && self.sets.is_none();
        for (key, value) in found.iter().filter(|(_, value)| value.is_some() || is_positive) {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("loss", &self.loss)?;
        for (key, value) in errors.iter().filter(|(_, value)| value.is_some()) {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("n", &self.n)?;
        if !self.absent.is_empty() {
            map.serialize_entry("absent", &self.absent)?;
        }
        map.end()
    }
}

impl Scores {
    /// The figure that describes the predictions best, with its name, and whether it is a share.
    pub fn headline(&self) -> (&'static str, f64, bool) {
        if let Some(perplexity) = self.perplexity {
            return ("perplexity", perplexity, false);
        }
        if let Some(sets) = &self.sets {
            return ("micro F1", sets.micro_f1.unwrap_or(0.0), true);
        }
        match (self.f1.filter(|_| self.threshold.is_some()), self.accuracy, self.rmse) {
            (Some(f1), ..) => ("F1", f1, true),
            (None, Some(accuracy), _) => ("accuracy", accuracy, true),
            (None, None, Some(rmse)) => ("root mean squared error", rmse, false),
            (None, None, None) => ("loss", self.loss, false),
        }
    }

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
            sets: {
                let sets: Option<Vec<&SetScores>> = all.iter().map(|s| s.sets.as_ref()).collect();
                sets.map(|sets| SetScores::over(&sets, reduce))
            },
            loss: over(&|s| Some(s.loss), reduce).unwrap_or(0.0),
            rmse: over(&|s| s.rmse, reduce),
            mae: over(&|s| s.mae, reduce),
            r2: over(&|s| s.r2, reduce),
            perplexity: over(&|s| s.perplexity, reduce),
            tokens: first.tokens,
            vocabulary: first.vocabulary,
            unknown_rate: first.unknown_rate,
            n: first.n,
            absent: first.absent.clone(),
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

/// The labels of which there is no sequence.
fn absent(labels: &[String], truth: &[u32]) -> Vec<String> {
    let mut is_there = vec![false; labels.len()];
    truth.iter().for_each(|&class| is_there[class as usize] = true);
    let absent = labels.iter().zip(&is_there).filter(|(_, is_there)| !**is_there);
    absent.map(|(label, _)| label.clone()).collect()
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
            f1_macro: confusion.f1_macro(),
            f1: if labels.len() == 2 { confusion.class(1).f1 } else { None },
            loss,
            n: truth.len(),
            absent: absent(labels, truth),
            ..Scores::default()
        };
        let per_class = (0..labels.len()).map(|c| confusion.class(c)).collect();
        Self { scores, confusion: Some(confusion), labels: labels.to_vec(), per_class }
    }

    /// The same, with how well `class` is found at `threshold` among the scores.
    pub fn of_positive(mut self, class: usize, threshold: f64) -> Self {
        if let Some(found) = self.per_class.get(class) {
            let scores = &mut self.scores;
            (scores.f1, scores.precision) = (found.f1, found.precision);
            (scores.recall, scores.threshold) = (found.recall, Some(threshold));
        }
        self
    }

    /// Of counted sets of labels; `loss` is the mean loss of the `n` sequences, and `threshold` the one that
    /// the model decides by.
    pub fn of_sets(counts: &SetCounts, n: usize, threshold: f64, loss: f64) -> Self {
        let (sets, threshold) = (Some(counts.scores()), Some(threshold));
        let scores = Scores { sets, threshold, loss, n, ..Scores::default() };
        Self { scores, confusion: None, labels: Vec::new(), per_class: Vec::new() }
    }

    /// Of a language model: `loss` is the mean loss of the `tokens` tokens of `n` texts.
    ///
    /// ```
    /// use fastgrnn_core::metrics::Evaluation;
    /// let even = Evaluation::of_tokens(1, 500, 10f64.ln());
    /// assert!((even.scores.perplexity.unwrap() - 10.0).abs() < 1e-9);
    /// ```
    pub fn of_tokens(n: usize, tokens: usize, loss: f64) -> Self {
        let perplexity = Some(loss.exp());
        let scores = Scores { perplexity, tokens: Some(tokens), loss, n, ..Scores::default() };
        Self { scores, confusion: None, labels: Vec::new(), per_class: Vec::new() }
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
        assert_eq!(e.per_class[0].precision, Some(1.0));
        assert!((e.per_class[0].recall.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((e.per_class[0].f1.unwrap() - 0.8).abs() < 1e-12);
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
    fn figures_of_a_class_that_does_not_occur_are_null() {
        let e = Evaluation::of_classes(&names(3), &[0, 1], &[0, 1], 0.0);
        assert_eq!((e.scores.accuracy, e.scores.f1_macro), (Some(1.0), None));
        assert_eq!((e.per_class[2].precision, e.per_class[2].recall, e.per_class[2].f1), (None, None, None));
        assert_eq!(e.scores.absent, ["class 2"]);
        let predicted = Evaluation::of_classes(&names(3), &[0, 1], &[0, 2], 0.0);
        assert_eq!((predicted.per_class[2].precision, predicted.per_class[2].f1), (Some(0.0), None));
        let two = Evaluation::of_classes(&names(2), &[0, 0], &[0, 0], 0.0);
        let json = serde_json::to_value(&two).unwrap();
        assert_eq!(
            (json["accuracy"].as_f64(), &json["absent"]),
            (Some(1.0), &serde_json::json!(["class 1"]))
        );
        for key in ["f1", "f1_macro"] {
            assert!(json[key].is_null() && json.as_object().unwrap().contains_key(key), "{json}");
        }
        let positive = two.of_positive(1, 0.5);
        assert_eq!((positive.scores.f1, positive.scores.recall), (None, None));
        let json = serde_json::to_value(&positive).unwrap();
        for key in ["f1", "precision", "recall"] {
            assert!(json[key].is_null() && json.as_object().unwrap().contains_key(key), "{json}");
        }
        assert!(json["per_class"][1]["f1"].is_null() && json["per_class"][1]["recall"].is_null(), "{json}");
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
    fn json_of_sets_has_their_figures_and_can_be_read_again() {
        let mut counts = SetCounts::new(2);
        counts.add(&[1.0, -1.0], &[0]);
        let e = Evaluation::of_sets(&counts, 1, 0.4, 0.25);
        let json = serde_json::to_value(&e).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        for key in ["precision_at_1", "ndcg_at_5", "micro_f1", "macro_f1", "threshold", "loss", "n"] {
            assert!(keys.contains(&key), "{keys:?}");
        }
        assert!(!keys.contains(&"accuracy") && !keys.contains(&"recall"), "{keys:?}");
        assert_eq!(serde_json::from_value::<Evaluation>(json).unwrap(), e);
        let classes = Evaluation::of_classes(&names(2), &[0, 1], &[0, 1], 0.25);
        let json = serde_json::to_value(&classes).unwrap();
        assert_eq!(serde_json::from_value::<Evaluation>(json).unwrap(), classes);
        assert_eq!((e.scores.headline().0, Metric::Accuracy.of(&e.scores)), ("micro F1", Some(1.0)));
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
