//! A fully resolved configuration, and the defaults that make it one.
//!
//! [`Recipe::resolve`](super::Recipe::resolve) fills in what a recipe leaves out (`defaults`) and
//! refuses what cannot be (`checks`, `stages`, `data`).

mod checks;
mod data;
mod defaults;
mod error;
mod limits;
mod stages;

pub use error::ConfigError;

use super::settings::{
    AugmentSetting, Axes, ClassWeight, FormSetting, Optimizer, Rank, Refit, ScalarSetting, Schedule,
};
use super::share::ClassShare;
use super::stage::Stages;
use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity, Scalars, Start};
use fastgrnn_core::net::{InitialState, Loss, Network};
use fastgrnn_data::data::{Augment, Dataset, LabelKind, Labels, Normalize, SplitBy};
use fastgrnn_data::features::{Kind, Spec};
use fastgrnn_model::device::Board;
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
    /// Whether there was a test set apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_apart: Option<bool>,
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
    /// Words that are classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
    /// Clips of other words, as a share of theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_share: Option<f64>,
    /// Clips of background noise, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_share: Option<f64>,
    /// Seconds of a clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip_seconds: Option<f64>,
    /// Whether files that cannot be read are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_bad: Option<bool>,
    /// How recordings become features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Spec>,
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
    /// Form of W.
    pub form_w: FormSetting,
    /// Form of U.
    pub form_u: FormSetting,
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
    /// A board that the integer model must fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Board>,
    /// The board that the limits below are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// Most bytes of flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_flash: Option<usize>,
    /// Most bytes of RAM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ram: Option<usize>,
    /// Most milliseconds of an inference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<f64>,
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
    /// Time steps before the last at which the loss looks as well.
    pub earlier_readings: usize,
    /// Time steps from one of these to the next.
    pub earlier_every: usize,
    /// Whether the loss of the class to be found looks at the last step alone.
    pub positive_last: bool,
    /// How classes count in the loss.
    pub class_weight: ClassWeight,
    /// The one of two classes that is to be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// Shares of an epoch's draws that named classes get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_share: Option<ClassShare>,
    /// Sequences that an epoch draws; all there are to train on where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_draws: Option<usize>,
    /// Share of a target that is divided among all classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_smoothing: Option<f64>,
    /// Parameter of the beta distribution that parts of mixed sequences are drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixup: Option<f64>,
    /// The model file of a teacher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher: Option<PathBuf>,
    /// Share of the loss that is the teacher's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher_weight: Option<f64>,
    /// Temperature at which student and teacher are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher_temperature: Option<f64>,
    /// Decay of a moving average of the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ema: Option<f64>,
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

/// Keys that say where data lie, how runs are kept and what sizes are held to: they change no
/// result. Data and teacher are judged by what they hold.
pub(super) const PLACE_KEYS: [&str; 11] = [
    "dataset",
    "test",
    "data-dir",
    "teacher",
    "size-limit",
    "checkpoint-every",
    "fit",
    "board",
    "max-flash",
    "max-ram",
    "max-ms",
];

impl Config {
    /// The network for this data: stacked cells and a head of as many outputs as the loss needs.
    pub fn network(&self, data: &Dataset) -> Network {
        let cell = |input| Cell {
            kind: self.cell,
            input,
            hidden: self.hidden,
            form_w: self.form_w.with_rank(self.rank_w),
            form_u: self.form_u.with_rank(self.rank_u),
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

    /// Sequences that an epoch goes through, of `part` there are to train on.
    pub(in crate::train) fn draws(&self, part: usize) -> usize {
        self.epoch_draws.unwrap_or(part)
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
        let audio = data.audio.as_ref().filter(|spec| spec.kind() == Kind::LogMel);
        Augment {
            rotate: self.augment.rotate as f32,
            scale: self.augment.scale as f32,
            axes: self.axes.0.clone(),
            noise: self.augment.noise as f32,
            shift: self.augment.shift,
            gap: audio.map(|spec| spec.floor() as f32),
            crop: self.augment.crop as f32,
            pixels: self.augment.pixel_shift,
            image: data.image,
        }
    }

    /// The class whose sequences count in the loss at their last step alone.
    pub(super) fn last_only(&self, data: &Dataset) -> Option<u32> {
        let (Labels::Class { names, .. }, true) = (&data.train.y, self.positive_last) else { return None };
        let found = names.iter().position(|name| Some(name) == self.positive.as_ref());
        found.map(|class| class as u32)
    }

    /// Whether augmentation changes the length of sequences.
    pub(super) fn varies(&self) -> bool {
        (self.augment.crop > 0.0 && self.augment.crop < 1.0) || self.augment.lead_in > 0
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
}
