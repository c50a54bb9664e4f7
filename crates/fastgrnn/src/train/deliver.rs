//! What a seed delivers: its model file or files, and the figures that go with them.
//!
//! Without `quantize` that is the float model. With it, the float parameters go into a file
//! beside, their rounded form becomes the integer model, and validation and test are what the
//! integer engine says.
//!
//! Where one class is to be found, validation also chooses the threshold, of float and integer
//! model each by its own scores; it becomes part of their heads. After a refit it is carried to the
//! delivered network by the scale of the margins (see `margin_scale`).

use super::TrainError;
use super::constraint::round_to_grid;
use super::folder::{FLOAT_MODEL_FILE, MODEL_FILE};
use super::job::Job;
use super::margin_scale::MarginScale;
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Evaluation, Scores};
use fastgrnn_data::data::{Examples, Labels};
use fastgrnn_model::model::{Model, ModelError, Predictions, Task, threshold};
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

/// What validation said about the training that is delivered.
pub(super) enum Judged<'a> {
    /// A validation part judged the network `chosen`, which saw the rest. After a refit another
    /// network is delivered.
    Part {
        /// The network.
        chosen: &'a Trained,
        /// The validation part.
        val: &'a [u32],
    },
    /// The networks of the folds were judged on all training data.
    Folds {
        /// The pooled scores.
        val: &'a Evaluation,
        /// The offset of the positive class in the units of the margin scale, if there is one.
        offset: Option<f64>,
    },
}

/// Scores of sequences, and how good they are.
pub(super) struct Scored {
    /// How good they are; a positive class at the threshold that is best there.
    pub scores: Scores,
    raw: Vec<f32>,
}

impl Scored {
    /// The scores as the folds keep them: numbers in the data's units, else as the network gives them.
    pub(super) fn held_out(&self, model: &Model) -> Vec<f32> {
        match model.task {
            Task::Values { .. } => Predictions::new(model, self.raw.clone()).values,
            Task::Classes { .. } => self.raw.clone(),
        }
    }
}

impl Job<'_> {
    /// Writes `result`, and evaluates it on the test set and what was judged on the validation part.
    pub(super) fn deliver(
        &mut self,
        folder: &Path,
        judged: Judged,
        result: &Trained,
    ) -> Result<Delivery, TrainError> {
        let (data, path) = (self.data, folder.join(MODEL_FILE));
        let test = data.test.as_ref().map(|test| (test, (0..test.len() as u32).collect::<Vec<u32>>()));
        let (val, offset) = self.threshold(&judged, result)?;
        let model = lowered(&result.model, offset);
        let float = test.as_ref().map(|(test, all)| self.evaluate(&model, test, all)).transpose()?;
        if !self.config.quantization.quantize {
            model.save(&path)?;
            return Ok(Delivery { model: path, val, test: float.map(|(test, _)| test), quantized: None });
        }
        let model_float = folder.join(FLOAT_MODEL_FILE);
        model.save(&model_float)?;
        let (val, integer) = self.integer_threshold(judged, val, offset, result)?;
        let threads = self.threads;
        let test = test.map(|(test, all)| integer.evaluate_at(test, &all, threads)).transpose()?;
        let (test_float, by_float) = float.unzip();
        let (test, by_integer) = test.map(|(test, predictions, _)| (test, predictions)).unzip();
        let agreement = by_float.zip(by_integer).and_then(|(a, b)| a.agreement(&b));
        integer.save(&path)?;
        let bytes = integer.image().len();
        let quantized = Some(Quantized { model_float, test_float, agreement, bytes });
        Ok(Delivery { model: path, val, test, quantized })
    }

    /// The validation scores at the best threshold, and the offset which that threshold is for the
    /// positive class of `result`, if there is one.
    fn threshold(
        &mut self,
        judged: &Judged,
        result: &Trained,
    ) -> Result<(Option<Evaluation>, Option<f64>), TrainError> {
        match judged {
            Judged::Part { val: [], .. } => Ok((None, None)),
            Judged::Part { chosen, val } => {
                let offset = self.offset(&chosen.model, val)?;
                let model = lowered(&chosen.model, offset);
                let scores = self.evaluate(&model, &self.data.train, val)?.0;
                let offset = offset.map(|offset| self.carried(offset, chosen, result)).transpose()?;
                Ok((Some(scores), offset))
            }
            Judged::Folds { val, offset } => {
                let (mut val, mut offset) = (Evaluation::clone(val), *offset);
                if let Some(normalized) = offset {
                    let model = &result.model;
                    let scale = self.margin_scale(model, &model.params, &result.indices)?;
                    offset = scale.map(|scale| scale.offset(normalized));
                    val.scores.threshold = offset.map(threshold);
                }
                Ok((Some(val), offset))
            }
        }
    }

    /// The same for the integer model of `result`. A validation part judges an integer model; the folds
    /// were judged as float models, whose offset is taken.
    fn integer_threshold(
        &mut self,
        judged: Judged,
        val: Option<Evaluation>,
        offset: Option<f64>,
        result: &Trained,
    ) -> Result<(Option<Evaluation>, IntegerModel), TrainError> {
        let (train, threads) = (&self.data.train, self.threads);
        let mut integer = self.integer(result)?;
        let (chosen, part) = match judged {
            Judged::Part { val: [], .. } => return Ok((None, integer)),
            Judged::Part { chosen, val } => (chosen, val),
            Judged::Folds { .. } => {
                if let Some(offset) = offset {
                    integer = integer.with_offset(offset)?;
                }
                return Ok((val, integer));
            }
        };
        let refitted = self.config.training.refit != Refit::None;
        let mut judged = if refitted { self.integer(chosen)? } else { integer.clone() };
        if let Some((at_threshold, offset)) = judged.with_best_threshold(train, part, threads)? {
            integer = match refitted {
                true => integer.with_offset(self.carried(offset, chosen, result)?)?,
                false => at_threshold.clone(),
            };
            judged = at_threshold;
        }
        Ok((Some(judged.evaluate_at(train, part, threads)?.0), integer))
    }

    /// The offset of `result` that corresponds to `offset` of `chosen`.
    fn carried(&mut self, offset: f64, chosen: &Trained, result: &Trained) -> Result<f64, ModelError> {
        if self.config.training.refit == Refit::None {
            return Ok(offset);
        }
        let from = self.margin_scale(&chosen.model, &chosen.model.params, &chosen.indices)?;
        let to = self.margin_scale(&result.model, &result.model.params, &result.indices)?;
        Ok(from.zip(to).map_or(offset, |(from, to)| to.offset(from.normalized(offset))))
    }

    /// The scale of the margins of `model`, with `params` in place of its own, on the sequences at
    /// `indices` that it was trained on; nothing without a positive class.
    pub(super) fn margin_scale(
        &mut self,
        model: &Model,
        params: &[f32],
        indices: &[u32],
    ) -> Result<Option<MarginScale>, ModelError> {
        let train = &self.data.train;
        let (Some(positive), Labels::Class { index, .. }) = (model.positive(), &train.y) else {
            return Ok(None);
        };
        let (scores, _) = self.scorer.score(model, params, &train.x, None, indices)?;
        let truth: Vec<bool> = indices.iter().map(|&i| index[i as usize] as usize == positive).collect();
        Ok(Some(MarginScale::of(&model.margins(positive, &scores), &truth)))
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

    /// The scores of the training examples at `indices` by `model` with `params` in place of its own.
    pub(super) fn validate(
        &mut self,
        model: &Model,
        params: &[f32],
        indices: &[u32],
    ) -> Result<Scored, ModelError> {
        let train = &self.data.train;
        let (raw, loss) = self.scorer.score(model, params, &train.x, Some(&train.y), indices)?;
        let mut scores = raw.clone();
        let cut = model.best_offset(&scores, &train.y, indices);
        if let Some(cut) = cut {
            model.lower(&mut scores, cut.offset);
        }
        let mut found = Predictions::new(model, scores).evaluate(model, &train.y, indices, loss).scores;
        if let Some(cut) = cut {
            found.threshold = Some(threshold(cut.offset));
        }
        Ok(Scored { scores: found, raw })
    }
}

/// The model with `offset`, if there is one, taken off its positive class.
fn lowered(model: &Model, offset: Option<f64>) -> Model {
    match offset {
        Some(offset) => model.clone().lowered(offset),
        None => model.clone(),
    }
}

pub(super) fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<(), TrainError> {
    let json = serde_json::to_string_pretty(value);
    let text = json.map_err(|e| TrainError::Damaged { path: path.to_owned(), what: e.to_string() })?;
    write_atomic(path, text.as_bytes()).map_err(|source| TrainError::Io { path: path.to_owned(), source })
}
