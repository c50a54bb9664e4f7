//! Knowledge distillation from a larger float model.
//!
//! It sees exactly what the student sees, augmented and mixed, in its own normalisation: the
//! student's is undone and its own applied, in one step. Its threshold, if it has one, is left
//! out: that is a matter of decisions, not of probabilities.

use super::fingerprint::Fingerprint;
use super::teacher_error::TeacherError;
use super::{Config, TrainError};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::net::Loss;
use fastgrnn_data::data::{CrossValidation, Dataset, Labels, Normalize, Normalizer};
use fastgrnn_model::model::{Model, Scorer};
use fastgrnn_model::settings::{TEACHER_TEMPERATURE, TEACHER_WEIGHT};
use std::collections::HashSet;
use std::path::Path;

/// A teacher with an engine of its own.
pub(super) struct Teacher {
    model: Model,
    scorer: Scorer,
    /// Its class for each of the student's.
    classes: Vec<usize>,
    /// Outputs of the student.
    outputs: usize,
    weight: f32,
    temperature: f32,
    batch: Batch,
    scores: Vec<f32>,
}

impl Teacher {
    /// The teacher that `config` names, if it names one and it fits.
    pub(super) fn load(config: &Config, data: &Dataset, threads: usize) -> Result<Option<Self>, TrainError> {
        let Some(path) = &config.training.teacher else { return Ok(None) };
        let mut model = Model::load(path)?;
        let classes = check(path, &model, config, data)?;
        // Takes the threshold out of the head again.
        if let Some(threshold) = model.decision.as_ref().map(|d| d.threshold) {
            let offset = (threshold / (1.0 - threshold)).ln();
            if offset.is_finite() {
                model = model.lowered(-offset);
            }
        }
        let scorer = Scorer::new(&model.network, threads)?;
        Ok(Some(Self {
            outputs: config.network(data).outputs,
            weight: config.training.teacher_weight.unwrap_or(TEACHER_WEIGHT) as f32,
            temperature: config.training.teacher_temperature.unwrap_or(TEACHER_TEMPERATURE) as f32,
            batch: model.network.empty_batch(),
            scores: Vec::new(),
            model,
            scorer,
            classes,
        }))
    }

    /// A warning if the teacher learnt from sequences that validate the student, which then look better
    /// than they are.
    pub(super) fn warning(&self, config: &Config, data: &Dataset) -> Option<String> {
        if self.model.dataset != data.name {
            return None;
        }
        let learnt: HashSet<u32> = self.model.trained_on(data).into_iter().collect();
        let held_out = match config.preparation.cv {
            CrossValidation::Off => config.split(data).ok()?.1,
            _ => (0..data.train.len() as u32).collect(),
        };
        let seen = held_out.iter().filter(|i| learnt.contains(i)).count();
        (seen > 0).then(|| {
            format!(
                "the teacher learnt from {seen} of the {} sequences that are used for validation, so the \
                 validation scores are too good; train the teacher without refit and cv, and with the same \
                 split-seed, val-split and val-group",
                held_out.len()
            )
        })
    }

    /// A short name for everything about the teacher that a training depends on.
    pub(super) fn fingerprint(&self) -> String {
        let mut fingerprint = Fingerprint::new();
        let normalizer = &self.model.normalizer;
        for values in [&self.model.params, &normalizer.mean, &normalizer.scale, &self.model.start_states()] {
            fingerprint.add(values.len() as u64);
            fingerprint.add_floats(values);
        }
        format!("{:?}", self.model.network).bytes().for_each(|b| fingerprint.add(u64::from(b)));
        fingerprint.text()
    }

    /// Writes what the teacher says about a batch of the student, which `normalizer` has
    /// normalised, into that batch.
    pub(super) fn advise(&mut self, batch: &mut Batch, normalizer: &Normalizer) -> Result<(), TrainError> {
        self.model.clear(&mut self.batch);
        for i in 0..batch.len() {
            if self.model.text.is_some() {
                self.batch.push_tokens(batch.tokens(i));
            } else {
                self.batch.push(batch.sequence(i));
                change(normalizer, &self.model.normalizer, self.batch.sequence_mut(i), batch.dim());
            }
            // Random states of a teacher are keyed by the place in the batch: it is no training.
            self.model.push_initial(&mut self.batch, u64::MAX, i);
        }
        self.scorer.engine.forward(&self.model.params, &self.batch, &mut self.scores)?;
        let teacher = &mut batch.teacher;
        (teacher.weight, teacher.temperature) = (self.weight, self.temperature);
        teacher.rows.clear();
        let mut logits = vec![0.0; self.classes.len()];
        for row in self.scores.chunks_exact(self.model.network.outputs.max(1)) {
            for (logit, &class) in logits.iter_mut().zip(&self.classes) {
                // A single output is the score of class 1 against 0.
                *logit = match row {
                    [one] => one * class as f32,
                    row => row[class],
                } / self.temperature;
            }
            opinions(self.model.loss, &logits, self.outputs, &mut teacher.rows);
        }
        Ok(())
    }
}

/// Probabilities for as many outputs as the student has.
fn opinions(loss: Loss, logits: &[f32], outputs: usize, rows: &mut Vec<f32>) {
    let sigmoid = |s: f32| 1.0 / (1.0 + (-s).exp());
    match (logits, loss) {
        ([a, b], _) if outputs == 1 => rows.push(sigmoid(b - a)),
        (logits, Loss::BinaryCrossEntropy) if logits.len() > 2 => {
            rows.extend(logits.iter().map(|&s| sigmoid(s)));
        }
        (logits, _) => {
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = logits.iter().map(|s| (s - largest).exp()).sum();
            rows.extend(logits.iter().map(|s| (s - largest).exp() / sum));
        }
    }
}

/// Whether the teacher fits; the index of its class for each class of the data.
fn check(path: &Path, model: &Model, config: &Config, data: &Dataset) -> Result<Vec<usize>, TeacherError> {
    let (path, x) = (path.to_owned(), &data.train.x);
    if model.text != data.text {
        return Err(TeacherError::Text { path });
    }
    let (found, expected) = (model.network.input(), x.dim());
    if found != expected && data.text.is_none() {
        return Err(TeacherError::Features { path, found, expected });
    }
    let (stride, found) = (model.network.window.stride, x.min_steps());
    let least = config.augmentation(data).least_steps(found);
    if least < stride {
        return Err(TeacherError::Stride { path, stride, found, least });
    }
    let names = match &data.train.y {
        Labels::Class { names, .. } => &names[..],
        _ => &[],
    };
    let position = |name: &String| model.labels().iter().position(|label| label == name);
    let classes: Option<Vec<usize>> = names.iter().map(position).collect();
    let Some(classes) = classes.filter(|c| !c.is_empty() && c.len() == model.labels().len()) else {
        return Err(TeacherError::Classes { path, found: model.labels().to_vec(), expected: names.to_vec() });
    };
    if classes.len() > 2 && model.loss != config.training.loss {
        return Err(TeacherError::Loss { path, found: model.loss, expected: config.training.loss });
    }
    let (found, expected) = (model.normalizer.mean.len(), x.max_steps() * x.dim());
    if model.normalizer.mode == Normalize::PerCoordinate
        && (found != expected || x.min_steps() != x.max_steps() || config.varies())
    {
        return Err(TeacherError::Length { path, found, expected });
    }
    Ok(classes)
}

/// From one normalisation to another.
fn change(from: &Normalizer, to: &Normalizer, sequence: &mut [f32], dim: usize) {
    if from == to {
        return;
    }
    let at = |n: &Normalizer, k: usize| match n.mode {
        Normalize::None => (0.0, 1.0),
        Normalize::PerFeature => (n.mean[k % dim], n.scale[k % dim]),
        Normalize::PerCoordinate => (n.mean[k], n.scale[k]),
    };
    for (k, v) in sequence.iter_mut().enumerate() {
        let ((mean, scale), (own_mean, own_scale)) = (at(from, k), at(to, k));
        *v = (*v / scale + mean - own_mean) * own_scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_goes_from_any_normalisation_to_any_other() {
        let of = |mode, mean: &[f32], scale: &[f32]| Normalizer {
            mode,
            mean: mean.to_vec(),
            scale: scale.to_vec(),
        };
        let all = [
            of(Normalize::None, &[], &[]),
            of(Normalize::PerFeature, &[1.0, -2.0], &[0.5, 4.0]),
            of(Normalize::PerFeature, &[0.0, 3.0], &[2.0, 0.25]),
            of(Normalize::PerCoordinate, &[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 0.5, 4.0]),
        ];
        let raw = [0.5, -1.0, 2.5, 7.0];
        for from in &all {
            for to in &all {
                let (mut sequence, mut expected) = (raw, raw);
                from.apply(&mut sequence, 2).unwrap();
                to.apply(&mut expected, 2).unwrap();
                change(from, to, &mut sequence, 2);
                let close = sequence.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
                assert!(close, "{sequence:?} {expected:?}");
            }
        }
    }

    #[test]
    fn opinions_are_probabilities_of_the_student_s_outputs() {
        let of = |loss, logits: &[f32], outputs| {
            let mut rows = Vec::new();
            opinions(loss, logits, outputs, &mut rows);
            rows
        };
        let two = of(Loss::SoftmaxCrossEntropy, &[1.0, 3.0], 2);
        let one = of(Loss::SoftmaxCrossEntropy, &[1.0, 3.0], 1);
        assert!((two[1] - one[0]).abs() < 1e-6 && (two[0] + two[1] - 1.0).abs() < 1e-6);
        let each = of(Loss::BinaryCrossEntropy, &[0.0, 100.0, -100.0], 3);
        assert_eq!(each, [0.5, 1.0, 0.0]);
    }
}
