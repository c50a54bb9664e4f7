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
use super::constraint::{WeightGrid, fit_steps, round_to_grid, round_to_steps, weights};
use super::folder::{FLOAT_MODEL_FILE, MODEL_FILE};
use super::job::Job;
use super::margin_scale::MarginScale;
use super::sequence_results::{JudgedPart, SequenceResults};
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Evaluation, Scores};
use fastgrnn_core::net::View;
use fastgrnn_data::data::{Examples, Labels};
use fastgrnn_engine::materialised;
use fastgrnn_model::model::{Model, ModelError, Predictions, Task, threshold};
use fastgrnn_model::quantize::{Grid, IntegerModel, Options, quantize};
use fastgrnn_model::settings::Refit;
use std::path::{Path, PathBuf};

/// A trained model, the grids it was trained on, and the sequences it saw.
#[derive(Clone)]
pub(super) struct Trained {
    pub model: Model,
    /// Empty where training went through none.
    pub grids: Vec<WeightGrid>,
    pub indices: Vec<u32>,
}

impl Trained {
    /// The model with its orthogonal matrices made into full ones, which have a grid like any other. Matrices of 4 bits
    /// that were trained on their grids stand on them; others get steps that fit.
    pub fn new(model: Model, grids: Vec<WeightGrid>, indices: Vec<u32>) -> Self {
        let (network, mut params) = materialised(&model.network, &model.params);
        let (before, after) = (model.network.layout(), network.layout());
        let mut known = weights(&before).zip(&grids);
        let grid = |view: &View| match before.view(&view.name) {
            Some(_) => known.next().map(|(_, grid)| *grid),
            None => Some(WeightGrid::Fixed(Grid::of(&params[view.range()]))),
        };
        let grids: Vec<WeightGrid> =
            if grids.is_empty() { Vec::new() } else { weights(&after).filter_map(grid).collect() };
        match grids.is_empty() {
            true => fit_steps(&after, &mut params),
            false => round_to_steps(&after, &mut params),
        }
        Self { model: Model { network, params, ..model }, grids, indices }
    }
}

/// What was written, and how good it is.
pub(super) struct Delivery {
    pub model: PathBuf,
    /// On the text it was trained on, of a language model: of the float weights.
    pub train: Option<Evaluation>,
    pub val: Option<Evaluation>,
    pub test: Option<Evaluation>,
    /// Single sequences of the test set or, without one, of the validation part.
    pub sequences: Option<SequenceResults>,
    pub quantized: Option<Quantized>,
}

/// How good the predictions for a part are, all together and one by one.
#[derive(Clone)]
pub(super) struct Assessed {
    pub evaluation: Evaluation,
    pub sequences: SequenceResults,
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
        val: &'a Assessed,
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
            Task::Classes { .. } | Task::Sets { .. } | Task::NextToken => self.raw.clone(),
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
        let is_language = data.train.y == Labels::Next;
        let train = is_language.then(|| self.evaluate(&model, &data.train, &result.indices)).transpose()?;
        let train = train.map(|(evaluation, _)| evaluation);
        let tested = |predictions: Option<&Predictions>| {
            let (test, all) = test.as_ref()?;
            Some(SequenceResults::new(JudgedPart::Test, &test.y, all, predictions?))
        };
        if !self.config.quantization.quantize {
            model.save(&path)?;
            let (test, predictions) = float.unzip();
            let (val, validated) = apart(val);
            let sequences = tested(predictions.as_ref()).or(validated);
            return Ok(Delivery { model: path, train, val, test, sequences, quantized: None });
        }
        let model_float = folder.join(FLOAT_MODEL_FILE);
        model.save(&model_float)?;
        let (val, integer) = self.integer_threshold(judged, val, offset, result)?;
        let threads = self.threads;
        let found = test.as_ref().map(|(test, all)| integer.evaluate_at(test, all, threads)).transpose()?;
        let (test_float, by_float) = float.unzip();
        let (found, by_integer) = found.map(|(found, predictions, _)| (found, predictions)).unzip();
        let (val, validated) = apart(val);
        let sequences = tested(by_integer.as_ref()).or(validated);
        let agreement = by_float.zip(by_integer).and_then(|(a, b)| a.agreement(&b));
        integer.save(&path)?;
        let bytes = integer.image().len();
        let quantized = Some(Quantized { model_float, test_float, agreement, bytes });
        Ok(Delivery { model: path, train, val, test: found, sequences, quantized })
    }

    /// The validation scores at the best threshold, and the offset which that threshold is for the
    /// positive class of `result`, if there is one.
    fn threshold(
        &mut self,
        judged: &Judged,
        result: &Trained,
    ) -> Result<(Option<Assessed>, Option<f64>), TrainError> {
        match judged {
            Judged::Part { val: [], .. } => Ok((None, None)),
            Judged::Part { chosen, val } => {
                let offset = self.offset(&chosen.model, val)?;
                let model = lowered(&chosen.model, offset);
                let (evaluation, predictions) = self.evaluate(&model, &self.data.train, val)?;
                let offset = offset.map(|offset| self.carried(offset, chosen, result)).transpose()?;
                Ok((Some(self.validated(evaluation, val, &predictions)), offset))
            }
            Judged::Folds { val, offset } => {
                let (mut val, mut offset) = (Assessed::clone(val), *offset);
                if let Some(normalized) = offset {
                    let model = &result.model;
                    let scale = self.margin_scale(model, &model.params, &result.indices)?;
                    offset = Some(scale.map_or(normalized, |scale| scale.offset(normalized)));
                    val.evaluation.scores.threshold = offset.map(threshold);
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
        val: Option<Assessed>,
        offset: Option<f64>,
        result: &Trained,
    ) -> Result<(Option<Assessed>, IntegerModel), TrainError> {
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
        let (evaluation, predictions, _) = judged.evaluate_at(train, part, threads)?;
        Ok((Some(self.validated(evaluation, part, &predictions)), integer))
    }

    /// What `predictions` for the validation part come to.
    fn validated(&self, evaluation: Evaluation, val: &[u32], predictions: &Predictions) -> Assessed {
        let sequences = SequenceResults::new(JudgedPart::Validation, &self.data.train.y, val, predictions);
        Assessed { evaluation, sequences }
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
        let (scores, _) = self.scorer_of(&model.network)?.score(model, params, &train.x, None, indices)?;
        let truth: Vec<bool> = indices.iter().map(|&i| index[i as usize] as usize == positive).collect();
        Ok(Some(MarginScale::of(&model.margins(positive, &scores), &truth)))
    }

    /// What the float model's positive class, if it has one, is to be lowered by.
    fn offset(&mut self, model: &Model, val: &[u32]) -> Result<Option<f64>, ModelError> {
        let train = &self.data.train;
        if let (Labels::Sets { .. }, false) = (&train.y, val.is_empty()) {
            let (counts, _) =
                model.count_sets(self.scorer_of(&model.network)?, &model.params, &train.x, &train.y, val)?;
            return Ok(counts.best_threshold().map(|best| best.score));
        }
        if model.positive().is_none() || val.is_empty() {
            return Ok(None);
        }
        let (scores, _) = self.scorer_of(&model.network)?.score(model, &model.params, &train.x, None, val)?;
        Ok(model.best_offset(&scores, &train.y, val).map(|cut| cut.offset))
    }

    /// The integer model of what was trained, calibrated on what it saw.
    fn integer(&self, trained: &Trained) -> Result<IntegerModel, TrainError> {
        let mut rounded = trained.model.clone();
        round_to_grid(&rounded.network.layout(), &trained.grids, &mut rounded.params);
        let bias_bits = Some(self.config.bias_bits());
        let options = Options { input_lsb: self.config.lsb(), bias_bits, ..Options::default() };
        Ok(quantize(&rounded, &self.data.train.x, &trained.indices, &options)?)
    }

    fn evaluate(
        &mut self,
        model: &Model,
        examples: &Examples,
        indices: &[u32],
    ) -> Result<(Evaluation, Predictions), ModelError> {
        if examples.y == Labels::Next {
            let scorer = self.scorer_of(&model.network)?;
            let evaluation = model.evaluate_tokens(scorer, &model.params, &examples.x, indices)?;
            return Ok((evaluation, Predictions::none()));
        }
        if let Labels::Sets { .. } = examples.y {
            let (counts, loss) = model.count_sets(
                self.scorer_of(&model.network)?,
                &model.params,
                &examples.x,
                &examples.y,
                indices,
            )?;
            return Ok((model.evaluate_sets(&counts, indices.len(), loss), Predictions::none()));
        }
        let (scores, loss) = self.scorer_of(&model.network)?.score(
            model,
            &model.params,
            &examples.x,
            Some(&examples.y),
            indices,
        )?;
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
        if train.y == Labels::Next {
            let scores =
                model.evaluate_tokens(self.scorer_of(&model.network)?, params, &train.x, indices)?.scores;
            return Ok(Scored { scores, raw: Vec::new() });
        }
        if let (Labels::Sets { .. }, true) = (&train.y, self.folds.is_empty()) {
            let (counts, loss) =
                model.count_sets(self.scorer_of(&model.network)?, params, &train.x, &train.y, indices)?;
            let mut found = model.evaluate_sets(&counts, indices.len(), loss).scores;
            let best = counts.best_threshold();
            found.threshold = best.map(|best| threshold(best.score));
            if let Some(sets) = &mut found.sets {
                // The counts say nothing about single labels at another threshold.
                (sets.micro_f1, sets.macro_f1) = (Some(best.map_or(0.0, |best| best.micro_f1)), None);
            }
            return Ok(Scored { scores: found, raw: Vec::new() });
        }
        let (raw, loss) =
            self.scorer_of(&model.network)?.score(model, params, &train.x, Some(&train.y), indices)?;
        Ok(self.judge(model, raw, loss, indices))
    }

    /// How good `raw`, the scores of the training examples at `indices` with this mean loss, are. The labels are
    /// classes or numbers.
    pub(super) fn judge(&self, model: &Model, raw: Vec<f32>, loss: f64, indices: &[u32]) -> Scored {
        let train = &self.data.train;
        let mut scores = raw.clone();
        let cut = model.best_offset(&scores, &train.y, indices);
        if let Some(cut) = cut {
            model.lower(&mut scores, cut.offset);
        }
        let mut found = Predictions::new(model, scores).evaluate(model, &train.y, indices, loss).scores;
        if let Some(cut) = cut {
            found.threshold = Some(threshold(cut.offset));
        }
        Scored { scores: found, raw }
    }
}

/// What is known about a part, all together and one by one.
fn apart(assessed: Option<Assessed>) -> (Option<Evaluation>, Option<SequenceResults>) {
    assessed.map(|assessed| (assessed.evaluation, assessed.sequences)).unzip()
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
