//! The detector of an integer model: which classes a stream reports, and when.
//!
//! `docs/integer-arithmetic.md` (section 9) defines what the runtime's
//! [`Detector`](int::Detector) computes; this is the same with owned keywords, as the model's file
//! stores it.
//!
//! ```
//! use fastgrnn_model::quantize::Detector;
//! let labels = ["yes", "no", "silence", "unknown"].map(String::from);
//! let detector = Detector::of(&labels)?;
//! assert_eq!(detector.names(&labels), ["yes", "no"]);
//! let only = Detector::of(&labels)?.with_keywords(&["no"], &labels)?;
//! assert_eq!(only.keywords, [1]);
//! # Ok::<(), fastgrnn_model::quantize::DetectorProblem>(())
//! ```

use fastgrnn_runtime::int::{self, DetectorError};
use serde::{Deserialize, Serialize};

pub use fastgrnn_runtime::int::Reset;

/// Names of classes that are what a keyword is told from, never keywords themselves. Compared
/// without case, and without underscores at the ends.
pub const REST: [&str; 10] = [
    "silence",
    "unknown",
    "background",
    "background_noise",
    "noise",
    "other",
    "others",
    "rest",
    "none",
    "negative",
];

/// The parameters of a detector; names and ranges as in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detector {
    /// The classes to report.
    pub keywords: Vec<u16>,
    /// What a smoothed posterior must reach, 32768 for certainty.
    pub threshold: u16,
    /// Posteriors are averaged over about 2^smoothing frames.
    pub smoothing: u8,
    /// Frames after a detection without another.
    pub refractory: u16,
    /// Frames after the start or a reset that cannot detect.
    pub warm_up: u16,
    /// When the network's state is reset.
    #[serde(with = "ResetForm")]
    pub reset: Reset,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Reset", rename_all = "kebab-case", deny_unknown_fields)]
enum ResetForm {
    Never,
    Every(u16),
    Quiet { frames: u16, level: i16 },
}

/// A detector that a model cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetectorProblem {
    /// A model of numbers, or one whose classes are all called silence, unknown and the like.
    #[error(
        "none of the model's classes ({}) is a keyword; name the classes to detect (`keywords`)",
        listed(.labels)
    )]
    NoKeyword {
        /// The classes.
        labels: Vec<String>,
    },
    /// A keyword that is no class.
    #[error("'{name}' is none of the model's classes: {}", listed(.labels))]
    Unknown {
        /// The keyword.
        name: String,
        /// The classes.
        labels: Vec<String>,
    },
    /// Parameters outside their range.
    #[error("the detector is not valid: {0}")]
    Parameters(#[from] DetectorError),
}

fn listed(labels: &[String]) -> String {
    if labels.is_empty() { "it has none, it predicts numbers".to_owned() } else { labels.join(", ") }
}

impl Default for Detector {
    /// Usable values, and no keyword yet.
    fn default() -> Self {
        let int::Detector { threshold, smoothing, refractory, warm_up, reset, .. } = int::Detector::of(&[]);
        Self { keywords: Vec::new(), threshold, smoothing, refractory, warm_up, reset }
    }
}

impl Detector {
    /// A threshold or posterior of 1.
    pub const ONE: u16 = 1 << 15;

    /// A detector with default values of every class that is a keyword by its name. Of two classes
    /// that both could be one, the second is: it is what a single score speaks for.
    pub fn of(labels: &[String]) -> Result<Self, DetectorProblem> {
        let is_rest = |label: &String| {
            let name = label.trim_matches('_').to_lowercase();
            REST.contains(&name.as_str())
        };
        let mut keywords: Vec<u16> = (0..labels.len())
            .filter(|&k| !is_rest(&labels[k]))
            .filter_map(|k| u16::try_from(k).ok())
            .collect();
        if keywords.len() == 2 && labels.len() == 2 {
            keywords.remove(0);
        }
        if keywords.is_empty() {
            return Err(DetectorProblem::NoKeyword { labels: labels.to_vec() });
        }
        Ok(Self { keywords, ..Self::default() })
    }

    /// The same detector of the classes with these names.
    pub fn with_keywords(
        self,
        names: &[impl AsRef<str>],
        labels: &[String],
    ) -> Result<Self, DetectorProblem> {
        let class = |name: &str| {
            let found = labels.iter().position(|label| label == name).and_then(|k| u16::try_from(k).ok());
            found.ok_or_else(|| DetectorProblem::Unknown { name: name.to_owned(), labels: labels.to_vec() })
        };
        let keywords = names.iter().map(|name| class(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { keywords, ..self })
    }

    /// The names of its keywords.
    pub fn names<'l>(&self, labels: &'l [String]) -> Vec<&'l str> {
        self.keywords.iter().filter_map(|&k| labels.get(usize::from(k))).map(String::as_str).collect()
    }

    /// The runtime's form.
    pub fn view(&self) -> int::Detector<'_> {
        int::Detector {
            keywords: &self.keywords,
            threshold: self.threshold,
            smoothing: self.smoothing,
            refractory: self.refractory,
            warm_up: self.warm_up,
            reset: self.reset,
        }
    }
}
