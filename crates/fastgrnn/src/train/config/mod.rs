//! From a recipe to a resolved configuration.
//!
//! [`Recipe::resolve`](super::Recipe::resolve) fills in the defaults (`defaults`) and refuses settings
//! that do not fit the data or each other (`checks`, `stages`, `data`, `limits`).

mod checks;
mod data;
mod defaults;
mod error;
mod limits;
mod random_stop;
mod stages;

pub use error::ConfigError;
pub(super) use error::left_by_crop;

use super::Config;
use super::average::Rule;
use fastgrnn_core::cells::{Cell, Orthogonal, Scalars, WeightBits};
use fastgrnn_core::metrics::Metric;
use fastgrnn_core::net::{Embedding, Loss, Network, Readout};
use fastgrnn_core::regularize::{Dropout, Regularization};
use fastgrnn_core::window::Window;
use fastgrnn_data::data::{Augment, CrossValidation, DataError, Dataset, Finding, Labels, SplitBy, doctor};
use fastgrnn_data::features::Kind;
use fastgrnn_model::quantize::BiasBits;
use fastgrnn_model::settings::{
    ClassWeight, NetworkConfig, Optimizer, ReadoutSetting, SEQUENCE_LENGTH, TrainingConfig,
};

/// Steps that a network remembers about at first if it needs no long memory.
const REMEMBERED_STEPS: usize = 10;

/// The figure by which networks are compared, see [`Config::metric`].
pub(crate) fn metric(has_positive: bool, class_weight: ClassWeight) -> Metric {
    match (has_positive, class_weight) {
        (true, _) => Metric::F1,
        (false, ClassWeight::Balanced) => Metric::F1Macro,
        (false, ClassWeight::None) => Metric::Accuracy,
    }
}

impl Config {
    /// How U is made where it is orthogonal, or nearly so.
    pub(crate) fn orthogonal_u(&self) -> Option<Orthogonal> {
        let network = &self.network;
        let NetworkConfig { hidden, reflections, spectral_margin, rotations, .. } = *network;
        network.form_u.orthogonal(hidden, reflections, spectral_margin, rotations)
    }

    /// The network for this data: stacked cells and a head of as many outputs as the loss needs.
    pub fn network(&self, data: &Dataset) -> Network {
        let cell = |input| Cell {
            kind: self.network.cell,
            input,
            hidden: self.network.hidden,
            form_w: self.network.form_w.with_rank(self.network.rank_w),
            form_u: self.network.form_u.with_rank(self.network.rank_u),
            orthogonal_u: self.orthogonal_u(),
            bits_w: self.quantization.bits_w,
            bits_u: self.quantization.bits_u,
            gate: self.network.gate,
            update: self.network.update,
            scalars: Scalars {
                alpha: self.parameters.alpha.0,
                beta: self.parameters.beta.0,
                zeta: self.parameters.zeta.0,
                nu: self.parameters.nu.0,
            },
        };
        let vocabulary = data.text.as_ref().map(|text| text.vocabulary.len());
        let input = match vocabulary {
            Some(_) => self.network.embedding.unwrap_or(self.network.hidden),
            None => data.train.x.dim(),
        };
        let bits_w = self.quantization.bits_w;
        let projection = self.network.input_layer.map(|layer| Cell { bits_w, ..layer.cell(input) });
        let input = projection.as_ref().map_or(input, |projection| projection.hidden);
        let cells = (0..self.network.layers).map(|k| cell(if k == 0 { input } else { self.network.hidden }));
        let window = self.window();
        let is_language = data.train.y == Labels::Next;
        let embedding = vocabulary.map(|vocabulary| Embedding {
            vocabulary,
            tied: is_language && self.network.tied.unwrap_or(input == self.network.hidden),
        });
        let readout = match self.network.readout {
            _ if is_language => Readout::Every,
            ReadoutSetting::Last => Readout::Last,
            ReadoutSetting::Mean => Readout::Mean,
            ReadoutSetting::Max => Readout::Max,
        };
        let outputs = match &data.train.y {
            Labels::Class { names, .. }
                if names.len() == 2 && self.training.loss == Loss::BinaryCrossEntropy =>
            {
                1
            }
            Labels::Class { names, .. } | Labels::Sets { names, .. } => names.len(),
            Labels::Value { width, .. } => *width,
            Labels::Next => vocabulary.unwrap_or(0),
            Labels::None => 0,
        };
        let layers = projection.into_iter().chain(cells).collect();
        let bits_head = self.quantization.bits_head;
        Network { embedding, window, readout, bits_head, ..Network::new(layers, outputs) }
    }

    /// How many frames a step reads.
    pub(crate) fn window(&self) -> Window {
        self.network.input_layer.map_or(Window::FRAME, |layer| layer.window())
    }

    /// Steps of a text that a language model learns from at a time.
    pub(in crate::train) fn sequence_length(&self) -> usize {
        self.training.sequence_length.unwrap_or(SEQUENCE_LENGTH)
    }

    /// Frames or tokens that a network learns from at a time: those of the longest sequence, and of a text those
    /// of a batch.
    pub(in crate::train) fn training_frames(&self, data: &Dataset) -> usize {
        let longest = data.train.x.max_steps();
        match data.train.y {
            Labels::Next => longest.min(self.sequence_length()),
            _ => longest,
        }
    }

    /// Steps that a network should remember about at first, which `start = slow` goes by. For the next word it is
    /// the last few words that matter most, and a head that reads all states needs no long memory.
    pub(crate) fn remembered_steps(&self, data: &Dataset) -> usize {
        let steps = self.window().steps(self.training_frames(data));
        let is_short = data.train.y == Labels::Next || self.network.readout != ReadoutSetting::Last;
        if is_short { steps.min(REMEMBERED_STEPS) } else { steps }
    }

    /// How parameters are averaged.
    pub(in crate::train) fn average(&self) -> Rule {
        match (self.training.optimizer, self.training.ema) {
            (Optimizer::Asgd, _) => Rule::SincePlateau,
            (_, Some(decay)) if decay > 0.0 => Rule::Moving { decay: decay as f32 },
            _ => Rule::None,
        }
    }

    /// Penalties and dropout of the training step whose draws have this seed.
    pub(in crate::train) fn regularization(&self, seed: u64) -> Regularization {
        let TrainingConfig { embedding_dropout, input_dropout, layer_dropout, output_dropout, .. } =
            self.training;
        let share = |share: Option<f64>| share.unwrap_or(0.0) as f32;
        Regularization {
            dropout: Dropout {
                seed,
                embedding: share(embedding_dropout),
                input: share(input_dropout),
                layer: share(layer_dropout),
                output: share(output_dropout),
                is_per_sequence: self.training.variational.unwrap_or(true),
            },
            activation: share(self.training.activation_penalty),
            temporal: share(self.training.temporal_penalty),
        }
    }

    /// Sequences that an epoch goes through, of `part` there are to train on.
    pub(in crate::train) fn epoch_size(&self, part: usize) -> usize {
        self.training.epoch_draws.unwrap_or(part)
    }

    /// The kept fraction of the weight view called `name`. An input layer keeps all.
    pub(super) fn kept(&self, name: &str) -> f64 {
        if self.network.input_layer.is_some() && name.starts_with("layer0.") {
            return 1.0;
        }
        match name.split_once('.') {
            Some(("head", _)) => self.sparsity.keep_head,
            Some((_, name)) if name.starts_with('w') => self.sparsity.keep_w,
            Some((_, name)) if name.starts_with('u') => self.sparsity.keep_u,
            _ => 1.0,
        }
    }

    /// What one count is worth, as the integer model takes it.
    pub(super) fn lsb(&self) -> Option<Vec<f32>> {
        self.quantization.input_lsb.as_ref().map(|lsb| lsb.0.iter().map(|&v| v as f32).collect())
    }

    /// Bits of biases of the integer model.
    pub(super) fn bias_bits(&self) -> BiasBits {
        if self.quantization.bits_bias == 8 { BiasBits::Eight } else { BiasBits::Sixteen }
    }

    /// Whether any matrix is to lose entries.
    fn sparse(&self) -> bool {
        [self.sparsity.keep_w, self.sparsity.keep_u, self.sparsity.keep_head].iter().any(|&kept| kept < 1.0)
    }

    /// Whether the entries of any matrix have 4 bits.
    pub(crate) fn has_four_bits(&self) -> bool {
        let bits = &self.quantization;
        [bits.bits_w, bits.bits_u, bits.bits_head].contains(&WeightBits::Four)
    }

    /// The augmentation of this data's training sequences.
    pub fn augmentation(&self, data: &Dataset) -> Augment {
        let audio = data.audio.as_ref().filter(|spec| spec.kind() == Kind::LogMel);
        Augment {
            rotate: self.preparation.augment.rotate as f32,
            scale: self.preparation.augment.scale as f32,
            axes: self.preparation.axes.0.clone(),
            noise: self.preparation.augment.noise as f32,
            shift: self.preparation.augment.shift,
            gap: audio.map(|spec| spec.floor() as f32),
            crop: self.preparation.augment.crop as f32,
            pixels: self.preparation.augment.pixel_shift,
            image: data.image,
        }
    }

    /// The class whose sequences count in the loss at their last step alone.
    pub(super) fn last_only(&self, data: &Dataset) -> Option<u32> {
        let (Labels::Class { names, .. }, true) = (&data.train.y, self.training.positive_last_step_only)
        else {
            return None;
        };
        let found = names.iter().position(|name| Some(name) == self.training.positive.as_ref());
        found.map(|class| class as u32)
    }

    /// The figure by which epochs, seeds and networks are compared on validation data: the F1 of the
    /// positive class if there is one. If every class counts the same in training, it does so here:
    /// accuracy would favour the epochs that forget the rare ones.
    pub fn metric(&self) -> Metric {
        metric(self.training.positive.is_some(), self.training.class_weight)
    }

    /// Whether augmentation changes the length of sequences.
    pub(super) fn varies(&self) -> bool {
        (self.preparation.augment.crop > 0.0 && self.preparation.augment.crop < 1.0)
            || self.preparation.augment.lead_in > 0
    }

    /// Training and validation indices into the training examples of `data`, the same for every seed.
    pub fn split(&self, data: &Dataset) -> Result<(Vec<u32>, Vec<u32>), DataError> {
        data.split(self.split_by(), self.preparation.val_split, self.preparation.split_seed)
    }

    /// The validation part of each fold, the same for every seed; none without cross-validation.
    pub fn folds(&self, data: &Dataset) -> Result<Vec<Vec<u32>>, DataError> {
        data.folds(self.preparation.cv, self.split_by(), self.preparation.split_seed)
    }

    /// What may make a model that is trained on `data` worse than its scores say.
    pub fn findings(&self, data: &Dataset) -> Vec<Finding> {
        let mut findings = data.findings.clone();
        if let (Ok((train, val)), CrossValidation::Off) = (self.split(data), self.preparation.cv) {
            findings.extend(doctor::examine_parts(data, &train, &val));
        }
        findings.extend(doctor::examine_folds(data, &self.folds(data).unwrap_or_default()));
        findings
    }

    fn split_by(&self) -> SplitBy {
        if self.preparation.val_group { SplitBy::Group } else { SplitBy::Stratified }
    }
}
