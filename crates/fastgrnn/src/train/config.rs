//! A fully resolved configuration, and the defaults that make it one.
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
//! | start | slow | decisive on long sequences |
//! | stages | dense; with a sparsity the paper's thirds: dense, projected every 15 batches, frozen; with `quantize` the last sixth through the integer grids | what the measurements in `docs/training.md` rest on |
//! | val-split, val-group | 0.2, by group where there are groups (an error where they cannot be split) | windows of one subject resemble each other |
//! | augment | rotate 0.25, scale 0.1 where axes are named, else none | the largest gain measured on inertial data, wrong elsewhere |

use super::recipe::Recipe;
use super::settings::{AugmentSetting, Axes, ClassWeight, Optimizer, Rank, Refit, ScalarSetting, Schedule};
use super::stage::{StageKind, Stages};
use crate::cells::{CELLS, Cell, CellKind, Declaration, Nonlinearity, Scalar, Scalars, Start};
use crate::data::{
    Augment, DataError, Dataset, Examples, LabelKind, Labels, Normalize, SplitBy, validation_split,
};
use crate::net::{InitialState, Loss, MAX_LAYERS, MAX_SIZE, Network, NetworkError};
use crate::quantize::{QuantizeError, check_form, check_lsb};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A recipe with everything filled in. Its TOML is again a recipe, which resolves to itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Config {
    /// What was trained on, as it was asked for.
    pub dataset: String,
    /// A test set apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
    /// Where known sets lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// Time steps that every sequence was cut or joined into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timesteps: Option<usize>,
    /// Rows of a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Rows from one window to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<usize>,
    /// CSV column that tells sequences apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_col: Option<String>,
    /// CSV column with the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_col: Option<String>,
    /// CSV column with the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_col: Option<String>,
    /// CSV columns used as features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// CSV columns left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop: Option<Vec<String>>,
    /// How labels were understood.
    pub labels: LabelKind,
    /// The most bytes to read or unpack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_limit: Option<u64>,
    /// What is scaled to mean 0 and deviation 1.
    pub normalize: Normalize,
    /// Columns that are the x, y, z of one sensor.
    pub axes: Axes,
    /// Share of the training data to validate on.
    pub val_split: f64,
    /// Whether groups are kept whole.
    pub val_group: bool,
    /// The recurrent cell.
    pub cell: CellKind,
    /// Units of the state.
    pub hidden: usize,
    /// Rank of W.
    pub rank_w: Rank,
    /// Rank of U.
    pub rank_u: Rank,
    /// Cells stacked on one another.
    pub layers: usize,
    /// Nonlinearity of the gates.
    pub gate: Nonlinearity,
    /// Nonlinearity of the update.
    pub update: Nonlinearity,
    /// FastRNN's α.
    pub alpha: ScalarSetting,
    /// FastRNN's β.
    pub beta: ScalarSetting,
    /// FastGRNN's ζ.
    pub zeta: ScalarSetting,
    /// FastGRNN's ν.
    pub nu: ScalarSetting,
    /// Fraction kept of W, or of each of its factors.
    pub sparsity_w: f64,
    /// Fraction kept of U, or of each of its factors.
    pub sparsity_u: f64,
    /// Fraction kept of the head.
    pub sparsity_head: f64,
    /// Whether the result is the integer model.
    pub quantize: bool,
    /// What one count of the sensor is worth to the integer model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_lsb: Option<Vec<f64>>,
    /// Starting values.
    pub start: Start,
    /// State before the first step.
    pub initial_state: InitialState,
    /// What the run does with its parameters, one stage after the other.
    pub stages: Stages,
    /// Passes over the training data.
    pub epochs: usize,
    /// Sequences in an optimiser step.
    pub batch: usize,
    /// Learning rate.
    pub lr: f64,
    /// How a gradient becomes an update.
    pub optimizer: Optimizer,
    /// How the learning rate falls.
    pub schedule: Schedule,
    /// Epochs between falls; `None` for schedules that have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_every: Option<f64>,
    /// Share of the run over which the learning rate rises.
    pub warmup: f64,
    /// Momentum of nesterov, first moment of adam.
    pub momentum: f64,
    /// Decay of matrices and factors.
    pub weight_decay: f64,
    /// Largest norm of a gradient; 0 for no limit.
    pub clip: f64,
    /// What is minimised.
    pub loss: Loss,
    /// How classes count in the loss.
    pub class_weight: ClassWeight,
    /// Epochs without a better validation before stopping; 0 for never.
    pub patience: usize,
    /// What happens after validation has chosen an epoch.
    pub refit: Refit,
    /// First seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: usize,
    /// Seconds between checkpoints.
    pub checkpoint_every: f64,
    /// What happens to training sequences (a table, so the last key in TOML).
    pub augment: AugmentSetting,
}

/// Settings that do not fit the data, or each other.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Too little to train on.
    #[error("{dataset} has {found} training sequences; at least 2 are needed")]
    TooFew {
        /// The data set.
        dataset: String,
        /// Its sequences.
        found: usize,
    },
    /// A sequence without steps.
    #[error("{dataset}: sequence {index} of the {part} set has no time steps; remove it")]
    EmptySequence {
        /// The data set.
        dataset: String,
        /// `training` or `test`.
        part: &'static str,
        /// The sequence, from 0.
        index: usize,
    },
    /// Nothing to learn.
    #[error("{dataset} has no labels; name their column with --label-col")]
    NoLabels {
        /// The data set.
        dataset: String,
    },
    /// Labels and sequences that do not belong together.
    #[error("{dataset}: {what}")]
    Labels {
        /// The data set.
        dataset: String,
        /// What does not fit.
        what: String,
    },
    /// Only one class.
    #[error(
        "every training sequence of {dataset} has the class '{class}'; a classifier needs at least two (is the label column the right one?)"
    )]
    OneClass {
        /// The data set.
        dataset: String,
        /// The class.
        class: String,
    },
    /// Training and test set differ in shape.
    #[error("{dataset}: the test set {what}")]
    TestMismatch {
        /// The data set.
        dataset: String,
        /// How it differs.
        what: String,
    },
    /// A value out of its range.
    #[error("{key} = {value}: {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A loss that cannot be used with these labels.
    #[error("loss {} does not fit {labels}; use {instead}", super::Choice::choice_name(*.loss))]
    Loss {
        /// The loss.
        loss: Loss,
        /// What the labels are.
        labels: &'static str,
        /// Losses that fit.
        instead: &'static str,
    },
    /// A given initial state of the wrong size.
    #[error(
        "initial-state has {found} numbers; the network has {expected} state entries (one number is repeated)"
    )]
    InitialState {
        /// Numbers given.
        found: usize,
        /// Entries of all layers together.
        expected: usize,
    },
    /// A network beyond what a model file holds.
    #[error(
        "a network of {input} features, {outputs} outputs and {params} parameters is too large; \
         use a smaller --hidden or ranks, or --timesteps to put fewer values into a step"
    )]
    TooLarge {
        /// Features a step.
        input: usize,
        /// Outputs of the head.
        outputs: usize,
        /// All parameters.
        params: usize,
    },
    /// Stages that contradict one another or other settings.
    #[error("stages = {stages}: {what}")]
    Stages {
        /// The stages, as they would be written.
        stages: String,
        /// What is wrong and what to try.
        what: String,
    },
    /// A setting that nothing would read.
    #[error("{key} = {value}: {why}; leave it out, or choose {instead}")]
    Unused {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// Why nothing reads it.
        why: String,
        /// What would.
        instead: String,
    },
    /// No validation part can be split off.
    #[error("seed {seed}: {source}; {instead}")]
    Split {
        /// The seed.
        seed: u64,
        /// Why not.
        source: DataError,
        /// What to try.
        instead: &'static str,
    },
    /// Training would need more memory than a machine has.
    #[error(
        "training on sequences of {steps} steps needs about {} GiB on {threads} threads; cut them with \
         --window or --timesteps, or use a smaller --batch, --hidden or --threads",
        bytes >> 30
    )]
    Memory {
        /// Steps of the longest sequence.
        steps: usize,
        /// Worker threads.
        threads: usize,
        /// Estimate of the buffers.
        bytes: u64,
    },
    /// The network has no integer form.
    #[error("quantize = true: {0}")]
    Quantize(#[from] QuantizeError),
    /// The network cannot be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The data refuse a setting.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Keys that say where data lie and how runs are kept: they change no result.
pub(super) const PLACE_KEYS: [&str; 5] = ["dataset", "test", "data-dir", "size-limit", "checkpoint-every"];

/// Fewest optimiser steps of a default run: below this, small sets were not fitted.
const MIN_STEPS: usize = 2_000;
/// Optimiser steps that a default run aims at.
const AIM_STEPS: usize = 8_000;
/// Multiply-adds of a default run. Two cores do more than 2e10 a second, so about ten minutes.
const MAX_WORK: f64 = 1.2e13;

impl Recipe {
    /// Fills in everything that was left out, and checks what was not.
    pub fn resolve(&self, data: &Dataset) -> Result<Config, ConfigError> {
        check_data(data)?;
        let r = self;
        let n = data.train.len();
        let val_split = r.val_split.unwrap_or(0.2);
        let (seed, seeds) = (r.seed.unwrap_or(0), r.seeds.unwrap_or(1));
        let cell = r.cell.unwrap_or(CellKind::FastGrnn);
        let optimizer = r.optimizer.unwrap_or_default();
        let hidden = r.hidden.unwrap_or(match n {
            0..100 => 16,
            100..1_000 => 32,
            _ => 64,
        });
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
            normalize: r.normalize.unwrap_or_default(),
            axes,
            val_split,
            val_group: r.val_group.unwrap_or(data.train.group.is_some() && val_split > 0.0),
            cell,
            hidden,
            rank_w: r.rank_w.unwrap_or_default(),
            rank_u: r.rank_u.unwrap_or_default(),
            layers: r.layers.unwrap_or(1),
            gate: r.gate.unwrap_or(Nonlinearity::Sigmoid),
            update: r.update.unwrap_or(Nonlinearity::Tanh),
            alpha: r.alpha.unwrap_or_default(),
            beta: r.beta.unwrap_or_default(),
            zeta: r.zeta.unwrap_or_default(),
            nu: r.nu.unwrap_or_default(),
            sparsity_w: r.sparsity_w.unwrap_or(1.0),
            sparsity_u: r.sparsity_u.unwrap_or(1.0),
            sparsity_head: r.sparsity_head.unwrap_or(1.0),
            quantize: r.quantize.unwrap_or(false),
            input_lsb: r.input_lsb.clone(),
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
            class_weight: r.class_weight.unwrap_or_default(),
            patience: r.patience.unwrap_or(0),
            refit: r.refit.unwrap_or_default(),
            seed,
            seeds,
            checkpoint_every: r.checkpoint_every.unwrap_or(10.0),
            augment,
        };
        config.check(data)?;
        config.epochs = match r.epochs {
            Some(epochs) => epochs,
            None => default_epochs(&config.network(data), &data.train, part, batch),
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
        config.check_stages(config.epochs.saturating_mul(part.div_ceil(batch.max(1)).max(1)))?;
        if let Some(every) = config.decay_every
            && every * (part.div_ceil(batch) as f64) < 0.5
        {
            return Err(out_of_range("decay-every", every, "the learning rate would fall at every step"));
        }
        config.check_splits(data)?;
        Ok(config)
    }

    /// What a person should know about the defaults that `config` got.
    pub fn notes(&self, config: &Config, data: &Dataset) -> Vec<String> {
        let batches = training_part(data.train.len(), config.val_split).div_ceil(config.batch).max(1);
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

fn check_data(data: &Dataset) -> Result<(), ConfigError> {
    let dataset = || data.name.clone();
    if data.train.len() < 2 {
        return Err(ConfigError::TooFew { dataset: dataset(), found: data.train.len() });
    }
    for (part, examples) in [("training", Some(&data.train)), ("test", data.test.as_ref())] {
        let Some(x) = examples.map(|e| &e.x) else { continue };
        if let Some(index) = (0..x.len()).find(|&i| x.steps(i) == 0) {
            return Err(ConfigError::EmptySequence { dataset: dataset(), part, index });
        }
    }
    for examples in [Some(&data.train), data.test.as_ref()].into_iter().flatten() {
        check_labels(examples).map_err(|what| ConfigError::Labels { dataset: dataset(), what })?;
    }
    match &data.train.y {
        Labels::None => return Err(ConfigError::NoLabels { dataset: dataset() }),
        Labels::Class { index, names } if index.iter().all(|&c| c == index[0]) => {
            let class = names.get(index[0] as usize).cloned().unwrap_or_default();
            return Err(ConfigError::OneClass { dataset: dataset(), class });
        }
        _ => {}
    }
    let Some(test) = &data.test else { return Ok(()) };
    let mismatch = |what: String| Err(ConfigError::TestMismatch { dataset: dataset(), what });
    if test.x.dim() != data.train.x.dim() {
        return mismatch(format!("has {} features a step, training {}", test.x.dim(), data.train.x.dim()));
    }
    match (&data.train.y, &test.y) {
        (Labels::Class { names: a, .. }, Labels::Class { names: b, .. }) if a == b => Ok(()),
        (Labels::Value { width: a, .. }, Labels::Value { width: b, .. }) if a == b => Ok(()),
        _ => mismatch("has other labels than the training set".into()),
    }
}

/// What the readers promise; data made by other code may break it.
fn check_labels(examples: &Examples) -> Result<(), String> {
    let n = examples.len();
    match &examples.y {
        Labels::Class { index, .. } if index.len() != n => {
            Err(format!("{} labels for {n} sequences", index.len()))
        }
        Labels::Class { index, names } => match index.iter().find(|&&c| c as usize >= names.len()) {
            Some(c) => Err(format!("class {c} is out of range: there are {} classes", names.len())),
            None => Ok(()),
        },
        Labels::Value { width, values } if *width == 0 || values.len() != n * width => {
            Err(format!("{} target numbers for {n} sequences of {width}", values.len()))
        }
        Labels::Value { values, .. } => match values.iter().find(|v| !v.is_finite()) {
            Some(v) => Err(format!("the target {v} is not finite")),
            None => Ok(()),
        },
        Labels::None => Ok(()),
    }
}

impl Config {
    /// The network for this data: stacked cells and a head of as many outputs as the loss needs.
    pub fn network(&self, data: &Dataset) -> Network {
        let cell = |input| Cell {
            kind: self.cell,
            input,
            hidden: self.hidden,
            rank_w: self.rank_w.columns(),
            rank_u: self.rank_u.columns(),
            gate: self.gate,
            update: self.update,
            scalars: Scalars { alpha: self.alpha.0, beta: self.beta.0, zeta: self.zeta.0, nu: self.nu.0 },
        };
        let layers = (0..self.layers).map(|k| cell(if k == 0 { data.train.x.dim() } else { self.hidden }));
        let outputs = match &data.train.y {
            Labels::Class { names, .. } if names.len() == 2 && self.loss == Loss::BinaryCrossEntropy => 1,
            Labels::Class { names, .. } => names.len(),
            Labels::Value { width, .. } => *width,
            Labels::None => 0,
        };
        Network::new(layers.collect(), outputs)
    }

    /// The kept fraction of the weight view called `name`.
    pub(super) fn kept(&self, name: &str) -> f64 {
        match name.split_once('.') {
            Some(("head", _)) => self.sparsity_head,
            Some((_, name)) if name.starts_with('w') => self.sparsity_w,
            Some((_, name)) if name.starts_with('u') => self.sparsity_u,
            _ => 1.0,
        }
    }

    /// What one count is worth, as the integer model takes it.
    pub(super) fn lsb(&self) -> Option<Vec<f32>> {
        self.input_lsb.as_ref().map(|lsb| lsb.iter().map(|&v| v as f32).collect())
    }

    /// Whether any matrix is to lose entries.
    fn sparse(&self) -> bool {
        [self.sparsity_w, self.sparsity_u, self.sparsity_head].iter().any(|&kept| kept < 1.0)
    }

    /// The augmentation of this data's training sequences.
    pub fn augmentation(&self, data: &Dataset) -> Augment {
        Augment {
            rotate: self.augment.rotate as f32,
            scale: self.augment.scale as f32,
            axes: self.axes.0.clone(),
            noise: self.augment.noise as f32,
            shift: self.augment.shift,
            crop: self.augment.crop as f32,
            pixels: self.augment.pixel_shift,
            image: data.image,
        }
    }

    /// How the validation part is split off.
    pub fn split_by(&self) -> SplitBy {
        if self.val_group { SplitBy::Group } else { SplitBy::Stratified }
    }

    /// The settings that determine results, without paths: what a model file carries.
    pub fn portable(&self) -> serde_json::Map<String, serde_json::Value> {
        let Ok(serde_json::Value::Object(mut map)) = serde_json::to_value(self) else {
            return serde_json::Map::new();
        };
        PLACE_KEYS.iter().for_each(|key| drop(map.remove(*key)));
        map
    }

    /// The configuration as a recipe file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration has no values that TOML lacks")
    }

    fn check(&self, data: &Dataset) -> Result<(), ConfigError> {
        if self.layers > MAX_LAYERS {
            return Err(out_of_range("layers", self.layers, "it must be between 1 and 64"));
        }
        if self.hidden > MAX_HIDDEN {
            return Err(out_of_range("hidden", self.hidden, "it must be between 1 and 65536"));
        }
        let network = self.network(data);
        network.check()?;
        let params = network.layout().len();
        if network.input().max(network.outputs) > MAX_SIZE || params > MAX_PARAMS {
            return Err(ConfigError::TooLarge { input: network.input(), outputs: network.outputs, params });
        }
        let states = self.hidden * self.layers;
        match &self.initial_state {
            InitialState::Given(values) if values.len() != 1 && values.len() != states => {
                return Err(ConfigError::InitialState { found: values.len(), expected: states });
            }
            InitialState::Given(values) if values.iter().any(|v| !v.is_finite()) => {
                return Err(out_of_range("initial-state", "NaN or infinity", "it must be finite numbers"));
            }
            _ => {}
        }
        let only_zero_and_one = |v: &[f32]| v.iter().all(|&v| v == 0.0 || v == 1.0);
        match (&data.train.y, self.loss) {
            (Labels::Class { .. }, loss @ Loss::SquaredError) => {
                let instead = "softmax-cross-entropy or binary-cross-entropy";
                return Err(ConfigError::Loss { loss, labels: "labels that are classes", instead });
            }
            (Labels::Value { .. }, loss @ Loss::SoftmaxCrossEntropy) => {
                let (labels, instead) = ("labels that are numbers", "squared-error, or --labels class");
                return Err(ConfigError::Loss { loss, labels, instead });
            }
            (Labels::Value { values, .. }, loss @ Loss::BinaryCrossEntropy) if !only_zero_and_one(values) => {
                let (labels, instead) = ("labels other than 0 and 1", "squared-error");
                return Err(ConfigError::Loss { loss, labels, instead });
            }
            _ => {}
        }
        self.augmentation(data).check(&data.train.x)?;
        if self.normalize == Normalize::PerCoordinate && self.augment.crop > 0.0 && self.augment.crop < 1.0 {
            let expected = "cropped sequences have no fixed length; use --normalize per-feature";
            return Err(out_of_range("normalize", "per-coordinate", expected));
        }
        Ok(())
    }

    fn check_values(&self) -> Result<(), ConfigError> {
        let share = "it must be at least 0 and below 1";
        let not_negative = "it must be a number that is not negative";
        let number = |ok: bool, key, value: f64, expected| {
            if ok { Ok(()) } else { Err(out_of_range(key, value, expected)) }
        };
        number((0.0..1.0).contains(&self.val_split), "val-split", self.val_split, share)?;
        number((0.0..1.0).contains(&self.warmup), "warmup", self.warmup, share)?;
        number((0.0..1.0).contains(&self.momentum), "momentum", self.momentum, share)?;
        for (key, value) in [
            ("sparsity-w", self.sparsity_w),
            ("sparsity-u", self.sparsity_u),
            ("sparsity-head", self.sparsity_head),
        ] {
            let kept = "it is the fraction kept, above 0 and at most 1";
            number(value > 0.0 && value <= 1.0, key, value, kept)?;
        }
        // Steps are taken in f32, where 1e39 is infinite and 1e-46 is 0.
        let usable = |value: f64| (value as f32) > 0.0 && (value as f32).is_finite();
        number(usable(self.lr), "lr", self.lr, "it must be a number above 0 that an f32 can hold")?;
        for (key, value) in [
            ("weight-decay", self.weight_decay),
            ("clip", self.clip),
            ("checkpoint-every", self.checkpoint_every),
        ] {
            number(value >= 0.0 && (value as f32).is_finite(), key, value, not_negative)?;
        }
        if let Some(every) = self.decay_every {
            number(every > 0.0 && every.is_finite(), "decay-every", every, "it must be a number above 0")?;
        }
        for (key, value) in [("epochs", self.epochs), ("batch", self.batch), ("seeds", self.seeds)] {
            if value == 0 {
                return Err(out_of_range(key, value, "it must be at least 1"));
            }
        }
        for (key, value) in [
            ("epochs", Some(self.epochs)),
            ("batch", Some(self.batch)),
            ("patience", Some(self.patience)),
            ("timesteps", self.timesteps),
            ("window", self.window),
            ("stride", self.stride),
            ("augment shift", Some(self.augment.shift)),
            ("augment pixel-shift", Some(self.augment.pixel_shift)),
        ] {
            if let Some(value) = value.filter(|&v| v > MAX_COUNT) {
                return Err(out_of_range(key, value, "it must be below 2^31"));
            }
        }
        if self.seeds > MAX_SEEDS {
            return Err(out_of_range("seeds", self.seeds, "it must be at most 10000"));
        }
        if let Some(limit) = self.size_limit.filter(|&l| l > i64::MAX as u64) {
            return Err(out_of_range("size-limit", limit, "it must be below 2^63"));
        }
        if self.seed.checked_add(self.seeds as u64).is_none() {
            return Err(out_of_range("seed", self.seed, "seed + seeds must stay below 2^64"));
        }
        if self.seed > i64::MAX as u64 {
            return Err(out_of_range(
                "seed",
                self.seed,
                "it must be below 2^63, the largest number TOML has",
            ));
        }
        if self.val_split == 0.0 && self.patience > 0 {
            let expected = "early stopping needs a validation part; set val-split above 0";
            return Err(out_of_range("patience", self.patience, expected));
        }
        if self.val_split == 0.0 && self.refit != Refit::None {
            let expected = "a refit needs a validation part first; set val-split above 0";
            return Err(out_of_range("refit", self.refit, expected));
        }
        Ok(())
    }

    /// Refuses settings that the cell, schedule or optimiser has no use for. The defaults may
    /// stand: a resolved configuration writes all of them out.
    fn check_applies(&self) -> Result<(), ConfigError> {
        let unused = |key, value: String, why: String, instead: String| {
            Err(ConfigError::Unused { key, value, why, instead })
        };
        let declaration = self.cell.declaration();
        let with = |has: &dyn Fn(&Declaration) -> bool| {
            let names: Vec<&str> = CELLS.iter().filter(|d| has(d)).map(|d| d.name).collect();
            format!("--cell {}", names.join(" or "))
        };
        if !declaration.gated && self.gate != Nonlinearity::Sigmoid {
            let why = format!("a {} has no gate", self.cell);
            return unused("gate", self.gate.to_string(), why, with(&|d| d.gated));
        }
        for (key, setting) in
            [("alpha", self.alpha), ("beta", self.beta), ("zeta", self.zeta), ("nu", self.nu)]
        {
            let has = |d: &Declaration| d.pointwise.iter().any(|p| p.name == key);
            if setting != ScalarSetting::default() && !has(declaration) {
                let value = match setting.0 {
                    Scalar::Fixed(value) => value.to_string(),
                    _ => "tied".into(),
                };
                return unused(key, value, format!("a {} has no {key}", self.cell), with(&has));
            }
        }
        if let (Some(lsb), false) = (&self.input_lsb, self.quantize) {
            let why = "a float model reads the data's own units".into();
            return unused("input-lsb", format!("{lsb:?}"), why, "--quantize".into());
        }
        if self.optimizer == Optimizer::Sgd && self.momentum != DEFAULT_MOMENTUM {
            let why = "sgd has no momentum".into();
            return unused("momentum", self.momentum.to_string(), why, "--optimizer nesterov".into());
        }
        Ok(())
    }

    /// Refuses stages that contradict one another or the settings about sparsity and integers.
    fn check_stages(&self, batches: usize) -> Result<(), ConfigError> {
        let refuse =
            |what: &str| Err(ConfigError::Stages { stages: self.stages.to_string(), what: what.to_owned() });
        let kinds: Vec<StageKind> = self.stages.0.iter().map(|s| s.kind).collect();
        if batches < kinds.len() {
            return refuse(&format!(
                "{} stages need more than {batches} batches; give more --epochs",
                kinds.len()
            ));
        }
        let mut support = false;
        for (i, kind) in kinds.iter().enumerate() {
            match kind {
                StageKind::Project { .. } if !self.sparse() => {
                    return refuse(
                        "nothing is sparse; set --sparsity-w, --sparsity-u or --sparsity-head below 1",
                    );
                }
                StageKind::Frozen if !support => {
                    return refuse("a frozen stage holds what a project stage kept; put one before it");
                }
                StageKind::Quantized if !self.quantize => {
                    return refuse("a quantized stage trains for integers; add --quantize");
                }
                StageKind::Quantized if i + 1 < kinds.len() => {
                    return refuse("nothing may follow a quantized stage");
                }
                StageKind::Project { .. } => support = true,
                StageKind::Dense => support = false,
                StageKind::Frozen | StageKind::Quantized => {}
            }
        }
        if self.sparse() && !support {
            return refuse("a sparsity below 1 needs a project stage, and no dense one after it");
        }
        let last = kinds.iter().rev().find(|kind| kind.projects());
        match last {
            Some(StageKind::Project { keep: Some(_), .. }) => {
                refuse("keep is for a stage on the way; the last projection goes down to the sparsity")
            }
            _ => Ok(()),
        }
    }

    /// Splits off every seed's validation part once, so that nothing is left behind if one fails.
    fn check_splits(&self, data: &Dataset) -> Result<(), ConfigError> {
        for seed in (0..self.seeds as u64).map(|i| self.seed + i) {
            validation_split(&data.train, self.split_by(), self.val_split, seed).map_err(|source| {
                let instead = match (self.val_group, &data.train.recording) {
                    (true, _) => {
                        "--val-group=false splits without regard to groups, --val-split 0 trains without validation"
                    }
                    (false, Some(_)) => {
                        "split long recordings into several files, or train without validation: --val-split 0"
                    }
                    (false, None) => "--val-split 0 trains without validation",
                };
                ConfigError::Split { seed, source, instead }
            })?;
        }
        Ok(())
    }

    /// Refuses sequences so long that the buffers of backward through time fit no machine.
    pub fn check_memory(&self, data: &Dataset, threads: usize) -> Result<(), ConfigError> {
        let network = self.network(data);
        let steps = data.train.x.max_steps().max(data.test.as_ref().map_or(0, |t| t.x.max_steps()));
        // A worker keeps, for each row and step, input, state, what backward needs of each block,
        // the low-rank products, and the gradient that one layer hands to the next.
        let layer = |c: &Cell| {
            let ranks = c.rank_w.unwrap_or(0) + c.rank_u.unwrap_or(0);
            (c.blocks() + 3) * c.hidden.next_multiple_of(16) + 2 * ranks
        };
        let floats: usize = network.input() + network.layers.iter().map(layer).sum::<usize>();
        let rows = self.batch.min(TILE_ROWS).min(data.train.len());
        let bytes = [rows, steps, threads, 4].iter().fold(floats as u64, |b, &k| b.saturating_mul(k as u64));
        match bytes > MAX_BUFFERS {
            true => Err(ConfigError::Memory { steps, threads, bytes }),
            false => Ok(()),
        }
    }
}

/// Sequences that a worker of the engine takes at a time.
const TILE_ROWS: usize = 32;
/// What the momentum is where nobody sets it.
const DEFAULT_MOMENTUM: f64 = 0.9;

/// Most of anything that is counted: far beyond use, far from overflow, and a number TOML has.
const MAX_COUNT: usize = (1 << 31) - 1;
/// Most seeds of a run.
const MAX_SEEDS: usize = 10_000;
/// Most bytes of training buffers.
const MAX_BUFFERS: u64 = 16 << 30;
/// Most parameters: a model file of half a gigabyte.
const MAX_PARAMS: usize = 1 << 27;
/// Most units of a layer.
const MAX_HIDDEN: usize = 1 << 16;

fn out_of_range(key: &'static str, value: impl ToString, expected: &'static str) -> ConfigError {
    ConfigError::Value { key, value: value.to_string(), expected }
}
