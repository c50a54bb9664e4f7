//! A run: every seed, one after the other or all at once, into a run folder.

use super::changes::{differences, lasting_settings};
use super::checkpoint::BestEpoch;
use super::clear::remove_run;
use super::cohort::{self, Member};
use super::cpu_trainer::CpuTrainer;
use super::deliver::write_json;
use super::device::{self, DeviceChoice};
use super::epoch::EpochReport;
use super::error::io;
use super::fingerprint;
use super::folder::{
    CONFIG_FILE, ERROR_FILE, FLOAT_MODEL_FILE, LOCK_FILE, METRICS_FILE, MODEL_FILE, RESULT_FILE,
    SUMMARY_FILE, seed_folder,
};
use super::job::Job;
use super::observe::Observer;
use super::seed::{SeedRun, metrics_line};
use super::start_parameters::StartParameters;
use super::summary::{Bytes, CPU, Delivered, SeedRecord, SeedResult, Summary};
use super::teacher::Teacher;
use super::{Config, TrainError};
use fastgrnn_core::files::{remove_leftovers, write_atomic};
use fastgrnn_core::metrics::Scores;
use fastgrnn_cuda::driver::Device;
use fastgrnn_data::data::Dataset;
use fastgrnn_data::features::Tables;
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::model::Scorer;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How a run is carried out. None of it changes results, except that a GPU rounds differently.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// The run folder; made if it is missing.
    pub out: PathBuf,
    /// Continue the run that the folder holds, if it holds one.
    pub resume: bool,
    /// Worker threads.
    pub threads: usize,
    /// What trains the networks. On a GPU all seeds are trained at once, and sums are rounded differently.
    pub device: DeviceChoice,
}

/// What a run computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figures of the run; also written to its folder.
    pub summary: Summary,
    /// Every seed in full.
    pub records: Vec<SeedRecord>,
    /// The model of the seed that is best on validation.
    pub model: AnyModel,
}

/// Trains `config` on `data` for each of its seeds.
///
/// With `resume` it continues whatever the folder holds, from the last checkpoint; a finished run
/// returns its summary at once. Without, the folder must not hold a run.
///
/// ```
/// use fastgrnn::data::{Dataset, Examples, Labels, Sequences};
/// use fastgrnn::train::{DeviceChoice, Recipe, RunOptions, Silent, run};
/// let mut x = Sequences::new(1);
/// (0..40).for_each(|i| x.push(&[(i % 2) as f32 - 0.5; 5]));
/// let names = vec!["low".to_string(), "high".to_string()];
/// let y = Labels::Class { index: (0..40).map(|i| i % 2).collect(), names };
/// let data = Dataset::new("example", Examples::new(x, y));
/// let recipe = Recipe::default().with(|r| { r.source.dataset = Some("example".into()); r.training.epochs = Some(20); });
/// let folder = tempfile::tempdir().unwrap();
/// let (out, device) = (folder.path().join("run"), DeviceChoice::Cpu);
/// let options = RunOptions { out, resume: false, threads: 1, device };
/// let summary = run(&recipe.resolve(&data)?, &data, &options, &mut Silent)?.summary;
/// assert_eq!(summary.val.unwrap().accuracy, Some(1.0));
/// assert!(summary.model.exists() && summary.test.is_none());
/// # Ok::<(), fastgrnn::train::TrainError>(())
/// ```
pub fn run(
    config: &Config,
    data: &Dataset,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    run_in(config, data, options, false, observer)
}

/// Trains like [`run`], in place of the run that the folder holds, if it holds one: its files are removed
/// first. A folder that is in use, or that holds files which no run writes, is left as it is.
pub fn run_anew(
    config: &Config,
    data: &Dataset,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    run_in(config, data, options, true, observer)
}

fn run_in(
    config: &Config,
    data: &Dataset,
    options: &RunOptions,
    replace: bool,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    let device = device::open(options.device, &[config], data, observer)?;
    run_on(device, config, data, options, replace, observer)
}

/// Trains on a GPU that is open, or on the CPU.
pub(super) fn run_on(
    device: Option<Device>,
    config: &Config,
    data: &Dataset,
    options: &RunOptions,
    replace: bool,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrainError> {
    let mut run = OpenRun::begin(config, data, options, replace, device.as_ref(), observer)?;
    let trained = match device {
        None => run.train(observer),
        Some(device) => train_together(&device, std::slice::from_mut(&mut run), observer),
    };
    let outcome = trained.and_then(|()| run.summarize());
    if let Err(error) = &outcome {
        run.note_error(error);
    }
    outcome
}

/// Trains several configurations on one data set, each into a folder of its own, like [`run`] with `resume`. On a GPU
/// those that differ only in the sizes of networks and in the numbers of the optimiser are trained at once; on the CPU
/// one run follows the other. `options` says the rest.
pub fn run_all(
    runs: &[(&Config, PathBuf)],
    data: &Dataset,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Vec<Outcome>, TrainError> {
    let configs: Vec<&Config> = runs.iter().map(|(config, _)| *config).collect();
    let device = device::open(options.device, &configs, data, observer)?;
    let options = |out: &PathBuf| {
        let (out, device) = (out.clone(), DeviceChoice::Cpu);
        RunOptions { out, resume: true, threads: options.threads, device }
    };
    let Some(device) = device else {
        return runs.iter().map(|(config, out)| run(config, data, &options(out), observer)).collect();
    };
    let mut open = Vec::new();
    for (config, out) in runs {
        open.push(OpenRun::begin(config, data, &options(out), false, Some(&device), observer)?);
    }
    let trained = train_together(&device, &mut open, observer);
    if let Err(error) = &trained {
        open.iter().for_each(|run| run.note_error(error));
    }
    trained?;
    let summarize = |run: &mut OpenRun| run.summarize().inspect_err(|error| run.note_error(error));
    open.iter_mut().map(summarize).collect()
}

/// A run whose folder belongs to this process.
struct OpenRun<'a> {
    job: Job<'a>,
    /// The seeds that are done, in order.
    records: Vec<Option<SeedRecord>>,
    _lock: File,
}

impl<'a> OpenRun<'a> {
    /// Claims the folder and reads the seeds that are done.
    fn begin(
        config: &'a Config,
        data: &'a Dataset,
        options: &RunOptions,
        replace: bool,
        device: Option<&Device>,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let out = std::path::absolute(&options.out).map_err(io(&options.out))?;
        config.check_memory(data, options.threads)?;
        let teacher = Teacher::load(config, data, options.threads)?;
        if let Some(text) = teacher.as_ref().and_then(|teacher| teacher.warning(config, data)) {
            observer.warning(&text);
        }
        let start = StartParameters::new(config, data)?;
        if let Some(text) = start.note() {
            observer.warning(&text);
        }
        std::fs::create_dir_all(&out).map_err(io(&out))?;
        // Checked before the lock: a folder in which a run is under way is occupied, too.
        if !options.resume && !replace && out.join(CONFIG_FILE).exists() {
            return Err(TrainError::Occupied { out });
        }
        let lock = lock(&out)?;
        remove_leftovers(&out).map_err(io(&out))?;
        if replace && out.join(CONFIG_FILE).exists() {
            remove_run(&out)?;
        }
        open_folder(config, &out, options.resume)?;
        let _ = std::fs::remove_file(out.join(ERROR_FILE));
        let device = device.map_or(CPU, Device::name).to_owned();
        let opened = Self::open(config, data, out.clone(), (teacher, start), (options.threads, device), lock);
        opened.inspect_err(|error| note_error(&out, error))
    }

    /// Reads the seeds that are done, in a folder that is claimed.
    fn open(
        config: &'a Config,
        data: &'a Dataset,
        out: PathBuf,
        (teacher, start): (Option<Teacher>, StartParameters),
        (threads, device): (usize, String),
        lock: File,
    ) -> Result<Self, TrainError> {
        let mut fingerprint = fingerprint::of_data(data);
        if let Some(teacher) = &teacher {
            fingerprint = format!("{fingerprint}-{}", teacher.fingerprint());
        }
        if let Some(vectors) = start.fingerprint() {
            fingerprint = format!("{fingerprint}-{vectors}");
        }
        let (settings, folds) = (lasting_settings(config).to_string(), config.folds(data)?);
        let scorer = Scorer::new(&config.network(data), threads)?;
        let job = Job {
            config,
            data,
            out,
            fingerprint,
            settings,
            folds,
            scorer,
            delivered_scorer: None,
            teacher,
            start,
            threads,
            device,
        };
        let mut run = Self { job, records: Vec::new(), _lock: lock };
        for index in 0..config.training.seeds {
            let record = run.finished(index)?;
            run.records.push(record);
        }
        Ok(run)
    }

    fn seed(&self, index: usize) -> u64 {
        self.job.config.training.seed + index as u64
    }

    /// The record of a seed that is done.
    fn finished(&self, index: usize) -> Result<Option<SeedRecord>, TrainError> {
        let folder = seed_folder(&self.job.out, self.seed(index));
        if folder.exists() {
            remove_leftovers(&folder).map_err(io(&folder))?;
        }
        let Some(record) = finished(&folder)? else { return Ok(None) };
        if record.data != self.job.fingerprint {
            return Err(TrainError::DataChanged { out: self.job.out.clone() });
        }
        self.job.check_settings(&record.settings, &folder.join(RESULT_FILE))?;
        Ok(Some(record))
    }

    /// The training of a seed that is not done.
    fn open_seed(&self, index: usize) -> Result<SeedRun, TrainError> {
        let seed = self.seed(index);
        let folder = seed_folder(&self.job.out, seed);
        std::fs::create_dir_all(&folder).map_err(io(&folder))?;
        SeedRun::new(&self.job, seed, folder)
    }

    /// Trains every seed that is not yet done, one after the other.
    fn train(&mut self, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let mut trainer = CpuTrainer::new(&self.job);
        for index in 0..self.records.len() {
            if self.records[index].is_none() {
                let run = self.open_seed(index)?;
                let done = self.records[..index].iter().flatten().flat_map(|record| &record.history);
                write_metrics(&self.job.out, done.chain(run.history()))?;
                run.announce(&self.job, index, observer)?;
                self.records[index] = Some(trainer.train(&mut self.job, run, observer)?);
            }
        }
        Ok(())
    }

    /// Writes what all seeds came to.
    fn summarize(&mut self) -> Result<Outcome, TrainError> {
        let records: Vec<SeedRecord> = std::mem::take(&mut self.records).into_iter().flatten().collect();
        write_metrics(&self.job.out, records.iter().flat_map(|record| &record.history))?;
        summarize(self.job.config, self.job.data, &self.job.out, records)
    }

    /// Writes down why the run failed, unless that is the fault of another one.
    fn note_error(&self, error: &TrainError) {
        let of_another = matches!(error, TrainError::Diverged { out, .. } if *out != self.job.out);
        let is_done = !self.records.is_empty() && self.records.iter().all(Option::is_some);
        if !of_another && !is_done {
            note_error(&self.job.out, error);
        }
    }
}

/// Writes down why a run failed. That is for the list of runs only: that it cannot be written is not worth another
/// error.
fn note_error(out: &Path, error: &TrainError) {
    if !matches!(error, TrainError::Interrupted { .. }) {
        drop(write_atomic(&out.join(ERROR_FILE), error.to_string().as_bytes()));
    }
}

/// Trains every seed of these runs that is not yet done on a GPU, those that are alike at once.
fn train_together(
    device: &Device,
    runs: &mut [OpenRun],
    observer: &mut dyn Observer,
) -> Result<(), TrainError> {
    let mut left: Vec<usize> = (0..runs.len()).collect();
    while let Some(&first) = left.first() {
        let is_alike = |other: &usize| cohort::are_alike(&runs[first].job, &runs[*other].job);
        let (group, others): (Vec<usize>, Vec<usize>) = left.iter().partition(|other| is_alike(other));
        left = others;
        let mut members = Vec::new();
        let planned = group.iter().map(|&job| runs[job].records.len()).sum();
        for &job in &group {
            let run = &runs[job];
            let mut open = Vec::new();
            for index in (0..run.records.len()).filter(|&index| run.records[index].is_none()) {
                open.push(Member { job, index, run: run.open_seed(index)? });
            }
            let done = run.records.iter().flatten().flat_map(|record| &record.history);
            write_metrics(&run.job.out, done.chain(open.iter().flat_map(|member| member.run.history())))?;
            members.append(&mut open);
        }
        let mut jobs: Vec<&mut Job> = runs.iter_mut().map(|run| &mut run.job).collect();
        let records = cohort::train(device, &mut jobs, members, planned, observer)?;
        for (job, index, record) in records {
            runs[job].records[index] = Some(record);
        }
    }
    Ok(())
}

/// Takes the run folder for this process. The system releases it with the file, however the
/// process ends.
pub(crate) fn lock(out: &Path) -> Result<File, TrainError> {
    let path = out.join(LOCK_FILE);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(io(&path))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(TrainError::Busy { out: out.to_owned() }),
        // A file system without locks is no reason not to train.
        Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Unsupported => Err(io(&path)(e)),
        _ => Ok(file),
    }
}

/// Claims the run folder for `config`, or checks that it already is this configuration's.
fn open_folder(config: &Config, out: &Path, resume: bool) -> Result<(), TrainError> {
    let path = out.join(CONFIG_FILE);
    let damaged = |what: String| TrainError::Damaged { path: path.clone(), what };
    let stored = match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return write_atomic(&path, config.to_toml().as_bytes()).map_err(io(&path));
        }
        other => other.map_err(io(&path))?,
    };
    if !resume {
        return Err(TrainError::Occupied { out: out.to_owned() });
    }
    let differences = differences(&stored, &config.to_toml()).map_err(|e| damaged(e.to_string()))?;
    match differences.is_empty() {
        true => Ok(()),
        false => Err(TrainError::ConfigChanged { out: out.to_owned(), differences }),
    }
}

/// The record of a seed that is done.
fn finished(folder: &Path) -> Result<Option<SeedRecord>, TrainError> {
    let path = folder.join(RESULT_FILE);
    let text = match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io(&path))?,
    };
    let mut record: SeedRecord = serde_json::from_str(&text)
        .map_err(|e| TrainError::Damaged { path: path.clone(), what: e.to_string() })?;
    // The folder may have been moved since.
    record.result.model = folder.join(MODEL_FILE);
    record.result.model_float = record.result.model_float.map(|_| folder.join(FLOAT_MODEL_FILE));
    Ok(record.into())
}

/// Rewrites `metrics.jsonl` so that it holds each of these epochs once.
fn write_metrics<'a>(out: &Path, done: impl Iterator<Item = &'a EpochReport>) -> Result<(), TrainError> {
    let lines: String = done.map(metrics_line).collect();
    let path = out.join(METRICS_FILE);
    write_atomic(&path, lines.as_bytes()).map_err(io(&path))
}

fn summarize(
    config: &Config,
    data: &Dataset,
    out: &Path,
    records: Vec<SeedRecord>,
) -> Result<Outcome, TrainError> {
    let seeds: Vec<SeedResult> = records.iter().map(|r| r.result.clone()).collect();
    let best = best_seed(&seeds, config);
    let copy = |from: &Path, name: &str| {
        let (to, bytes) = (out.join(name), std::fs::read(from).map_err(io(from))?);
        write_atomic(&to, &bytes).map_err(io(&to))?;
        Ok::<_, TrainError>((to, bytes))
    };
    let (model_file, bytes) = copy(&best.model, MODEL_FILE)?;
    let model = AnyModel::from_bytes(&bytes)
        .map_err(|e| TrainError::Damaged { path: best.model.clone(), what: e.to_string() })?;
    let model_float = best.model_float.as_ref().map(|from| copy(from, FLOAT_MODEL_FILE)).transpose()?;
    let collect =
        |of: fn(&SeedResult) -> Option<Scores>| -> Option<Vec<Scores>> { seeds.iter().map(of).collect() };
    let train = collect(|s| s.train.clone()).and_then(|all| Scores::mean_and_deviation(&all));
    let val = collect(|s| s.val.clone()).and_then(|all| Scores::mean_and_deviation(&all));
    let test = collect(|s| s.test.clone()).and_then(|all| Scores::mean_and_deviation(&all));
    let (val, val_sd) = val.map_or((None, None), |(mean, sd)| (Some(mean), sd));
    let (test, test_sd) = test.map_or((None, None), |(mean, sd)| (Some(mean), sd));
    let float = collect(|s| s.test_float.clone()).and_then(|all| Scores::mean_and_deviation(&all));
    let params = config.network(data).layout().count();
    let summary = Summary {
        run: out.to_owned(),
        model: model_file,
        model_float: model_float.map(|(path, _)| path),
        cell: config.network.cell.name().to_owned(),
        params,
        bytes: Bytes {
            total: seeds.iter().filter_map(|s| s.bytes).max().unwrap_or(4 * params),
            cells: data.text.as_ref().map(|_| model.sizes().cells()),
            embedding: data.text.as_ref().map(|_| model.sizes().embedding),
            front_end: data.audio.as_ref().map(|spec| Tables::new(spec).bytes()),
        },
        epochs: config.training.epochs,
        seconds: seeds.iter().map(|s| s.seconds).sum(),
        train: train.map(|(mean, _)| mean),
        val,
        val_sd,
        cv: best.cv.clone(),
        test,
        test_sd,
        test_float: float.map(|(mean, _)| mean),
        best_seed: best.seed,
        delivered: Delivered { seed: best.seed, val: best.val.clone(), test: best.test.clone() },
        seeds: seeds.clone(),
        settings: lasting_settings(config),
    };
    write_json(&out.join(SUMMARY_FILE), &summary)?;
    Ok(Outcome { summary, records, model })
}

/// The seed best on validation; the first one without validation. The test set has no say.
fn best_seed<'a>(seeds: &'a [SeedResult], config: &Config) -> &'a SeedResult {
    let rank = |s: &SeedResult| s.val.as_ref().map(|v| BestEpoch::of(0, v, config.metric()));
    let mut best = &seeds[0];
    for seed in &seeds[1..] {
        if let (Some(new), Some(old)) = (rank(seed), rank(best))
            && new.beats(&old)
        {
            best = seed;
        }
    }
    best
}
