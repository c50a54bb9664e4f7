//! Removes the run that a folder holds, so that another can be trained there.

use super::TrainError;
use super::error::io;
use super::folder::{
    CHECKPOINT_FILE, CONFIG_FILE, ERROR_FILE, FLOAT_MODEL_FILE, LOCK_FILE, METRICS_FILE, MODEL_FILE,
    PLOT_FILES, PLOTS_FOLDER, REPORT_FILE, RESULT_FILE, SUMMARY_FILE,
};
use fastgrnn_core::files::remove_leftovers;
use std::path::{Path, PathBuf};

/// What a run writes into its folder, beside the folders.
const RUN_FILES: [&str; 7] =
    [METRICS_FILE, SUMMARY_FILE, MODEL_FILE, FLOAT_MODEL_FILE, REPORT_FILE, ERROR_FILE, CONFIG_FILE];
/// What a run writes into the folder of a seed.
const SEED_FILES: [&str; 4] = [MODEL_FILE, FLOAT_MODEL_FILE, RESULT_FILE, CHECKPOINT_FILE];

/// Removes every file of the run in `out`, which the caller has locked. If the folder holds anything that no
/// run writes, nothing is removed.
pub(super) fn remove_run(out: &Path) -> Result<(), TrainError> {
    let mut found = FolderContent::default();
    for path in entries(out)? {
        let name = name(&path);
        if path.is_dir() && name == PLOTS_FOLDER {
            found.add_folder(out, path, &PLOT_FILES)?;
        } else if path.is_dir() && is_seed_folder(&name) {
            remove_leftovers(&path).map_err(io(&path))?;
            found.add_folder(out, path, &SEED_FILES)?;
        } else if !path.is_dir() && RUN_FILES.contains(&name.as_str()) {
            found.files.push(path);
        } else if name != LOCK_FILE {
            found.others.push(name);
        }
    }
    if !found.others.is_empty() {
        found.others.sort();
        return Err(TrainError::OtherFiles { out: out.to_owned(), names: found.others });
    }
    // The configuration goes last: with it, what is left of a run can still be removed.
    found.files.sort_by_key(|path| path.ends_with(CONFIG_FILE));
    for folder in found.folders {
        entries(&folder)?.iter().try_for_each(|file| std::fs::remove_file(file).map_err(io(file)))?;
        std::fs::remove_dir(&folder).map_err(io(&folder))?;
    }
    found.files.iter().try_for_each(|file| std::fs::remove_file(file).map_err(io(file)))
}

#[derive(Default)]
struct FolderContent {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    others: Vec<String>,
}

impl FolderContent {
    /// Adds a folder in which only files with these names may lie.
    fn add_folder(&mut self, out: &Path, folder: PathBuf, known: &[&str]) -> Result<(), TrainError> {
        for path in entries(&folder)? {
            if path.is_dir() || !known.contains(&name(&path).as_str()) {
                let inside = path.strip_prefix(out).unwrap_or(&path);
                self.others.push(inside.display().to_string());
            }
        }
        self.folders.push(folder);
        Ok(())
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, TrainError> {
    let list = std::fs::read_dir(folder).map_err(io(folder))?;
    list.map(|entry| entry.map(|e| e.path()).map_err(io(folder))).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_seed_folder(name: &str) -> bool {
    name.strip_prefix("seed-").is_some_and(|seed| seed.parse::<u64>().is_ok())
}
