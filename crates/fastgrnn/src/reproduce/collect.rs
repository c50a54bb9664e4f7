//! From stored jobs to the results of tables.

use super::ReproduceError;
use super::boards::BoardJob;
use super::entries::{self, Entry, Extent, Trainings, Work};
use super::job::{JobRecord, PaperJob};
use super::results::{EntryResult, Reproduction};
use super::store::{JOBS_FILE, JobRecords};
use super::table::PaperTable;
use crate::train::Recipe;
use fastgrnn_model::settings::Refit;
use std::collections::HashMap;
use std::path::Path;

/// Jobs that choose the settings of an entry, in the order of its trials.
pub(super) fn trial_jobs(entry: &Entry, trainings: &Trainings) -> Vec<PaperJob> {
    let of_trial = |(number, trial): (usize, &Recipe)| {
        let mut recipe = trainings.recipe.clone().overlay(trial.clone());
        recipe.training.refit = Some(Refit::None);
        let title = format!("{}, trial {} of {}", title(entry), number + 1, trainings.trials.len());
        PaperJob { reads_test: false, ..PaperJob::new(entry.set, &recipe, 0, title) }
    };
    trainings.trials.iter().enumerate().map(of_trial).collect()
}

pub(super) fn seed_jobs(entry: &Entry, trainings: &Trainings, recipe: &Recipe) -> Vec<PaperJob> {
    let of_seed = |seed| {
        let title = format!("{}, seed {seed}", title(entry));
        PaperJob { starts: trainings.starts, ..PaperJob::new(entry.set, recipe, seed, title) }
    };
    (0..trainings.seeds as u64).map(of_seed).collect()
}

fn title(entry: &Entry) -> String {
    format!("{}, {}, {}", entry.row, entry.set.name, entry.protocol.title())
}

/// Jobs that are done, and why others are not.
pub(super) struct Collected<'a> {
    pub records: &'a JobRecords,
    /// Why jobs have no record, by their keys.
    pub failures: &'a HashMap<String, String>,
}

impl Collected<'_> {
    /// The recipe that validation chose, and the choice in words; nothing if no trial has a score.
    pub fn chosen(&self, entry: &Entry, trainings: &Trainings) -> Option<(Recipe, Option<String>)> {
        if trainings.trials.is_empty() {
            return Some((trainings.recipe.clone(), None));
        }
        let figure = entry.set.figure;
        let mut best: Option<(f64, &Recipe)> = None;
        for (job, trial) in trial_jobs(entry, trainings).iter().zip(&trainings.trials) {
            let record = self.records.get(&job.key())?;
            let Some(value) = record.val.as_ref().and_then(|val| figure.of(val)) else { continue };
            if best.is_none_or(|(known, _)| figure.is_better(value, known)) {
                best = Some((value, trial));
            }
        }
        let (_, trial) = best?;
        let table = toml::Table::try_from(trial).expect("a recipe has no values that TOML lacks");
        let words: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        Some((trainings.recipe.clone().overlay(trial.clone()), Some(words.join(", "))))
    }

    /// What the entries come to. `was_stored` tells whether a job was stored before, `trained` is how many were trained.
    pub fn results(
        &self,
        tables: &[PaperTable],
        entries: &[Entry],
        was_stored: impl Fn(&JobRecord) -> bool,
        trained: usize,
    ) -> Reproduction {
        let (mut cells, mut results) = (Vec::new(), Vec::new());
        for entry in entries {
            let result = self.result(entry);
            cells.extend(result.cells(entry, &was_stored));
            results.push(result);
        }
        Reproduction { tables: tables.to_vec(), cells, entries: results, trained }
    }

    fn board_result(&self, entry: &Entry, job: &BoardJob) -> EntryResult {
        let key = job.key();
        let records: Vec<JobRecord> = self.records.get(&key).cloned().into_iter().collect();
        let why = || self.failures.get(&key).cloned().unwrap_or_else(|| "not measured yet".into());
        let why = records.is_empty().then(why);
        EntryResult::new(entry, records, None, why)
    }

    fn result(&self, entry: &Entry) -> EntryResult {
        let trainings = match &entry.work {
            Ok(Work::Trainings(trainings)) => trainings,
            Ok(Work::Board(job)) => return self.board_result(entry, job),
            Err(why) => return EntryResult::new(entry, Vec::new(), None, Some(why.clone())),
        };
        let why = |jobs: Vec<PaperJob>| {
            let known = jobs.iter().find_map(|job| self.failures.get(&job.key()).cloned());
            known.unwrap_or_else(|| "not trained yet".into())
        };
        let Some((recipe, words)) = self.chosen(entry, trainings) else {
            let trials = trial_jobs(entry, trainings);
            let records = || trials.iter().filter_map(|job| self.records.get(&job.key()));
            let failed = match records().count() == trials.len() {
                true => records().find_map(|record| record.failed.clone()),
                false => None,
            };
            return EntryResult::new(entry, Vec::new(), None, Some(failed.unwrap_or_else(|| why(trials))));
        };
        let jobs = seed_jobs(entry, trainings, &recipe);
        let records: Vec<JobRecord> =
            jobs.iter().filter_map(|job| self.records.get(&job.key()).cloned()).collect();
        let why = if records.is_empty() { Some(why(jobs)) } else { None };
        EntryResult::new(entry, records, words, why)
    }
}

/// Tables from the store in a folder, which is only read. The second value tells whether they are those of short
/// trainings, which are shown where the store has no others.
///
/// ```
/// use fastgrnn::reproduce::{PaperTable, stored};
/// let error = stored("no-folder".as_ref(), &[PaperTable::AlphaBeta]).unwrap_err();
/// assert!(error.to_string().contains("no-folder"));
/// ```
pub fn stored(folder: &Path, tables: &[PaperTable]) -> Result<(Reproduction, bool), ReproduceError> {
    let path = folder.join(JOBS_FILE);
    if !path.is_file() {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(ReproduceError::Io { path, source });
    }
    let records = JobRecords::read(&path)?;
    let collected = Collected { records: &records, failures: &HashMap::new() };
    let of_extent = |is_quick: bool| {
        let extent = Extent { is_quick, seeds: None };
        let entries: Vec<Entry> = tables.iter().flat_map(|&table| entries::of(table, extent)).collect();
        collected.results(tables, &entries, |_| true, 0)
    };
    let has_any = |made: &Reproduction| made.entries.iter().any(|entry| !entry.records.is_empty());
    let (whole, short) = (of_extent(false), of_extent(true));
    let is_short = !has_any(&whole) && has_any(&short);
    Ok((if is_short { short } else { whole }, is_short))
}
