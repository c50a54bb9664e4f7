//! The course of a search: rounds are planned, trained and stored until it ends; then come the finals.

use super::SearchError;
use super::candidate::{Maker, TrialNetwork};
use super::clock::{Clock, work};
use super::datasets::Datasets;
use super::evaluate::{Ended, Stopped, Training, Workers, train_each};
use super::folders::{FINALS_FOLDER, TRIALS_FOLDER, run_folder};
use super::options::{Limit, SearchObserver, SearchOptions, Shard};
use super::outcome::{self, SearchOutcome, Waiting};
use super::plan::Plan;
use super::planner::{self, Planner};
use super::store::{Part, Round, Store, Trial};
use crate::lines::content_hash;
use crate::train::{self, Config, ConfigError, TrainError};
use fastgrnn_core::metrics::Metric;
use fastgrnn_data::data::{CrossValidation, Dataset};
use fastgrnn_model::quantize::QuantizeError;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

/// The most of its time that a search keeps for its finals.
const FINALS_SHARE: f64 = 0.5;

/// Searches, or continues the search that the folder holds.
///
/// With a [`Shard`](super::Shard) it trains its part of the round that is next, and returns once it would need the
/// trials of others.
///
/// ```
/// use fastgrnn::data::{self, Request};
/// use fastgrnn::search::{Budget, Datasets, Limit, Plan, SearchOptions, Shard, Space, run};
/// use fastgrnn::train::{DeviceChoice, Recipe, Silent};
/// let recipe = Recipe::default().with(|r| {
///     r.source.dataset = Some("digits".into());
///     r.training.epochs = Some(3);
/// });
/// let space = Space::from_toml_str("[search]\nlr = [0.003, 0.01]\nhidden = [4, 8]", "example.toml")?.unwrap();
/// let plan = Plan { seeds: 1, ..Plan::new(recipe, space, Budget::default()) };
/// let folder = tempfile::tempdir()?;
/// let options = SearchOptions {
///     out: folder.path().join("search"),
///     threads: 2,
///     device: DeviceChoice::Cpu,
///     limit: Limit::Trials(4),
///     shard: Shard::WHOLE,
/// };
/// let mut datasets = Datasets::new(&|request: &Request| data::load(request));
/// let outcome = run(&plan, &mut datasets, &options, &|| false, &mut Silent)?;
/// let winner = outcome.winner.unwrap();
/// assert!(winner.recipe.exists() && winner.val.accuracy.unwrap() > 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    plan: &Plan,
    datasets: &mut Datasets,
    options: &SearchOptions,
    stop: &(dyn Fn() -> bool + Sync),
    observer: &mut dyn SearchObserver,
) -> Result<SearchOutcome, SearchError> {
    let out = std::path::absolute(&options.out)
        .map_err(|source| SearchError::Io { path: options.out.clone(), source })?;
    let options = &SearchOptions { out, ..options.clone() };
    let mut driver = Driver::begin(plan, datasets, options, stop)?;
    driver.run(observer)
}

/// Refuses a budget of integer networks for a cell that has none, unless the cell is searched for.
fn check_cell(plan: &Plan) -> Result<(), SearchError> {
    let cell = plan.recipe.network.chosen_cell();
    if plan.budget.is_empty() || plan.space.has("cell") || cell.declaration().has_integers() {
        return Ok(());
    }
    Err(ConfigError::from(QuantizeError::Cell { cell }).into())
}

/// The metric by which the trials of a plan are compared, and whether they can be.
fn metric(plan: &Plan, data: &Dataset) -> Result<Metric, SearchError> {
    let recipe = &plan.recipe;
    let is_cross_validated = recipe.preparation.cv.is_some_and(CrossValidation::is_on);
    if recipe.preparation.val_split.is_some_and(|share| share <= 0.0) && !is_cross_validated {
        return Err(SearchError::NoValidation);
    }
    let positive = recipe.training.positive.as_ref().or(data.suggested.positive.as_ref());
    Ok(train::metric(positive.is_some(), recipe.training.class_weight.unwrap_or_default()))
}

/// A search that is under way.
pub(super) struct Driver<'a, 'd> {
    planner: Planner<'a>,
    datasets: &'a mut Datasets<'d>,
    store: Store,
    options: &'a SearchOptions,
    stop: &'a (dyn Fn() -> bool + Sync),
    clock: Clock,
    _lock: File,
}

/// How far a round came.
enum Reached {
    /// All of its trials ended.
    End,
    /// Other shards have some of its trials.
    OwnEnd,
    /// There is no time for more.
    Limit,
}

impl<'a, 'd> Driver<'a, 'd> {
    /// Claims the folder and reads its store.
    pub fn begin(
        plan: &'a Plan,
        datasets: &'a mut Datasets<'d>,
        options: &'a SearchOptions,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Self, SearchError> {
        let (most, limit) = match options.limit {
            Limit::Trials(most) => (Some(most), None),
            Limit::Time(time) => (None, Some(time)),
        };
        check_cell(plan)?;
        let metric = metric(plan, datasets.of(&plan.recipe)?)?;
        // The data has been read.
        let clock = Clock::new(limit);
        let maker = Maker { base: &plan.recipe, space: &plan.space, budget: plan.budget };
        let planner = Planner { plan, maker, metric, stop };
        let fingerprint = datasets.fingerprint(&plan.recipe)?;
        let out = &options.out;
        let known = super::store::read(&out.join(super::TRIALS_FILE))?;
        // Before anything is written: settings that cannot be used leave nothing behind.
        let first = match known.rounds().is_empty() {
            true => planner.next(&known, most, datasets)?,
            false => None,
        };
        fs::create_dir_all(out).map_err(io(out))?;
        let lock = train::lock(out)?;
        plan.claim(out, &fingerprint, most)?;
        let mut store = Store::open(out)?;
        if let Some(round) = first.filter(|_| store.records.rounds().is_empty()) {
            store.add_round(round)?;
        }
        let too_high = |(round, _): &&(Round, Vec<Option<Trial>>)| round.rung >= plan.halving.rungs;
        if let Some((round, _)) = store.records.rounds().iter().find(too_high) {
            let what = format!(
                "there is a round of rung {}, and the plan has {}",
                round.rung + 1,
                plan.halving.rungs
            );
            return Err(SearchError::Damaged { path: out.join(super::TRIALS_FILE), line: 1, what });
        }
        Ok(Self { planner, datasets, store, options, stop, clock, _lock: lock })
    }

    fn run(&mut self, observer: &mut dyn SearchObserver) -> Result<SearchOutcome, SearchError> {
        // Finals that were begun are ended first. A search that was given more trials or time then goes on.
        if let Some(place) = self.open_round(Part::Finals) {
            match self.train(place, observer)? {
                Reached::End | Reached::Limit => {}
                Reached::OwnEnd => return Ok(self.waiting(place)),
            }
        }
        while let Some(place) = self.next_round()? {
            match self.train(place, observer)? {
                Reached::End => {}
                Reached::OwnEnd => return Ok(self.waiting(place)),
                Reached::Limit => break,
            }
        }
        if self.options.shard != Shard::WHOLE {
            return Ok(self.pending());
        }
        if let Some(round) = self.plan_finals()? {
            let place = self.add_round(round)?;
            self.train(place, observer)?;
        }
        self.outcome(observer)
    }

    /// The round of the search that is to be trained; nothing once it is over.
    fn next_round(&mut self) -> Result<Option<usize>, SearchError> {
        if let Some(place) = self.open_round(Part::Search) {
            return Ok(Some(place));
        }
        // `merge` plans the rounds of shards, once it has the trials of all of them.
        if self.options.shard != Shard::WHOLE {
            return Ok(None);
        }
        match self.plan_next()? {
            Some(round) if self.has_time(&round)? => self.add_round(round).map(Some),
            _ => Ok(None),
        }
    }

    fn plan_next(&mut self) -> Result<Option<Round>, SearchError> {
        let most = match self.options.limit {
            Limit::Trials(most) => Some(most),
            Limit::Time(_) => None,
        };
        self.planner.next(&self.store.records, most, self.datasets).map_err(|error| match error {
            SearchError::Stopped => SearchError::Interrupted { folder: self.options.out.clone() },
            error => error,
        })
    }

    /// Stores a round; returns its place.
    fn add_round(&mut self, round: Round) -> Result<usize, SearchError> {
        outcome::forget(&self.options.out)?;
        self.store.add_round(round)?;
        Ok(self.store.records.rounds().len() - 1)
    }

    /// Plans all that follows from complete rounds, without training. Returns the outcome, if the search is over.
    pub fn plan_ahead(
        &mut self,
        observer: &mut dyn SearchObserver,
    ) -> Result<Option<SearchOutcome>, SearchError> {
        loop {
            let open = self.open_round(Part::Finals).or_else(|| self.open_round(Part::Search));
            if open.is_some() {
                return Ok(None);
            }
            let next = match self.plan_next()? {
                Some(round) => Some(round),
                None => self.plan_finals()?,
            };
            match next {
                Some(round) => drop(self.add_round(round)?),
                None => return self.outcome(observer).map(Some),
            }
        }
    }

    /// The first round of a part that is not complete.
    fn open_round(&self, part: Part) -> Option<usize> {
        let is_open = |(round, trials): &(Round, Vec<Option<Trial>>)| {
            round.part == part && trials.iter().any(Option::is_none)
        };
        self.store.records.rounds().iter().position(is_open)
    }

    /// The finals of the trials so far, unless they are over.
    fn plan_finals(&mut self) -> Result<Option<Round>, SearchError> {
        let count = self.store.records.of_part(Part::Search).count();
        if self.store.records.round(Part::Finals, count, 0).is_some() {
            return Ok(None);
        }
        // As many as there is time for, and at least the best one.
        let (clock, mut left) = (&self.clock, self.clock.left());
        let mut is_affordable = |config: &Config, data: &Dataset| {
            left -= clock.seconds(work(config, data));
            left >= 0.0
        };
        let most = self.planner.plan.finalists;
        self.planner.finals(&self.store.records, most, self.datasets, &mut is_affordable).map(Some)
    }

    /// Seconds that are kept for the finals: those of the best settings so far, as far as they have a share of the time.
    fn kept_seconds(&mut self) -> Result<f64, SearchError> {
        let Limit::Time(_) = self.options.limit else { return Ok(0.0) };
        let (clock, mut seconds) = (&self.clock, 0.0);
        let mut count = |config: &Config, data: &Dataset| {
            seconds += clock.seconds(work(config, data));
            true
        };
        self.planner.finals(&self.store.records, self.planner.plan.finalists, self.datasets, &mut count)?;
        Ok(seconds.min(FINALS_SHARE * clock.limit()))
    }

    /// Whether there is time for a trial of a round.
    fn has_time(&mut self, round: &Round) -> Result<bool, SearchError> {
        if let Limit::Trials(_) = self.options.limit {
            return Ok(true);
        }
        let kept = self.kept_seconds()?;
        let Some(choices) = round.trials.first() else { return Ok(false) };
        let seconds = match self.config(round, choices)? {
            Ok((candidate, config)) => {
                let data = self.datasets.of(&candidate.recipe)?;
                self.clock.seconds(work(&config, data))
            }
            Err(_) => 0.0,
        };
        Ok(self.clock.left() > kept + seconds)
    }

    /// The network of a trial and the settings of its training. An error says why there is none.
    fn config(
        &mut self,
        round: &Round,
        choices: &toml::Table,
    ) -> Result<Result<(TrialNetwork, Config), String>, SearchError> {
        let candidate = match self.planner.network(choices, self.datasets)? {
            Ok(candidate) => candidate,
            Err(why) => return Ok(Err(why)),
        };
        let plan = self.planner.plan;
        let recipe = match round.part {
            Part::Search => candidate.short(plan.halving, round.rung),
            Part::Finals => candidate.whole(plan.seeds),
        };
        let data = self.datasets.of(&recipe)?;
        let resolved = recipe.resolve(data);
        Ok(resolved.map(|config| (candidate, config)).map_err(|error| error.to_string()))
    }

    /// Trains the trials of a round that have not ended and that this process is to train.
    fn train(&mut self, place: usize, observer: &mut dyn SearchObserver) -> Result<Reached, SearchError> {
        let (round, trials) = self.store.records.rounds()[place].clone();
        let left: Vec<usize> = (0..trials.len()).filter(|&index| trials[index].is_none()).collect();
        let own: Vec<usize> =
            left.iter().copied().filter(|&index| self.options.shard.trains(index)).collect();
        observer.round_started(&round, trials.len() - left.len());
        let (mut planned, mut impossible) = (Vec::new(), BTreeMap::new());
        for &index in &own {
            match self.config(&round, &round.trials[index])? {
                Ok((candidate, config)) => {
                    let fingerprint = self.datasets.fingerprint(&candidate.recipe)?;
                    let key = planner::key(&config, &fingerprint);
                    planned.push(PlannedTrial { index, key, candidate, config });
                }
                Err(why) => drop(impossible.insert(index, why)),
            }
        }
        let kept = match round.part {
            Part::Search => self.kept_seconds()?,
            Part::Finals => 0.0,
        };
        let folder = match round.part {
            Part::Search => self.options.out.join(TRIALS_FOLDER),
            Part::Finals => self.options.out.join(FINALS_FOLDER),
        };
        let run_folder = |key: &str| run_folder(&folder, key);
        let known = |candidate: &TrialNetwork| self.datasets.known(&candidate.recipe);
        let mut trainings = Vec::new();
        for trial in &planned {
            let data = known(&trial.candidate).expect("the data of a candidate was read when it was made");
            let (folder, config) = (run_folder(&trial.key), trial.config.clone());
            trainings.push(Training { folder, work: work(&config, data), config, data });
        }
        let is_limited = matches!(self.options.limit, Limit::Time(_)) && round.part == Part::Search;
        let workers = Workers {
            threads: self.options.threads,
            device: self.options.device,
            stop: self.stop,
            time: is_limited.then_some(kept),
        };
        let (store, mut next) = (&mut self.store, 0);
        let mut on_end = |place: usize, ended: Ended, observer: &mut dyn SearchObserver| {
            let trial = planned[place].ended(&round, ended);
            let before = impossible.range(next..trial.index).map(|(&index, why)| failed(&round, index, why));
            for trial in before.collect::<Vec<_>>() {
                store.add_trial(trial)?;
            }
            next = trial.index + 1;
            observer.trial_ended(&trial);
            store.add_trial(trial)?;
            if round.part == Part::Search {
                // What it came to is in the store. That the folder cannot be removed is no reason to stop.
                drop(fs::remove_dir_all(run_folder(&planned[place].key)));
            }
            Ok(())
        };
        let trained = train_each(&trainings, workers, &mut self.clock, observer, &mut on_end);
        let is_whole = trained.map_err(|stopped| match stopped {
            Stopped::Interrupted => SearchError::Interrupted { folder: self.options.out.clone() },
            Stopped::Training(error) => error.into(),
            Stopped::Result(error) => error,
        })?;
        if !is_whole {
            return Ok(Reached::Limit);
        }
        for (&index, why) in impossible.range(next..) {
            self.store.add_trial(failed(&round, index, why))?;
        }
        Ok(if own.len() == left.len() { Reached::End } else { Reached::OwnEnd })
    }

    /// The search so far, which goes on once other shards have trained their part.
    fn waiting(&self, place: usize) -> SearchOutcome {
        let (round, trials) = &self.store.records.rounds()[place];
        let done = trials.iter().flatten().count();
        let waiting =
            Waiting { part: round.part, bracket: round.bracket, rung: round.rung, done, of: trials.len() };
        SearchOutcome {
            waiting: Some(waiting),
            ..outcome::without_winner(&self.planner, &self.store.records)
        }
    }

    /// The search so far, whose next round is planned and not trained.
    pub fn pending(&mut self) -> SearchOutcome {
        let place = self.open_round(Part::Finals).or_else(|| self.open_round(Part::Search));
        place.map_or_else(
            || outcome::without_winner(&self.planner, &self.store.records),
            |place| self.waiting(place),
        )
    }

    /// What the search came to.
    fn outcome(&mut self, observer: &mut dyn SearchObserver) -> Result<SearchOutcome, SearchError> {
        // It is empty by now; if it is not, it stays.
        drop(fs::remove_dir(self.options.out.join(TRIALS_FOLDER)));
        outcome::decide(&self.planner, &self.store.records, self.datasets, self.options, observer)
    }
}

/// A trial that is to be trained.
struct PlannedTrial {
    index: usize,
    key: String,
    candidate: TrialNetwork,
    config: Config,
}

impl PlannedTrial {
    fn ended(&self, round: &Round, ended: Ended) -> Trial {
        let candidate = &self.candidate;
        let base = Trial {
            key: self.key.clone(),
            cell: self.config.network.cell.name().to_owned(),
            hidden: self.config.network.hidden,
            size: candidate.size,
            epochs: self.config.training.epochs,
            whole_epochs: candidate.config.training.epochs,
            ..failed(round, self.index, "")
        };
        match ended {
            Ended::Trained(outcome) => Trial {
                bytes: Some(outcome.summary.bytes.total),
                val: outcome.summary.val,
                val_sd: outcome.summary.val_sd,
                failed: None,
                ..base
            },
            Ended::Failed(error) => {
                let what = match &error {
                    TrainError::Diverged { what, .. } => format!("training diverged: {what}"),
                    other => other.to_string(),
                };
                Trial { failed: Some(what), ..base }
            }
        }
    }
}

/// A trial that came to nothing.
fn failed(round: &Round, index: usize, why: &str) -> Trial {
    Trial {
        key: content_hash(&[&round.trials[index].to_string(), why]),
        part: round.part,
        bracket: round.bracket,
        rung: round.rung,
        index,
        choices: round.trials[index].clone(),
        cell: String::new(),
        hidden: 0,
        size: super::Size::default(),
        epochs: 0,
        whole_epochs: 0,
        bytes: None,
        val: None,
        val_sd: None,
        failed: Some(why.to_owned()),
    }
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Io { path: path.clone(), source }
}
