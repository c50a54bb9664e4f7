//! Data sets known by name.
//!
//! `digits` is part of the library. The files of the others are in the folder that `data-dir` names,
//! or in the one that the environment variable `FASTGRNN_DATA` names. The error for a missing set says
//! what to download and where to put it.

mod digits;
mod dsa;
mod har;
mod mnist;
mod ptb;
mod reuters;
mod set;
mod speech;
mod text;
mod yelp;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{DataError, Request, Suggestions, archive};
pub(crate) use set::Found;
use set::{KnownSpec, sha256};

/// A data set known by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownSet {
    /// The name to ask for.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Its licence.
    pub licence: String,
    /// Training sequences: those found, or those of the whole set when it is missing.
    pub train: usize,
    /// Test sequences, likewise.
    pub test: usize,
    /// Steps a sequence.
    pub steps: usize,
    /// Features a step.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Where it was found; `None` when it is missing or built in.
    pub path: Option<PathBuf>,
    /// Whether it can be loaded now.
    pub found: bool,
    /// The folder in which it is looked for; empty when it is built in or no folder is set.
    pub looked: Vec<PathBuf>,
    /// What to download and where to put it; empty when it is built in.
    pub fetch: String,
}

const SPECS: [&KnownSpec; 11] = [
    &digits::SPEC,
    &mnist::SPEC,
    &har::HAR2,
    &har::HAR6,
    &dsa::SPEC,
    &speech::GOOGLE12,
    &speech::GOOGLE30,
    &speech::WAKEWORD,
    &ptb::SPEC,
    &yelp::SPEC,
    &reuters::SPEC,
];

/// The environment variable that names the folder with the known data sets.
pub const DATA_VARIABLE: &str = "FASTGRNN_DATA";

/// The folder in which known sets are looked for: the given one, or else the variable's.
fn data_folder(data_dir: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os(DATA_VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
    data_dir.map(Path::to_path_buf).or_else(variable)
}

/// The data sets known by name, and whether each is there.
///
/// ```
/// let sets = fastgrnn_data::data::known_sets(None);
/// assert!(sets.iter().any(|set| set.name == "digits" && set.found));
/// ```
pub fn known_sets(data_dir: Option<&Path>) -> Vec<KnownSet> {
    let folder = data_folder(data_dir);
    let describe = |spec: &&KnownSpec| {
        let path = spec.locate(folder.as_deref());
        let built_in = spec.places.is_empty();
        let [train, test, steps, features, classes] = spec.sizes;
        let [train, test] = path.as_deref().and_then(spec.count).unwrap_or([train, test]);
        KnownSet {
            name: spec.name.into(),
            description: spec.description.into(),
            licence: spec.licence.into(),
            train,
            test,
            steps,
            features,
            classes,
            found: path.is_some() || built_in,
            path,
            looked: folder.iter().filter(|_| !built_in).cloned().collect(),
            fetch: if built_in { String::new() } else { spec.fetch_text(folder.as_deref()) },
        }
    };
    SPECS.iter().map(describe).collect()
}

/// The error for a source that is neither a name nor a path; lists the known names.
pub(crate) fn unknown(name: &str) -> DataError {
    let names: Vec<&str> = SPECS.iter().map(|spec| spec.name).collect();
    DataError::UnknownSource { source_name: name.into(), known: names.join(", ") }
}

/// Loads the set that `request` names, if it names one.
pub(crate) fn load(request: &Request) -> Result<Option<Found>, DataError> {
    let is_named = |spec: &&&KnownSpec| match spec.name.split_once('<') {
        Some((start, _)) => request.source.starts_with(start),
        None => spec.name == request.source,
    };
    match SPECS.iter().find(is_named) {
        Some(spec) => {
            request.check_no_columns(spec.name)?;
            request.check_no_patterns(spec.name)?;
            request.check_no_recordings(spec.name)?;
            spec.load(data_folder(request.data.data_dir.as_deref()), request).map(Some)
        }
        None => Ok(None),
    }
}

impl KnownSpec {
    fn load(&self, folder: Option<PathBuf>, request: &Request) -> Result<Found, DataError> {
        let path = match self.locate(folder.as_deref()) {
            Some(path) => path,
            None if self.places.is_empty() => PathBuf::new(),
            None => {
                let fetch = self.fetch_text(folder.as_deref());
                return Err(DataError::MissingSet { name: self.name.into(), folder, fetch });
            }
        };
        let mut found = (self.read)(&path, request).map_err(|error| self.explain(error, &path))?;
        let split = self.group_split.then_some(super::SplitBy::Group);
        let positive = speech::wake_word(&request.source).map(str::to_owned);
        found.suggested = Suggestions { split, positive, axes: (self.axes)() };
        Ok(found)
    }

    /// After a failed read: says so if the file is not the one we know.
    fn explain(&self, error: DataError, path: &Path) -> DataError {
        let name = archive::file_name(path);
        let known = self.checksums.iter().find(|(file, _)| *file == name);
        match (known, sha256(path)) {
            (Some((_, expected)), Some(found)) if found != *expected => DataError::Checksum {
                file: path.display().to_string(),
                expected: (*expected).into(),
                found,
                problem: error.to_string(),
            },
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_folder_is_used_before_the_variable() {
        let given = Path::new("given");
        assert_eq!(data_folder(Some(given)), Some(given.to_path_buf()));
    }
}
