//! The settings that decide which data is read and how.

use super::{CrossValidation, Decimal, Encoding, LabelKind, Missing, Normalize, TestSplitBy};
use crate::features::Spec;
use crate::text::TokenKind;
use fastgrnn_core::net::MAX_SIZE;
use fastgrnn_core::settings::{Choice, Group, MAX_COUNT};
use fastgrnn_core::{choice, choice_setting, settings, text_setting};
use std::path::PathBuf;

settings! {
    /// Which data to use.
    "Data", SourceRecipe => SourceConfig {
        /// Data set: a known name (digits, mnist, har2, har6, dsa19, google12, google30, wakeword:WORD, ptb, yelp5, reuters), a file or a folder
        dataset: String = derived, value("NAME|PATH"), local;
        /// Separate test set, if the data set has none of its own
        test: PathBuf = optional, value("PATH"), local;
        /// Use all recordings of a folder for training and validation, because the test set is elsewhere
        test_apart: bool = optional("true if a test set is given");
    }
}

settings! {
    /// How data is read.
    "Data", DataRecipe => DataConfig {
        /// Folder with the known data sets
        data_dir: PathBuf = optional("the environment variable FASTGRNN_DATA"), value("DIR"), local;
        /// Reshape every sequence to this number of time steps
        timesteps: usize = optional, value("N"), range(0..=MAX_COUNT);
        /// Cut long recordings into windows of this many rows
        window: usize = optional, value("N"), range(0..=MAX_COUNT);
        /// Rows from the start of one window to the start of the next
        stride: usize = optional("the window length"), value("N"), range(0..=MAX_COUNT);
        /// CSV column that identifies the sequence a row belongs to
        id_col: String = optional, value("COLUMN");
        /// CSV column with the label
        label_col: String = optional, value("COLUMN");
        /// What separates the names of several labels of a sequence, with task = multilabel
        label_separator: String = optional("|"), value("SIGN");
        /// CSV column with the group (such as a person or a device); a split never divides a group
        group_col: String = optional, value("COLUMN");
        /// Regular expression that finds the label in the path of each file of a folder, such as /(\w+)_; a part called label, or the only one in brackets
        label_from: String = optional, value("REGEX");
        /// Regular expression that finds the group in the path of each file of a folder, such as (S\d+)_; a part called group, or the only one in brackets
        group_from: String = optional, value("REGEX");
        /// Table in a folder that lists its files with their labels, and with groups and parts if it has such columns
        manifest: PathBuf = optional, value("FILE");
        /// CSV columns to use as features, separated by commas
        columns: Vec<String> = optional, value("COLUMN,…");
        /// CSV columns to ignore, separated by commas
        drop: Vec<String> = optional, value("COLUMN,…");
        /// What separates the columns of a CSV file: a sign such as ; or |, or tab, or blank for runs of blanks
        delimiter: String = optional("told from the file"), value("SIGN");
        /// Sign before the fraction of numbers in a CSV file
        decimal: Decimal = optional("told from the file");
        /// Encoding of a CSV file
        encoding: Encoding = optional("told from the file");
        /// Lines to skip at the start of a CSV file
        skip_rows: usize = optional, value("N"), range(0..=MAX_COUNT);
        /// What to do with values that are missing: refuse them, drop their time steps, hold the value before, or interpolate
        missing: Missing = constant(Missing::Error);
        /// Whether labels are classes or numbers; auto takes text and few distinct integers as classes
        labels: LabelKind = constant(LabelKind::Auto);
        /// Share of the data to split off for testing, if the data set has no test part
        test_split: f64 = optional, value("SHARE"), range(0.0..1.0);
        /// What the test part is split by: whole groups, blocks of time, or the proportions of the classes
        test_split_by: TestSplitBy = optional("group if the data has groups, time if it is one recording, else stratified");
        /// Largest number of bytes to read or unpack
        size_limit: u64 = constant(4 << 30), value("BYTES"), range(0..=i64::MAX as u64), local;
        /// Codes of findings about the data that must not stop a training, separated by commas
        allow: Vec<String> = optional, value("CODE,…");
        /// Skip recordings that cannot be read, and list them
        skip_bad: bool = constant(false);
    }
}

/// Clips of other words, and clips of silence, as a share of the other clips.
pub(crate) const EXTRA_SHARE: f64 = 0.1;
/// Seconds of a clip.
pub(crate) const CLIP_SECONDS: f64 = 1.0;

settings! {
    /// How folders of recordings become features.
    "Audio", AudioRecipe => AudioConfig {
        /// Words of a folder of recordings that are classes, separated by commas; all other words become the class unknown
        words: Vec<String> = optional("every sub-folder is a class"), value("WORD,…");
        /// With words: number of clips of other words, as a share of the clips of the words; 0 for none
        unknown_share: f64 = assumed(EXTRA_SHARE), value("SHARE"), range(0.0..=1000.0);
        /// Number of clips cut from the folder _background_noise_, if there is one, as a share of the other clips; 0 for none
        silence_share: f64 = assumed(EXTRA_SHARE), value("SHARE"), range(0.0..=1000.0);
        /// Length of every clip in seconds; short clips get zeros in front, of long ones the loudest part is used
        clip_seconds: f64 = assumed(CLIP_SECONDS), value("SECONDS");
        /// How sound becomes features, such as log-mel,filters=32,window=25ms,hop=10ms or mfcc,coefficients=13
        features: Spec = optional("log-mel"), value("KIND,KEY=VALUE,…");
    }
}

choice! {
    /// What is learnt.
    TaskKind {
        /// The class of a sequence, or its numbers.
        #[default]
        Classify = "classify",
        /// Several labels of a sequence, or none.
        MultiLabel = "multilabel",
        /// The next token of a text.
        LanguageModel = "lm",
    }
}

/// Tokens of the vocabulary besides the unknown one.
pub(crate) const VOCABULARY: usize = 10_000;

settings! {
    /// How texts become tokens.
    "Text", TextRecipe => TextConfig {
        /// What is learnt: classify for the class of a sequence (or numbers), multilabel for several labels of a sequence, lm for the next token of a text
        task: TaskKind = optional("classify; lm for the data set ptb, multilabel for reuters");
        /// What a token is: words and signs, characters, or what stands between blanks
        tokens: TokenKind = optional("words; blanks for the data set ptb");
        /// Make letters small before texts are cut into tokens
        lowercase: bool = optional("true; false for characters and for the data set ptb");
        /// Most tokens of the vocabulary: the most frequent ones of the training text; all others become <unk>
        vocabulary: usize = constant(VOCABULARY), value("N"), range(1..=MAX_SIZE - 1);
        /// CSV column, or field of JSON lines, with the text to classify
        text_col: String = optional("text, for JSON lines with a task"), value("COLUMN");
        /// Most tokens of a text to classify; longer ones lose their end
        max_tokens: usize = constant(300), value("N"), range(1..=MAX_COUNT);
        /// Least number of times that a token of the vocabulary occurs in the training text
        min_count: usize = constant(1), value("N"), range(1..=MAX_COUNT);
    }
}

const NO_DERIVED: &str = "no default of this group depends on the data";

impl Default for DataConfig {
    fn default() -> Self {
        DataRecipe::default().with_defaults().complete().expect(NO_DERIVED)
    }
}

impl Default for AudioConfig {
    fn default() -> Self {
        AudioRecipe::default().with_defaults().complete().expect(NO_DERIVED)
    }
}

impl Default for TextConfig {
    fn default() -> Self {
        TextRecipe::default().with_defaults().complete().expect(NO_DERIVED)
    }
}

impl DataConfig {
    /// The columns to use as features; empty for all.
    pub fn chosen_columns(&self) -> &[String] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// The columns to ignore.
    pub fn dropped_columns(&self) -> &[String] {
        self.drop.as_deref().unwrap_or_default()
    }
}

impl AudioConfig {
    /// The words that are classes; empty for all.
    pub fn chosen_words(&self) -> &[String] {
        self.words.as_deref().unwrap_or_default()
    }
}

impl Choice for Normalize {
    fn all() -> Vec<Self> {
        vec![Self::PerFeature, Self::PerCoordinate, Self::None]
    }

    fn choice_name(self) -> &'static str {
        match self {
            Self::PerFeature => "per-feature",
            Self::PerCoordinate => "per-coordinate",
            Self::None => "none",
        }
    }
}

impl Choice for LabelKind {
    fn all() -> Vec<Self> {
        vec![Self::Auto, Self::Class, Self::Value]
    }

    fn choice_name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Class => "class",
            Self::Value => "value",
        }
    }
}

choice_setting!(Normalize, LabelKind);
text_setting!(Spec, CrossValidation);

#[cfg(test)]
mod tests {
    use super::*;

    fn names_agree_with_files<T: Choice + serde::Serialize + std::fmt::Debug>() {
        for value in T::all() {
            assert_eq!(serde_json::to_value(value).unwrap(), value.choice_name());
        }
    }

    #[test]
    fn a_choice_has_one_name_on_the_command_line_and_in_files() {
        names_agree_with_files::<Normalize>();
        names_agree_with_files::<LabelKind>();
    }

    #[test]
    fn help_shows_the_defaults_that_are_used() {
        let help = |name: &str| {
            let keys = DataRecipe::keys().into_iter().chain(AudioRecipe::keys());
            keys.into_iter().find(|key| key.name() == name).unwrap().help()
        };
        assert!(help("size-limit").ends_with("[default: 4294967296]"));
        assert_eq!(DataConfig::default().size_limit, 4_294_967_296);
        assert!(help("unknown-share").ends_with("[default: 0.1]"));
        assert!(help("clip-seconds").ends_with("[default: 1]"));
        assert!(help("labels").ends_with("[default: auto]"));
    }
}
