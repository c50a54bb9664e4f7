//! From a request to a data set: which files, which reader, which part is which.

use std::path::Path;

use super::{DataError, Dataset, Request, Unlabelled, known};

/// Reads the data set that `request` names.
pub fn load(request: &Request) -> Result<Dataset, DataError> {
    Err(known::unknown(&request.source))
}

/// Reads `bytes` as if they were a file called `name`, whose ending tells its format.
pub fn load_bytes(name: &str, _bytes: &[u8], _request: &Request) -> Result<Dataset, DataError> {
    Err(known::unknown(name))
}

/// Reads the sequences at `path` to predict on; labels there are ignored.
pub fn load_unlabelled(path: &Path, _request: &Request) -> Result<Unlabelled, DataError> {
    Err(known::unknown(&path.display().to_string()))
}
