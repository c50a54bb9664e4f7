//! Why a model cannot teach.

use super::config::left_by_crop;
use fastgrnn_core::net::Loss;
use fastgrnn_core::settings::Choice;
use std::path::PathBuf;

/// A model that does not fit the training it is to teach.
#[derive(Debug, thiserror::Error)]
pub enum TeacherError {
    /// Another number of features.
    #[error("the teacher {} reads {found} features a step, the data has {expected}", path.display())]
    Features {
        /// Its file.
        path: PathBuf,
        /// Features it reads.
        found: usize,
        /// Features of the data.
        expected: usize,
    },
    /// A sequence that is too short for a step of the teacher.
    #[error(
        "the teacher {} takes a step for every {stride} frames, and the shortest sequence of the data has {found}{}; use a \
         teacher with a smaller stride",
        path.display(), left_by_crop(*found, *least)
    )]
    Stride {
        /// Its file.
        path: PathBuf,
        /// Frames from one of its steps to the next.
        stride: usize,
        /// Frames of the shortest sequence.
        found: usize,
        /// Those that augmentation leaves of it.
        least: usize,
    },
    /// Another vocabulary or tokenizer, or texts for one of the two only.
    #[error(
        "the teacher {} does not read the same tokens; train a teacher on the same texts, with the same `vocabulary`, `min-count`, `tokens` and `lowercase`",
        path.display()
    )]
    Text {
        /// Its file.
        path: PathBuf,
    },
    /// Other classes.
    #[error(
        "the teacher {} knows {}, the data {}; train a teacher on the same classes",
        path.display(), found.join(", "), expected.join(", ")
    )]
    Classes {
        /// Its file.
        path: PathBuf,
        /// Its classes; empty for a regression.
        found: Vec<String>,
        /// Classes of the data.
        expected: Vec<String>,
    },
    /// Another kind of probabilities.
    #[error(
        "the teacher {} was trained with {}, which with more than two classes teaches no training with {}",
        path.display(), Choice::choice_name(*.found), Choice::choice_name(*.expected)
    )]
    Loss {
        /// Its file.
        path: PathBuf,
        /// Its loss.
        found: Loss,
        /// The student's.
        expected: Loss,
    },
    /// A normalisation for sequences of one length, and a crop that changes it.
    #[error(
        "the teacher {} was trained on {found} values a sequence (`normalize = per-coordinate`), the data has {expected}",
        path.display()
    )]
    Length {
        /// Its file.
        path: PathBuf,
        /// Values it takes.
        found: usize,
        /// Values of the longest sequence.
        expected: usize,
    },
}
