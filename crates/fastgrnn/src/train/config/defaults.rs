//! From a recipe to a configuration: the defaults.
//!
//! The defaults aim at 40 to 60,000 sequences untuned, within 15 minutes a seed on two cores up to
//! 10,000 sequences:
//!
//! | setting | default | why |
//! | --- | --- | --- |
//! | batch | 100, at most a quarter of the training part | the paper's; small sets still get several steps an epoch |
//! | epochs | for about 8,000 optimiser steps, 30 to 200, more where that would be under 2,000 steps, capped by work | few sequences need many passes; long ones must still end in time |
//! | lr | 0.003 (adam, adamw), 0.001 for `rnn`, 0.05 (nesterov), 0.1 (sgd) | what the measurements in the paper notes favour; a plain RNN blows up first |
//! | schedule, warmup | cosine, 3 % of the run | ends at a settled model without a second hyper-parameter |
//! | clip | 1 | long sequences give rare huge gradients |
//! | weight-decay | 1e-4 | models this size overfit before they run out of capacity |
//! | hidden | 16 under 100 sequences, 32 under 1,000, else 64 | parameters in proportion to data |
//! | hidden, quantize with `fit` or `max-…` | at most what keeps to the limits; true | a model that cannot fit is of no use |
//! | start | slow | decisive on long sequences |
//! | stages | dense; with a sparsity the paper's thirds: dense, projected every 15 batches, frozen; with `quantize` the last sixth through the integer grids | what the measurements in `docs/training.md` rest on |
//! | val-split, val-group | 0.2, by group where there are groups (an error where they cannot be split) | windows of one subject resemble each other |
//! | augment | rotate 0.25, scale 0.1 where axes are named, else none | the largest gain measured on inertial data, wrong elsewhere |

use super::data::check_data;
use super::error::out_of_range;
use super::{Config, ConfigError};
use crate::train::teacher::{TEMPERATURE, WEIGHT};
use crate::train::{AugmentSetting, Axes, FormSetting, Optimizer, Recipe, Schedule, Stages};
use fastgrnn_core::cells::CellKind;
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_data::data::{Dataset, Examples, Labels};
use fastgrnn_model::quantize::{check_form, check_lsb};

/// Fewest optimiser steps of a default run: below this, small sets were not fitted.
const MIN_STEPS: usize = 2_000;
/// Optimiser steps that a default run aims at.
const AIM_STEPS: usize = 8_000;
/// Multiply-adds of a default run. Two cores do more than 2e10 a second, so about ten minutes.
const MAX_WORK: f64 = 1.2e13;
/// What the momentum is where nobody sets it.
pub(super) const DEFAULT_MOMENTUM: f64 = 0.9;

impl Recipe {
    /// Fills in everything that was left out, and checks what was not.
    pub fn resolve(&self, data: &Dataset) -> Result<Config, ConfigError> {
        check_data(data)?;
        let r = self;
        let n = data.train.len();
        let val_split = match (&data.validation, r.val_split) {
            (_, Some(0.0)) => 0.0,
            (Some(part), _) => part.len() as f64 / n as f64,
            (None, asked) => asked.unwrap_or(0.2),
        };
        let (seed, seeds) = (r.seed.unwrap_or(0), r.seeds.unwrap_or(1));
        let cell = r.cell.unwrap_or(CellKind::FastGrnn);
        let declaration = cell.declaration();
        let optimizer = r.optimizer.unwrap_or_default();
        let hidden = r.hidden.unwrap_or_else(|| default_hidden(n));
        let limits = r.limits();
        let axes = r.axes.clone().unwrap_or_else(|| {
            // Re-blocking moves the columns that a known set's axes are named by.
            Axes(if r.timesteps.is_none() { data.suggested.axes.clone() } else { Vec::new() })
        });
        let on_sensors = AugmentSetting { rotate: 0.25, scale: 0.1, ..AugmentSetting::none() };
        let augment =
            r.augment.unwrap_or(if axes.0.is_empty() { AugmentSetting::none() } else { on_sensors });
        let part = training_part(n, val_split);
        let batch = r.batch.unwrap_or_else(|| (part / 4).clamp(1, 100));
        let schedule = r.schedule.unwrap_or_default();
        let mut config = Config {
            dataset: r.dataset.clone().unwrap_or_else(|| data.name.clone()),
            test: r.test.clone(),
            test_apart: r.test.is_some().then_some(true).or(r.test_apart),
            data_dir: r.data_dir.clone(),
            timesteps: r.timesteps,
            window: r.window,
            stride: r.stride,
            id_col: r.id_col.clone(),
            label_col: r.label_col.clone(),
            group_col: r.group_col.clone(),
            columns: r.columns.clone(),
            drop: r.drop.clone(),
            labels: r.labels.unwrap_or_default(),
            size_limit: r.size_limit,
            words: r.words.clone(),
            unknown_share: r.unknown_share,
            silence_share: r.silence_share,
            clip_seconds: r.clip_seconds,
            skip_bad: r.skip_bad,
            features: data.audio,
            normalize: r.normalize.unwrap_or_default(),
            axes,
            val_split,
            val_group: r
                .val_group
                .unwrap_or(data.train.group.is_some() && data.validation.is_none() && val_split > 0.0),
            cell,
            hidden,
            rank_w: r.rank_w.unwrap_or_default(),
            rank_u: r.rank_u.unwrap_or_default(),
            form_w: r.form_w.unwrap_or_default(),
            form_u: r.form_u.unwrap_or(match declaration.reads_state {
                true => FormSetting::Full,
                false => FormSetting::None,
            }),
            layers: r.layers.unwrap_or(1),
            gate: r.gate.unwrap_or(declaration.gate),
            update: r.update.unwrap_or(declaration.update),
            alpha: r.alpha.unwrap_or_default(),
            beta: r.beta.unwrap_or_default(),
            zeta: r.zeta.unwrap_or_default(),
            nu: r.nu.unwrap_or_default(),
            sparsity_w: r.sparsity_w.unwrap_or(1.0),
            sparsity_u: r.sparsity_u.unwrap_or(1.0),
            sparsity_head: r.sparsity_head.unwrap_or(1.0),
            quantize: r.quantize.unwrap_or(!limits.is_empty()),
            input_lsb: r.input_lsb.clone(),
            fit: r.fit,
            board: r.board,
            max_flash: r.max_flash,
            max_ram: r.max_ram,
            max_ms: r.max_ms,
            start: r.start.unwrap_or_default(),
            initial_state: r.initial_state.clone().unwrap_or_default(),
            stages: Stages::usual(false, false),
            epochs: 1,
            batch,
            lr: r.lr.unwrap_or(match (optimizer, cell) {
                (Optimizer::Sgd, _) => 0.1,
                (Optimizer::Nesterov, _) => 0.05,
                (_, CellKind::Rnn) => 1e-3,
                _ => 3e-3,
            }),
            optimizer,
            schedule,
            decay_every: None,
            warmup: r.warmup.unwrap_or(0.03),
            momentum: r.momentum.unwrap_or(DEFAULT_MOMENTUM),
            weight_decay: r.weight_decay.unwrap_or(1e-4),
            clip: r.clip.unwrap_or(1.0),
            loss: r.loss.unwrap_or(match data.train.y {
                Labels::Value { .. } => Loss::SquaredError,
                _ => Loss::SoftmaxCrossEntropy,
            }),
            earlier_readings: r.earlier_readings.unwrap_or(0),
            earlier_every: r.earlier_every.unwrap_or(4),
            positive_last: r.positive_last.unwrap_or(false),
            class_weight: r.class_weight.unwrap_or_default(),
            positive: r.positive.clone().or_else(|| data.suggested.positive.clone()),
            class_share: r.class_share.clone(),
            epoch_draws: r.epoch_draws,
            label_smoothing: r.label_smoothing,
            mixup: r.mixup,
            teacher: r.teacher.clone(),
            teacher_weight: r.teacher_weight.or(r.teacher.as_ref().map(|_| WEIGHT)),
            teacher_temperature: r.teacher_temperature.or(r.teacher.as_ref().map(|_| TEMPERATURE)),
            ema: r.ema,
            patience: r.patience.unwrap_or(0),
            refit: r.refit.unwrap_or_default(),
            seed,
            seeds,
            checkpoint_every: r.checkpoint_every.unwrap_or(10.0),
            augment,
        };
        limits.check()?;
        if let (Some(spec), None) = (&r.features, &data.audio) {
            return Err(ConfigError::Unused {
                key: "features",
                value: spec.to_string(),
                why: format!("{} holds no recordings", data.name),
                instead: "a folder of WAV or FLAC files".into(),
            });
        }
        if r.hidden.is_none() {
            config.shrink(data);
        }
        config.check(data)?;
        config.epochs = match r.epochs {
            Some(epochs) => epochs,
            None => default_epochs(&config.network(data), &data.train, config.draws(part), batch),
        };
        if let (Some(every), Schedule::Constant | Schedule::Cosine) = (r.decay_every, schedule) {
            return Err(ConfigError::Unused {
                key: "decay-every",
                value: every.to_string(),
                why: format!("the {schedule} schedule has no steps"),
                instead: "--schedule step or halving".into(),
            });
        }
        config.decay_every = match schedule {
            Schedule::Step => Some(r.decay_every.unwrap_or(config.epochs as f64 * 2.0 / 3.0)),
            Schedule::Halving => Some(r.decay_every.unwrap_or(config.epochs as f64 / 4.0)),
            Schedule::Constant | Schedule::Cosine => None,
        };
        config.stages = match &r.stages {
            Some(stages) => stages.clone(),
            None => Stages::usual(config.sparse(), config.quantize),
        };
        config.check_values()?;
        config.check_applies()?;
        if config.quantize {
            check_form(&config.network(data), config.normalize, &config.initial_state)?;
            check_lsb(config.lsb().as_deref(), &data.train.x)?;
        }
        config.check_limits(data)?;
        let batches = config.draws(part).div_ceil(batch.max(1)).max(1);
        config.check_stages(config.epochs.saturating_mul(batches))?;
        if let Some(every) = config.decay_every
            && every * (batches as f64) < 0.5
        {
            return Err(out_of_range("decay-every", every, "the learning rate would fall at every step"));
        }
        config.check_splits(data)?;
        Ok(config)
    }

    /// What a person should know about the defaults that `config` got.
    pub fn notes(&self, config: &Config, data: &Dataset) -> Vec<String> {
        let mut notes = self.epoch_notes(config, data);
        if let (Some(asked), Some(part)) = (self.val_split, &data.validation)
            && asked != 0.0
            && asked != config.val_split
        {
            notes.push(format!(
                "{} brings its own validation part of {} sequences; val-split = {asked} is not used",
                data.name,
                part.len()
            ));
        }
        let usual = default_hidden(data.train.len());
        if self.hidden.is_none() && config.hidden < usual {
            notes.push(format!(
                "hidden = {} instead of {usual}: the most units that keep to the limits",
                config.hidden
            ));
        }
        notes
    }

    fn epoch_notes(&self, config: &Config, data: &Dataset) -> Vec<String> {
        let part = training_part(data.train.len(), config.val_split);
        let batches = config.draws(part).div_ceil(config.batch).max(1);
        let steps = config.epochs.saturating_mul(batches);
        if self.epochs.is_some() || steps >= MIN_STEPS {
            return Vec::new();
        }
        let epochs = MIN_STEPS.div_ceil(batches);
        vec![format!(
            "{} epochs ({steps} optimiser steps) is what about ten minutes on two cores allow; \
             --epochs {epochs} would give the {MIN_STEPS} steps that small sets need",
            config.epochs
        )]
    }
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
    let steps: usize = (0..train.len()).map(|i| train.x.steps(i)).sum();
    // Forward once and backward twice, on the training part.
    let share = part as f64 / train.len() as f64;
    let work = 3.0 * steps as f64 * share * (weights + pointwise) as f64;
    let affordable = (MAX_WORK / work.max(1.0)) as usize;
    wanted.min(affordable).max(1)
}
