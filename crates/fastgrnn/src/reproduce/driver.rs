//! Makes tables again: trains the jobs that the store does not have, data set by data set.

use super::ReproduceError;
use super::boards::{BoardJob, BoardProblem, Measure};
use super::collect::{Collected, seed_jobs, trial_jobs};
use super::entries::{self, Entry, Extent};
use super::job::{Build, JobRecord, PaperJob};
use super::results::Reproduction;
use super::sets::DataSet;
use super::store::{JOBS_FILE, JobStore};
use super::table::PaperTable;
use crate::search::clock::{Clock, work};
use crate::search::evaluate::{Ended, Stopped, Training, Workers, train_each};
use crate::search::{Datasets, Load, SearchError, SearchObserver};
use crate::train::{Config, DeviceChoice, Recipe, are_trained_on_gpu};
use fastgrnn_data::data::{Dataset, Request};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folder with the runs of jobs, in the folder of a reproduction.
const RUNS_FOLDER: &str = "runs";
/// Characters of a key that name a folder.
const SHORT_KEY: usize = 16;

/// Which tables to make, and how.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// The folder of the store and the pages; made if it is missing.
    pub out: PathBuf,
    /// The tables.
    pub tables: Vec<PaperTable>,
    /// The data sets; all if there are none.
    pub sets: Vec<&'static DataSet>,
    /// The rows, such as `GRU`; all if there are none.
    pub rows: Vec<String>,
    /// Short trainings of one seed instead of whole ones.
    pub is_quick: bool,
    /// Seeds of each entry, where that is given.
    pub seeds: Option<usize>,
    /// Stores whose jobs are taken over first.
    pub join: Vec<PathBuf>,
    /// Whether jobs are trained that the store does not have.
    pub trains: bool,
    /// The folder with the data sets, where that is given.
    pub data_dir: Option<PathBuf>,
    /// Networks that are trained at once on the CPU.
    pub threads: usize,
    /// What trains them.
    pub device: DeviceChoice,
    /// The build of the program.
    pub program: Build,
}

/// Makes tables again, or goes on with what the folder holds.
///
/// ```
/// use fastgrnn::data::{self, Request};
/// use fastgrnn::reproduce::{BoardProblem, Build, PaperTable, ReproduceOptions, run};
/// use fastgrnn::train::{DeviceChoice, Silent};
/// let folder = tempfile::tempdir()?;
/// let options = ReproduceOptions {
///     out: folder.path().to_owned(),
///     tables: vec![PaperTable::PtbReg],
///     sets: Vec::new(),
///     rows: Vec::new(),
///     is_quick: true,
///     seeds: None,
///     join: Vec::new(),
///     trains: true,
///     data_dir: None,
///     threads: 1,
///     device: DeviceChoice::Cpu,
///     program: Build::default(),
/// };
/// let load = |request: &Request| data::load(request);
/// let measure = |_: &_| Err(BoardProblem::Failed("there are no boards".into()));
/// let made = run(&options, &load, &measure, &|| false, &mut Silent)?;
/// assert!(made.cells.iter().all(|cell| !cell.ran && cell.paper.is_some()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    options: &ReproduceOptions,
    load: Load,
    measure: Measure,
    stop: &(dyn Fn() -> bool + Sync),
    observer: &mut dyn SearchObserver,
) -> Result<Reproduction, ReproduceError> {
    let out = std::path::absolute(&options.out).map_err(|source| io(&options.out, source))?;
    let extent = Extent { is_quick: options.is_quick, seeds: options.seeds };
    let mut entries: Vec<Entry> =
        options.tables.iter().flat_map(|&table| entries::of(table, extent)).collect();
    let is_set =
        |entry: &Entry| options.sets.is_empty() || options.sets.iter().any(|set| set.name == entry.set.name);
    let is_row = |entry: &Entry| {
        options.rows.is_empty() || options.rows.iter().any(|name| begins_with(&entry.row, name))
    };
    entries.retain(|entry| is_set(entry) && is_row(entry));
    if entries.is_empty() {
        return Err(ReproduceError::NoRow);
    }
    if !options.trains && options.join.is_empty() && !options.out.join(JOBS_FILE).exists() {
        return Err(ReproduceError::NoStore { folder: options.out.clone() });
    }
    fs::create_dir_all(&out).map_err(|source| io(&out, source))?;
    let _lock = crate::train::lock(&out)?;
    let mut store = JobStore::open(out.join(JOBS_FILE))?;
    for other in &options.join {
        let count = store.join(other)?;
        let jobs = fastgrnn_core::format::quantity(count as u64, "job");
        observer.note(&format!("{jobs} taken over from {}", other.display()));
    }
    let before = store.records.iter().map(|record| record.key.clone()).collect();
    let mut driver = Reproducer {
        options,
        out,
        stop,
        store,
        before,
        failures: HashMap::new(),
        first_problem: None,
        missing: HashMap::new(),
        trained: HashSet::new(),
    };
    if options.trains {
        let mut names: Vec<&str> = Vec::new();
        for entry in &entries {
            if !names.contains(&entry.set.name) {
                names.push(entry.set.name);
            }
        }
        for name in names {
            let own: Vec<&Entry> = entries.iter().filter(|entry| entry.set.name == name).collect();
            driver.train_set(DataSet::named(name), &own, load, observer)?;
        }
        driver.measure_boards(&entries, measure, observer)?;
    }
    let was_stored =
        |record: &JobRecord| driver.before.contains(&record.key) && !driver.trained.contains(&record.key);
    let made = driver.collected().results(&options.tables, &entries, was_stored, driver.trained.len());
    match driver.first_problem {
        Some(why) if made.cells.iter().all(|cell| !cell.ran) => Err(ReproduceError::Nothing { why }),
        _ => Ok(made),
    }
}

/// Whether a row is called so, perhaps with what distinguishes it, as in `GRU, 4 KB`.
fn begins_with(row: &str, name: &str) -> bool {
    let (row, name) = (row.to_lowercase(), name.to_lowercase());
    row.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
}

fn io(path: &Path, source: std::io::Error) -> ReproduceError {
    ReproduceError::Io { path: path.to_owned(), source }
}

struct Reproducer<'a> {
    options: &'a ReproduceOptions,
    out: PathBuf,
    stop: &'a (dyn Fn() -> bool + Sync),
    store: JobStore,
    /// Keys of the jobs that were stored before.
    before: HashSet<String>,
    /// Why jobs have no record.
    failures: HashMap<String, String>,
    /// The first reason in full.
    first_problem: Option<String>,
    /// Why data sets cannot be read, by what is trained on.
    missing: HashMap<String, String>,
    /// Keys of the jobs that were trained in this call.
    trained: HashSet<String>,
}

/// The data of a job: as its recipe asks for it, with or without the test part.
struct JobData {
    request: Request,
    reads_test: bool,
    data: Dataset,
    fingerprint: String,
}

/// A job that is to be trained.
struct PlannedJob {
    job: PaperJob,
    config: Config,
    /// The place of its data.
    data: usize,
}

/// How many of the planned jobs are done.
struct Counter {
    done: usize,
    of: usize,
}

impl Reproducer<'_> {
    /// Trains what the entries of a data set need.
    fn train_set(
        &mut self,
        set: &'static DataSet,
        entries: &[&Entry],
        load: Load,
        observer: &mut dyn SearchObserver,
    ) -> Result<(), ReproduceError> {
        let mut datasets = Datasets::new(load);
        let mut first = Vec::new();
        for entry in entries {
            let Some(trainings) = entry.trainings() else { continue };
            match trainings.trials.is_empty() {
                true => first.extend(seed_jobs(entry, trainings, &trainings.recipe)),
                false => first.extend(trial_jobs(entry, trainings)),
            }
        }
        self.train(set, first, &mut datasets, observer)?;
        let mut second = Vec::new();
        for entry in entries {
            let Some(trainings) = entry.trainings() else { continue };
            if let Some((recipe, _)) =
                self.collected().chosen(entry, trainings).filter(|_| !trainings.trials.is_empty())
            {
                second.extend(seed_jobs(entry, trainings, &recipe));
            }
        }
        self.train(set, second, &mut datasets, observer)
    }

    /// Trains the jobs that the store does not have.
    fn train(
        &mut self,
        set: &'static DataSet,
        jobs: Vec<PaperJob>,
        datasets: &mut Datasets,
        observer: &mut dyn SearchObserver,
    ) -> Result<(), ReproduceError> {
        let mut known = HashSet::new();
        let jobs: Vec<PaperJob> = jobs.into_iter().filter(|job| known.insert(job.key())).collect();
        let mut all_data: Vec<JobData> = Vec::new();
        let mut planned: Vec<PlannedJob> = Vec::new();
        for job in jobs {
            let mut recipe = job.recipe.clone();
            recipe.data.data_dir = self.options.data_dir.clone().or(recipe.data.data_dir);
            if let Some(why) = self.missing.get(&recipe.request().source) {
                self.failures.insert(job.key(), why.clone());
                continue;
            }
            let place = match data_of(&recipe, job.reads_test, datasets, &mut all_data) {
                Ok(place) => place,
                Err(error) => {
                    // The cells of the table say it in short, and the note what to do.
                    let problem = format!("{}: {}", set.name, with_causes(&error));
                    observer.note(&problem);
                    self.first_problem.get_or_insert(problem);
                    self.failures.insert(job.key(), error.to_string());
                    self.missing.insert(recipe.request().source, error.to_string());
                    continue;
                }
            };
            let data = &all_data[place];
            let is_done =
                self.store.records.get(&job.key()).is_some_and(|record| record.data == data.fingerprint);
            if is_done {
                continue;
            }
            match recipe.resolve(&data.data) {
                Ok(config) => planned.push(PlannedJob { job, config, data: place }),
                Err(error) => {
                    let problem = format!("{}: {error}", job.title);
                    observer.note(&problem);
                    self.first_problem.get_or_insert(problem);
                    self.failures.insert(job.key(), error.to_string());
                }
            }
        }
        if planned.is_empty() {
            return Ok(());
        }
        observer.note(&format!(
            "{}: {} to train",
            set.name,
            fastgrnn_core::format::quantity(planned.len() as u64, "network")
        ));
        // The longest come first, so that no core waits long at the end.
        let cost = |one: &PlannedJob| work(&one.config, &all_data[one.data].data);
        planned.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        let all: Vec<(&Config, &Dataset)> =
            planned.iter().map(|one| (&one.config, &all_data[one.data].data)).collect();
        let are_on_gpu = are_trained_on_gpu(self.options.device, &all)?;
        let (mut on_gpu, mut on_cpu) = (Vec::new(), Vec::new());
        for (one, is_on_gpu) in planned.into_iter().zip(are_on_gpu) {
            if is_on_gpu { on_gpu.push(one) } else { on_cpu.push(one) }
        }
        let mut done = Counter { done: 0, of: on_gpu.len() + on_cpu.len() };
        self.train_on(self.options.device, &on_gpu, &all_data, &mut done, observer)?;
        self.train_on(DeviceChoice::Cpu, &on_cpu, &all_data, &mut done, observer)
    }

    /// Trains jobs on a device, and stores what they come to.
    fn train_on(
        &mut self,
        device: DeviceChoice,
        planned: &[PlannedJob],
        all_data: &[JobData],
        count: &mut Counter,
        observer: &mut dyn SearchObserver,
    ) -> Result<(), ReproduceError> {
        let runs = self.out.join(RUNS_FOLDER);
        let folder = |job: &PaperJob| runs.join(&job.key()[..SHORT_KEY]);
        let training = |one: &PlannedJob| {
            let data = &all_data[one.data].data;
            let (config, work) = (one.config.clone(), work(&one.config, data));
            Training { folder: folder(&one.job), config, data, work }
        };
        let trainings: Vec<Training> = planned.iter().map(training).collect();
        let threads = self.options.threads;
        let workers = Workers { threads, device, stop: self.stop, time: None };
        let (store, trained, program) = (&mut self.store, &mut self.trained, &self.options.program);
        let mut on_end = |place: usize, ended: Ended, observer: &mut dyn SearchObserver| {
            let PlannedJob { job, config, data } = &planned[place];
            let JobData { data, fingerprint, .. } = &all_data[*data];
            let record = match &ended {
                Ended::Trained(outcome) => {
                    JobRecord::of_outcome(job, outcome, config, (data, fingerprint), program, threads)?
                }
                Ended::Failed(error) => JobRecord::of_failure(job, error, fingerprint, program),
            };
            count.done += 1;
            let Counter { done, of } = count;
            observer.note(&format!("{done} of {of}: {}: {}", job.title, described(job, &record)));
            trained.insert(job.key());
            store.add(record)?;
            // What it came to is in the store. That the folder cannot be removed is no reason to stop.
            drop(fs::remove_dir_all(folder(job)));
            Ok(())
        };
        let mut clock = Clock::new(None);
        let ended = train_each(&trainings, workers, &mut clock, observer, &mut on_end);
        drop(fs::remove_dir(&runs));
        match ended {
            Ok(_) => Ok(()),
            Err(Stopped::Interrupted) => Err(ReproduceError::Interrupted { folder: self.out.clone() }),
            Err(Stopped::Training(error)) => Err(error.into()),
            Err(Stopped::Result(error)) => Err(error),
        }
    }

    /// Measures on boards what the store does not have.
    fn measure_boards(
        &mut self,
        entries: &[Entry],
        measure: Measure,
        observer: &mut dyn SearchObserver,
    ) -> Result<(), ReproduceError> {
        let is_new = |job: &&BoardJob| self.store.records.get(&job.key()).is_none();
        let jobs: Vec<&BoardJob> = entries.iter().filter_map(Entry::board).filter(is_new).collect();
        for (number, job) in jobs.iter().enumerate() {
            let began = Instant::now();
            let found = match measure(job) {
                Ok(time) => Ok(time),
                Err(BoardProblem::TooLarge(why)) => Err(why),
                Err(BoardProblem::Failed(why)) => {
                    let problem = format!("{}: {why}", job.title);
                    observer.note(&problem);
                    self.first_problem.get_or_insert(problem);
                    self.failures.insert(job.key(), why);
                    continue;
                }
                Err(BoardProblem::Interrupted) => {
                    return Err(ReproduceError::Interrupted { folder: self.out.clone() });
                }
            };
            let record = job.record(found, began.elapsed().as_secs_f64(), &self.options.program);
            let result = match (&record.failed, record.board.as_ref().and_then(|time| time.ms)) {
                (Some(why), _) => why.clone(),
                (None, Some(ms)) => format!("{} ms", fastgrnn_core::format::number(ms)),
                (None, None) => "instructions counted".into(),
            };
            observer.note(&format!("{} of {}: {}: {result}", number + 1, jobs.len(), job.title));
            self.trained.insert(record.key.clone());
            self.store.add(record)?;
        }
        Ok(())
    }

    fn collected(&self) -> Collected<'_> {
        Collected { records: &self.store.records, failures: &self.failures }
    }
}

/// The place of the data that a recipe asks for, which is read if it is not there yet.
fn data_of(
    recipe: &Recipe,
    reads_test: bool,
    datasets: &mut Datasets,
    all: &mut Vec<JobData>,
) -> Result<usize, SearchError> {
    let request = recipe.request();
    let is_it = |one: &JobData| one.request == request && one.reads_test == reads_test;
    if let Some(place) = all.iter().position(is_it) {
        return Ok(place);
    }
    let fingerprint = datasets.fingerprint(recipe)?;
    let data = match reads_test {
        true => datasets.with_test(recipe)?,
        false => datasets.of(recipe)?.clone(),
    };
    all.push(JobData { request, reads_test, data, fingerprint });
    Ok(all.len() - 1)
}

/// An error with what caused it.
fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

/// What a job came to, for the progress.
fn described(job: &PaperJob, record: &JobRecord) -> String {
    if let Some(why) = &record.failed {
        return why.clone();
    }
    let figure = job.set.figure;
    let (part, scores) = match job.reads_test {
        true => ("test", &record.test),
        false => ("validation", &record.val),
    };
    let text = scores.as_ref().and_then(|scores| figure.of(scores)).map(|value| match figure.is_share() {
        true => fastgrnn_core::format::fraction(value, None),
        false => fastgrnn_core::format::number(value),
    });
    format!("{part} {} {}", figure.title(), text.unwrap_or_else(|| "–".into()))
}
