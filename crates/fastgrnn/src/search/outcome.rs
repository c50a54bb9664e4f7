//! What a search came to: the front, the settings that mattered, the winner.

use super::candidate::{Size, TrialNetwork};
use super::clock::{Clock, work};
use super::datasets::Datasets;
use super::evaluate::{Ended, Stopped, Training, Workers, train_each};
use super::folders::{FINALS_FOLDER, run_folder};
use super::options::{SearchObserver, SearchOptions};
use super::planner::Planner;
use super::propose::Quality;
use super::space::{Dimension, Values, value_text};
use super::store::{Part, Records, Trial};
use super::{SearchError, WINNER_FILE};
use crate::train::{self, MODEL_FILE, Recipe};
use fastgrnn_core::files::write_atomic;
use fastgrnn_core::metrics::{Metric, Scores};
use fastgrnn_core::rng::Rng;
use fastgrnn_model::any::AnyModel;
use serde::Serialize;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What a search came to.
#[derive(Clone, Debug, Serialize)]
pub struct SearchOutcome {
    /// How many different settings were tried.
    pub trials: usize,
    /// The figure by which trials are compared; nothing if that is the loss.
    pub metric: Option<Metric>,
    /// Networks trained to their end that no other beats on validation without being larger or slower, the smallest first.
    pub front: Vec<FrontPoint>,
    /// How much each setting mattered, the one that mattered most first.
    pub importance: Vec<Importance>,
    /// The best network; nothing while other shards have trials to train.
    pub winner: Option<Winner>,
    /// What others have to train first.
    pub waiting: Option<Waiting>,
}

/// A network that was trained to its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontPoint {
    /// What was chosen; empty for the recipe as it was given.
    pub choices: Table,
    /// The cell.
    pub cell: String,
    /// Units of a layer.
    pub hidden: usize,
    /// Bytes of the trained model.
    pub bytes: usize,
    /// Bytes of RAM on the board, as estimated.
    pub ram: Option<usize>,
    /// Milliseconds of an inference on the board, as modelled.
    pub ms: Option<f64>,
    /// On the validation part, the mean over its seeds.
    pub val: Scores,
    /// The deviation, with several seeds.
    pub val_sd: Option<Scores>,
    /// Whether it was in the finals, with several seeds.
    pub is_final: bool,
}

/// How much a setting mattered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The setting.
    pub name: String,
    /// The share of the variance between the trials of the first rung that it explains by itself.
    pub share: f64,
    /// Whether so large a share is unlikely (5 %) to be chance, as one of all settings.
    pub stands_out: bool,
    /// Its values, or parts of its range.
    pub values: Vec<ValueMean>,
}

/// The trials of the first rung in which a setting had a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueMean {
    /// The value, or a part of the range.
    pub value: String,
    /// The mean of the figure by which trials are compared, on validation.
    pub mean: f64,
    /// How many trials.
    pub trials: usize,
}

/// A setting that the winner changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The key.
    pub key: String,
    /// Its value in the recipe as it was given, with the defaults.
    pub from: Option<Value>,
    /// Its value in the winner's.
    pub to: Option<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "unset".to_owned(), value_text);
        write!(f, "{}: {} instead of {}", self.key, text(&self.to), text(&self.from))
    }
}

/// The best network.
#[derive(Clone, Debug, Serialize)]
pub struct Winner {
    /// The file of its recipe.
    pub recipe: PathBuf,
    /// Its model: of its seeds the one that is best on validation.
    pub model: PathBuf,
    /// The run of its training.
    pub run: PathBuf,
    /// Bytes of its model: of the device image where it is quantised.
    pub bytes: usize,
    /// What it needs, known before it was trained.
    pub size: Size,
    /// The cell.
    pub cell: String,
    /// Units of a layer.
    pub hidden: usize,
    /// Whether it computes with integers.
    pub is_integer: bool,
    /// Seeds that it was trained with.
    pub seeds: usize,
    /// On the validation part, the mean over its seeds.
    pub val: Scores,
    /// The deviation, with several seeds.
    pub val_sd: Option<Scores>,
    /// On the test part, the mean over its seeds; nothing without a test part, and where it is not to be read.
    pub test: Option<Scores>,
    /// The deviation, with several seeds.
    pub test_sd: Option<Scores>,
    /// On the validation part, the recipe as it was given; nothing if it does not fit the budget, or diverged.
    pub baseline: Option<Scores>,
    /// Bytes of the model of the recipe as it was given.
    pub baseline_bytes: Option<usize>,
    /// The settings that differ from the recipe as it was given; nothing if that one does not fit the budget.
    pub changes: Option<Vec<Change>>,
}

/// A round of which other shards have trials to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// What it belongs to.
    pub part: Part,
    /// The bracket, from 0.
    pub bracket: usize,
    /// The rung, from 0.
    pub rung: usize,
    /// Trials that ended.
    pub done: usize,
    /// All of its trials.
    pub of: usize,
}

/// The front and the settings that mattered so far.
pub(super) fn without_winner(planner: &Planner, records: &Records) -> SearchOutcome {
    SearchOutcome {
        trials: records.tried(),
        metric: Some(planner.metric).filter(|&metric| has_metric(metric, records)),
        front: front(planner, records),
        importance: importance(planner, records),
        winner: None,
        waiting: None,
    }
}

/// Whether every trial that has scores has the figure.
fn has_metric(metric: Metric, records: &Records) -> bool {
    let trials = [Part::Search, Part::Finals].into_iter().flat_map(|part| records.of_part(part));
    let mut scores = trials.filter_map(|trial| trial.val.as_ref()).peekable();
    scores.peek().is_some() && scores.all(|scores| metric.of(scores).is_some())
}

/// Decides the winner of complete finals, writes its recipe and measures it on the test part.
pub(super) fn decide(
    planner: &Planner,
    records: &Records,
    datasets: &mut Datasets,
    options: &SearchOptions,
    observer: &mut dyn SearchObserver,
) -> Result<SearchOutcome, SearchError> {
    let trial = best_final(planner.metric, records)?.clone();
    let network = |choices: &Table, datasets: &mut Datasets| match planner.network(choices, datasets)? {
        Ok(candidate) => Ok::<_, SearchError>(Some(candidate)),
        Err(_) => Ok(None),
    };
    let Some(candidate) = network(&trial.choices, datasets)? else {
        return Err(SearchError::NoWinner("the network of the best trial cannot be made".into()));
    };
    let recipe = candidate.whole(planner.plan.seeds);
    let outcome = trained(planner, &trial, &candidate, datasets, options, observer)?;
    let model = options.out.join(MODEL_FILE);
    let source = &outcome.summary.model;
    let bytes =
        std::fs::read(source).map_err(|error| SearchError::Io { path: source.clone(), source: error })?;
    write(&model, &bytes)?;
    let (test, test_sd) = match planner.plan.reads_test {
        true => test_scores(&outcome, &recipe, datasets, options.threads)?,
        false => (None, None),
    };
    // Last, so that where it is, everything is.
    let file = options.out.join(WINNER_FILE);
    write(&file, winner_text(&recipe, &trial, planner.metric).as_bytes())?;
    let baseline = network(&Table::new(), datasets)?;
    let baseline_trial = finals(records).find(|trial| trial.choices.is_empty());
    let summary = outcome.summary;
    let winner = Winner {
        recipe: file,
        model,
        run: summary.run,
        bytes: summary.bytes.total,
        size: candidate.size,
        cell: summary.cell,
        hidden: candidate.config.network.hidden,
        is_integer: candidate.config.quantization.quantize,
        seeds: planner.plan.seeds,
        val: trial.val.clone().unwrap_or_default(),
        val_sd: trial.val_sd.clone(),
        test,
        test_sd,
        baseline: baseline_trial.and_then(|trial| trial.val.clone()),
        baseline_bytes: baseline_trial.and_then(|trial| trial.bytes),
        changes: baseline.map(|baseline| changes(&baseline, &candidate)),
    };
    Ok(SearchOutcome { winner: Some(winner), ..without_winner(planner, records) })
}

/// The trials of the last finals.
fn finals(records: &Records) -> impl Iterator<Item = &Trial> {
    let last = records.rounds().iter().rev().find(|(round, _)| round.part == Part::Finals);
    last.into_iter().flat_map(|(_, trials)| trials.iter().flatten())
}

/// The best of the last finals; of equal ones the smallest.
fn best_final(metric: Metric, records: &Records) -> Result<&Trial, SearchError> {
    let ended = finals(records).filter(|trial| trial.val.is_some());
    let best = ended.min_by(|a, b| a.quality(metric).compare(&b.quality(metric)).then(a.bytes.cmp(&b.bytes)));
    best.ok_or_else(|| {
        let why = finals(records).filter_map(|trial| trial.failed.clone()).last();
        SearchError::NoWinner(why.unwrap_or_else(|| "there are no finals".into()))
    })
}

/// The run of a final, which is trained again if its folder is not there: another machine may have trained it.
fn trained(
    planner: &Planner,
    trial: &Trial,
    candidate: &TrialNetwork,
    datasets: &mut Datasets,
    options: &SearchOptions,
    observer: &mut dyn SearchObserver,
) -> Result<train::Outcome, SearchError> {
    let recipe = candidate.whole(planner.plan.seeds);
    let data = datasets.of(&recipe)?;
    let config = recipe.resolve(data)?;
    let folder = run_folder(&options.out.join(FINALS_FOLDER), &trial.key);
    let trainings = [Training { folder, work: work(&config, data), config, data }];
    let workers = Workers { threads: options.threads, device: options.device, stop: &|| false, time: None };
    let mut found = None;
    let mut on_end = |_: usize, ended: Ended, _: &mut dyn SearchObserver| {
        found = Some(ended);
        Ok::<(), SearchError>(())
    };
    let result = train_each(&trainings, workers, &mut Clock::new(None), observer, &mut on_end);
    match (result, found) {
        (Ok(_), Some(Ended::Trained(outcome))) => Ok(*outcome),
        (Ok(_), Some(Ended::Failed(error))) | (Err(Stopped::Training(error)), _) => Err(error.into()),
        (Err(Stopped::Interrupted), _) => Err(SearchError::Interrupted { folder: options.out.clone() }),
        (Err(Stopped::Result(error)), _) => Err(error),
        (Ok(_), None) => Err(SearchError::NoWinner("the winner was not trained".into())),
    }
}

/// The scores of the models of all seeds on the test part: their mean and their deviation.
fn test_scores(
    outcome: &train::Outcome,
    recipe: &Recipe,
    datasets: &mut Datasets,
    threads: usize,
) -> Result<(Option<Scores>, Option<Scores>), SearchError> {
    let Some(test) = datasets.with_test(recipe)?.test else { return Ok((None, None)) };
    let mut all = Vec::new();
    for seed in &outcome.summary.seeds {
        let (evaluation, _, _) = AnyModel::load(&seed.model)?.evaluate(&test, threads)?;
        all.push(evaluation.scores);
    }
    Ok(Scores::mean_and_deviation(&all).map_or((None, None), |(mean, sd)| (Some(mean), sd)))
}

/// Removes what says that a search is over, because it goes on.
pub(super) fn forget(out: &Path) -> Result<(), SearchError> {
    for path in [WINNER_FILE, MODEL_FILE].map(|name| out.join(name)) {
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(SearchError::Io { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    write_atomic(path, bytes).map_err(|source| SearchError::Io { path: path.to_owned(), source })
}

fn winner_text(recipe: &Recipe, trial: &Trial, metric: Metric) -> String {
    let text = toml::to_string(recipe).expect("a recipe has no values that TOML lacks");
    let score = trial.val.as_ref().and_then(|scores| metric.of(scores));
    let score = score.map_or(String::new(), |score| {
        format!(" Validation: {}.", fastgrnn_core::format::fraction(score, None))
    });
    format!("# Found by `fastgrnn search`.{score} Train it with `fastgrnn train {WINNER_FILE}`.\n{text}")
}

/// The settings in which two networks differ.
fn changes(from: &TrialNetwork, to: &TrialNetwork) -> Vec<Change> {
    let table = |candidate: &TrialNetwork| {
        Table::try_from(&candidate.config).expect("a configuration has no values that TOML lacks")
    };
    let (from, to) = (flat(table(from)), flat(table(to)));
    let mut keys: Vec<&String> = from.keys().chain(to.keys()).collect();
    keys.sort();
    keys.dedup();
    // A setting of 0 is often left out.
    let used =
        |table: &Table, key: &str| table.get(key).filter(|value| value.as_float() != Some(0.0)).cloned();
    let differs = keys.into_iter().filter(|key| used(&from, key) != used(&to, key));
    let value = |table: &Table, key: &str| table.get(key).cloned();
    differs.map(|key| Change { key: key.clone(), from: value(&from, key), to: value(&to, key) }).collect()
}

/// The table with the entries of inner tables beside the others.
fn flat(table: Table) -> Table {
    let mut all = Table::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                all.extend(inner.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            value => drop(all.insert(key, value)),
        }
    }
    all
}

/// The networks that were trained to their end and are not beaten.
fn front(planner: &Planner, records: &Records) -> Vec<FrontPoint> {
    let last = planner.plan.halving.rungs - 1;
    let mut points: Vec<FrontPoint> = finals(records).filter_map(|trial| point(trial, true)).collect();
    for trial in records.of_part(Part::Search).filter(|trial| trial.rung == last) {
        if !points.iter().any(|point| point.choices == trial.choices) {
            points.extend(point(trial, false));
        }
    }
    let beats = |a: &FrontPoint, b: &FrontPoint| {
        let quality = quality(planner.metric, &a.val).compare(&quality(planner.metric, &b.val));
        let is_no_worse = quality.is_le() && a.bytes <= b.bytes && a.ms.unwrap_or(0.0) <= b.ms.unwrap_or(0.0);
        is_no_worse && (quality.is_lt() || a.bytes < b.bytes || a.ms < b.ms)
    };
    let all = points.clone();
    points.retain(|point| !all.iter().any(|other| beats(other, point)));
    points.sort_by_key(|point| point.bytes);
    points
}

fn point(trial: &Trial, is_final: bool) -> Option<FrontPoint> {
    Some(FrontPoint {
        choices: trial.choices.clone(),
        cell: trial.cell.clone(),
        hidden: trial.hidden,
        bytes: trial.bytes?,
        ram: trial.size.ram,
        ms: trial.size.ms,
        val: trial.val.clone()?,
        val_sd: trial.val_sd.clone(),
        is_final,
    })
}

fn quality(metric: Metric, scores: &Scores) -> Quality {
    Quality { score: metric.of(scores), loss: scores.loss }
}

/// Parts into which the values of a range are divided.
const PARTS: usize = 3;
/// Fewer trials say nothing about a setting.
const LEAST_TRIALS: usize = 8;
/// Random orders of the scores that show what chance explains.
const SHUFFLES: u64 = 200;

/// What each setting explains of the differences between the trials of the first rung.
fn importance(planner: &Planner, records: &Records) -> Vec<Importance> {
    let trials: Vec<&Trial> = records
        .of_part(Part::Search)
        .filter(|trial| trial.rung == 0 && trial.val.is_some() && !trial.choices.is_empty())
        .collect();
    if trials.len() < LEAST_TRIALS {
        return Vec::new();
    }
    let is_share = has_metric(planner.metric, records);
    let figure = |trial: &Trial| {
        let quality = trial.quality(planner.metric);
        quality.score.filter(|_| is_share).unwrap_or(quality.loss)
    };
    let scores: Vec<f64> = trials.iter().map(|trial| figure(trial)).collect();
    let settings: Vec<Grouping> =
        planner.plan.space.dimensions().iter().filter_map(|d| Grouping::of(d, &trials)).collect();
    let threshold = chance(&settings, &scores);
    let mut all: Vec<Importance> = settings
        .into_iter()
        .map(|setting| {
            let share = explained(&setting.groups, &scores);
            let values = setting.means(&scores);
            Importance { name: setting.name, share, stands_out: share > threshold, values }
        })
        .collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

/// The trials, divided by their value of a setting.
struct Grouping {
    name: String,
    /// The group of each trial.
    groups: Vec<usize>,
    /// The value of each trial, or the part of the range that it lies in.
    values: Vec<String>,
}

impl Grouping {
    /// Nothing if a trial does not have the setting.
    fn of(dimension: &Dimension, trials: &[&Trial]) -> Option<Self> {
        let place = |trial: &&Trial| -> Option<(usize, String)> {
            let value = trial.choices.get(&dimension.name)?;
            let at = dimension.values.coordinate(value)?;
            Some(match &dimension.values {
                Values::List(_) => (at as usize, value_text(value)),
                Values::Range(_) => {
                    let part = ((at * PARTS as f64) as usize).min(PARTS - 1);
                    let end = |k: usize| value_text(&dimension.values.at(k as f64 / PARTS as f64));
                    (part, format!("{} to {}", end(part), end(part + 1)))
                }
            })
        };
        let places: Option<Vec<(usize, String)>> = trials.iter().map(place).collect();
        let (groups, values) = places?.into_iter().unzip();
        Some(Self { name: dimension.name.clone(), groups, values })
    }

    fn means(&self, scores: &[f64]) -> Vec<ValueMean> {
        let mut known: Vec<(usize, &String, f64, usize)> = Vec::new();
        for ((group, text), score) in self.groups.iter().zip(&self.values).zip(scores) {
            match known.iter_mut().find(|(other, ..)| other == group) {
                Some((_, _, sum, n)) => (*sum, *n) = (*sum + score, *n + 1),
                None => known.push((*group, text, *score, 1)),
            }
        }
        known.sort_by_key(|(group, ..)| *group);
        let mean = |(_, value, sum, n): (usize, &String, f64, usize)| ValueMean {
            value: value.clone(),
            mean: sum / n as f64,
            trials: n,
        };
        known.into_iter().map(mean).collect()
    }
}

/// The largest share that any of the settings explains of scores in a random order; larger ones come up in one of twenty
/// orders.
fn chance(settings: &[Grouping], scores: &[f64]) -> f64 {
    let mut largest: Vec<f64> = (0..SHUFFLES)
        .map(|turn| {
            let mut shuffled = scores.to_vec();
            let mut rng = Rng::keyed(0, &[turn]);
            for i in (1..shuffled.len()).rev() {
                shuffled.swap(i, rng.below(i + 1));
            }
            settings.iter().map(|setting| explained(&setting.groups, &shuffled)).fold(0.0, f64::max)
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    largest[(SHUFFLES as usize * 19 / 20).min(largest.len() - 1)]
}

/// The share of the variance of `scores` that lies between groups, less what chance would put there; at least 0.
fn explained(groups: &[usize], scores: &[f64]) -> f64 {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let total: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    let mut names = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    let between: f64 = names
        .iter()
        .map(|name| {
            let own: Vec<f64> = groups
                .iter()
                .zip(scores)
                .filter(|(group, _)| *group == name)
                .map(|(_, score)| *score)
                .collect();
            own.len() as f64 * (own.iter().sum::<f64>() / own.len() as f64 - mean).powi(2)
        })
        .sum();
    let k = names.len() as f64;
    if total <= 0.0 || n <= k {
        return 0.0;
    }
    // The estimate ω² of analysis of variance.
    let within = (total - between) / (n - k);
    ((between - (k - 1.0) * within) / (total + within)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_an_effect_do_not_stand_out() {
        let mut wrong = 0;
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let scores: Vec<f64> = (0..24).map(|_| rng.normal()).collect();
            let grouping = |_| {
                let groups: Vec<usize> = (0..24).map(|_| rng.below(3)).collect();
                Grouping { name: String::new(), values: vec![String::new(); 24], groups }
            };
            let mut settings: Vec<Grouping> = (0..18).map(grouping).collect();
            let threshold = chance(&settings, &scores);
            let stands_out =
                |setting: &Grouping, scores: &[f64]| explained(&setting.groups, scores) > threshold;
            wrong += usize::from(settings.iter().any(|setting| stands_out(setting, &scores)));
            // One that decides does.
            settings[0].groups = scores.iter().map(|&score| usize::from(score > 0.0)).collect();
            assert!(stands_out(&settings[0], &scores));
        }
        assert!(wrong < 8, "{wrong} of 40");
    }

    #[test]
    fn what_a_setting_explains_is_between_none_and_all() {
        let groups = [0, 0, 0, 0, 1, 1, 1, 1];
        assert!(explained(&groups, &[0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9]) > 0.99);
        assert_eq!(explained(&groups, &[0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9]), 0.0);
        assert_eq!(explained(&groups, &[0.5; 8]), 0.0);
        assert_eq!(explained(&[0; 8], &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), 0.0);
    }
}
