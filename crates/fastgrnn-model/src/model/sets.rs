//! Models of several labels: their scores are counted batch by batch, so that many labels of many sequences
//! need no memory.

use super::decision::threshold;
use super::{Model, ModelError, Scorer, Task};
use fastgrnn_core::batch::Sets;
use fastgrnn_core::metrics::{Evaluation, SetCounts, best_ranked};
use fastgrnn_data::data::{Labels, Sequences};
use std::collections::HashMap;

/// Labels that a prediction shows at least.
const SHOWN: usize = 5;

/// What a model says about the labels of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPrediction {
    /// The best-ranked labels with their probabilities, the best one first: those that are decided for, and
    /// more if these are fewer than five.
    pub ranked: Vec<(u32, f32)>,
    /// How many of them are decided for.
    pub decided: usize,
}

impl SetPrediction {
    /// Of scores that the threshold has lowered by `offset`.
    fn of(scores: &[f32], offset: f64) -> Self {
        let decided = scores.iter().filter(|&&score| score > 0.0).count();
        let raw = |label: u32| f64::from(scores[label as usize]) + offset;
        let probability = |label: &u32| (*label, threshold(raw(*label)) as f32);
        let ranked = best_ranked(scores, decided.max(SHOWN)).iter().map(probability).collect();
        Self { ranked, decided }
    }

    /// The labels that are decided for, the most probable one first.
    pub fn labels(&self) -> impl Iterator<Item = u32> {
        self.ranked[..self.decided].iter().map(|(label, _)| *label)
    }
}

impl Model {
    /// The threshold of a model of several labels.
    pub fn threshold_of_sets(&self) -> Option<f64> {
        match self.task {
            Task::Sets { threshold, .. } => Some(threshold),
            _ => None,
        }
    }

    /// What the threshold has lowered the scores of a model of several labels by.
    fn offset_of_sets(&self) -> f64 {
        let threshold = self.threshold_of_sets().unwrap_or(0.5);
        if threshold > 0.0 && threshold < 1.0 { (threshold / (1.0 - threshold)).ln() } else { 0.0 }
    }

    /// Predicts the labels of every sequence.
    pub fn predict_sets(&self, x: &Sequences, threads: usize) -> Result<Vec<SetPrediction>, ModelError> {
        self.check_sequences(x)?;
        let outputs = self.network.outputs.max(1);
        let all: Vec<u32> = (0..x.len() as u32).collect();
        let mut predictions = Vec::with_capacity(all.len());
        let offset = self.offset_of_sets();
        Scorer::new(&self.network, threads)?.for_each_batch(
            self,
            &self.params,
            x,
            None,
            &all,
            |_, scores| {
                let rows = scores.chunks_exact(outputs);
                predictions.extend(rows.map(|row| SetPrediction::of(row, offset)));
            },
        )?;
        Ok(predictions)
    }

    /// Counts how good the scores of the sequences at `indices` are, with `params` in place of the model's
    /// own; also returns their mean loss, which does not depend on the threshold.
    pub fn count_sets(
        &self,
        scorer: &mut Scorer,
        params: &[f32],
        x: &Sequences,
        y: &Labels,
        indices: &[u32],
    ) -> Result<(SetCounts, f64), ModelError> {
        let outputs = self.network.outputs.max(1);
        let mut counts = SetCounts::new(outputs);
        let (offset, mut sum) = (self.offset_of_sets(), 0.0);
        let loss = scorer.for_each_batch(self, params, x, Some(y), indices, |part, scores| {
            if let Labels::Sets { sets, .. } = y {
                for (&i, row) in part.iter().zip(scores.chunks_exact(outputs)) {
                    counts.add(row, sets.get(i as usize));
                    if offset != 0.0 {
                        sum += raw_loss(row, sets.get(i as usize), offset);
                    }
                }
            }
        })?;
        Ok((counts, if offset == 0.0 { loss } else { sum / indices.len().max(1) as f64 }))
    }

    /// What counted sets of `n` sequences come to.
    pub fn evaluate_sets(&self, counts: &SetCounts, n: usize, loss: f64) -> Evaluation {
        Evaluation::of_sets(counts, n, self.threshold_of_sets().unwrap_or(0.5), loss)
    }
}

/// The binary cross-entropy of a row of scores that the threshold has lowered by `offset`.
fn raw_loss(scores: &[f32], set: &[u32], offset: f64) -> f64 {
    let raw = |score: f32| f64::from(score) + offset;
    let softplus = |s: f64| s.max(0.0) + (-s.abs()).exp().ln_1p();
    let of_set = set.iter().filter_map(|&label| scores.get(label as usize));
    scores.iter().map(|&s| softplus(raw(s))).sum::<f64>() - of_set.map(|&s| raw(s)).sum::<f64>()
}

/// The sets with labels numbered as in a model; those that it does not know come after its own.
pub(super) fn own_sets(sets: &Sets, names: &[String], labels: &[String]) -> Labels {
    let known: HashMap<&str, u32> =
        labels.iter().enumerate().map(|(i, label)| (label.as_str(), i as u32)).collect();
    let mut unseen: Vec<String> = Vec::new();
    let own: Vec<u32> = names
        .iter()
        .map(|name| match known.get(name.as_str()) {
            Some(&label) => label,
            None => {
                unseen.push(name.clone());
                (labels.len() + unseen.len() - 1) as u32
            }
        })
        .collect();
    let mut renumbered = Sets::default();
    for set in sets.iter() {
        let mut members: Vec<u32> = set.iter().filter_map(|&i| own.get(i as usize).copied()).collect();
        members.sort_unstable();
        renumbered.push(&members);
    }
    Labels::Sets { sets: renumbered, names: labels.to_vec(), unseen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_shows_at_least_five_labels_and_all_that_are_decided_for() {
        let few = SetPrediction::of(&[-1.0, 2.0, 0.5, -3.0, -2.0, -9.0, -4.0], 0.0);
        assert_eq!((few.decided, few.ranked.len()), (2, 5));
        assert_eq!(few.labels().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(SetPrediction::of(&[1.0; 7], 0.0).ranked.len(), 7);
        assert_eq!(SetPrediction::of(&[-1.0], 0.0).labels().count(), 0);
        let lowered = SetPrediction::of(&[1.0, -1.0], -2.0);
        assert_eq!(lowered.labels().collect::<Vec<_>>(), [0], "its probability is below one half");
        assert!((lowered.ranked[0].1 - 0.268_941).abs() < 1e-6);
    }

    #[test]
    fn labels_are_matched_by_name_and_others_come_after_those_of_the_model() {
        let names = ["x", "b", "a"].map(String::from);
        let mut sets = Sets::default();
        sets.push(&[0, 2]);
        sets.push(&[1]);
        let Labels::Sets { sets, unseen, .. } = own_sets(&sets, &names, &["a", "b"].map(String::from)) else {
            panic!("sets")
        };
        assert_eq!((sets.get(0), sets.get(1)), (&[0, 2][..], &[1][..]));
        assert_eq!(unseen, ["x"]);
    }
}
