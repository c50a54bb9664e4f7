//! Joins the stores of shards and plans what follows.

use super::SearchError;
use super::datasets::Datasets;
use super::driver::Driver;
use super::folders::FINALS_FOLDER;
use super::options::{Limit, SearchObserver, SearchOptions};
use super::outcome::SearchOutcome;
use super::plan::{Plan, check_equal};
use super::store;
use crate::train::SUMMARY_FILE;
use std::path::{Path, PathBuf};

/// Joins the stores of shards of one search, so that each folder holds the trials of all of them, and plans the next
/// round in each. Where the search is over, its outcome is written into the first folder. `dataset` says where the data
/// is, if it is not where the first shard had it. `options` says the rest; its folder and limit are not used.
pub fn merge(
    folders: &[PathBuf],
    dataset: Option<&str>,
    datasets: &mut Datasets,
    options: &SearchOptions,
    observer: &mut dyn SearchObserver,
) -> Result<SearchOutcome, SearchError> {
    let Some(first) = folders.first() else { return Err(SearchError::NoSearch { folder: PathBuf::new() }) };
    for (place, folder) in folders.iter().enumerate() {
        if folders[..place].contains(folder) {
            return Err(SearchError::Twice { folder: folder.clone() });
        }
    }
    check_equal(folders)?;
    let lock_of = |folder: &PathBuf| crate::train::lock(folder);
    let first_lock = lock_of(first)?;
    let _locks = folders[1..].iter().map(lock_of).collect::<Result<Vec<_>, _>>()?;
    store::merge(folders)?;
    // The driver claims the folder itself.
    drop(first_lock);
    let mut plan = Plan::read(first)?;
    plan.recipe.source.dataset = dataset.map(str::to_owned).or(plan.recipe.source.dataset);
    // Without a number of trials, what was tried is all that is tried.
    let tried = || store::read(&first.join(super::TRIALS_FILE)).map(|records| records.tried());
    let most = match Plan::most_trials(first)? {
        Some(most) => most,
        None => tried()?,
    };
    let out = std::path::absolute(first).map_err(|source| SearchError::Io { path: first.clone(), source })?;
    let options = SearchOptions { out: out.clone(), limit: Limit::Trials(most), ..options.clone() };
    for other in &folders[1..] {
        gather_finals(other, &out)?;
    }
    let mut driver = Driver::begin(&plan, datasets, &options, &|| false)?;
    let outcome = match driver.plan_ahead(observer)? {
        Some(outcome) => outcome,
        None => driver.pending(),
    };
    drop(driver);
    // The round that was planned is in the first store only.
    store::merge(folders)?;
    Ok(outcome)
}

/// Copies the runs of finals that other shards trained, so that the first folder holds the models of the winner.
fn gather_finals(from: &Path, to: &Path) -> Result<(), SearchError> {
    let (from, to) = (from.join(FINALS_FOLDER), to.join(FINALS_FOLDER));
    let Ok(runs) = std::fs::read_dir(&from) else { return Ok(()) };
    for run in runs {
        let run = run.map_err(|source| SearchError::Io { path: from.clone(), source })?.path();
        // Runs that were not ended are left where they are.
        let is_ended = |run: &Path| run.join(SUMMARY_FILE).exists();
        let target = to.join(run.file_name().unwrap_or_default());
        if is_ended(&run) && !is_ended(&target) {
            copy_folder(&run, &target)?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), SearchError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| SearchError::Io { path: path.clone(), source }
    };
    // Under another name until it is whole.
    let part = to.with_extension("part");
    if part.exists() {
        std::fs::remove_dir_all(&part).map_err(io(&part))?;
    }
    copy_into(from, &part)?;
    if to.exists() {
        std::fs::remove_dir_all(to).map_err(io(to))?;
    }
    std::fs::rename(&part, to).map_err(io(to))
}

fn copy_into(from: &Path, to: &Path) -> Result<(), SearchError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| SearchError::Io { path: path.clone(), source }
    };
    std::fs::create_dir_all(to).map_err(io(to))?;
    for entry in std::fs::read_dir(from).map_err(io(from))? {
        let path = entry.map_err(io(from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy_into(&path, &target)?,
            false => drop(std::fs::copy(&path, &target).map_err(io(&path))?),
        }
    }
    Ok(())
}
