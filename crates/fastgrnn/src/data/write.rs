//! Writing a data set as `.npz`, `.csv` or `.ts`, atomically.

use std::path::{Path, PathBuf};

use super::{DataError, Dataset};

/// Writes `data` in the format that the ending of `path` names, and says which files it wrote.
pub fn write(_data: &Dataset, path: &Path) -> Result<Vec<PathBuf>, DataError> {
    Err(DataError::Unsupported {
        file: path.display().to_string(),
        problem: "write to .npz, .csv or .ts".into(),
    })
}
