//! Training stages as data: what a run does with its parameters, and for which share of it.
//!
//! Shares count batches, not epochs. A list is written `dense:1/3,project:1/3:every=15,frozen:1/3`
//! on the command line; TOML takes the same text, or a list of tables.
//!
//! | kind | what a batch does |
//! | --- | --- |
//! | `dense` | moves every entry |
//! | `project` | every `every` batches (the first of the stage too) moves every entry, then keeps each sparse matrix's largest; in between moves what was kept |
//! | `frozen` | moves what was kept last |
//! | `quantized` | the same, with the gradient taken at weights rounded to their integer grids |
//!
//! ```
//! use fastgrnn_model::settings::{StageKind, Stages};
//! let stages: Stages = "dense:0.5,project:0.25:gradual,frozen:0.25".parse().unwrap();
//! assert_eq!(stages.0[1].kind, StageKind::Project { every: 15, keep: None, gradual: true });
//! assert_eq!(stages.to_string(), "dense:1/2,project:1/4:every=15:gradual,frozen:1/4");
//! ```

use fastgrnn_core::settings::{Choice, InvalidSetting};
use fastgrnn_core::{choice, text_setting};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Batches between two projections unless a stage gives another number; the paper's value.
pub const DEFAULT_PROJECTION_INTERVAL: u64 = 15;
/// Shares may miss 1 by this much: 0.33 three times is meant as thirds.
const ROUNDING: f64 = 0.015;
const NONE_GIVEN: &str = "no stage given; write dense:1, or several like dense:1/2,quantized:1/2";
/// Shares with a denominator up to this are written as fractions.
const LARGEST_DENOMINATOR: u32 = 60;

choice! {
    /// The name of a stage's kind.
    StageName {
        /// Every entry moves.
        #[default]
        Dense = "dense",
        /// The largest entries of each sparse matrix are kept.
        Project = "project",
        /// The entries kept so far move.
        Frozen = "frozen",
        /// As frozen, on the grids of integer weights.
        Quantized = "quantized",
    }
}

/// What the batches of a stage do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageKind {
    /// Every entry moves.
    Dense,
    /// Each sparse matrix is cut to its kept fraction again and again.
    Project {
        /// Batches from one projection to the next.
        every: u64,
        /// Stop at this kept fraction, on the way to a smaller one.
        keep: Option<f64>,
        /// Shrink the kept fraction from 1 over the stage instead of cutting at once.
        gradual: bool,
    },
    /// The entries kept so far move, the others stay zero.
    Frozen,
    /// As frozen, through the grids of integer weights.
    Quantized,
}

impl StageKind {
    /// The kind without its options.
    pub fn stage(self) -> StageName {
        match self {
            Self::Dense => StageName::Dense,
            Self::Project { .. } => StageName::Project,
            Self::Frozen => StageName::Frozen,
            Self::Quantized => StageName::Quantized,
        }
    }

    /// The name in files and flags.
    pub fn name(self) -> &'static str {
        self.stage().choice_name()
    }

    /// Whether this is a `project` stage.
    pub fn projects(self) -> bool {
        matches!(self, Self::Project { .. })
    }
}

/// A stage and its share of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// What its batches do.
    pub kind: StageKind,
    /// Share of the run's batches.
    pub share: f64,
}

/// The stages of a run, in order; their shares make 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Stages(pub Vec<Stage>);

impl Stages {
    /// The default: the thirds of the paper if anything is sparse, and a last sixth on the integer
    /// grids if the model is quantised. Entries of `four_bits` need longer: two thirds, half of them
    /// beside what is sparse.
    pub fn usual(sparse: bool, quantize: bool, four_bits: bool) -> Self {
        let text = match (sparse, quantize, four_bits) {
            (false, false, _) => "dense:1",
            (false, true, false) => "dense:5/6,quantized:1/6",
            (false, true, true) => "dense:1/3,quantized:2/3",
            (true, false, _) => "dense:1/3,project:1/3,frozen:1/3",
            (true, true, false) => "dense:1/3,project:1/3,frozen:1/6,quantized:1/6",
            (true, true, true) => "dense:1/3,project:1/3,quantized:1/3",
        };
        text.parse().expect("the usual stages can be read")
    }

    /// Whether a stage of the list trains through the integer grids.
    pub fn quantized(&self) -> bool {
        self.0.iter().any(|s| s.kind == StageKind::Quantized)
    }

    fn checked(stages: Vec<Stage>) -> Result<Self, InvalidSetting> {
        if stages.is_empty() {
            return Err(InvalidSetting::new(NONE_GIVEN));
        }
        let sum: f64 = stages.iter().map(|s| s.share).sum();
        match (sum - 1.0).abs() <= ROUNDING {
            true => Ok(Self(stages)),
            false => Err(InvalidSetting::new(format!(
                "the shares add up to {}, not to 1",
                (sum * 1e4).round() / 1e4
            ))),
        }
    }
}

impl Stage {
    fn new(kind: &str, share: &str, options: StageOptions) -> Result<Self, InvalidSetting> {
        let share_of = || -> Option<f64> {
            match share.split_once('/') {
                Some((n, d)) => Some(n.trim().parse::<f64>().ok()? / d.trim().parse::<f64>().ok()?),
                None => share.trim().parse().ok(),
            }
        };
        let share = share_of().filter(|s| *s > 0.0 && *s <= 1.0).ok_or_else(|| {
            let problem = format!("the share `{share}` of {kind} is not above 0 and at most 1, like 1/3");
            InvalidSetting::new(problem)
        })?;
        let plain = |kind: StageKind| match options {
            StageOptions { every: None, keep: None, gradual: false } => Ok(kind),
            _ => Err(InvalidSetting::new(format!(
                "a {} stage has no every, keep or gradual; a project stage has",
                kind.name()
            ))),
        };
        let kind = match kind.trim() {
            "dense" => plain(StageKind::Dense)?,
            "frozen" => plain(StageKind::Frozen)?,
            "quantized" => plain(StageKind::Quantized)?,
            "project" => {
                let (every, keep) = (options.every.unwrap_or(DEFAULT_PROJECTION_INTERVAL), options.keep);
                if every == 0 {
                    return Err(InvalidSetting::new("every=0: a projection needs at least 1 batch"));
                }
                if let Some(keep) = keep.filter(|k| !(*k > 0.0 && *k <= 1.0)) {
                    return Err(InvalidSetting::new(format!(
                        "keep={keep}: a kept fraction is above 0 and at most 1"
                    )));
                }
                StageKind::Project { every, keep, gradual: options.gradual }
            }
            other => {
                return Err(InvalidSetting::new(format!(
                    "`{other}` is none of dense, project, frozen and quantized"
                )));
            }
        };
        Ok(Self { kind, share })
    }
}

/// What may follow a stage's share.
#[derive(Clone, Copy, Default)]
struct StageOptions {
    every: Option<u64>,
    keep: Option<f64>,
    gradual: bool,
}

impl FromStr for Stages {
    type Err = InvalidSetting;

    fn from_str(s: &str) -> Result<Self, InvalidSetting> {
        let stage = |text: &str| {
            let text = text.trim();
            if text.is_empty() {
                return Err(InvalidSetting::new(NONE_GIVEN));
            }
            let mut parts = text.split(':');
            let kind = parts.next().unwrap_or_default();
            let share = parts
                .next()
                .ok_or_else(|| InvalidSetting::new(format!("`{text}` has no share; write {text}:1/3")))?;
            let mut options = StageOptions::default();
            for option in parts {
                let number =
                    |value: &str| InvalidSetting::new(format!("`{value}` in `{text}` is not a number"));
                match option.trim().split_once('=') {
                    Some(("every", v)) => options.every = Some(v.parse().map_err(|_| number(v))?),
                    Some(("keep", v)) => options.keep = Some(v.parse().map_err(|_| number(v))?),
                    None if option.trim() == "gradual" => options.gradual = true,
                    _ => {
                        return Err(InvalidSetting::new(format!(
                            "`{option}` in `{text}` is none of every=N, keep=X and gradual"
                        )));
                    }
                }
            }
            Stage::new(kind, share, options)
        };
        Self::checked(s.split(',').map(stage).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stage) in self.0.iter().enumerate() {
            write!(f, "{}{}:{}", if i > 0 { "," } else { "" }, stage.kind.name(), written(stage.share))?;
            if let StageKind::Project { every, keep, gradual } = stage.kind {
                write!(f, ":every={every}")?;
                if let Some(keep) = keep {
                    write!(f, ":keep={keep}")?;
                }
                f.write_str(if gradual { ":gradual" } else { "" })?;
            }
        }
        Ok(())
    }
}

/// A share as a small fraction where it is exactly one, otherwise as a decimal number.
fn written(share: f64) -> String {
    let numerator = |d: u32| (share * f64::from(d)).round();
    let fraction = (1..=LARGEST_DENOMINATOR).find(|&d| numerator(d) / f64::from(d) == share);
    match fraction {
        Some(1) => "1".into(),
        Some(d) => format!("{}/{d}", numerator(d)),
        None => share.to_string(),
    }
}

impl Serialize for Stages {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// A stage as a table of a recipe: `{ kind = "project", share = "1/3", every = 15 }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StageTable {
    kind: String,
    share: fastgrnn_core::initial::TextOr<f64>,
    every: Option<u64>,
    keep: Option<f64>,
    #[serde(default)]
    gradual: bool,
}

impl<'de> Deserialize<'de> for Stages {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct TextOrTables;
        impl<'de> serde::de::Visitor<'de> for TextOrTables {
            type Value = Stages;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text such as \"dense:1/3,project:1/3,frozen:1/3\", or a list of tables")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Stages, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Stages, A::Error> {
                let mut stages = Vec::new();
                while let Some(StageTable { kind, share, every, keep, gradual }) = list.next_element()? {
                    let share = match share {
                        fastgrnn_core::initial::TextOr::Plain(share) => share.to_string(),
                        fastgrnn_core::initial::TextOr::Text(text) => text,
                    };
                    let stage = Stage::new(&kind, &share, StageOptions { every, keep, gradual });
                    stages.push(stage.map_err(A::Error::custom)?);
                }
                Stages::checked(stages).map_err(A::Error::custom)
            }
        }
        d.deserialize_any(TextOrTables)
    }
}

text_setting!(Stages);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_written_as_they_are_read() {
        for text in [
            "dense:1",
            "dense:1/3,project:1/3:every=15,frozen:1/3",
            "dense:5/6,quantized:1/6",
            "project:0.123:every=7:keep=0.5:gradual,frozen:0.877",
        ] {
            let stages: Stages = text.parse().unwrap();
            assert_eq!(stages.to_string(), text);
            assert_eq!(stages.to_string().parse::<Stages>().unwrap(), stages);
        }
        assert_eq!(
            Stages::usual(true, false, false),
            "dense:0.3333333333333333,project:1/3,frozen:1/3".parse().unwrap()
        );
    }

    #[test]
    fn a_list_of_tables_is_the_same_as_text() {
        #[derive(Deserialize)]
        struct File {
            stages: Stages,
        }
        let read = |text: &str| toml::from_str::<File>(text).map(|f| f.stages);
        let tables = r#"stages = [
            { kind = "dense", share = 0.5 },
            { kind = "project", share = "1/4", every = 9, gradual = true },
            { kind = "frozen", share = 0.25 },
        ]"#;
        let text = r#"stages = "dense:1/2,project:1/4:every=9:gradual,frozen:1/4""#;
        assert_eq!(read(tables).unwrap(), read(text).unwrap());
        assert!(read("stages = []").unwrap_err().to_string().contains("no stage given"));
        assert!(read("stages = 3").unwrap_err().to_string().contains("list of tables"));
        assert!(read("stages = [{ kind = \"dense\", shre = 1 }]").unwrap_err().to_string().contains("shre"));
    }

    #[test]
    fn a_list_that_cannot_be_names_what_is_wrong() {
        for (text, part) in [
            ("", "no stage given"),
            (" ", "no stage given"),
            ("dense:1,", "no stage given"),
            ("dense", "`dense` has no share; write dense:1/3"),
            ("dense:half", "`half`"),
            ("dense:0", "`0`"),
            ("dense:1/0", "`1/0`"),
            ("dense:nan", "`nan`"),
            ("dense:-1,frozen:2", "`-1`"),
            ("sparse:1", "`sparse` is none of"),
            ("dense:1/2,frozen:1/3", "add up to 0.8333, not to 1"),
            ("project:1:every=0", "every=0"),
            ("project:1:every=x", "`x`"),
            ("project:1:keep=1.5", "keep=1.5"),
            ("project:1:evry=3", "`evry=3`"),
            ("dense:1:every=3", "a dense stage has no every"),
        ] {
            let error = text.parse::<Stages>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!("dense:0.33,project:0.33,frozen:0.33".parse::<Stages>().is_ok());
    }
}
