//! Default names of run folders: `runs/<dataset>-<cell>-<number>`.

use crate::misuse::misuse;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "runs";

/// Makes and returns a folder with the next free number.
pub fn fresh(dataset: &str, cell: &str) -> anyhow::Result<PathBuf> {
    fresh_in(Path::new(FOLDER), dataset, cell)
}

/// Removes a folder that was made for a command which wrote nothing into it. One that holds files stays.
pub fn discard(folder: &Path) {
    let is_gone = fs::remove_dir(folder).is_ok();
    if is_gone && let Some(parent) = folder.parent() {
        let _ = fs::remove_dir(parent);
    }
}

/// The newest folder of this data set and cell.
pub fn newest(dataset: &str, cell: &str) -> Option<PathBuf> {
    let stem = stem(dataset, cell);
    let number = numbers(Path::new(FOLDER), &stem).max()?;
    Some(Path::new(FOLDER).join(format!("{stem}-{number}")))
}

/// The folder that a command of this kind writes into, if it is known. One that holds `part` is continued only with
/// `--resume`.
pub fn place(
    dataset: &str,
    kind: &str,
    out: Option<PathBuf>,
    resume: bool,
    part: &str,
) -> anyhow::Result<Option<PathBuf>> {
    match out {
        None if resume => newest(dataset, kind).map(Some).ok_or_else(|| {
            misuse(format!("there is no {kind} run of {dataset} under runs/ to resume; start one first"))
        }),
        Some(out) if !resume && out.join(part).exists() => Err(misuse(format!(
            "{} already holds a run; --resume continues it, or choose another folder with --out",
            out.display()
        ))),
        out => Ok(out),
    }
}

fn fresh_in(parent: &Path, dataset: &str, cell: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(parent)
        .with_context(|| format!("cannot make the folder {}; choose another with --out", parent.display()))?;
    let stem = stem(dataset, cell);
    let mut number = numbers(parent, &stem).max().unwrap_or(0) + 1;
    loop {
        let folder = parent.join(format!("{stem}-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            // Two runs started at once: the other one took the number.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make the folder {}", folder.display()));
            }
        }
    }
}

fn numbers(parent: &Path, stem: &str) -> impl Iterator<Item = u32> {
    let names = fs::read_dir(parent).into_iter().flatten().flatten().map(|e| e.file_name());
    let stem = format!("{stem}-");
    names.filter_map(move |name| name.to_str()?.strip_prefix(&stem)?.parse().ok())
}

/// A name that is safe on every file system: the data set's last path part without its ending.
fn stem(dataset: &str, cell: &str) -> String {
    let last = Path::new(dataset).file_name().and_then(|n| n.to_str()).unwrap_or("data");
    let base = last.split('.').find(|part| !part.is_empty()).unwrap_or("data");
    let safe: String =
        base.chars().take(60).map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    format!("{safe}-{cell}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_largest_one_there() {
        let parent = tempfile::tempdir().unwrap();
        let first = fresh_in(parent.path(), "digits", "gru").unwrap();
        assert!(first.ends_with("digits-gru-1"));
        fs::create_dir(parent.path().join("digits-gru-7")).unwrap();
        assert!(fresh_in(parent.path(), "digits", "gru").unwrap().ends_with("digits-gru-8"));
        assert!(fresh_in(parent.path(), "digits", "lstm").unwrap().ends_with("digits-lstm-1"));
    }

    #[test]
    fn paths_become_names_without_separators() {
        assert_eq!(stem("../my data/walks & runs.csv.gz", "gru"), "walks---runs-gru");
        assert_eq!(stem("/", "gru"), "data-gru");
        assert_eq!(stem("folder/", "gru"), "folder-gru");
    }
}
