//! What a person may set about a training run: one declaration for recipe keys and flags.
//!
//! Every field of [`Recipe`] is a key of a recipe file and, with the feature `clap`, the flag of
//! the same name; help texts are the doc comments. Whatever is left out gets a default that
//! depends on the data, in [`Recipe::resolve`].
//!
//! ```
//! use fastgrnn::train::Recipe;
//! let recipe = Recipe::from_toml_str("hidden = 80\nrank-u = 40", "example.toml").unwrap();
//! let flags = Recipe { hidden: Some(32), ..Recipe::default() };
//! let both = recipe.overlay(flags);
//! assert_eq!(both.hidden, Some(32));
//! let error = Recipe::from_toml_str("hiden = 80", "example.toml").unwrap_err();
//! assert_eq!(error.to_string(), "example.toml, line 1: unknown key `hiden`; did you mean `hidden`?");
//! ```

#[cfg(feature = "clap")]
use super::choice::one_of;
use super::settings::{
    AugmentSetting, Axes, ClassWeight, FormSetting, Optimizer, Rank, Refit, ScalarSetting, Schedule,
};
use super::share::ClassShare;
use super::stage::Stages;
use fastgrnn_core::cells::{CellKind, Nonlinearity, Start};
use fastgrnn_core::net::{InitialState, Loss};
use fastgrnn_data::data::{LabelKind, Normalize, Request};
use fastgrnn_data::features::Spec;
use fastgrnn_model::device::Board;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Declares the recipe: its struct, the list of its keys, and how one overlays another.
macro_rules! recipe {
    ($($heading:literal { $($(#[$meta:meta])* $name:ident: $kind:ty,)+ })+) => {
        /// Settings of a training run; `None` means the default.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        pub struct Recipe {
            $($(
                $(#[$meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                #[cfg_attr(feature = "clap", arg(long, help_heading = $heading))]
                pub $name: Option<$kind>,
            )+)+
        }

        impl Recipe {
            /// All keys, as written in files and flags.
            pub fn keys() -> Vec<String> {
                [$($(stringify!($name),)+)+].iter().map(|name| name.replace('_', "-")).collect()
            }

            /// This recipe with every setting that `flags` has taken from there.
            pub fn overlay(self, flags: Recipe) -> Recipe {
                Recipe { $($($name: flags.$name.or(self.$name),)+)+ }
            }
        }
    };
}

recipe! {
    "Data" {
        /// What to train on: a known name (digits, mnist, har2, har6, dsa19, google12, google30, wakeword:WORD), a file or a folder
        #[cfg_attr(feature = "clap", arg(value_name = "NAME|PATH"))]
        dataset: String,
        /// Test set, where the data set does not bring its own
        #[cfg_attr(feature = "clap", arg(value_name = "PATH"))]
        test: PathBuf,
        /// Recordings without parts of their own: leave all of them to train and validate, as with a test set [default: true with test]
        #[cfg_attr(feature = "clap", arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"))]
        test_apart: bool,
        /// Where known data sets lie [default: $FASTGRNN_DATA, then shared/data in this folder or one above, then this folder]
        #[cfg_attr(feature = "clap", arg(value_name = "DIR"))]
        data_dir: PathBuf,
        /// Cut or join every sequence into this many time steps
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        timesteps: usize,
        /// Cut long recordings into windows of this many rows
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        window: usize,
        /// Rows from the start of one window to the next [default: the window]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        stride: usize,
        /// CSV column that tells sequences apart
        #[cfg_attr(feature = "clap", arg(value_name = "COLUMN"))]
        id_col: String,
        /// CSV column with the label
        #[cfg_attr(feature = "clap", arg(value_name = "COLUMN"))]
        label_col: String,
        /// CSV column with the group (subject, recording) that a split keeps whole
        #[cfg_attr(feature = "clap", arg(value_name = "COLUMN"))]
        group_col: String,
        /// CSV columns to use as features, separated by commas
        #[cfg_attr(feature = "clap", arg(value_name = "COLUMN,…", value_delimiter = ','))]
        columns: Vec<String>,
        /// CSV columns to leave out, separated by commas
        #[cfg_attr(feature = "clap", arg(value_name = "COLUMN,…", value_delimiter = ','))]
        drop: Vec<String>,
        /// How to understand labels [default: auto: text and few whole numbers are classes]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<LabelKind>()))]
        labels: LabelKind,
        /// The most bytes to read or unpack [default: 4 GiB]
        #[cfg_attr(feature = "clap", arg(value_name = "BYTES"))]
        size_limit: u64,
        /// Folders of recordings: the words that are classes, separated by commas; the others are unknown [default: every folder is a class]
        #[cfg_attr(feature = "clap", arg(value_name = "WORD,…", value_delimiter = ','))]
        words: Vec<String>,
        /// With words: clips of other words, as a share of the words' clips; 0 for none [default: 0.1]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        unknown_share: f64,
        /// Folders of recordings: clips cut from _background_noise_, as a share of the other clips; 0 for none [default: 0.1 where there is such a folder]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        silence_share: f64,
        /// Folders of recordings: seconds that every clip is brought to, with zeros in front of short ones and the loudest part of long ones [default: 1]
        #[cfg_attr(feature = "clap", arg(value_name = "SECONDS"))]
        clip_seconds: f64,
        /// Folders of recordings: go on without files that cannot be read, and list them [default: false]
        #[cfg_attr(feature = "clap", arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"))]
        skip_bad: bool,
        /// Recordings: how they become features, such as log-mel,filters=32,window=25ms,hop=10ms or mfcc,coefficients=13 [default: log-mel, the paper's]
        #[cfg_attr(feature = "clap", arg(value_name = "KIND,KEY=VALUE,…"))]
        features: Spec,
        /// What is scaled to mean 0 and deviation 1 [default: per-feature]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Normalize>()))]
        normalize: Normalize,
        /// Columns that are the x, y, z of one sensor, such as 0-2,3-5
        #[cfg_attr(feature = "clap", arg(value_name = "A-B,…"))]
        axes: Axes,
        /// Random changes of the training sequences, such as rotate=0.25,scale=0.1,noise=0.05,shift=3,crop=0.9,pixel-shift=2, or none; of sound also gain, background (with snr-low, snr-high), freq-masks and freq-width, time-masks and time-width, lead-in, audio-copies [default: rotate=0.25,scale=0.1 where axes are named, else none]
        #[serde(default, deserialize_with = "super::settings::augment")]
        #[cfg_attr(feature = "clap", arg(value_name = "WHAT=HOW-MUCH,…"))]
        augment: AugmentSetting,
        /// Share of the training data to validate on; 0 for none [default: 0.2]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        val_split: f64,
        /// Keep groups whole when choosing validation data [default: true where the data has groups]
        #[cfg_attr(feature = "clap", arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"))]
        val_group: bool,
    }
    "Network" {
        /// The recurrent cell [default: fastgrnn]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<CellKind>()))]
        cell: CellKind,
        /// Units of the state [default: 16 to 64, by the number of sequences]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        hidden: usize,
        /// Rank of the input matrix, or full [default: full]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        rank_w: Rank,
        /// Rank of the recurrent matrix, or full [default: full]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        rank_u: Rank,
        /// Form of the input matrix; diagonal needs as many units as features [default: full]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<FormSetting>()))]
        form_w: FormSetting,
        /// Form of the recurrent matrix [default: full, none for cells without one]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<FormSetting>()))]
        form_u: FormSetting,
        /// Cells stacked on one another [default: 1]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        layers: usize,
        /// Nonlinearity of the gates [default: sigmoid]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Nonlinearity>()))]
        gate: Nonlinearity,
        /// Nonlinearity of the update [default: that of the cell, tanh for most]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Nonlinearity>()))]
        update: Nonlinearity,
        /// FastRNN's alpha: learnt, or a number to hold it at [default: learnt]
        #[cfg_attr(feature = "clap", arg(value_name = "learnt|X"))]
        alpha: ScalarSetting,
        /// FastRNN's beta: learnt, tied (to 1 - alpha), or a number [default: learnt]
        #[cfg_attr(feature = "clap", arg(value_name = "learnt|tied|X"))]
        beta: ScalarSetting,
        /// FastGRNN's zeta: learnt, or a number [default: learnt]
        #[cfg_attr(feature = "clap", arg(value_name = "learnt|X"))]
        zeta: ScalarSetting,
        /// FastGRNN's nu: learnt, or a number [default: learnt]
        #[cfg_attr(feature = "clap", arg(value_name = "learnt|X"))]
        nu: ScalarSetting,
        /// Starting values: the authors', or a gate that starts slow in proportion to the length [default: slow]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Start>()))]
        start: Start,
        /// State before the first step: zero, random, or numbers such as 0.1,-0.2 [default: zero]
        #[cfg_attr(feature = "clap", arg(value_name = "zero|random|X,…", allow_hyphen_values = true))]
        initial_state: InitialState,
        /// Fraction kept of the input matrix, or of each of its factors [default: 1, dense]
        #[cfg_attr(feature = "clap", arg(value_name = "KEPT"))]
        sparsity_w: f64,
        /// Fraction kept of the recurrent matrix, or of each of its factors [default: 1, dense]
        #[cfg_attr(feature = "clap", arg(value_name = "KEPT"))]
        sparsity_u: f64,
        /// Fraction kept of the head's matrix [default: 1, dense]
        #[cfg_attr(feature = "clap", arg(value_name = "KEPT"))]
        sparsity_head: f64,
        /// Deliver a model that computes in integers only, beside the float one [default: false]
        #[cfg_attr(feature = "clap", arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"))]
        quantize: bool,
        /// What one count of the sensor is worth to the integer model, in the data's units: one value, or one for each feature [default: chosen from the training data]
        #[serde(default, deserialize_with = "super::settings::numbers")]
        #[cfg_attr(feature = "clap", arg(value_name = "X,…", value_delimiter = ',', allow_hyphen_values = true))]
        input_lsb: Vec<f64>,
    }
    "Board" {
        /// A board that the integer model must fit, by its flash and RAM; then quantize is on, and hidden at most what fits
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Board>()))]
        fit: Board,
        /// The board whose code and clock max-flash, max-ram and max-ms are about [default: that of fit; without one the board that needs most]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Board>()))]
        board: Board,
        /// Most bytes of flash that the integer model and its code may need, as derived from its shape
        #[cfg_attr(feature = "clap", arg(value_name = "BYTES"))]
        max_flash: usize,
        /// Most bytes of RAM, stack included, likewise
        #[cfg_attr(feature = "clap", arg(value_name = "BYTES"))]
        max_ram: usize,
        /// Most milliseconds of a whole inference: all steps of the longest sequence and the decision; needs board or fit
        #[cfg_attr(feature = "clap", arg(value_name = "MS"))]
        max_ms: f64,
    }
    "Training" {
        /// What the run does with its parameters, as KIND:SHARE of its batches: dense, project (every=N batches, gradual, keep=X), frozen, quantized [default: dense:1; sparse: dense:1/3,project:1/3:every=15,frozen:1/3; with quantize the last 1/6 is quantized]
        #[cfg_attr(feature = "clap", arg(value_name = "KIND:SHARE,…"))]
        stages: Stages,
        /// Passes over the training data [default: about 8,000 optimiser steps, 30 to 200 epochs; more for few sequences, fewer where two cores would need over ten minutes]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        epochs: usize,
        /// Sequences in an optimiser step [default: 100, at most a quarter of the training data]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        batch: usize,
        /// Learning rate [default: 0.003 for adam and adamw, 0.001 with the cell rnn, 0.05 for nesterov, 0.1 for sgd]
        #[cfg_attr(feature = "clap", arg(value_name = "X"))]
        lr: f64,
        /// How a gradient becomes an update [default: adam]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Optimizer>()))]
        optimizer: Optimizer,
        /// How the learning rate falls [default: cosine]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Schedule>()))]
        schedule: Schedule,
        /// Epochs between falls of the step and halving schedules [default: two thirds, a quarter of the run]
        #[cfg_attr(feature = "clap", arg(value_name = "EPOCHS"))]
        decay_every: f64,
        /// Share of the run over which the learning rate rises from 0 [default: 0.03]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        warmup: f64,
        /// Momentum of nesterov, first moment of adam [default: 0.9]
        #[cfg_attr(feature = "clap", arg(value_name = "X"))]
        momentum: f64,
        /// Decay of matrices and factors; biases are never decayed [default: 0.0001]
        #[cfg_attr(feature = "clap", arg(value_name = "X"))]
        weight_decay: f64,
        /// Largest norm of a gradient; 0 for no limit [default: 1]
        #[cfg_attr(feature = "clap", arg(value_name = "X"))]
        clip: f64,
        /// What is minimised [default: softmax-cross-entropy for classes, squared-error for numbers]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Loss>()))]
        loss: Loss,
        /// Time steps before the last at which the loss looks as well; the decision stays that of the last [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        earlier_readings: usize,
        /// Time steps from one of these to the next [default: 4]
        #[cfg_attr(feature = "clap", arg(value_name = "STEPS"))]
        earlier_every: usize,
        /// Whether the loss of the class to be found looks at the last step alone: before it, the word is not over [default: false]
        #[cfg_attr(feature = "clap", arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"))]
        positive_last: bool,
        /// How classes count in the loss; balanced also chooses the epoch by mean F1 instead of accuracy [default: none]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<ClassWeight>()))]
        class_weight: ClassWeight,
        /// The one of two classes that is to be found: validation chooses the epoch by its F1, and the threshold that is best for it [default: a known wake word's, else none]
        #[cfg_attr(feature = "clap", arg(value_name = "CLASS"))]
        positive: String,
        /// Share of an epoch's draws that comes from a rare class, such as marvin=0.25, or from each of several; the other classes keep their proportions in the rest [default: all classes as they are]
        #[cfg_attr(feature = "clap", arg(value_name = "CLASS=SHARE,…"))]
        class_share: ClassShare,
        /// Sequences that an epoch draws, without repeats as long as a class lasts [default: as many as there are to train on]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        epoch_draws: usize,
        /// Share of a target that is taken from its class and divided among all classes [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        label_smoothing: f64,
        /// Mix each sequence with another of its batch, and their targets with them, by parts from the beta distribution with this parameter; 0 for not at all [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "ALPHA"))]
        mixup: f64,
        /// A trained float model of the same features and classes, of any cell, whose probabilities are learnt beside the labels
        #[cfg_attr(feature = "clap", arg(value_name = "MODEL"))]
        teacher: PathBuf,
        /// Share of the loss that is the teacher's [default: 0.5]
        #[cfg_attr(feature = "clap", arg(value_name = "SHARE"))]
        teacher_weight: f64,
        /// What scores are divided by where student and teacher are compared: higher values say more about the classes that are not the right one [default: 2]
        #[cfg_attr(feature = "clap", arg(value_name = "X"))]
        teacher_temperature: f64,
        /// Decay of a moving average of the parameters, such as 0.999, that validation and the result take in their place; 0 for none [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "DECAY"))]
        ema: f64,
        /// Stop early after this many epochs without a better validation; 0 for never [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "EPOCHS", visible_alias = "early-stop"))]
        #[serde(alias = "early-stop")]
        patience: usize,
        /// Train once more on all training data after validation has chosen an epoch; best-epochs is for runs of one stage [default: none]
        #[cfg_attr(feature = "clap", arg(value_parser = one_of::<Refit>()))]
        refit: Refit,
        /// First seed [default: 0]
        #[cfg_attr(feature = "clap", arg(value_name = "S"))]
        seed: u64,
        /// Train with this many seeds, one after the other [default: 1]
        #[cfg_attr(feature = "clap", arg(value_name = "N"))]
        seeds: usize,
        /// Seconds between checkpoints; 0 for one after every epoch [default: 10]
        #[cfg_attr(feature = "clap", arg(value_name = "SECONDS"))]
        checkpoint_every: f64,
    }
}

/// A recipe file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The file cannot be read.
    #[error("cannot read the recipe {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is no TOML, or a value is of the wrong kind.
    #[error("{file}, line {line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// Where in it, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A key that no recipe has.
    #[error("{file}, line {line}: unknown key `{key}`; {}", hint(.nearest))]
    UnknownKey {
        /// The file.
        file: String,
        /// Where in it, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The known key most like it, if one is.
        nearest: Option<String>,
    },
}

fn hint(nearest: &Option<String>) -> String {
    match nearest {
        Some(key) => format!("did you mean `{key}`?"),
        None => "`fastgrnn train --help` lists the flags, and keys are the same names".into(),
    }
}

/// Recipes are written by people: a larger file is something else.
const MAX_RECIPE_BYTES: u64 = 1 << 20;

impl Recipe {
    /// Reads a recipe file.
    pub fn from_toml(path: impl AsRef<Path>) -> Result<Self, RecipeError> {
        use std::io::Read;
        let path = path.as_ref();
        let read_error = |source| RecipeError::Read { path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(read_error)?;
        file.take(MAX_RECIPE_BYTES).read_to_string(&mut text).map_err(read_error)?;
        Self::from_toml_str(&text, &path.display().to_string())
    }

    /// Reads the text of a recipe; `file` names it in errors.
    pub fn from_toml_str(text: &str, file: &str) -> Result<Self, RecipeError> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|&b| b == b'\n').count();
        let syntax = |error: toml::de::Error| RecipeError::Syntax {
            file: file.to_owned(),
            line: line(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        };
        let mut known = Self::keys();
        known.push("early-stop".into());
        let table = toml::de::DeTable::parse(text).map_err(syntax)?;
        let unknown = table.get_ref().keys().find(|key| !known.iter().any(|k| k == key.get_ref()));
        if let Some(key) = unknown {
            return Err(RecipeError::UnknownKey {
                file: file.to_owned(),
                line: line(key.span().start),
                key: key.get_ref().to_string(),
                nearest: nearest(key.get_ref(), &known),
            });
        }
        toml::from_str(text).map_err(syntax)
    }
}

impl Recipe {
    /// What to read: the data keys, as the readers take them.
    pub fn request(&self) -> Request {
        let defaults = Request::default();
        Request {
            source: self.dataset.clone().unwrap_or_default(),
            test: self.test.clone(),
            test_apart: self.test.is_some() || self.test_apart.unwrap_or(false),
            data_dir: self.data_dir.clone(),
            timesteps: self.timesteps,
            id_col: self.id_col.clone(),
            label_col: self.label_col.clone(),
            group_col: self.group_col.clone(),
            columns: self.columns.clone().unwrap_or_default(),
            drop: self.drop.clone().unwrap_or_default(),
            window: self.window,
            stride: self.stride,
            labels: self.labels.unwrap_or_default(),
            size_limit: self.size_limit.unwrap_or(defaults.size_limit),
            features: self.features,
            words: self.words.clone().unwrap_or_default(),
            unknown_share: self.unknown_share,
            silence_share: self.silence_share,
            clip_seconds: self.clip_seconds,
            skip_bad: self.skip_bad.unwrap_or(false),
            audio_copies: self.augment.map_or(0, |augment| augment.audio_copies),
            snr_low: self.augment.map_or(0.0, |augment| augment.snr_low),
            snr_high: self.augment.map_or(0.0, |augment| augment.snr_high),
            ..defaults
        }
    }
}

/// The entry of `known` with the fewest edits from `word`, if that is less than half of the word.
fn nearest(word: &str, known: &[String]) -> Option<String> {
    let word = word.to_lowercase().replace('_', "-");
    let best = known.iter().min_by_key(|k| edits(&word, k))?;
    (edits(&word, best) * 2 <= word.chars().count().max(2)).then(|| best.clone())
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_counts_insertions_deletions_and_replacements() {
        assert_eq!(edits("hiden", "hidden"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }

    #[test]
    fn an_unknown_key_names_file_line_and_nearest_key() {
        let text = "hidden = 8\n\n# a comment\nrank_u = 3\n";
        let error = Recipe::from_toml_str(text, "r.toml").unwrap_err();
        assert_eq!(error.to_string(), "r.toml, line 4: unknown key `rank_u`; did you mean `rank-u`?");
        let error = Recipe::from_toml_str("[training]\nlr = 1\n", "r.toml").unwrap_err();
        assert!(error.to_string().starts_with("r.toml, line 1: unknown key `training`"), "{error}");
    }

    #[test]
    fn a_wrong_value_names_file_and_line() {
        for (text, line, part) in [
            ("hidden = 8\nlr = \"fast\"", 2, "invalid type"),
            ("cell = \"grru\"", 1, "fastgrnn"),
            ("hidden = -1", 1, "-1"),
            ("augment = { rotat = 1.0 }", 1, "rotat"),
            ("rank-w = []", 1, "full"),
            ("hidden = 8\ninput-lsb = \"tiny\"", 2, "a number or a list of numbers"),
            ("hidden = 8\nhidden = 9", 2, "duplicate"),
        ] {
            let error = Recipe::from_toml_str(text, "r.toml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("r.toml, line {line}: ")), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn one_number_stands_for_a_list_of_one() {
        for (text, values) in
            [("0.5", vec![0.5]), ("2", vec![2.0]), ("-1", vec![-1.0]), ("[0.5, 2]", vec![0.5, 2.0])]
        {
            let recipe = Recipe::from_toml_str(&format!("input-lsb = {text}"), "r.toml").unwrap();
            assert_eq!(recipe.input_lsb, Some(values), "{text}");
        }
    }

    #[test]
    fn flags_win_over_the_recipe() {
        let recipe =
            Recipe { hidden: Some(80), rank_u: Some(Rank::Of(40)), lr: Some(0.1), ..Recipe::default() };
        let flags = Recipe { rank_u: Some(Rank::Full), lr: Some(0.2), ..Recipe::default() };
        let both = recipe.overlay(flags);
        assert_eq!((both.hidden, both.rank_u, both.lr), (Some(80), Some(Rank::Full), Some(0.2)));
    }

    #[test]
    fn a_recipe_survives_toml() {
        let recipe = Recipe {
            dataset: Some("har2".into()),
            columns: Some(vec!["x".into(), "y".into()]),
            axes: Some(Axes(vec![[0, 1, 2]])),
            augment: Some(AugmentSetting { rotate: 0.25, ..AugmentSetting::none() }),
            nu: Some("0.1".parse().unwrap()),
            beta: Some("tied".parse().unwrap()),
            initial_state: Some("0.5,1".parse().unwrap()),
            rank_w: Some(Rank::Of(3)),
            val_group: Some(true),
            ..Recipe::default()
        };
        let text = toml::to_string(&recipe).unwrap();
        assert_eq!(Recipe::from_toml_str(&text, "r.toml").unwrap(), recipe, "{text}");
    }
}
