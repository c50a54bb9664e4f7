//! One sequence to make from a recording.

use super::super::speech::{Pick, Split};

/// One sequence to make.
#[derive(Clone, Debug)]
pub struct Job {
    /// Which part of which recording.
    pub pick: Pick,
    /// Its class, as a number.
    pub class: usize,
    /// The part of the data set that the clip belongs to.
    pub split: Split,
    /// 0 for the recording itself, else which of its varied copies.
    pub copy: usize,
}

impl Job {
    /// The recording as it is, without a class.
    pub fn of(pick: Pick, split: Split) -> Self {
        Self { pick, class: 0, split, copy: 0 }
    }
}
