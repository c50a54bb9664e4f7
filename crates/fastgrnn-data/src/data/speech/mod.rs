//! Speech Commands: one-second recordings of thirty words, and the sets cut from them.
//!
//! The recordings come as log-mel features of all clips ([`Archive`]) or as audio. Which clips make
//! up a set, and which of them train, validate and test, is decided by [`choose`] from words,
//! speakers and the official lists alone, so both give the same set. What is drawn at random (the
//! clips of `unknown`, the places that `silence` is cut from) is drawn with a seed of the set, not
//! of a run: the set is the same for everybody.

mod archive;
mod background;
mod sets;

pub use archive::{Archive, FILTERS, FRAMES};
pub use background::{Background, NOISE};
pub use sets::{COMMANDS, OTHER, Pick, SILENCE, Set, UNKNOWN, choose};

/// Which part of the set a clip belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// To train on.
    Train,
    /// In `validation_list.txt`.
    Validation,
    /// In `testing_list.txt`.
    Test,
}

impl Split {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Train, Self::Validation, Self::Test];
}

/// What is known about a recording of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clip {
    /// Its path in the set, such as `bed/00176480_nohash_0.wav`.
    pub file: String,
    /// Its part.
    pub split: Split,
}

impl Clip {
    /// The word: the folder it lies in.
    pub fn word(&self) -> &str {
        self.file.split_once('/').map_or("", |(word, _)| word)
    }

    /// Who speaks, as far as the file name tells: what stands before `_nohash_`.
    pub fn speaker(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        name.split_once("_nohash_").map_or(name, |(speaker, _)| speaker)
    }
}
