//! The runs below a folder, and how far each has come.

use super::epoch::EpochReport;
use super::folder::{
    CHECKPOINT_FILE, CONFIG_FILE, ERROR_FILE, LOCK_FILE, METRICS_FILE, PLOTS_FOLDER, SUMMARY_FILE,
};
use super::recipe::is_local;
use super::summary::Summary;
use fastgrnn_core::metrics::Scores;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It has its results.
    Finished,
    /// A process is training.
    Running,
    /// It can be continued.
    Stopped,
    /// It ended with an error.
    Failed,
    /// Its files cannot be read.
    Broken,
}

/// A run in a list of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRun {
    /// Its folder, as seen from the folder that was listed.
    pub name: String,
    /// Its folder.
    pub run: PathBuf,
    /// How far it has come.
    pub state: RunState,
    /// The last finished epoch of an unfinished run.
    pub epoch: Option<usize>,
    /// Epochs planned for each seed.
    pub epochs: Option<usize>,
    /// The data set.
    pub dataset: Option<String>,
    /// The settings that are not the same in all listed runs.
    pub settings: BTreeMap<String, String>,
    /// Means over the seeds on their validation parts.
    pub val: Option<Scores>,
    /// Means over the seeds on the test set.
    pub test: Option<Scores>,
    /// Size of the model.
    pub bytes: Option<usize>,
    /// What is wrong with a failed or broken run.
    pub problem: Option<String>,
    /// When it was last written to.
    #[serde(skip)]
    pub modified: SystemTime,
}

/// Folders are searched this deep: the runs of a size sweep lie in its folder `points`.
const DEPTH: usize = 4;

/// The runs in `folder` and below it, the one that was written to last at the end. A run whose files cannot
/// be read is listed with its problem.
pub fn list_runs(folder: &Path) -> io::Result<Vec<ListedRun>> {
    let mut found = Vec::new();
    std::fs::read_dir(folder)?;
    search(folder, DEPTH, &mut found);
    let tables: Vec<Option<toml::Table>> = found.iter().map(|run| read_table(run).ok()).collect();
    let mut runs: Vec<ListedRun> =
        found.iter().zip(&tables).map(|(run, table)| listed(folder, run, table.as_ref())).collect();
    for (run, table) in runs.iter_mut().zip(&tables) {
        run.settings = table.as_ref().map(|table| differing(table, &tables)).unwrap_or_default();
    }
    runs.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    Ok(runs)
}

/// Adds the run folders at and below `folder`. What cannot be opened is passed over.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let is_run = [CONFIG_FILE, SUMMARY_FILE, METRICS_FILE].iter().any(|name| folder.join(name).is_file());
    if is_run {
        found.push(folder.to_owned());
    }
    if depth == 0 {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_part = is_run && (name.starts_with("seed-") || name == PLOTS_FOLDER);
        // Links are not followed: they may lead in circles.
        if !is_part && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&entry.path(), depth - 1, found);
        }
    }
}

fn read_table(run: &Path) -> Result<toml::Table, String> {
    let path = run.join(CONFIG_FILE);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{CONFIG_FILE}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{CONFIG_FILE}: {}", e.message()))
}

fn listed(folder: &Path, run: &Path, table: Option<&toml::Table>) -> ListedRun {
    let inside = run.strip_prefix(folder).unwrap_or(run);
    let name = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    let number = |key: &str| {
        let value = table.and_then(|table| table.get(key)).and_then(toml::Value::as_integer);
        value.and_then(|value| usize::try_from(value).ok())
    };
    let dataset = table.and_then(|table| table.get("dataset")).and_then(toml::Value::as_str);
    let mut listed = ListedRun {
        name: name.display().to_string(),
        run: std::path::absolute(run).unwrap_or_else(|_| run.to_owned()),
        state: RunState::Finished,
        epoch: None,
        epochs: number("epochs"),
        dataset: dataset.map(str::to_owned),
        settings: BTreeMap::new(),
        val: None,
        test: None,
        bytes: None,
        problem: None,
        modified: modified(run),
    };
    match read_table(run).and_then(|_| read_summary(run)) {
        Err(problem) => (listed.state, listed.problem) = (RunState::Broken, Some(problem)),
        Ok(Some(summary)) => {
            listed.bytes = Some(summary.bytes.total);
            (listed.val, listed.test) = (summary.val, summary.test);
        }
        Ok(None) => {
            (listed.state, listed.problem) = unfinished(run);
            listed.epoch = Some(last_epoch(run));
        }
    }
    listed
}

fn read_summary(run: &Path) -> Result<Option<Summary>, String> {
    match std::fs::read_to_string(run.join(SUMMARY_FILE)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(format!("{SUMMARY_FILE}: {e}")),
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| format!("{SUMMARY_FILE}: {e}")),
    }
}

fn unfinished(run: &Path) -> (RunState, Option<String>) {
    if is_locked(run) {
        return (RunState::Running, None);
    }
    match std::fs::read_to_string(run.join(ERROR_FILE)) {
        Ok(problem) => (RunState::Failed, Some(problem.trim_end().to_owned())),
        Err(_) if has_checkpoint(run) || last_epoch(run) > 0 => (RunState::Stopped, None),
        Err(_) => (RunState::Failed, Some("it ended before its first epoch".into())),
    }
}

fn is_locked(run: &Path) -> bool {
    let file = File::options().write(true).open(run.join(LOCK_FILE));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn has_checkpoint(run: &Path) -> bool {
    let seeds = std::fs::read_dir(run).into_iter().flatten().flatten();
    seeds.into_iter().any(|entry| entry.path().join(CHECKPOINT_FILE).is_file())
}

fn last_epoch(run: &Path) -> usize {
    let text = std::fs::read_to_string(run.join(METRICS_FILE)).unwrap_or_default();
    let reports = text.lines().rev().filter_map(|line| serde_json::from_str::<EpochReport>(line).ok());
    reports.take(1).map(|report| report.epoch).sum()
}

/// When the run was last written to.
fn modified(run: &Path) -> SystemTime {
    let files = [CONFIG_FILE, METRICS_FILE, SUMMARY_FILE].map(|name| run.join(name));
    let times = files.iter().filter_map(|file| file.metadata().and_then(|m| m.modified()).ok());
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The settings of `table` that decide the result and are not the same in all tables.
fn differing(table: &toml::Table, tables: &[Option<toml::Table>]) -> BTreeMap<String, String> {
    let others = || tables.iter().flatten();
    let mut keys: Vec<&String> =
        others().flat_map(|table| table.keys()).filter(|key| !is_local(key)).collect();
    keys.sort();
    keys.dedup();
    let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let differ = keys.into_iter().filter(|key| others().any(|other| other.get(*key) != table.get(*key)));
    differ.map(|key| (key.clone(), table.get(key).map_or_else(|| "unset".to_owned(), text))).collect()
}
