//! The threshold of a float model: chosen on scores, kept in the head.

use super::decision::{Cut, best_cut, midway, threshold};
use super::{Model, Task};
use fastgrnn_core::metrics::SetCounts;
use fastgrnn_data::data::Labels;

impl Model {
    /// The index of the positive class, if the model has one.
    pub fn positive(&self) -> Option<usize> {
        let decision = self.decision.as_ref()?;
        self.labels().iter().position(|label| *label == decision.positive)
    }

    /// By how much each row of scores favours class `positive`.
    pub fn margins(&self, positive: usize, scores: &[f32]) -> Vec<f64> {
        let of = |row: &[f32]| match row {
            [one] if positive == 1 => f64::from(*one),
            [one] => -f64::from(*one),
            row => f64::from(row[positive]) - f64::from(row[1 - positive]),
        };
        scores.chunks_exact(self.network.outputs.max(1)).map(of).collect()
    }

    /// The offset with the best F1 for these scores of the examples at `indices`, if the model
    /// has a positive class and they have it, too; for sets of labels, that with the best micro F1.
    pub fn best_offset(&self, scores: &[f32], y: &Labels, indices: &[u32]) -> Option<Cut> {
        if let Labels::Sets { sets, .. } = y {
            let outputs = self.network.outputs.max(1);
            let mut counts = SetCounts::new(outputs);
            let rows = indices.iter().zip(scores.chunks_exact(outputs));
            rows.for_each(|(&i, row)| counts.add(row, sets.get(i as usize)));
            return counts.best_threshold().map(|best| Cut { offset: best.score, f1: best.micro_f1 });
        }
        let (positive, Labels::Class { index, .. }) = (self.positive()?, y) else { return None };
        let truth: Vec<bool> = indices.iter().map(|&i| index[i as usize] as usize == positive).collect();
        best_cut(&self.margins(positive, scores), &truth, midway)
    }

    /// Takes `offset` off the positive class, or off all labels of which sequences have several, in rows of
    /// scores.
    pub fn lower(&self, scores: &mut [f32], offset: f64) {
        if let Task::Sets { .. } = self.task {
            scores.iter_mut().for_each(|score| *score = (f64::from(*score) - offset) as f32);
            return;
        }
        let Some(positive) = self.positive() else { return };
        let outputs = self.network.outputs.max(1);
        // A single output speaks for class 1.
        let (at, sign) =
            if outputs == 1 { (0, if positive == 1 { 1.0 } else { -1.0 }) } else { (positive, 1.0) };
        for row in scores.chunks_exact_mut(outputs) {
            row[at] = (f64::from(row[at]) - sign * offset) as f32;
        }
    }

    /// This model with `offset` taken off the positive class, or off all labels, for good.
    pub fn lowered(mut self, offset: f64) -> Self {
        let layout = self.network.layout();
        if let Some(view) = layout.view("head.b") {
            let mut biases = self.params[view.range()].to_vec();
            self.lower(&mut biases, offset);
            self.params[view.range()].copy_from_slice(&biases);
        }
        self.set_threshold(offset);
        self
    }

    /// Notes the threshold that lies in the head.
    pub fn set_threshold(&mut self, offset: f64) {
        if let Some(decision) = &mut self.decision {
            decision.threshold = threshold(offset);
        }
        if let Task::Sets { threshold: kept, .. } = &mut self.task {
            *kept = threshold(offset);
        }
    }

    /// Whether the decision is about one of two classes.
    pub(super) fn check_decision(&self) -> Result<(), String> {
        match (&self.decision, &self.task) {
            (None, _) => Ok(()),
            (Some(d), Task::Classes { labels }) if labels.len() == 2 && labels.contains(&d.positive) => {
                match (0.0..=1.0).contains(&d.threshold) {
                    true => Ok(()),
                    false => Err(format!("a threshold of {}", d.threshold)),
                }
            }
            (Some(d), _) => Err(format!("a positive class `{}` that is none of two labels", d.positive)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Decision;
    use super::*;
    use fastgrnn_core::cells::{Cell, CellKind, Start};
    use fastgrnn_core::net::{Loss, Network};

    #[test]
    fn a_lowered_model_decides_as_its_scores_above_the_offset_for_either_class_and_head() {
        for (loss, outputs) in [(Loss::SoftmaxCrossEntropy, 2), (Loss::BinaryCrossEntropy, 1)] {
            let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], outputs);
            let params = network.start(Start::default(), 6, 3);
            let labels = vec!["no".to_string(), "yes".to_string()];
            let mut model = Model::new(network, params, Task::Classes { labels });
            model.loss = loss;
            let mut x = fastgrnn_data::data::Sequences::new(2);
            let mut rng = fastgrnn_core::rng::Rng::new(8);
            (0..60).for_each(|_| x.push(&[0; 12].map(|_: i32| rng.normal() as f32)));
            let all: Vec<u32> = (0..60).collect();
            let mut scorer = crate::model::Scorer::new(&model.network, 1).unwrap();
            let (scores, _) = scorer.score(&model, &model.params, &x, None, &all).unwrap();
            for (positive, name) in [(0, "no"), (1, "yes")] {
                model.decision = Some(Decision::even(name));
                let margins = model.margins(positive, &scores);
                let mut sorted = margins.clone();
                sorted.sort_by(f64::total_cmp);
                let offset = midway(sorted[19], sorted[20]).unwrap();
                let lowered = model.clone().lowered(offset);
                let found = lowered.predict(&x, 1).unwrap().classes;
                let expected = margins.iter().map(|&m| if m > offset { positive } else { 1 - positive });
                assert_eq!(found, expected.map(|c| c as u32).collect::<Vec<_>>(), "{loss:?} {name}");
                assert!((lowered.decision.unwrap().threshold - threshold(offset)).abs() < 1e-12);
            }
        }
    }
}
