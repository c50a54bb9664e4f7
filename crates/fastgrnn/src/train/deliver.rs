//! What a seed delivers: its model file or files, and the figures that go with them.
//!
//! Without `quantize` that is the float model. With it, the float parameters go into a file
//! beside, their rounded form becomes the integer model, and validation and test are what the
//! integer engine says.
//!
//! Where one class is to be found, validation also chooses the threshold, of float and integer
//! model each by its own scores; it becomes part of their heads.

use super::TrainError;
use super::constraint::round_to_grid;
use super::folder::{FLOAT_MODEL_FILE, MODEL_FILE};
use super::job::Job;
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Evaluation, Scores};
use fastgrnn_data::data::Examples;
use fastgrnn_model::model::{Model, ModelError, Predictions, threshold};
use fastgrnn_model::quantize::{Grid, IntegerModel, Options, quantize};
use fastgrnn_model::settings::Refit;
use std::path::{Path, PathBuf};

/// A trained model, the grids it was trained on, and the sequences it saw.
#[derive(Clone)]
pub(super) struct Trained {
    pub model: Model,
    /// Empty where training went through none.
    pub grids: Vec<Grid>,
    pub indices: Vec<u32>,
}

/// What was written, and how good it is.
pub(super) struct Delivery {
    pub model: PathBuf,
    pub val: Option<Evaluation>,
    pub test: Option<Evaluation>,
    pub quantized: Option<Quantized>,
}

/// What there is to say about a quantised model beside its scores.
pub(super) struct Quantized {
    pub model_float: PathBuf,
    pub test_float: Option<Evaluation>,
    /// Share of the test set on which float and integer model decide alike.
    pub agreement: Option<f64>,
    /// Length of the device image.
    pub bytes: usize,
}

impl Job<'_> {
    /// Writes `result`, and evaluates it on the test set and `chosen` on the validation part.
    pub(super) fn deliver(
        &mut self,
        folder: &Path,
        chosen: &Trained,
        val: &[u32],
        result: &Trained,
    ) -> Result<Delivery, TrainError> {
        let (data, path) = (self.data, folder.join(MODEL_FILE));
        let test = data.test.as_ref().map(|test| (test, (0..test.len() as u32).collect::<Vec<u32>>()));
        let offset = self.offset(&chosen.model, val)?;
        let at_threshold = |model: &Model| match offset {
            Some(offset) => model.clone().lowered(offset),
            None => model.clone(),
        };
        let model = at_threshold(&result.model);
        let float = test.as_ref().map(|(test, all)| self.evaluate(&model, test, all)).transpose()?;
        if !self.config.quantization.quantize {
            let val = match val {
                [] => None,
                val => Some(self.evaluate(&at_threshold(&chosen.model), &data.train, val)?.0),
            };
            model.save(&path)?;
            return Ok(Delivery { model: path, val, test: float.map(|(test, _)| test), quantized: None });
        }
        let model_float = folder.join(FLOAT_MODEL_FILE);
        model.save(&model_float)?;
        let threads = self.threads;
        let (mut val_scores, mut integer) = (None, self.integer(result)?);
        if !val.is_empty() {
            let refitted = self.config.training.refit != Refit::None;
            let mut judged = if refitted { self.integer(chosen)? } else { integer.clone() };
            if let Some((at_threshold, offset)) = judged.with_best_threshold(&data.train, val, threads)? {
                integer = if refitted { integer.with_offset(offset)? } else { at_threshold.clone() };
                judged = at_threshold;
            }
            val_scores = Some(judged.evaluate_at(&data.train, val, threads)?.0);
        }
        let test = test.map(|(test, all)| integer.evaluate_at(test, &all, threads)).transpose()?;
        let (test_float, by_float) = float.unzip();
        let (test, by_integer) = test.map(|(test, predictions, _)| (test, predictions)).unzip();
        let agreement = by_float.zip(by_integer).and_then(|(a, b)| a.agreement(&b));
        integer.save(&path)?;
        let bytes = integer.image().len();
        let quantized = Some(Quantized { model_float, test_float, agreement, bytes });
        Ok(Delivery { model: path, val: val_scores, test, quantized })
    }

    /// What the float model's positive class, if it has one, is to be lowered by.
    fn offset(&mut self, model: &Model, val: &[u32]) -> Result<Option<f64>, ModelError> {
        if model.positive().is_none() || val.is_empty() {
            return Ok(None);
        }
        let train = &self.data.train;
        let (scores, _) = self.scorer.score(model, &model.params, &train.x, None, val)?;
        Ok(model.best_offset(&scores, &train.y, val).map(|cut| cut.offset))
    }

    /// The integer model of what was trained, calibrated on what it saw.
    fn integer(&self, trained: &Trained) -> Result<IntegerModel, TrainError> {
        let mut rounded = trained.model.clone();
        round_to_grid(&rounded.network.layout(), &trained.grids, &mut rounded.params);
        let options = Options { input_lsb: self.config.lsb(), ..Options::default() };
        Ok(quantize(&rounded, &self.data.train.x, &trained.indices, &options)?)
    }

    fn evaluate(
        &mut self,
        model: &Model,
        examples: &Examples,
        indices: &[u32],
    ) -> Result<(Evaluation, Predictions), ModelError> {
        let (scores, loss) =
            self.scorer.score(model, &model.params, &examples.x, Some(&examples.y), indices)?;
        let predictions = Predictions::new(model, scores);
        Ok((predictions.evaluate(model, &examples.y, indices, loss), predictions))
    }

    /// How good `model` is, with `params` in place of its own, on the examples at `indices`; a
    /// positive class at the threshold that is best there.
    pub(super) fn validate(
        &mut self,
        model: &Model,
        params: &[f32],
        examples: &Examples,
        indices: &[u32],
    ) -> Result<Scores, ModelError> {
        let (mut scores, loss) = self.scorer.score(model, params, &examples.x, Some(&examples.y), indices)?;
        let cut = model.best_offset(&scores, &examples.y, indices);
        if let Some(cut) = cut {
            model.lower(&mut scores, cut.offset);
        }
        let mut found = Predictions::new(model, scores).evaluate(model, &examples.y, indices, loss).scores;
        if let Some(cut) = cut {
            found.threshold = Some(threshold(cut.offset));
        }
        Ok(found)
    }
}

pub(super) fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<(), TrainError> {
    let json = serde_json::to_string_pretty(value);
    let text = json.map_err(|e| TrainError::Damaged { path: path.to_owned(), what: e.to_string() })?;
    write_atomic(path, text.as_bytes()).map_err(|source| TrainError::Io { path: path.to_owned(), source })
}
