//! Data sets known by name.
//!
//! `digits` is part of the library. The others are looked for as files, under the data folder that
//! was asked for, then `$FASTGRNN_DATA`, then the current folder and `shared/data` beside it or
//! beside a folder around it. A missing one says what to download and where to put it.

mod digits;
mod dsa;
mod har;
mod mnist;
mod speech;
mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::load::{Parts, finish};
use super::{DataError, Dataset, Request, Suggestions, archive};

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
    /// Where it is looked for, in order; empty when it is built in.
    pub looked: Vec<PathBuf>,
    /// What to download and where to put it; empty when it is built in.
    pub fetch: String,
}

/// What is fixed about a known set.
struct Spec {
    name: &'static str,
    description: &'static str,
    licence: &'static str,
    /// Training sequences, test sequences, steps, features, classes.
    sizes: [usize; 5],
    /// Where the set lies below a data folder: the first that exists is taken. The first of all is
    /// the one to recommend. Empty when the set is built in.
    places: &'static [&'static str],
    /// A file that must lie in a place which is a folder, or several with `|` between them, of which
    /// one must; empty when any folder will do.
    marker: &'static str,
    /// What to download.
    fetch: &'static str,
    /// Checksums of files by name.
    checksums: &'static [(&'static str, &'static str)],
    axes: fn() -> Vec<[usize; 3]>,
    group_split: bool,
    /// Training and test sequences in the files found, where they may be fewer than `sizes`.
    count: fn(&Path) -> Option<[usize; 2]>,
    read: fn(&Path, &Request) -> Result<Found, DataError>,
}

/// What the reader of a known set finds.
struct Found {
    parts: Parts,
    notes: Vec<String>,
}

const SPECS: [&Spec; 8] = [
    &digits::SPEC,
    &mnist::SPEC,
    &har::HAR2,
    &har::HAR6,
    &dsa::SPEC,
    &speech::GOOGLE12,
    &speech::GOOGLE30,
    &speech::WAKEWORD,
];

impl Spec {
    fn locate(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        let places = folders.iter().flat_map(|f| self.places.iter().map(move |p| f.join(p)));
        places.into_iter().find(|path| {
            if !path.is_dir() {
                return path.is_file();
            }
            let is_there = |name: &str| path.join(name).exists() || path.join(format!("{name}.gz")).exists();
            self.marker.is_empty() || self.marker.split('|').any(is_there)
        })
    }

    fn fetch_text(&self, folders: &[PathBuf]) -> String {
        let place = self.places.first().map_or(String::new(), |place| (*place).to_string());
        let folder = folders.first().map_or(".".into(), |f| f.display().to_string());
        let sums: String =
            self.checksums.iter().map(|(file, sum)| format!("\n  {file}  sha256 {sum}")).collect();
        format!(
            "Get {} and put it at {folder}/{place} (or at the same place below $FASTGRNN_DATA or --data-dir).\nThese checksums are of these files and no others:{sums}",
            self.fetch
        )
    }
}

/// The folders in which known sets are looked for, in order.
fn folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = data_dir.map(Path::to_path_buf).into_iter().collect();
    folders.extend(std::env::var_os("FASTGRNN_DATA").filter(|v| !v.is_empty()).map(PathBuf::from));
    if let Ok(here) = std::env::current_dir() {
        folders.extend(here.ancestors().take(5).map(|folder| folder.join("shared/data")));
        folders.push(here);
    }
    folders
}

/// The data sets known by name, and whether each is there.
///
/// ```
/// let sets = fastgrnn_data::data::known_sets(None);
/// assert!(sets.iter().any(|set| set.name == "digits" && set.found));
/// ```
pub fn known_sets(data_dir: Option<&Path>) -> Vec<KnownSet> {
    let folders = folders(data_dir);
    let describe = |spec: &&Spec| {
        let path = spec.locate(&folders);
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
            looked: if built_in { Vec::new() } else { folders.clone() },
            fetch: if built_in { String::new() } else { spec.fetch_text(&folders) },
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
pub(crate) fn load(request: &Request) -> Result<Option<Dataset>, DataError> {
    let is_named = |spec: &&&Spec| match spec.name.split_once('<') {
        Some((start, _)) => request.source.starts_with(start),
        None => spec.name == request.source,
    };
    match SPECS.iter().find(is_named) {
        Some(spec) => {
            request.check_no_columns(spec.name)?;
            request.check_no_recordings(spec.name)?;
            spec.load(&folders(request.data_dir.as_deref()), request).map(Some)
        }
        None => Ok(None),
    }
}

impl Spec {
    fn load(&self, folders: &[PathBuf], request: &Request) -> Result<Dataset, DataError> {
        let path = match self.locate(folders) {
            Some(path) => path,
            None if self.places.is_empty() => PathBuf::new(),
            None => {
                let looked: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
                return Err(DataError::MissingSet {
                    name: self.name.into(),
                    fetch: self.fetch_text(folders),
                    looked: looked.join(", "),
                });
            }
        };
        let found = (self.read)(&path, request).map_err(|error| self.explain(error, &path))?;
        let dim = found.parts.train.as_ref().map(|part| part.x.dim());
        let mut data = finish(request.source.clone(), found.parts, request)?;
        data.notes.extend(found.notes);
        let split = self.group_split.then_some(super::SplitBy::Group);
        let positive = speech::wake_word(&request.source).map(str::to_owned);
        data.suggested = Suggestions { split, positive, ..Suggestions::default() };
        if dim == Some(data.train.x.dim()) {
            data.suggested.axes = (self.axes)();
        }
        Ok(data)
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

fn sha256(path: &Path) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut file = std::io::BufReader::with_capacity(1 << 16, std::fs::File::open(path).ok()?);
    loop {
        let chunk = std::io::BufRead::fill_buf(&mut file).ok()?;
        if chunk.is_empty() {
            break;
        }
        hasher.update(chunk);
        let used = chunk.len();
        std::io::BufRead::consume(&mut file, used);
    }
    Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// For sets that are always whole.
fn is_whole(_: &Path) -> Option<[usize; 2]> {
    None
}

fn no_axes() -> Vec<[usize; 3]> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_set_says_what_to_get_and_where_to_put_it() {
        let empty = tempfile::tempdir().unwrap();
        let folders = [empty.path().to_path_buf()];
        for spec in &SPECS[1..] {
            let error = spec.load(&folders, &Request::new(spec.name)).unwrap_err();
            assert!(matches!(error, DataError::MissingSet { .. }), "{error}");
            let message = error.to_string();
            assert!(message.contains(spec.name) && message.contains("sha256"), "{message}");
            assert!(message.contains(&empty.path().display().to_string()), "{message}");
        }
    }

    #[test]
    fn a_known_folder_without_its_files_does_not_count_as_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mnist")).unwrap();
        assert!(mnist::SPEC.locate(&[folder.path().to_path_buf()]).is_none());
    }

    #[test]
    fn the_folder_asked_for_comes_first() {
        let asked = Path::new("asked");
        assert_eq!(folders(Some(asked))[0], asked);
    }
}
