//! How good predicted sets of labels are: precision@k and nDCG@k of the ranking, F1 of the decided sets.
//!
//! All sequences are counted one after the other, so nothing grows with their number.
//!
//! - Labels are ranked by score; of equal scores the label with the smaller number comes first.
//! - **Precision@k** of a sequence is the share of its k best-ranked labels that are true. The share is
//!   always of k, even if there are fewer labels.
//! - **nDCG@k** of a sequence is the sum of `1 / log2(1 + rank)` over its true labels among the k best-ranked
//!   ones, divided by the largest sum that is possible. It is 0 if no label is true.
//! - **Micro F1** counts all decisions together. **Macro F1** is the mean of the F1 of each label that is
//!   true or decided for at least once.
//! - A true label that the model does not know is one that is never found: it lowers nDCG, micro and macro F1.

use serde::{Deserialize, Serialize};

/// The ranks up to which nDCG is computed.
const NDCG_RANKS: [usize; 3] = [1, 3, 5];
/// Precision is computed up to each rank until this one.
const MOST: usize = 5;

/// Thresholds that are tried lie a step of scores apart.
const STEPS_PER_UNIT: f64 = 128.0;
/// They lie between this score and its negative.
const REACH: f64 = 16.0;
const CELLS: usize = (2.0 * REACH * STEPS_PER_UNIT) as usize + 2;

/// The numbers that describe predicted sets of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetScores {
    /// Mean share of the best-ranked label that is true.
    pub precision_at_1: f64,
    /// Mean share of the 2 best-ranked labels that are true.
    pub precision_at_2: f64,
    /// Mean share of the 3 best-ranked labels that are true.
    pub precision_at_3: f64,
    /// Mean share of the 4 best-ranked labels that are true.
    pub precision_at_4: f64,
    /// Mean share of the 5 best-ranked labels that are true.
    pub precision_at_5: f64,
    /// Mean discounted gain of the best-ranked label, of the largest that is possible.
    pub ndcg_at_1: f64,
    /// Mean discounted gain of the 3 best-ranked labels, of the largest that is possible.
    pub ndcg_at_3: f64,
    /// Mean discounted gain of the 5 best-ranked labels, of the largest that is possible.
    pub ndcg_at_5: f64,
    /// F1 of all decisions together; nothing if no label is true or decided for.
    pub micro_f1: Option<f64>,
    /// Mean F1 over the labels that are true or decided for; nothing if there are none.
    pub macro_f1: Option<f64>,
}

impl SetScores {
    /// The name and the value of each number.
    pub fn entries(&self) -> [(&'static str, Option<f64>); 10] {
        [
            ("precision_at_1", Some(self.precision_at_1)),
            ("precision_at_2", Some(self.precision_at_2)),
            ("precision_at_3", Some(self.precision_at_3)),
            ("precision_at_4", Some(self.precision_at_4)),
            ("precision_at_5", Some(self.precision_at_5)),
            ("ndcg_at_1", Some(self.ndcg_at_1)),
            ("ndcg_at_3", Some(self.ndcg_at_3)),
            ("ndcg_at_5", Some(self.ndcg_at_5)),
            ("micro_f1", self.micro_f1),
            ("macro_f1", self.macro_f1),
        ]
    }

    /// Each number reduced over several.
    pub(super) fn over(all: &[&Self], reduce: fn(&[f64]) -> f64) -> Self {
        let of = |k: usize| -> Option<f64> {
            let values: Option<Vec<f64>> = all.iter().map(|scores| scores.entries()[k].1).collect();
            values.map(|values| reduce(&values))
        };
        let plain = |k: usize| of(k).unwrap_or(0.0);
        Self {
            precision_at_1: plain(0),
            precision_at_2: plain(1),
            precision_at_3: plain(2),
            precision_at_4: plain(3),
            precision_at_5: plain(4),
            ndcg_at_1: plain(5),
            ndcg_at_3: plain(6),
            ndcg_at_5: plain(7),
            micro_f1: of(8),
            macro_f1: of(9),
        }
    }
}

/// A threshold of scores, and how good the decisions by it are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetThreshold {
    /// The score above which a label is decided for.
    pub score: f64,
    /// Micro F1 of these decisions.
    pub micro_f1: f64,
}

/// The `most` best-ranked labels of a row of scores, the best one first.
///
/// ```
/// use fastgrnn_core::metrics::best_ranked;
/// assert_eq!(best_ranked(&[0.1, 0.7, 0.7, -2.0], 3), [1, 2, 0]);
/// ```
pub fn best_ranked(scores: &[f32], most: usize) -> Vec<u32> {
    let value = |label: u32| {
        let score = scores[label as usize];
        if score.is_nan() { f32::NEG_INFINITY } else { score }
    };
    let mut best: Vec<u32> = Vec::with_capacity(most + 1);
    for label in 0..scores.len() as u32 {
        if best.len() == most && best.last().is_none_or(|&last| value(last) >= value(label)) {
            continue;
        }
        let at = best.partition_point(|&other| value(other) >= value(label));
        best.insert(at, label);
        best.truncate(most);
    }
    best
}

/// Decisions about one label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Decisions {
    hits: u64,
    true_ones: u64,
    decided: u64,
}

impl Decisions {
    fn f1(self) -> Option<f64> {
        let both = self.true_ones + self.decided;
        (both > 0).then(|| 2.0 * self.hits as f64 / both as f64)
    }
}

/// Counts predictions of sets of labels.
///
/// ```
/// use fastgrnn_core::metrics::SetCounts;
/// let mut counts = SetCounts::new(3);
/// counts.add(&[2.0, -1.0, 0.5], &[0]); // labels 0 and 2 are decided for
/// counts.add(&[-1.0, 1.0, -2.0], &[1]);
/// let scores = counts.scores();
/// assert_eq!((scores.precision_at_1, scores.micro_f1), (1.0, Some(0.8)));
/// assert!(counts.best_threshold().unwrap().score > 0.5);
/// ```
#[derive(Clone, Debug)]
pub struct SetCounts {
    labels: usize,
    n: u64,
    precision: [f64; MOST],
    ndcg: [f64; 3],
    /// Of each label; those that the model does not know come last.
    decisions: Vec<Decisions>,
    /// How often each range of scores occurs, of true labels and of others.
    true_scores: Vec<u64>,
    other_scores: Vec<u64>,
    unknown: u64,
}

impl SetCounts {
    /// No predictions yet, for `labels` labels.
    pub fn new(labels: usize) -> Self {
        Self {
            labels,
            n: 0,
            precision: [0.0; MOST],
            ndcg: [0.0; 3],
            decisions: vec![Decisions::default(); labels],
            true_scores: vec![0; CELLS],
            other_scores: vec![0; CELLS],
            unknown: 0,
        }
    }

    /// Counts a sequence: a score for each label, above 0 if it is decided for, and the true labels in
    /// ascending order. A true label beyond the scores is one that the model does not know.
    pub fn add(&mut self, scores: &[f32], truth: &[u32]) {
        self.n += 1;
        self.rank(scores, truth);
        let known = truth.partition_point(|&label| (label as usize) < self.labels);
        for &label in &truth[known..] {
            let label = label as usize;
            if label >= self.decisions.len() {
                self.decisions.resize(label + 1, Decisions::default());
            }
            self.decisions[label].true_ones += 1;
            self.unknown += 1;
        }
        let mut rest = truth[..known].iter().peekable();
        for (label, &score) in scores.iter().enumerate() {
            let is_true = rest.next_if(|&&next| next as usize == label).is_some();
            let is_decided = score > 0.0;
            let decisions = &mut self.decisions[label];
            decisions.true_ones += u64::from(is_true);
            decisions.decided += u64::from(is_decided);
            decisions.hits += u64::from(is_true && is_decided);
            let counts = if is_true { &mut self.true_scores } else { &mut self.other_scores };
            counts[cell(score)] += 1;
        }
    }

    fn rank(&mut self, scores: &[f32], truth: &[u32]) {
        let best = best_ranked(scores, MOST);
        let (mut hits, mut gain, mut most) = (0.0, 0.0, 0.0);
        for rank in 0..MOST {
            let discount = 1.0 / ((rank + 2) as f64).log2();
            if best.get(rank).is_some_and(|label| truth.binary_search(label).is_ok()) {
                hits += 1.0;
                gain += discount;
            }
            if rank < truth.len() {
                most += discount;
            }
            self.precision[rank] += hits / (rank + 1) as f64;
            if let Some(k) = NDCG_RANKS.iter().position(|&k| k == rank + 1) {
                self.ndcg[k] += if most > 0.0 { gain / most } else { 0.0 };
            }
        }
    }

    /// The numbers for the decisions by scores above 0.
    pub fn scores(&self) -> SetScores {
        let n = self.n.max(1) as f64;
        let sum = |of: fn(&Decisions) -> u64| self.decisions.iter().map(of).sum::<u64>();
        let all =
            Decisions { hits: sum(|d| d.hits), true_ones: sum(|d| d.true_ones), decided: sum(|d| d.decided) };
        let each: Vec<f64> = self.decisions.iter().filter_map(|decisions| decisions.f1()).collect();
        SetScores {
            precision_at_1: self.precision[0] / n,
            precision_at_2: self.precision[1] / n,
            precision_at_3: self.precision[2] / n,
            precision_at_4: self.precision[3] / n,
            precision_at_5: self.precision[4] / n,
            ndcg_at_1: self.ndcg[0] / n,
            ndcg_at_3: self.ndcg[1] / n,
            ndcg_at_5: self.ndcg[2] / n,
            micro_f1: all.f1(),
            macro_f1: (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64),
        }
    }

    /// The threshold with the best micro F1, to 1/128 of a score. Where several in a row are equally good,
    /// the middle of the longest row is taken; if it is best to decide for everything, the threshold is just
    /// below the lowest score. Nothing if no known label is true.
    pub fn best_threshold(&self) -> Option<SetThreshold> {
        let all_true = self.true_scores.iter().sum::<u64>() + self.unknown;
        let (mut hits, mut decided) = (0, 0);
        // F1 with everything above each cell decided for, from the highest to the lowest threshold.
        let mut best: Option<(f64, usize, usize)> = None;
        let mut row = (0.0, CELLS - 1, CELLS - 1);
        for cell in (1..CELLS).rev() {
            hits += self.true_scores[cell];
            decided += self.true_scores[cell] + self.other_scores[cell];
            let f1 = 2.0 * hits as f64 / (all_true + decided).max(1) as f64;
            row = if f1 == row.0 { (f1, row.1, cell) } else { (f1, cell, cell) };
            let is_better =
                best.is_none_or(|(most, high, low)| f1 > most || (f1 == most && row.1 - row.2 > high - low));
            if f1 > 0.0 && is_better {
                best = Some(row);
            }
        }
        best.map(|(micro_f1, high, low)| {
            let cell = if low == 1 { high } else { (high + low) / 2 };
            SetThreshold { score: (cell - 1) as f64 / STEPS_PER_UNIT - REACH, micro_f1 }
        })
    }
}

/// The range that a score lies in: cell `i` is above `(i − 1) / 128 − 16`, up to and with the next one.
/// The last one is open, and so is the first.
fn cell(score: f32) -> usize {
    let at = (f64::from(score) + REACH) * STEPS_PER_UNIT;
    // NaN becomes 0.
    (at.ceil() as i64).clamp(0, CELLS as i64 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn figures_match_a_hand_count() {
        let mut counts = SetCounts::new(4);
        // Ranked 2, 0, 1, 3; decided: 2, 0. True: 0, 3.
        counts.add(&[1.0, -1.0, 2.0, -3.0], &[0, 3]);
        let s = counts.scores();
        assert_eq!([s.precision_at_1, s.precision_at_3, s.precision_at_5], [0.0, 1.0 / 3.0, 2.0 / 5.0]);
        let discount = |rank: f64| 1.0 / (rank + 1.0).log2();
        let ideal = discount(1.0) + discount(2.0);
        assert_eq!(s.ndcg_at_1, 0.0);
        assert!((s.ndcg_at_3 - discount(2.0) / ideal).abs() < 1e-12);
        assert!((s.ndcg_at_5 - (discount(2.0) + discount(4.0)) / ideal).abs() < 1e-12);
        assert_eq!(s.micro_f1, Some(0.5));
        // Labels 0: 1, 2: 0 (decided, not true), 3: 0 (missed); label 1 is neither.
        assert_eq!(s.macro_f1, Some(1.0 / 3.0));
    }

    #[test]
    fn a_threshold_that_decides_for_everything_is_just_below_the_lowest_score() {
        let mut counts = SetCounts::new(2);
        counts.add(&[1.0, -2.0], &[0, 1]);
        let best = counts.best_threshold().unwrap();
        assert!(best.micro_f1 == 1.0 && best.score < -2.0 && best.score > -2.02, "{best:?}");
    }

    #[test]
    fn an_unknown_label_is_a_miss_and_an_empty_set_has_no_gain() {
        let mut counts = SetCounts::new(2);
        counts.add(&[1.0, -1.0], &[0, 7]);
        counts.add(&[-1.0, -2.0], &[]);
        let s = counts.scores();
        assert_eq!(s.micro_f1, Some(2.0 / 3.0));
        assert_eq!(s.macro_f1, Some(0.5));
        assert_eq!((s.precision_at_1, s.ndcg_at_1), (0.5, 0.5));
        assert!(s.ndcg_at_3 < 0.5);
    }

    #[test]
    fn nothing_true_and_nothing_decided_is_no_f1_and_no_panic() {
        let mut counts = SetCounts::new(2);
        assert_eq!(counts.best_threshold(), None);
        counts.add(&[f32::NAN, -1.0], &[]);
        let s = counts.scores();
        assert_eq!((s.micro_f1, s.macro_f1), (None, None));
        assert_eq!(SetCounts::new(0).scores().precision_at_1, 0.0);
    }

    #[test]
    fn of_equal_scores_the_smaller_label_comes_first() {
        assert_eq!(best_ranked(&[0.5; 8], 5), [0, 1, 2, 3, 4]);
        assert_eq!(best_ranked(&[f32::NAN, 1.0, f32::NAN], 5), [1, 0, 2]);
        assert_eq!(best_ranked(&[], 5), [0u32; 0]);
    }

    #[test]
    fn the_best_threshold_is_that_of_a_search_over_all_thresholds() {
        let mut rng = Rng::new(3);
        for n in [1, 3, 40] {
            let mut rows = Vec::new();
            let mut counts = SetCounts::new(6);
            for _ in 0..n {
                let scores: Vec<f32> = (0..6).map(|_| (rng.normal() * 3.0) as f32).collect();
                let truth: Vec<u32> =
                    (0..6).filter(|&l| rng.normal() < f64::from(scores[l as usize]) - 1.0).collect();
                counts.add(&scores, &truth);
                rows.push((scores, truth));
            }
            let f1 = |threshold: f64| {
                let mut at = SetCounts::new(6);
                for (scores, truth) in &rows {
                    let lowered: Vec<f32> =
                        scores.iter().map(|s| (f64::from(*s) - threshold) as f32).collect();
                    at.add(&lowered, truth);
                }
                at.scores().micro_f1.unwrap_or(0.0)
            };
            let most = (-2048..2048).map(|k| f1(f64::from(k) / 128.0)).fold(0.0, f64::max);
            match counts.best_threshold() {
                Some(found) => assert_eq!((found.micro_f1, f1(found.score)), (most, most), "{n}"),
                None => assert_eq!(most, 0.0, "{n}"),
            }
        }
    }

    #[test]
    fn a_threshold_lies_in_the_middle_of_the_room_that_there_is() {
        let mut counts = SetCounts::new(2);
        counts.add(&[2.0, -1.0], &[0]);
        let found = counts.best_threshold().unwrap();
        assert!((found.score - 0.5).abs() < 0.01 && found.micro_f1 == 1.0, "{found:?}");
    }

    /// What `scripts/set_metrics_vectors.py` wrote.
    #[derive(serde::Deserialize)]
    struct Case {
        labels: usize,
        scores: Vec<Vec<f32>>,
        truth: Vec<Vec<u32>>,
        expected: SetScores,
    }

    #[test]
    fn figures_are_those_of_scikit_learn() {
        let text = include_str!("../../tests/vectors/set_metrics.json");
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        assert_eq!(cases.len(), 30);
        for (number, case) in cases.iter().enumerate() {
            let mut counts = SetCounts::new(case.labels);
            case.scores.iter().zip(&case.truth).for_each(|(scores, truth)| counts.add(scores, truth));
            for ((name, found), (_, expected)) in
                counts.scores().entries().into_iter().zip(case.expected.entries())
            {
                let is_equal = match (found, expected) {
                    (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
                    (found, expected) => found == expected,
                };
                assert!(is_equal, "case {number}: {name} is {found:?}, not {expected:?}");
            }
        }
    }
}
