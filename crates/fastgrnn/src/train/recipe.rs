//! Recipes: the settings of a training run as a person gives them.
//!
//! Every key of a [`Recipe`] is a key of a recipe file and, with the feature `clap`, the flag of the
//! same name. The keys are declared with their help text, default and range in
//! [`fastgrnn_model::settings`], [`fastgrnn_data::data`] and [`fastgrnn_model::device`];
//! [`Recipe::resolve`] completes a recipe with the defaults that depend on the data.
//!
//! ```
//! use fastgrnn::train::Recipe;
//! let recipe = Recipe::from_toml_str("hidden = 80\nrank-u = 40", "example.toml").unwrap();
//! let flags = Recipe::default().with(|flags| flags.network.hidden = Some(32));
//! let both = recipe.overlay(flags);
//! assert_eq!(both.network.hidden, Some(32));
//! let error = Recipe::from_toml_str("hiden = 80", "example.toml").unwrap_err();
//! assert_eq!(error.to_string(), "example.toml, line 1: unknown key `hiden`; did you mean `hidden`?");
//! ```

use fastgrnn_core::settings::{Group, Key};
use fastgrnn_core::settings_groups;
use fastgrnn_data::data::{
    AudioConfig, AudioRecipe, DataConfig, DataRecipe, Request, SourceConfig, SourceRecipe, TextConfig,
    TextRecipe,
};
use fastgrnn_model::device::{Limits, LimitsRecipe};
use fastgrnn_model::settings::{
    ModelRecipe, NetworkConfig, NetworkRecipe, ParameterConfig, ParameterRecipe, PreparationConfig,
    PreparationRecipe, QuantizationConfig, QuantizationRecipe, SparsityConfig, SparsityRecipe,
    TrainingConfig, TrainingRecipe,
};
use serde::Deserialize;
use std::path::{Path, PathBuf};

settings_groups! {
    /// The settings of a training run.
    Recipe => Config {
        /// Which data to use.
        source: SourceRecipe => SourceConfig,
        /// How data is read.
        data: DataRecipe => DataConfig,
        /// How recordings become features.
        audio: AudioRecipe => AudioConfig,
        /// How texts become tokens.
        text: TextRecipe => TextConfig,
        /// How sequences are prepared.
        preparation: PreparationRecipe => PreparationConfig,
        /// The shape of the network.
        network: NetworkRecipe => NetworkConfig,
        /// Which parameters are learnt, and where they start.
        parameters: ParameterRecipe => ParameterConfig,
        /// How many entries of the matrices are kept.
        sparsity: SparsityRecipe => SparsityConfig,
        /// Whether and how the model becomes an integer model.
        quantization: QuantizationRecipe => QuantizationConfig,
        /// What the integer model may need on a board.
        limits: LimitsRecipe => Limits,
        /// How the network is trained.
        training: TrainingRecipe => TrainingConfig,
    }
}

/// Keys that have another name now.
pub const RENAMED_KEYS: [(&str, &str); 6] = [
    ("sparsity-w", "keep-w"),
    ("sparsity-u", "keep-u"),
    ("sparsity-head", "keep-head"),
    ("earlier-readings", "extra-loss-steps"),
    ("earlier-every", "extra-loss-stride"),
    ("positive-last", "positive-last-step-only"),
];

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
    /// The file is not TOML, or a value has the wrong type.
    #[error("{file}, line {line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// Where in it, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A key that has another name now.
    #[error("{file}, line {line}: the key `{key}` is called `{new}` now")]
    RenamedKey {
        /// The file.
        file: String,
        /// Where in it, from 1.
        line: usize,
        /// The key.
        key: String,
        /// Its new name.
        new: &'static str,
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
        None => "docs/recipes.md lists the keys".into(),
    }
}

/// The key of a recipe file below which the space of a search is declared.
pub const SEARCH_KEY: &str = "search";

/// A larger file is not a recipe.
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
            message: in_plain_words(error.message()),
        };
        let known = key_names();
        let mut table = toml::de::DeTable::parse(text).map_err(syntax)?;
        // What a search may change is read by the search.
        table.get_mut().remove(SEARCH_KEY);
        let unknown = table.get_ref().keys().find(|key| !known.iter().any(|k| k == key.get_ref()));
        if let Some(key) = unknown {
            let (file, line, name) = (file.to_owned(), line(key.span().start), key.get_ref());
            let renamed = RENAMED_KEYS.iter().find(|(old, _)| old == name);
            let (key, nearest) = (name.to_string(), nearest(name, &known));
            return Err(match renamed {
                Some(&(_, new)) => RecipeError::RenamedKey { file, line, key, new },
                None => RecipeError::UnknownKey { file, line, key, nearest },
            });
        }
        Self::deserialize(toml::de::Deserializer::from(table)).map_err(syntax)
    }
}

impl Recipe {
    /// The request for the data that the recipe names.
    pub fn request(&self) -> Request {
        const COMPLETE: &str = "no default of this group depends on the data";
        let augment = self.preparation.augment.unwrap_or_default();
        let test = self.source.test.clone();
        Request {
            test_apart: test.is_some() || self.source.test_apart.unwrap_or(false),
            test,
            data: self.data.clone().with_defaults().complete().expect(COMPLETE),
            audio: self.audio.clone().with_defaults().complete().expect(COMPLETE),
            text: self.text.clone().with_defaults().complete().expect(COMPLETE),
            audio_copies: augment.audio_copies,
            snr_low: augment.snr_low,
            snr_high: augment.snr_high,
            val_split: self.preparation.val_split,
            split_seed: self.preparation.split_seed.unwrap_or(0),
            ..Request::new(self.source.dataset.clone().unwrap_or_default())
        }
    }
}

impl Config {
    /// The settings that decide the result, without paths: what a model remembers.
    pub fn portable(&self) -> ModelRecipe {
        let recipe = Recipe::from(self.clone());
        ModelRecipe {
            source: recipe.source.portable(),
            data: recipe.data.portable(),
            audio: recipe.audio.portable(),
            text: recipe.text.portable(),
            preparation: recipe.preparation.portable(),
            network: recipe.network.portable(),
            parameters: recipe.parameters.portable(),
            sparsity: recipe.sparsity.portable(),
            quantization: recipe.quantization.portable(),
            training: recipe.training.portable(),
        }
    }

    /// The configuration as a recipe file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration has no values that TOML lacks")
    }
}

/// A message of the TOML reader without the names of Rust's types.
fn in_plain_words(message: &str) -> String {
    const WORDS: [(&str, &str); 12] = [
        ("expected usize", "expected a whole number from 0"),
        ("expected u64", "expected a whole number from 0"),
        ("expected u32", "expected a whole number from 0"),
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected i64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected f32", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a string", "expected text in quotes"),
        ("expected a sequence", "expected a list"),
        ("floating point `", "number `"),
        ("boolean `", "`"),
    ];
    WORDS.iter().fold(message.to_owned(), |text, (rust, plain)| text.replace(rust, plain))
}

/// The names of all keys, with their aliases.
fn key_names() -> Vec<String> {
    let keys = Recipe::keys();
    let names = keys.iter().flat_map(|key| std::iter::once(key.name()).chain(key.other_name()));
    names.map(str::to_owned).collect()
}

/// Whether a key describes the machine or how a run is carried out, without changing its result.
pub(crate) fn is_local(name: &str) -> bool {
    Recipe::keys().iter().filter(|key| key.name() == name).any(Key::is_local)
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
    use fastgrnn_model::settings::{AugmentSetting, Axes, Rank};

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
            ("hidden = 8\nlr = \"fast\"", 2, "expected a number"),
            ("hidden = 2.5", 1, "number `2.5`, expected a whole number from 0"),
            ("seed = true", 1, "`true`, expected a whole number from 0"),
            ("quantize = \"yes\"", 1, "expected true or false"),
            ("dataset = 3", 1, "expected text in quotes"),
            ("columns = 3", 1, "expected a list"),
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
    fn a_renamed_key_is_an_error_that_names_the_new_key() {
        for (old, new) in RENAMED_KEYS {
            let error = Recipe::from_toml_str(&format!("hidden = 8\n{old} = 1"), "r.toml").unwrap_err();
            assert_eq!(error.to_string(), format!("r.toml, line 2: the key `{old}` is called `{new}` now"));
            assert!(key_names().iter().any(|name| name == new), "{new}");
        }
    }

    #[test]
    fn flags_win_over_the_recipe() {
        let recipe = Recipe::from_toml_str("hidden = 80\nrank-u = 40\nlr = 0.1", "r.toml").unwrap();
        let flags = Recipe::from_toml_str("rank-u = \"full\"\nlr = 0.2", "flags").unwrap();
        let both = recipe.overlay(flags);
        assert_eq!((both.network.hidden, both.network.rank_u), (Some(80), Some(Rank::Full)));
        assert_eq!(both.training.lr, Some(0.2));
    }

    #[test]
    fn a_recipe_survives_toml() {
        let recipe = Recipe::default().with(|r| {
            r.source.dataset = Some("har2".into());
            r.data.columns = Some(vec!["x".into(), "y".into()]);
            r.preparation.axes = Some(Axes(vec![[0, 1, 2]]));
            r.preparation.augment = Some(AugmentSetting { rotate: 0.25, ..AugmentSetting::none() });
            r.preparation.val_group = Some(true);
            r.parameters.nu = Some("0.1".parse().unwrap());
            r.parameters.beta = Some("tied".parse().unwrap());
            r.parameters.initial_state = Some("0.5,1".parse().unwrap());
            r.network.rank_w = Some(Rank::Of(3));
        });
        let text = toml::to_string(&recipe).unwrap();
        assert_eq!(Recipe::from_toml_str(&text, "r.toml").unwrap(), recipe, "{text}");
    }
}
