//! Checks that settings fit the data and each other.

use super::error::out_of_range;
use super::{Config, ConfigError};
use crate::train::{FormSetting, Optimizer, Rank, RecurrentForm, Refit, ScalarSetting, Schedule};
use fastgrnn_core::cells::{CELLS, Declaration, Orthogonal, Scalar, WeightBits};
use fastgrnn_core::net::{InitialState, Loss, MAX_SIZE};
use fastgrnn_core::settings::{MAX_COUNT, Setting};
use fastgrnn_data::data::{DataError, Dataset, Labels, Normalize, SplitProblem};
use fastgrnn_engine::engine::workspace_bytes;
use fastgrnn_model::settings::{AugmentSetting, ClassWeight, MOMENTUM, ReadoutSetting};

/// Most bytes of training buffers.
const MAX_BUFFERS: u64 = 16 << 30;
/// Most scores of held-out sequences, over all epochs: a quarter of a gigabyte.
const MAX_HELD_OUT: usize = 1 << 26;
/// Most parameters: a model file of half a gigabyte.
const MAX_PARAMS: usize = 1 << 27;

impl Config {
    /// Refuses a network, a state, a loss or an augmentation that does not fit the data.
    pub(super) fn check(&self, data: &Dataset) -> Result<(), ConfigError> {
        if let (Some(layer), Some(_)) = (self.network.input_layer, &data.text) {
            let (value, instead) = (layer.to_string(), "a data set of numbers".into());
            let why = "texts are tokens, which have vectors instead".into();
            return Err(ConfigError::Unused { key: "input-layer", value, why, instead });
        }
        let network = self.network(data);
        network.check()?;
        self.check_lengths(data)?;
        let params = network.layout().len();
        if network.input().max(network.outputs) > MAX_SIZE || params > MAX_PARAMS {
            return Err(ConfigError::TooLarge { input: network.input(), outputs: network.outputs, params });
        }
        let states = network.layers.iter().map(|cell| cell.hidden).sum();
        match &self.parameters.initial_state {
            InitialState::Given(values) if values.len() != 1 && values.len() != states => {
                return Err(ConfigError::InitialState { found: values.len(), expected: states });
            }
            InitialState::Given(values) if values.iter().any(|v| !v.is_finite()) => {
                return Err(out_of_range("initial-state", "NaN or infinity", "it must be finite numbers"));
            }
            _ => {}
        }
        let only_zero_and_one = |v: &[f32]| v.iter().all(|&v| v == 0.0 || v == 1.0);
        match (&data.train.y, self.training.loss) {
            (Labels::Class { .. }, loss @ Loss::SquaredError) => {
                let instead = "softmax-cross-entropy or binary-cross-entropy";
                return Err(ConfigError::Loss { loss, labels: "labels that are classes", instead });
            }
            (Labels::Sets { .. }, loss @ (Loss::SquaredError | Loss::SoftmaxCrossEntropy)) => {
                let (labels, instead) = ("several labels a sequence", "binary-cross-entropy");
                return Err(ConfigError::Loss { loss, labels, instead });
            }
            (Labels::Value { .. }, loss @ Loss::SoftmaxCrossEntropy) => {
                let (labels, instead) = ("labels that are numbers", "squared-error, or `labels = class`");
                return Err(ConfigError::Loss { loss, labels, instead });
            }
            (Labels::Value { values, .. }, loss @ Loss::BinaryCrossEntropy) if !only_zero_and_one(values) => {
                let (labels, instead) = ("labels other than 0 and 1", "squared-error");
                return Err(ConfigError::Loss { loss, labels, instead });
            }
            _ => {}
        }
        self.check_sets(data)?;
        self.check_shares(data)?;
        self.check_positive(data)?;
        if let (Some(part), true) = (&data.validation, self.preparation.cv.is_on()) {
            let expected = format!(
                "{} has its own validation part of {} sequences; use `cv = off`",
                data.name,
                part.len()
            );
            return Err(out_of_range("cv", self.preparation.cv, &expected));
        }
        if data.validation.is_some() && self.preparation.val_split > 0.0 && self.training.refit != Refit::None
        {
            let expected = "the data set has its own validation part, and a refit would learn from it; leave `refit` out, or train on everything with `val-split = 0`";
            return Err(out_of_range("refit", self.training.refit, expected));
        }
        self.check_soft(data)?;
        self.augmentation(data).check(&data.train.x)?;
        self.preparation.augment.spectral().check(
            data.train.x.dim(),
            data.audio.as_ref(),
            data.background.as_ref(),
        )?;
        if self.preparation.normalize == Normalize::PerCoordinate && self.varies() {
            let expected = "sequences cropped or led in have no fixed length; use `normalize = per-feature`";
            return Err(out_of_range("normalize", "per-coordinate", expected));
        }
        Ok(())
    }

    /// Refuses sequences that are shorter than the stride of the input layer.
    fn check_lengths(&self, data: &Dataset) -> Result<(), ConfigError> {
        let (stride, augment) = (self.window().stride, self.augmentation(data));
        let training = |frames: usize| augment.least_steps(frames);
        let test = |frames: usize| frames;
        let parts: [(_, _, &dyn Fn(usize) -> usize); 2] =
            [("training", Some(&data.train), &training), ("test", data.test.as_ref(), &test)];
        for (part, examples, least) in parts {
            let Some(x) = examples.map(|examples| &examples.x) else { continue };
            if let Some(index) = (0..x.len()).find(|&i| least(x.steps(i)) < stride) {
                let (dataset, frames) = (data.name.clone(), x.steps(index));
                let least = least(frames);
                return Err(ConfigError::ShortSequence { dataset, part, index, frames, least, stride });
            }
        }
        Ok(())
    }

    /// Refuses settings about single classes for data with several labels a sequence.
    fn check_sets(&self, data: &Dataset) -> Result<(), ConfigError> {
        let training = &self.training;
        let given = [
            ("class-weight", (training.class_weight != ClassWeight::None).then(|| "balanced".to_owned())),
            ("class-share", training.class_share.as_ref().map(ToString::to_string)),
            ("positive", training.positive.clone()),
            ("label-smoothing", training.label_smoothing.map(|v| v.to_string())),
            ("mixup", training.mixup.map(|v| v.to_string())),
            ("teacher", training.teacher.as_ref().map(|path| path.display().to_string())),
        ];
        let Labels::Sets { .. } = data.train.y else { return Ok(()) };
        match given.into_iter().find_map(|(key, value)| Some((key, value?))) {
            Some((key, value)) => {
                let why = "it is about one class a sequence, and these have several labels".into();
                Err(ConfigError::Unused { key, value, why, instead: "`task = classify`".into() })
            }
            None => Ok(()),
        }
    }

    /// Refuses shares of classes that the data does not have.
    fn check_shares(&self, data: &Dataset) -> Result<(), ConfigError> {
        let Some(share) = &self.training.class_share else { return Ok(()) };
        let key = "class-share";
        let Labels::Class { index, names } = &data.train.y else {
            let (why, instead) = ("the labels are numbers".into(), "`labels = class`".into());
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
            ("label-smoothing", self.training.label_smoothing.map(text)),
            ("mixup", self.training.mixup.map(text)),
            ("teacher", self.training.teacher.as_ref().map(|path| path.display().to_string())),
        ];
        let is_classes = matches!(data.train.y, Labels::Class { .. });
        for (key, value) in of_classes {
            if let (Some(value), false) = (value, is_classes) {
                return unused(key, value, "the labels are numbers", "`labels = class`");
            }
        }
        for (key, value) in [
            ("teacher-weight", self.training.teacher_weight),
            ("teacher-temperature", self.training.teacher_temperature),
        ] {
            if let (Some(value), None) = (value, &self.training.teacher) {
                return unused(key, value.to_string(), "there is no teacher", "`teacher`");
            }
        }
        let Some(mixup) = self.training.mixup.filter(|&alpha| alpha > 0.0) else { return Ok(()) };
        if self.varies() || data.train.x.min_steps() != data.train.x.max_steps() {
            let expected = "only sequences of one length can be mixed; cut them with `window`, or leave crop, lead-in and `mixup` out";
            return Err(out_of_range("mixup", mixup, expected));
        }
        Ok(())
    }

    /// Refuses a positive class unless it is one of two.
    fn check_positive(&self, data: &Dataset) -> Result<(), ConfigError> {
        if self.training.positive_last_step_only
            && (self.training.positive.is_none() || self.training.extra_loss_steps == 0)
        {
            let why = "it needs a positive class and extra loss steps".into();
            let instead = "`positive` and `extra-loss-steps`".into();
            return Err(ConfigError::Unused {
                key: "positive-last-step-only",
                value: "true".into(),
                why,
                instead,
            });
        }
        let (Some(class), key) = (self.training.positive.clone(), "positive") else { return Ok(()) };
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
                let (why, instead) = ("the labels are numbers".into(), "`labels = class`".into());
                Err(ConfigError::Unused { key, value: class, why, instead })
            }
        }
    }

    /// Refuses values that are allowed on their own but not together.
    pub(super) fn check_relations(&self) -> Result<(), ConfigError> {
        let (low, high) = (self.preparation.augment.snr_low, self.preparation.augment.snr_high);
        if !(low.is_finite() && high.is_finite() && low <= high) {
            let expected = "snr-low and snr-high must be numbers of dB, in that order";
            return Err(out_of_range("augment snr-low", low, expected));
        }
        for (key, value) in [
            ("augment shift", self.preparation.augment.shift),
            ("augment pixel-shift", self.preparation.augment.pixel_shift),
            ("augment lead-in", self.preparation.augment.lead_in),
        ] {
            if value > MAX_COUNT {
                return Err(out_of_range(key, value, format!("it must be at most {MAX_COUNT}")));
            }
        }
        if self
            .training
            .seed
            .checked_add(self.training.seeds as u64)
            .is_none_or(|last| last > i64::MAX as u64)
        {
            return Err(out_of_range("seed", self.training.seed, "`seed` + `seeds` must stay below 2^63"));
        }
        if self.preparation.val_split == 0.0 && self.training.patience > 0 {
            let expected = "early stopping needs a validation part; set `val-split` above 0";
            return Err(out_of_range("patience", self.training.patience, expected));
        }
        self.check_plateaus()?;
        let has_folds = self.preparation.cv.is_on();
        if self.preparation.val_split == 0.0 && self.training.refit != Refit::None && !has_folds {
            let expected = "a refit needs validation first; set `val-split` above 0, or `cv`";
            return Err(out_of_range("refit", self.training.refit, expected));
        }
        if has_folds && self.preparation.val_split > 0.0 {
            let expected =
                "cross-validation uses all training data; leave `val-split` out, or use `cv = off`";
            return Err(out_of_range("val-split", self.preparation.val_split, expected));
        }
        if has_folds && self.training.refit == Refit::None {
            let expected =
                "no network of a fold has seen all training data; use `best-epochs` or `full`, or `cv = off`";
            return Err(out_of_range("refit", self.training.refit, expected));
        }
        Ok(())
    }

    /// Refuses plateaus without a validation part that shows them, and settings about plateaus that
    /// nothing uses.
    fn check_plateaus(&self) -> Result<(), ConfigError> {
        let training = &self.training;
        let (optimizer, schedule) = (training.optimizer, training.schedule);
        let is_plateau = schedule == Schedule::Plateau;
        let is_averaged = optimizer == Optimizer::Asgd;
        if self.preparation.cv.is_on() || self.preparation.val_split == 0.0 {
            let expected = "plateaus need one validation part; use `cv = off` and a `val-split` above 0";
            if is_plateau {
                return Err(out_of_range("schedule", schedule, expected));
            }
            if is_averaged {
                return Err(out_of_range("optimizer", optimizer, expected));
            }
        }
        let unused = |key, value: String, why: &str, instead: &str| {
            Err(ConfigError::Unused { key, value, why: why.into(), instead: instead.into() })
        };
        if let (Some(epochs), false) = (training.plateau_epochs, is_plateau || is_averaged) {
            let instead = "`schedule = plateau` or `optimizer = asgd`";
            return unused("plateau-epochs", epochs.to_string(), "nothing depends on plateaus", instead);
        }
        if let (Some(factor), false) = (training.plateau_factor, is_plateau) {
            let why = "the learning rate does not depend on plateaus";
            return unused("plateau-factor", factor.to_string(), why, "`schedule = plateau`");
        }
        if let (Some(decay), true) = (training.ema.filter(|&decay| decay > 0.0), is_averaged) {
            let why = "asgd has an average of its own";
            return unused("ema", decay.to_string(), why, "`optimizer = sgd`");
        }
        Ok(())
    }

    /// Refuses settings about texts, language models and layers where there are none.
    pub(super) fn check_text_keys(&self, data: &Dataset) -> Result<(), ConfigError> {
        let (network, training, text) = (&self.network, &self.training, &self.text);
        let no_text = (data.text.is_none(), "the data holds no texts", "a data set of texts");
        let no_language = (data.train.y != Labels::Next, "this is no language model", "`task = lm`");
        let one_layer =
            (network.layers == 1 && network.input_layer.is_none(), "there is one layer", "`layers = 2`");
        let is_pooled = network.readout != ReadoutSetting::Last;
        let language =
            (data.train.y == Labels::Next, "a language model reads every state", "`task = classify`");
        let pooled = (is_pooled, "the head reads all states at once", "`readout = last`");
        let carried = (
            data.train.y == Labels::Next,
            "the state of a language model is carried through the text",
            "`initial-state = zero`",
        );
        let has_text = (data.text.is_some(), "texts hold no numbers to change", "a data set of numbers");
        let initial = &self.parameters.initial_state;
        let initial = match initial {
            InitialState::Zero => None,
            InitialState::Random => Some("random".to_string()),
            InitialState::Given(values) => values.first().map(f32::to_string),
        };
        let augment = &self.preparation.augment;
        let augment = (*augment != AugmentSetting::default()).then(|| "on".to_string());
        let extra = (training.extra_loss_steps > 0).then(|| training.extra_loss_steps.to_string());
        let number = |value: Option<usize>| value.map(|v| v.to_string());
        let share = |value: Option<f64>| value.map(|v| v.to_string());
        let choice = |value: Option<bool>| value.map(|v| v.to_string());
        let given = [
            ("embedding", number(network.embedding), no_text),
            ("embedding-dropout", share(training.embedding_dropout), no_text),
            ("word-vectors", self.parameters.word_vectors.as_ref().map(|p| p.display().to_string()), no_text),
            ("tokens", text.tokens.map(|v| v.to_string()), no_text),
            ("lowercase", choice(text.lowercase), no_text),
            ("tied", choice(network.tied), no_language),
            ("sequence-length", number(training.sequence_length), no_language),
            ("layer-dropout", share(training.layer_dropout), one_layer),
            ("readout", is_pooled.then(|| network.readout.to_string()), language),
            ("extra-loss-steps", extra, pooled),
            ("initial-state", initial, carried),
            ("augment", augment, has_text),
        ];
        for (key, value, (is_unused, why, instead)) in given {
            if let (Some(value), true) = (value, is_unused) {
                let (why, instead) = (why.into(), instead.into());
                return Err(ConfigError::Unused { key, value, why, instead });
            }
        }
        Ok(())
    }

    /// Refuses settings that the cell, schedule or optimiser has no use for. The defaults may
    /// stand: a resolved configuration writes all of them out.
    pub(super) fn check_applies(&self) -> Result<(), ConfigError> {
        let unused = |key, value: String, why: String, instead: String| {
            Err(ConfigError::Unused { key, value, why, instead })
        };
        let declaration = self.network.cell.declaration();
        let with = |has: &dyn Fn(&Declaration) -> bool| {
            let names: Vec<&str> = CELLS.iter().filter(|d| has(d)).map(|d| d.name).collect();
            format!("the `cell` {}", names.join(" or "))
        };
        let (network, sparsity) = (&self.network, &self.sparsity);
        if !declaration.gated() && network.gate != declaration.gate {
            let why = format!("a {} has no gate", network.cell);
            return unused("gate", network.gate.to_string(), why, with(&|d| d.gated()));
        }
        let is_full_w = network.form_w == FormSetting::Full;
        let is_full_u = network.form_u == RecurrentForm::Full;
        let (form_w, form_u) = (network.form_w.to_string(), network.form_u.to_string());
        for (matrix, form, is_full, rank, kept) in [
            (["form-w", "rank-w", "keep-w"], form_w, is_full_w, network.rank_w, sparsity.keep_w),
            (["form-u", "rank-u", "keep-u"], form_u, is_full_u, network.rank_u, sparsity.keep_u),
        ] {
            let [form_key, rank_key, keep_key] = matrix;
            let full = || format!("`{form_key} = full`");
            if !is_full && rank != Rank::Full {
                let why = format!("{form_key} = {form} has no rank");
                return unused(rank_key, rank.to_string(), why, full());
            }
            if !is_full && kept < 1.0 {
                let why = format!("{form_key} = {form} is not pruned");
                return unused(keep_key, kept.to_string(), why, full());
            }
        }
        let orthogonal = self.orthogonal_u();
        let why = |what: &str| format!("a U of the form {} has no {what}", network.form_u);
        if let Some(count) = network.reflections
            && !matches!(orthogonal, Some(Orthogonal::Reflections { .. } | Orthogonal::Spectral { .. }))
        {
            let instead = "`form-u = reflections` or spectral".to_owned();
            return unused("reflections", count.to_string(), why("reflections"), instead);
        }
        if let Some(layers) = network.rotations
            && !matches!(orthogonal, Some(Orthogonal::Rotations { .. }))
        {
            let why = match orthogonal {
                Some(Orthogonal::FftRotations) => "the number of units says how many layers there are".into(),
                _ => why("rotations"),
            };
            return unused("rotations", layers.to_string(), why, "`form-u = rotations`".to_owned());
        }
        if orthogonal.is_some()
            && let Some(share) = self.training.weight_drop.filter(|&share| share > 0.0)
        {
            let instead = "`form-u = full`".to_owned();
            return unused("weight-drop", share.to_string(), why("entries to drop"), instead);
        }
        if let Some(margin) = network.spectral_margin
            && !matches!(orthogonal, Some(Orthogonal::Spectral { .. } | Orthogonal::Factored { .. }))
        {
            let instead = "`form-u = spectral` or factored".to_owned();
            return unused("spectral-margin", margin.to_string(), why("singular values to choose"), instead);
        }
        for (key, setting) in [
            ("alpha", self.parameters.alpha),
            ("beta", self.parameters.beta),
            ("zeta", self.parameters.zeta),
            ("nu", self.parameters.nu),
        ] {
            let has = |d: &Declaration| d.pointwise.iter().any(|p| p.name == key);
            if setting != ScalarSetting::default() && !has(declaration) {
                let value = match setting.0 {
                    Scalar::Fixed(value) => value.to_string(),
                    _ => "tied".into(),
                };
                return unused(key, value, format!("a {} has no {key}", self.network.cell), with(&has));
            }
        }
        if let (Some(lsb), false) = (&self.quantization.input_lsb, self.quantization.quantize) {
            let why = "a float model reads the data's own units".into();
            return unused("input-lsb", lsb.text(), why, "`quantize`".into());
        }
        self.check_bits()?;
        let optimizer = self.training.optimizer;
        if matches!(optimizer, Optimizer::Sgd | Optimizer::Asgd | Optimizer::Rsg)
            && self.training.momentum != MOMENTUM
        {
            let why = format!("{optimizer} has no momentum");
            return unused(
                "momentum",
                self.training.momentum.to_string(),
                why,
                "`optimizer = nesterov`".into(),
            );
        }
        Ok(())
    }

    /// Refuses numbers of bits that nothing uses, and matrices of 4 bits that are sparse, too.
    fn check_bits(&self) -> Result<(), ConfigError> {
        let (bits, kept) = (&self.quantization, &self.sparsity);
        for (key, found, keep_key, keep) in [
            ("bits-w", bits.bits_w, "keep-w", kept.keep_w),
            ("bits-u", bits.bits_u, "keep-u", kept.keep_u),
            ("bits-head", bits.bits_head, "keep-head", kept.keep_head),
        ] {
            if found == WeightBits::Eight {
                continue;
            }
            if !bits.quantize {
                return Err(ConfigError::Unused {
                    key,
                    value: found.text(),
                    why: "a float model has weights of 32 bits".into(),
                    instead: "`quantize`".into(),
                });
            }
            if keep < 1.0 {
                let expected =
                    format!("a matrix of 4 bits is not pruned; leave `{keep_key}` out, or use `{key} = 8`");
                return Err(out_of_range(keep_key, keep, expected));
            }
        }
        if bits.bits_bias != 16 && !bits.quantize {
            let why = "a float model has biases of 32 bits".into();
            return Err(ConfigError::Unused {
                key: "bits-bias",
                value: bits.bits_bias.to_string(),
                why,
                instead: "`quantize`".into(),
            });
        }
        Ok(())
    }

    /// Makes the folds or splits off the validation part once, so that nothing is left behind if that
    /// fails.
    pub(super) fn check_split(&self, data: &Dataset) -> Result<(), ConfigError> {
        if self.preparation.cv.is_on() {
            let instead = "`cv = off` splits off one validation part";
            self.folds(data).map_err(|source| ConfigError::Split { source, instead })?;
            return self.check_held_out(data);
        }
        self.split(data).map_err(|source| {
            let is_short = matches!(&source, DataError::Split(SplitProblem::ShortRecording { .. }));
            let instead = match (self.preparation.val_group, &data.train.recording) {
                _ if is_short => "`val-split = 0` trains without validation",
                (true, _) => {
                    "`val-group = false` ignores the groups, `val-split = 0` trains without validation"
                }
                (false, Some(_)) => {
                    "split long recordings into several files, or train without validation with `val-split = 0`"
                }
                (false, None) => "`val-split = 0` trains without validation",
            };
            ConfigError::Split { source, instead }
        })?;
        Ok(())
    }

    /// Refuses more scores of held-out sequences than a checkpoint should hold.
    fn check_held_out(&self, data: &Dataset) -> Result<(), ConfigError> {
        let outputs = self.network(data).outputs;
        let scores = [data.train.len(), outputs, self.training.epochs];
        let scores = scores.into_iter().fold(1usize, usize::saturating_mul);
        match scores > MAX_HELD_OUT {
            true => {
                let expected = format!(
                    "{} sequences with {outputs} outputs are scored after each of {} epochs; use fewer epochs, or `cv = off`",
                    data.train.len(),
                    self.training.epochs
                );
                Err(out_of_range("cv", self.preparation.cv, &expected))
            }
            false => Ok(()),
        }
    }

    /// Refuses sequences so long that training needs more memory than a machine has.
    pub fn check_memory(&self, data: &Dataset, threads: usize) -> Result<(), ConfigError> {
        let of_test = data.test.as_ref().filter(|test| test.y != Labels::Next);
        let frames = (self.training_frames(data).saturating_add(self.preparation.augment.lead_in))
            .max(of_test.map_or(0, |t| t.x.max_steps()));
        let steps = self.window().steps(frames);
        let sequences = match data.train.y {
            Labels::Next => self.training.batch,
            _ => self.training.batch.min(data.train.len()),
        };
        let bytes = workspace_bytes(&self.network(data), sequences, steps, threads);
        match bytes > MAX_BUFFERS {
            true => Err(ConfigError::Memory { steps, threads, bytes }),
            false => Ok(()),
        }
    }
}
