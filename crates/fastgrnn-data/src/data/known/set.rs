//! What is declared about each known data set.

use super::super::parts::Parts;
use super::super::{DataError, Request, Suggestions};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What is fixed about a known set.
pub(super) struct KnownSpec {
    pub name: &'static str,
    pub description: &'static str,
    pub licence: &'static str,
    /// Training sequences, test sequences, steps, features, classes.
    pub sizes: [usize; 5],
    /// Where the set lies below a data folder: the first that exists is taken. The first of all is
    /// the one to recommend. Empty when the set is built in.
    pub places: &'static [&'static str],
    /// A file that must lie in a place which is a folder, or several with `|` between them, of which
    /// one must; empty when any folder will do.
    pub marker: &'static str,
    /// What to download.
    pub fetch: &'static str,
    /// Checksums of files by name.
    pub checksums: &'static [(&'static str, &'static str)],
    pub axes: fn() -> Vec<[usize; 3]>,
    pub group_split: bool,
    /// Training and test sequences in the files found, where they may be fewer than `sizes`.
    pub count: fn(&Path) -> Option<[usize; 2]>,
    pub read: fn(&Path, &Request) -> Result<Found, DataError>,
}

/// What the reader of a known set finds.
pub(crate) struct Found {
    pub parts: Parts,
    pub notes: Vec<String>,
    /// What the set suggests to training; filled in after reading.
    pub suggested: Suggestions,
}

impl Found {
    /// Parts and notes, without suggestions yet.
    pub fn new(parts: Parts, notes: Vec<String>) -> Self {
        Self { parts, notes, suggested: Suggestions::default() }
    }
}

impl KnownSpec {
    /// Where the set is below a data folder.
    pub fn locate(&self, folder: Option<&Path>) -> Option<PathBuf> {
        let places = self.places.iter().map(|place| folder.map(|folder| folder.join(place)));
        places.flatten().find(|path| {
            if !path.is_dir() {
                return path.is_file();
            }
            let is_there = |name: &str| path.join(name).exists() || path.join(format!("{name}.gz")).exists();
            self.marker.is_empty() || self.marker.split('|').any(is_there)
        })
    }

    /// What to download and where to put it.
    pub fn fetch_text(&self, folder: Option<&Path>) -> String {
        let place = self.places.first().copied().unwrap_or_default();
        let path = match folder {
            Some(folder) => folder.join(place).display().to_string(),
            None => format!("{place} in your data folder"),
        };
        let sums: String =
            self.checksums.iter().map(|(file, sum)| format!("\n  {file}  sha256 {sum}")).collect();
        format!(
            "Get {} and put it at {path}; docs/data-sets.md has the details.\nChecksums:{sums}",
            self.fetch
        )
    }
}

/// For sets that are always whole.
pub(super) fn is_whole(_: &Path) -> Option<[usize; 2]> {
    None
}

pub(super) fn no_axes() -> Vec<[usize; 3]> {
    Vec::new()
}

/// The checksum of the file at `path`, if it can be read.
pub(super) fn sha256(path: &Path) -> Option<String> {
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
