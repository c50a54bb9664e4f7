//! The defaults that depend on the data.
//!
//! The defaults aim at 40 to 60,000 sequences untuned, within 15 minutes a seed on two cores up to
//! 10,000 sequences:
//!
//! | setting | default | why |
//! | --- | --- | --- |
//! | batch | 100, at most a quarter of the training part | the paper's; small sets still get several steps an epoch |
//! | epochs | for about 8,000 optimiser steps, 30 to 200, more where that would be under 2,000 steps, capped by work | few sequences need many passes; long ones must still end in time |
//! | lr | 0.003 (adam, adamw), 0.001 for `rnn`, 0.05 (nesterov), 0.1 (sgd) | one value for most sets; a plain RNN is the least stable cell |
//! | schedule, warmup | cosine, 3 % of the run | ends at a settled model without a second hyper-parameter |
//! | clip | 1 | long sequences give rare huge gradients |
//! | weight-decay | 1e-4 | models this size overfit before they run out of capacity |
//! | hidden | 16 under 100 sequences, 32 under 1,000, else 64 | parameters in proportion to data |
//! | hidden, quantize with `fit` or `max-…` | at most what keeps to the limits; true | a model that does not fit is useless |
//! | start | slow | the state changes slowly at first, so that long sequences train |
//! | stages | dense; with a sparsity the paper's thirds: dense, projected every 15 batches, frozen; with `quantize` the last sixth through the integer grids, or two thirds with matrices of 4 bits | the paper's stages, and weights that have met the grid they will be stored on |
//! | cv | 5 folds below 500 training sequences, and a refit for the chosen number of epochs | a validation part of a small set is too small to choose by |
//! | val-split, val-group | 0.2, by group where there are groups (an error where they cannot be split) | windows of one subject resemble each other |
//! | hidden, batch, lr, epochs of language models | 256, 4, 0.005, at most 20 as time allows | a long sequence (`sequence-length`) and a small batch, for many steps in an epoch |
//! | dropout and penalties of language models | 0.5 on inputs and outputs of small texts, 0.2 and 0.3 of others; `weight-drop` 0.1, penalties 2 and 1 | a vocabulary has more parameters than a novel has words |
//! | augment | rotate 0.25, scale 0.1 where axes are named, else none | sensors are worn and held in varying ways; other data has no axes |

use super::ConfigError;
use super::data::check_data;
use super::error::out_of_range;
use crate::train::{AugmentSetting, Axes, Config, Optimizer, Recipe, RecurrentForm, Refit, Schedule, Stages};
use fastgrnn_core::cells::{CellKind, WeightBits};
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_data::data::{CrossValidation, Dataset, Examples, LANGUAGE_VAL_SPLIT, Labels, SplitBy, doctor};
use fastgrnn_model::quantize::{QuantizeError, check_form, check_lsb};
use fastgrnn_model::settings::{TEACHER_TEMPERATURE, TEACHER_WEIGHT, TrainingRecipe, VAL_SPLIT};

/// Below this many training sequences, one validation part is too small to choose an epoch by.
const SMALL_SET: usize = 500;
/// Folds of a small set.
const USUAL_FOLDS: usize = 5;
/// Fewest optimiser steps of a default run.
const MIN_STEPS: usize = 2_000;
/// Optimiser steps that a default run aims at.
const AIM_STEPS: usize = 8_000;
/// Units of a default language model.
const LANGUAGE_HIDDEN: usize = 256;
/// Pieces of the text that a default language model reads side by side.
const LANGUAGE_BATCH: usize = 4;
/// Most epochs of a default language model.
const LANGUAGE_EPOCHS: usize = 20;
/// A text with fewer tokens to train on needs more dropout.
const SMALL_TEXT: usize = 400_000;
/// Multiply-adds of a default run of a language model, most of which are in large matrix products. Two
/// cores do more than 4e10 a second, so about fifteen minutes.
const LANGUAGE_WORK: f64 = 4e13;
/// Multiply-adds of a default run. Two cores do more than 2e10 a second, so about ten minutes.
const MAX_WORK: f64 = 1.2e13;

impl Recipe {
    /// Fills in everything that was left out, and checks the result.
    pub fn resolve(&self, data: &Dataset) -> Result<Config, ConfigError> {
        check_data(data)?;
        doctor::check(&data.findings, self.data.allow.as_deref().unwrap_or_default())?;
        self.check_ranges()?;
        self.limits().check()?;
        if let (Some(spec), None) = (&self.audio.features, &data.audio) {
            return Err(ConfigError::Unused {
                key: "features",
                value: spec.to_string(),
                why: format!("{} holds no recordings", data.name),
                instead: "a folder of WAV or FLAC files".into(),
            });
        }
        let mut recipe = self.clone().with_defaults();
        recipe.network.settle_gate_gain()?;
        recipe.derive_data_settings(data);
        recipe.derive_validation(self, data);
        recipe.derive_training_settings(data);
        let mut config = recipe.complete().expect("every derived key has a value by now");
        if self.network.hidden.is_none() {
            config.shrink(data);
        }
        config.derive_text_settings(data);
        config.check(data)?;
        config.derive_schedule(self, data)?;
        config.check_relations()?;
        config.check_random_stop()?;
        config.check_applies()?;
        config.check_text_keys(data)?;
        if config.quantization.quantize {
            if let Labels::Sets { .. } = data.train.y {
                return Err(QuantizeError::SeveralLabels.into());
            }
            let state = &config.parameters.initial_state;
            check_form(&config.network(data).materialised(), config.preparation.normalize, state)?;
            check_lsb(config.lsb().as_deref(), &data.train.x)?;
        }
        config.check_limits(data)?;
        let batches = config.batches(data);
        config.check_stages(config.training.epochs.saturating_mul(batches))?;
        if let Some(every) = config.training.decay_every
            && every * (batches as f64) < 0.5
        {
            return Err(out_of_range("decay-every", every, "the learning rate would fall at every step"));
        }
        config.check_split(data)?;
        Ok(config)
    }

    /// Sets the keys about data whose defaults depend on the data.
    fn derive_data_settings(&mut self, data: &Dataset) {
        self.source.dataset.get_or_insert_with(|| data.name.clone());
        if self.source.test.is_some() {
            self.source.test_apart = Some(true);
        }
        self.audio.features = data.audio;
        let preparation = &mut self.preparation;
        // Reshaping moves the columns that the axes of a known set are named by.
        let known = if self.data.timesteps.is_none() { data.suggested.axes.clone() } else { Vec::new() };
        let axes = preparation.axes.get_or_insert(Axes(known));
        let on_sensors = AugmentSetting { rotate: 0.25, scale: 0.1, ..AugmentSetting::none() };
        let usual = if axes.0.is_empty() { AugmentSetting::none() } else { on_sensors };
        preparation.augment.get_or_insert(usual);
    }

    /// Sets the keys about validation. `given` is the recipe before any default.
    fn derive_validation(&mut self, given: &Recipe, data: &Dataset) {
        let n = data.train.len();
        let preparation = &mut self.preparation;
        let has_groups = data.train.group.is_some() && data.validation.is_none();
        let val_group = *preparation.val_group.get_or_insert(
            has_groups
                && (given.preparation.val_split != Some(0.0)
                    || preparation.cv.is_some_and(CrossValidation::is_on)),
        );
        let is_one_part_wanted = given.preparation.val_split.is_some()
            || given.training.refit.is_some()
            || given.training.optimizer == Some(Optimizer::Rsg)
            || given.training.patience.is_some_and(|epochs| epochs > 0);
        let cv = *preparation.cv.get_or_insert_with(|| {
            match n < SMALL_SET && data.validation.is_none() && !is_one_part_wanted {
                true => default_folds(data, val_group, preparation.split_seed.unwrap_or(0)),
                false => CrossValidation::Off,
            }
        });
        let is_off = !cv.is_on();
        preparation.val_split = Some(match (&data.validation, preparation.val_split) {
            (_, Some(0.0)) => 0.0,
            // The share of a single text, which a model needs to find the parts again.
            (Some(_), given) if data.train.y == Labels::Next => given.unwrap_or(LANGUAGE_VAL_SPLIT),
            (Some(part), _) => part.len() as f64 / n as f64,
            (None, Some(given)) => given,
            (None, None) if is_off => VAL_SPLIT,
            (None, None) => 0.0,
        });
        self.training.refit.get_or_insert(if is_off { Refit::None } else { Refit::BestEpochs });
    }

    /// Sets the keys about network and training whose defaults depend on the data. Those that need
    /// the whole network get a value that [`Config::derive_schedule`] replaces.
    fn derive_training_settings(&mut self, data: &Dataset) {
        let n = data.train.len();
        let is_language = data.train.y == Labels::Next;
        let hidden = if is_language { LANGUAGE_HIDDEN } else { default_hidden(n) };
        self.network.hidden.get_or_insert(hidden);
        let has_limits = !self.limits().is_empty();
        let quantization = &mut self.quantization;
        quantization.quantize.get_or_insert(has_limits);
        let bits = [quantization.bits_w, quantization.bits_u, quantization.bits_head];
        let has_four_bits = bits.contains(&Some(WeightBits::Four));
        quantization.bits_bias.get_or_insert(if has_four_bits { 8 } else { 16 });
        let part = training_part(n, held_out_share(self.preparation.cv, self.preparation.val_split));
        let cell = self.network.cell;
        if let Some(declaration) = cell.map(CellKind::declaration) {
            let form_u = match declaration {
                declaration if !declaration.reads_state => RecurrentForm::None,
                // The point of a cell of complex numbers is a unitary matrix.
                declaration if declaration.has_pairs => RecurrentForm::Rotations,
                _ => RecurrentForm::Full,
            };
            self.network.form_u.get_or_insert(form_u);
            self.network.gate.get_or_insert(declaration.gate);
            self.network.update.get_or_insert(declaration.update);
        }
        let training = &mut self.training;
        let batch = if is_language { LANGUAGE_BATCH } else { (part / 4).clamp(1, 100) };
        training.batch.get_or_insert(batch);
        if is_language {
            derive_for_language(training, training_tokens(data));
        }
        training.optimizer.get_or_insert_default();
        training.weight_decay.get_or_insert(1e-4);
        let clip = if training.optimizer == Some(Optimizer::Rsg) { 0.0 } else { 1.0 };
        training.clip.get_or_insert(clip);
        training.lr.get_or_insert(default_lr(training.optimizer, cell, is_language));
        training.loss.get_or_insert(match data.train.y {
            Labels::Value { .. } => Loss::SquaredError,
            Labels::Sets { .. } => Loss::BinaryCrossEntropy,
            _ => Loss::SoftmaxCrossEntropy,
        });
        training.positive = training.positive.take().or_else(|| data.suggested.positive.clone());
        if training.teacher.is_some() {
            training.teacher_weight.get_or_insert(TEACHER_WEIGHT);
            training.teacher_temperature.get_or_insert(TEACHER_TEMPERATURE);
        }
        training.epochs.get_or_insert(1);
        training.stages.get_or_insert_with(|| Stages::usual(false, false, false));
        training.decay_every = None;
    }

    /// Notes for the user about the defaults that `config` got.
    pub fn notes(&self, config: &Config, data: &Dataset) -> Vec<String> {
        let mut notes = self.epoch_notes(config, data);
        if let (Some(asked), Some(part)) = (self.preparation.val_split, &data.validation)
            && asked != 0.0
            && asked != config.preparation.val_split
        {
            notes.push(format!(
                "{} has its own validation part of {} sequences; `val-split = {asked}` is not used",
                data.name,
                part.len()
            ));
        }
        let usual = default_hidden(data.train.len());
        if self.network.hidden.is_none() && config.network.hidden < usual && data.train.y != Labels::Next {
            notes.push(format!(
                "`hidden = {}` instead of {usual}: the most units that keep to the limits",
                config.network.hidden
            ));
        }
        notes
    }

    fn epoch_notes(&self, config: &Config, data: &Dataset) -> Vec<String> {
        let batches = config.batches(data);
        let steps = config.training.epochs.saturating_mul(batches);
        if self.training.epochs.is_some() || steps >= MIN_STEPS || data.train.y == Labels::Next {
            return Vec::new();
        }
        let epochs = MIN_STEPS.div_ceil(batches);
        vec![format!(
            "{} epochs ({steps} optimiser steps) take about ten minutes on two cores; \
             `epochs = {epochs}` would give the {MIN_STEPS} steps that small sets need",
            config.training.epochs
        )]
    }
}

/// Sets the keys that have other defaults for language models, for a text of so many tokens.
fn derive_for_language(training: &mut TrainingRecipe, tokens: usize) {
    let (input, output) = if tokens < SMALL_TEXT { (0.5, 0.5) } else { (0.2, 0.3) };
    training.optimizer.get_or_insert(Optimizer::AdamW);
    training.weight_decay.get_or_insert(0.01);
    if training.optimizer != Some(Optimizer::Rsg) {
        training.clip.get_or_insert(0.25);
    }
    training.input_dropout.get_or_insert(input);
    training.output_dropout.get_or_insert(output);
    training.weight_drop.get_or_insert(0.1);
    training.activation_penalty.get_or_insert(2.0);
    training.temporal_penalty.get_or_insert(1.0);
}

impl Config {
    /// The share of the training data that a training with validation does not see.
    fn held_out_share(&self) -> f64 {
        held_out_share(Some(self.preparation.cv), Some(self.preparation.val_split))
    }

    /// Sets the keys about texts that were not given, so that the settings of a run tell them.
    fn derive_text_settings(&mut self, data: &Dataset) {
        let Some(format) = &data.text else { return };
        let network = self.network(data);
        self.network.embedding = Some(network.input());
        self.text.tokens = Some(format.tokenizer.kind);
        self.text.lowercase = Some(format.tokenizer.lowercase);
        if data.train.y == Labels::Next {
            self.network.tied = Some(network.is_tied());
            self.training.sequence_length = Some(self.sequence_length());
        }
    }

    /// Optimiser steps of an epoch, to within rounding.
    fn batches(&self, data: &Dataset) -> usize {
        if data.train.y == Labels::Next {
            let of_row = training_tokens(data) / self.training.batch.max(1);
            return of_row.div_ceil(self.sequence_length()).max(1);
        }
        let part = training_part(data.train.len(), self.held_out_share());
        self.epoch_size(part).div_ceil(self.training.batch.max(1)).max(1)
    }

    /// Sets the keys of the schedule whose defaults depend on the network and on other keys.
    fn derive_schedule(&mut self, given: &Recipe, data: &Dataset) -> Result<(), ConfigError> {
        if given.training.epochs.is_none() {
            let part = self.epoch_size(training_part(data.train.len(), self.held_out_share()));
            self.training.epochs = match data.train.y {
                Labels::Next => language_epochs(&self.network(data), training_tokens(data)),
                _ => default_epochs(&self.network(data), &data.train, part, self.training.batch),
            };
        }
        let (epochs, schedule) = (self.training.epochs as f64, self.training.schedule);
        self.training.decay_every = match (schedule, given.training.decay_every) {
            (Schedule::Step, every) => Some(every.unwrap_or(epochs * 2.0 / 3.0)),
            (Schedule::Halving, every) => Some(every.unwrap_or(epochs / 4.0)),
            (Schedule::Constant | Schedule::Plateau | Schedule::Cosine, None) => None,
            (Schedule::Constant | Schedule::Plateau | Schedule::Cosine, Some(every)) => {
                return Err(ConfigError::Unused {
                    key: "decay-every",
                    value: every.to_string(),
                    why: format!("the {schedule} schedule has no steps"),
                    instead: "`schedule = step` or `schedule = halving`".into(),
                });
            }
        };
        if given.training.stages.is_none() {
            let is_rounded_at_the_end = self.training.optimizer == Optimizer::Rsg;
            let is_trained_rounded = self.quantization.quantize && !is_rounded_at_the_end;
            self.training.stages = Stages::usual(self.sparse(), is_trained_rounded, self.has_four_bits());
        }
        Ok(())
    }
}

/// The share of the training data that a training with validation does not see.
fn held_out_share(cv: Option<CrossValidation>, val_split: Option<f64>) -> f64 {
    match cv {
        Some(CrossValidation::Folds(folds)) => 1.0 / folds as f64,
        _ => val_split.unwrap_or(0.0),
    }
}

/// As many folds as usual, fewer if there are fewer groups, none if no folds can be made.
fn default_folds(data: &Dataset, by_group: bool, seed: u64) -> CrossValidation {
    let by = if by_group { SplitBy::Group } else { SplitBy::Stratified };
    let possible = |folds: &usize| data.folds(CrossValidation::Folds(*folds), by, seed).is_ok();
    let most = (2..=USUAL_FOLDS).rev().find(possible);
    most.map_or(CrossValidation::Off, CrossValidation::Folds)
}

/// Units in proportion to data.
fn default_hidden(sequences: usize) -> usize {
    match sequences {
        0..100 => 16,
        100..1_000 => 32,
        _ => 64,
    }
}

/// Sequences left to train on, to within rounding.
fn training_part(n: usize, val_split: f64) -> usize {
    if (0.0..1.0).contains(&val_split) { (n as f64 * (1.0 - val_split)) as usize } else { n }
}

fn default_epochs(network: &Network, train: &Examples, part: usize, batch: usize) -> usize {
    let batches = part.div_ceil(batch.max(1)).max(1);
    let wanted = (AIM_STEPS / batches).clamp(30, 200).max(MIN_STEPS.div_ceil(batches)).min(1_000);
    let weights: usize = network.layers.iter().flat_map(|c| c.params()).map(|p| p.rows * p.cols).sum();
    // Besides its matrix products a unit costs its nonlinearities: about 40 multiply-adds a block.
    let pointwise: usize = network.layers.iter().map(|c| 40 * c.blocks() * c.hidden).sum();
    let steps: usize = (0..train.len()).map(|i| network.window.steps(train.x.steps(i))).sum();
    // Forward once and backward twice, on the training part.
    let share = part as f64 / train.len() as f64;
    let work = 3.0 * steps as f64 * share * (weights + pointwise) as f64;
    let affordable = (MAX_WORK / work.max(1.0)) as usize;
    wanted.min(affordable).max(1)
}

/// Tokens of the texts that a language model is trained on.
fn training_tokens(data: &Dataset) -> usize {
    let is_held_out = |i: usize| data.validation.iter().flatten().any(|&v| v as usize == i);
    (0..data.train.len()).filter(|&i| !is_held_out(i)).map(|i| data.train.x.steps(i)).sum()
}

/// As many epochs as there is time for.
fn language_epochs(network: &Network, tokens: usize) -> usize {
    let cells: usize = network.layers.iter().flat_map(|c| c.params()).map(|p| p.rows * p.cols).sum();
    let work = 3.0 * tokens as f64 * (cells + network.outputs * network.hidden()) as f64;
    ((LANGUAGE_WORK / work.max(1.0)) as usize).clamp(1, LANGUAGE_EPOCHS)
}

fn default_lr(optimizer: Option<Optimizer>, cell: Option<CellKind>, is_language: bool) -> f64 {
    match (optimizer, cell) {
        (Some(Optimizer::Sgd | Optimizer::Asgd | Optimizer::Rsg), _) => 0.1,
        (Some(Optimizer::Nesterov), _) => 0.05,
        (_, Some(CellKind::Rnn)) => 1e-3,
        _ if is_language => 5e-3,
        _ => 3e-3,
    }
}

impl Config {
    /// The learning rate of a recipe that gives none.
    pub(in crate::train) fn default_lr(&self, data: &Dataset) -> f64 {
        let is_language = data.train.y == Labels::Next;
        default_lr(Some(self.training.optimizer), Some(self.network.cell), is_language)
    }
}
