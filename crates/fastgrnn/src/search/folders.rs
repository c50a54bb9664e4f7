//! Where the runs of a search lie.

use std::path::{Path, PathBuf};

/// The folder with the runs of trials, in the folder of a search.
pub(super) const TRIALS_FOLDER: &str = "trials";
/// The folder with the runs of finals, in the folder of a search.
pub(super) const FINALS_FOLDER: &str = "finals";
/// Characters of a key that name a folder.
const SHORT_KEY: usize = 16;

/// The folder of the run with this key, in a folder of runs.
pub(super) fn run_folder(runs: &Path, key: &str) -> PathBuf {
    runs.join(&key[..SHORT_KEY.min(key.len())])
}
