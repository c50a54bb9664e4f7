//! Cross-validation: the epoch is chosen on sequences that the network of their fold has not seen.
//!
//! Every fold is a training of its own. After each of its epochs the fold's validation part is scored;
//! the scores of one epoch of all folds together cover the whole training data. The epoch with the best
//! of these pooled scores is chosen.

use super::checkpoint::{BestEpoch, State};
use super::epoch::FoldEpoch;
use super::sequence_results::{JudgedPart, SequenceResults};
use super::summary::FoldResult;
use fastgrnn_core::metrics::{Evaluation, Metric, SetCounts};
use fastgrnn_data::data::Labels;
use fastgrnn_model::model::{Model, Predictions, threshold};

/// What the folds came to after one epoch.
pub(super) struct Pooled {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Of all training sequences, each by the network that has not seen it.
    pub evaluation: Evaluation,
    /// Each fold by itself.
    pub folds: Vec<FoldResult>,
    /// The offset of the positive class in the units of the margin scale, if there is one.
    pub offset: Option<f64>,
}

/// The folds of a seed whose trainings are all done.
pub(super) struct FoldScores<'a> {
    model: &'a Model,
    y: &'a Labels,
    folds: &'a [Vec<u32>],
    epochs: &'a [FoldEpoch],
    /// Scores (for numbers: predictions in the data's units) fold by fold, epoch by epoch.
    scores: &'a [f32],
}

impl<'a> FoldScores<'a> {
    /// The scores that `state` holds of examples with the labels `y`; `model` has the classes and the
    /// positive one among them.
    pub(super) fn new(y: &'a Labels, folds: &'a [Vec<u32>], state: &'a State, model: &'a Model) -> Self {
        Self { model, y, folds, epochs: &state.progress.fold_epochs, scores: &state.held_out }
    }

    /// Epochs of each fold.
    fn epochs(&self) -> usize {
        self.epochs.len() / self.folds.len().max(1)
    }

    fn epoch(&self, fold: usize, epoch: usize) -> &FoldEpoch {
        &self.epochs[fold * self.epochs() + epoch - 1]
    }

    /// The scores of a fold after an epoch, as the network of the fold gave them.
    fn stored(&self, fold: usize, epoch: usize) -> &[f32] {
        let width = self.model.network.outputs;
        let before: usize = self.folds[..fold].iter().map(Vec::len).sum();
        let rows = self.folds[fold].len();
        let start = (before * self.epochs() + rows * (epoch - 1)) * width;
        &self.scores[start..start + rows * width]
    }

    /// The scores of a fold after an epoch. Margins are in the units of their scale.
    fn of_fold(&self, fold: usize, epoch: usize) -> Vec<f32> {
        let mut scores = self.stored(fold, epoch).to_vec();
        if let Some(scale) = self.epoch(fold, epoch).scale {
            self.model.lower(&mut scores, scale.offset(0.0));
            let unit = (scale.offset(1.0) - scale.offset(0.0)) as f32;
            scores.iter_mut().for_each(|score| *score /= unit);
        }
        scores
    }

    /// What these scores say, the positive class lowered by `offset`.
    fn predictions(&self, mut scores: Vec<f32>, offset: Option<f64>) -> Predictions {
        if let Some(offset) = offset {
            self.model.lower(&mut scores, offset);
        }
        match self.y {
            Labels::Value { width, .. } => Predictions { classes: Vec::new(), width: *width, values: scores },
            _ => Predictions::new(self.model, scores),
        }
    }

    /// How good these scores of the sequences at `indices` are, the positive class lowered by `offset`.
    fn evaluate(&self, mut scores: Vec<f32>, indices: &[u32], offset: Option<f64>, loss: f64) -> Evaluation {
        if let Labels::Sets { sets, .. } = self.y {
            self.model.lower(&mut scores, offset.unwrap_or(0.0));
            let width = self.model.network.outputs.max(1);
            let mut counts = SetCounts::new(width);
            let rows = indices.iter().zip(scores.chunks_exact(width));
            rows.for_each(|(&i, row)| counts.add(row, sets.get(i as usize)));
            return Evaluation::of_sets(&counts, indices.len(), threshold(offset.unwrap_or(0.0)), loss);
        }
        self.predictions(scores, offset).evaluate(self.model, self.y, indices, loss)
    }

    /// Single sequences after the epoch of `pooled`. Classes are decided as the pooled scores were;
    /// probabilities are those of the network of the fold, at its own threshold.
    pub(super) fn sequences(&self, pooled: &Pooled) -> SequenceResults {
        let folds = 0..self.folds.len();
        let scores: Vec<Vec<f32>> = folds.clone().map(|fold| self.of_fold(fold, pooled.epoch)).collect();
        let mut predictions = self.predictions(scores.concat(), pooled.offset);
        if pooled.offset.is_some() {
            let of_fold = |fold: usize| {
                let scale = self.epoch(fold, pooled.epoch).scale;
                let offset = pooled.offset.map(|offset| scale.map_or(offset, |scale| scale.offset(offset)));
                self.predictions(self.stored(fold, pooled.epoch).to_vec(), offset).values
            };
            predictions.values = folds.flat_map(of_fold).collect();
        }
        SequenceResults::new(JudgedPart::Validation, self.y, &self.folds.concat(), &predictions)
    }

    /// All folds after one epoch.
    fn pooled(&self, epoch: usize) -> Pooled {
        let indices = self.folds.concat();
        let all: Vec<Vec<f32>> = (0..self.folds.len()).map(|fold| self.of_fold(fold, epoch)).collect();
        let offset = self.model.best_offset(&all.concat(), self.y, &indices).map(|cut| cut.offset);
        let loss = |fold: usize| self.epoch(fold, epoch).loss;
        let sum: f64 = self.folds.iter().enumerate().map(|(i, part)| loss(i) * part.len() as f64).sum();
        let evaluation = self.evaluate(all.concat(), &indices, offset, sum / indices.len().max(1) as f64);
        let each = all.into_iter().zip(self.folds).enumerate();
        let folds = each.map(|(fold, (scores, part))| FoldResult {
            fold: fold + 1,
            train: indices.len() - part.len(),
            val: self.evaluate(scores, part, offset, loss(fold)).scores,
        });
        Pooled { epoch, evaluation, folds: folds.collect(), offset }
    }

    /// The best of the epochs that may be chosen in every fold; the last one if none may.
    pub(super) fn best(&self, metric: Metric) -> Pooled {
        let is_eligible = |epoch: &usize| (0..self.folds.len()).all(|fold| self.epoch(fold, *epoch).eligible);
        let mut best: Option<(BestEpoch, Pooled)> = None;
        for epoch in (1..=self.epochs()).filter(is_eligible) {
            let pooled = self.pooled(epoch);
            let this = BestEpoch::of(epoch, &pooled.evaluation.scores, metric);
            if best.as_ref().is_none_or(|(other, _)| this.beats(other)) {
                best = Some((this, pooled));
            }
        }
        best.map_or_else(|| self.pooled(self.epochs()), |(_, pooled)| pooled)
    }
}
