//! Whether settings fit the data and each other.

use super::defaults::DEFAULT_MOMENTUM;
use super::error::out_of_range;
use super::{Config, ConfigError};
use crate::train::{FormSetting, Optimizer, Rank, Refit, ScalarSetting};
use fastgrnn_core::cells::{CELLS, Cell, Declaration, Scalar};
use fastgrnn_core::net::{InitialState, Loss, MAX_LAYERS, MAX_SIZE};
use fastgrnn_data::data::{Dataset, Labels, Normalize};

/// Sequences that a worker of the engine takes at a time.
const TILE_ROWS: usize = 32;
/// Most of anything that is counted: far beyond use, far from overflow, and a number TOML has.
const MAX_COUNT: usize = (1 << 31) - 1;
/// Least parameter of mixing that is not none: below it, nothing is mixed.
const LEAST_ALPHA: f64 = 0.01;
/// Largest: beyond it all parts are one half.
const MOST_ALPHA: f64 = 1000.0;
/// Most seeds of a run.
const MAX_SEEDS: usize = 10_000;
/// Most bytes of training buffers.
const MAX_BUFFERS: u64 = 16 << 30;
/// Most parameters: a model file of half a gigabyte.
const MAX_PARAMS: usize = 1 << 27;
/// Most units of a layer.
const MAX_HIDDEN: usize = 1 << 16;

impl Config {
    /// Refuses a network, a state, a loss or an augmentation that the data has no place for.
    pub(super) fn check(&self, data: &Dataset) -> Result<(), ConfigError> {
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
        self.check_shares(data)?;
        self.check_positive(data)?;
        if data.validation.is_some() && self.val_split > 0.0 && self.refit != Refit::None {
            let expected = "the data set says which part validates, and a refit would learn from it; leave refit out, or train on everything with val-split = 0";
            return Err(out_of_range("refit", self.refit, expected));
        }
        self.check_soft(data)?;
        self.augmentation(data).check(&data.train.x)?;
        self.augment.spectral().check(data.train.x.dim(), data.audio.as_ref(), data.background.as_ref())?;
        if self.normalize == Normalize::PerCoordinate && self.varies() {
            let expected = "sequences cropped or led in have no fixed length; use --normalize per-feature";
            return Err(out_of_range("normalize", "per-coordinate", expected));
        }
        Ok(())
    }

    /// Refuses shares of classes that the data does not have.
    fn check_shares(&self, data: &Dataset) -> Result<(), ConfigError> {
        let Some(share) = &self.class_share else { return Ok(()) };
        let key = "class-share";
        let Labels::Class { index, names } = &data.train.y else {
            let (why, instead) = ("the labels are numbers".into(), "--labels class".into());
            return Err(ConfigError::Unused { key, value: share.to_string(), why, instead });
        };
        let occurs = |name: &str| index.iter().any(|&c| names[c as usize] == name);
        match share.0.iter().find(|(name, _)| !occurs(name)) {
            Some((class, _)) => {
                let (class, classes) = (class.clone(), names.clone());
                Err(ConfigError::NoSuchClass { key, class, classes })
            }
            None => Ok(()),
        }
    }

    /// Refuses soft targets where there are no classes, and mixing where lengths differ.
    fn check_soft(&self, data: &Dataset) -> Result<(), ConfigError> {
        let unused = |key, value: String, why: &str, instead: &str| {
            Err(ConfigError::Unused { key, value, why: why.into(), instead: instead.into() })
        };
        let text = |v: f64| v.to_string();
        let of_classes = [
            ("label-smoothing", self.label_smoothing.map(text)),
            ("mixup", self.mixup.map(text)),
            ("teacher", self.teacher.as_ref().map(|path| path.display().to_string())),
        ];
        let is_classes = matches!(data.train.y, Labels::Class { .. });
        for (key, value) in of_classes {
            if let (Some(value), false) = (value, is_classes) {
                return unused(key, value, "the labels are numbers", "--labels class");
            }
        }
        for (key, value) in
            [("teacher-weight", self.teacher_weight), ("teacher-temperature", self.teacher_temperature)]
        {
            if let (Some(value), None) = (value, &self.teacher) {
                return unused(key, value.to_string(), "there is no teacher", "--teacher MODEL");
            }
        }
        let Some(mixup) = self.mixup.filter(|&alpha| alpha > 0.0) else { return Ok(()) };
        if self.varies() || data.train.x.min_steps() != data.train.x.max_steps() {
            let expected = "only sequences of one length can be mixed; cut them with --window, or leave crop, lead-in and mixup out";
            return Err(out_of_range("mixup", mixup, expected));
        }
        Ok(())
    }

    /// Refuses a positive class unless it is one of two.
    fn check_positive(&self, data: &Dataset) -> Result<(), ConfigError> {
        if self.positive_last && (self.positive.is_none() || self.earlier_readings == 0) {
            let why = "it needs a class to be found and readings before the last".into();
            let instead = "--positive CLASS and --earlier-readings N".into();
            return Err(ConfigError::Unused { key: "positive-last", value: "true".into(), why, instead });
        }
        let (Some(class), key) = (self.positive.clone(), "positive") else { return Ok(()) };
        match &data.train.y {
            Labels::Class { names, .. } if names.len() != 2 => {
                let why = format!("a threshold is between two classes, there are {}", names.len());
                Err(ConfigError::Unused { key, value: class, why, instead: "data of two classes".into() })
            }
            Labels::Class { names, .. } if !names.contains(&class) => {
                Err(ConfigError::NoSuchClass { key, class, classes: names.clone() })
            }
            Labels::Class { .. } => Ok(()),
            _ => {
                let (why, instead) = ("the labels are numbers".into(), "--labels class".into());
                Err(ConfigError::Unused { key, value: class, why, instead })
            }
        }
    }

    pub(super) fn check_values(&self) -> Result<(), ConfigError> {
        let share = "it must be at least 0 and below 1";
        let not_negative = "it must be a number that is not negative";
        let number = |ok: bool, key, value: f64, expected| {
            if ok { Ok(()) } else { Err(out_of_range(key, value, expected)) }
        };
        number((0.0..1.0).contains(&self.val_split), "val-split", self.val_split, share)?;
        number((0.0..1.0).contains(&self.warmup), "warmup", self.warmup, share)?;
        number((0.0..1.0).contains(&self.momentum), "momentum", self.momentum, share)?;
        let (smoothing, weight) = (self.label_smoothing.unwrap_or(0.0), self.teacher_weight.unwrap_or(0.5));
        number((0.0..1.0).contains(&smoothing), "label-smoothing", smoothing, share)?;
        let ema = self.ema.unwrap_or(0.0);
        number((0.0..1.0).contains(&ema), "ema", ema, share)?;
        let part = "it must be between 0 and 1";
        number((0.0..=1.0).contains(&weight), "teacher-weight", weight, part)?;
        let (alpha, heat) = (self.mixup.unwrap_or(0.0), self.teacher_temperature.unwrap_or(1.0));
        let is_alpha = alpha == 0.0 || (LEAST_ALPHA..=MOST_ALPHA).contains(&alpha);
        number(is_alpha, "mixup", alpha, "it must be 0, or between 0.01 and 1000")?;
        let (low, high) = (self.augment.snr_low, self.augment.snr_high);
        let is_range = low.is_finite() && high.is_finite() && low <= high;
        number(
            is_range,
            "augment snr-low",
            low,
            "snr-low and snr-high must be numbers of dB, in that order",
        )?;
        let range = "it must be between 0.01 and 1000";
        number((0.01..=1000.0).contains(&heat), "teacher-temperature", heat, range)?;
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
        for (key, value) in [
            ("epochs", self.epochs),
            ("batch", self.batch),
            ("seeds", self.seeds),
            ("earlier-every", self.earlier_every),
            ("epoch-draws", self.epoch_draws.unwrap_or(1)),
        ] {
            if value == 0 {
                return Err(out_of_range(key, value, "it must be at least 1"));
            }
        }
        for (key, value) in [
            ("epochs", Some(self.epochs)),
            ("batch", Some(self.batch)),
            ("patience", Some(self.patience)),
            ("timesteps", self.timesteps),
            ("epoch-draws", self.epoch_draws),
            ("window", self.window),
            ("stride", self.stride),
            ("augment shift", Some(self.augment.shift)),
            ("augment pixel-shift", Some(self.augment.pixel_shift)),
            ("augment lead-in", Some(self.augment.lead_in)),
            ("earlier-readings", Some(self.earlier_readings)),
            ("earlier-every", Some(self.earlier_every)),
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
    pub(super) fn check_applies(&self) -> Result<(), ConfigError> {
        let unused = |key, value: String, why: String, instead: String| {
            Err(ConfigError::Unused { key, value, why, instead })
        };
        let declaration = self.cell.declaration();
        let with = |has: &dyn Fn(&Declaration) -> bool| {
            let names: Vec<&str> = CELLS.iter().filter(|d| has(d)).map(|d| d.name).collect();
            format!("--cell {}", names.join(" or "))
        };
        if !declaration.gated() && self.gate != declaration.gate {
            let why = format!("a {} has no gate", self.cell);
            return unused("gate", self.gate.to_string(), why, with(&|d| d.gated()));
        }
        for (matrix, form, rank, kept) in [
            (["form-w", "rank-w", "sparsity-w"], self.form_w, self.rank_w, self.sparsity_w),
            (["form-u", "rank-u", "sparsity-u"], self.form_u, self.rank_u, self.sparsity_u),
        ] {
            let [form_key, rank_key, sparsity_key] = matrix;
            let full = || format!("--{form_key} full");
            if form != FormSetting::Full && rank != Rank::Full {
                let why = format!("{form_key} = {form} has no rank");
                return unused(rank_key, rank.to_string(), why, full());
            }
            if form != FormSetting::Full && kept < 1.0 {
                let why = format!("{form_key} = {form} is not pruned");
                return unused(sparsity_key, kept.to_string(), why, full());
            }
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

    /// Splits off every seed's validation part once, so that nothing is left behind if one fails.
    pub(super) fn check_splits(&self, data: &Dataset) -> Result<(), ConfigError> {
        for seed in (0..self.seeds as u64).map(|i| self.seed + i) {
            data.split(self.split_by(), self.val_split, seed).map_err(|source| {
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
        let steps = (data.train.x.max_steps().saturating_add(self.augment.lead_in))
            .max(data.test.as_ref().map_or(0, |t| t.x.max_steps()));
        // A worker keeps, for each row and step, input, state, what backward needs of each block,
        // the low-rank products, and the gradient that one layer hands to the next.
        let layer = |c: &Cell| {
            let ranks = c.form_w.rank().unwrap_or(0) + c.form_u.rank().unwrap_or(0);
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
