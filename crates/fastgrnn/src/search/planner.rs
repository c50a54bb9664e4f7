//! Which round is next.
//!
//! A round follows from the plan and from the trials before it alone. Every process that holds the same store plans the
//! same round.

use super::candidate::{Maker, TrialNetwork};
use super::datasets::Datasets;
use super::plan::Plan;
use super::propose::{Model, Observation};
use super::schedule::DIVISOR;
use super::store::{Part, Records, Round, Trial};
use super::{SearchError, space::Point};
use crate::lines::content_hash;
use crate::train::{Config, is_shared_key, lasting_settings};
use fastgrnn_core::metrics::Metric;
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::Dataset;
use toml::Table;

/// Proposals after which the rest of a round stays empty.
const MOST_PROPOSALS: u64 = 64;
/// Reasons that are told.
const MOST_REASONS: usize = 4;

/// A hash of everything that decides what a training comes to. `fingerprint` is that of the data.
pub(super) fn key(config: &Config, fingerprint: &str) -> String {
    content_hash(&[&lasting_settings(config).to_string(), fingerprint])
}

/// Plans rounds.
pub(super) struct Planner<'a> {
    pub plan: &'a Plan,
    pub maker: Maker<'a>,
    /// The figure by which trials are compared.
    pub metric: Metric,
    /// Whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Planner<'_> {
    /// The next round of the search; nothing once `most` settings were tried. The rounds so far are complete.
    pub fn next(
        &self,
        records: &Records,
        most: Option<usize>,
        datasets: &mut Datasets,
    ) -> Result<Option<Round>, SearchError> {
        let last = records.rounds().iter().rev().find(|(round, _)| round.part == Part::Search);
        if let Some((round, trials)) = last
            && let Some(next) = self.promoted(round, trials)
        {
            return Ok(Some(next));
        }
        let bracket = last.map_or(0, |(round, _)| round.bracket + 1);
        let left = most.map_or(usize::MAX, |most| most.saturating_sub(records.tried()));
        let size = self.plan.halving.cohort.min(left);
        if size == 0 {
            return Ok(None);
        }
        self.fresh(records, bracket, size, datasets)
    }

    /// The round in which the best of a round are trained longer, if there is one.
    fn promoted(&self, round: &Round, trials: &[Option<Trial>]) -> Option<Round> {
        if round.rung + 1 >= self.plan.halving.rungs {
            return None;
        }
        let mut best: Vec<&Trial> = trials.iter().flatten().filter(|trial| trial.val.is_some()).collect();
        best.sort_by(|a, b| a.quality(self.metric).compare(&b.quality(self.metric)));
        best.truncate(round.trials.len().div_ceil(DIVISOR));
        // In their old order, so that those that a GPU trains at once stay together.
        best.sort_by_key(|trial| trial.index);
        let trials: Vec<Table> = best.into_iter().map(|trial| trial.choices.clone()).collect();
        (!trials.is_empty()).then(|| Round { rung: round.rung + 1, trials, ..round.clone() })
    }

    /// A round of settings that were not tried; nothing if there are none left.
    fn fresh(
        &self,
        records: &Records,
        bracket: usize,
        size: usize,
        datasets: &mut Datasets,
    ) -> Result<Option<Round>, SearchError> {
        let dimensions = self.plan.space.dimensions();
        let model = Model::new(self.plan.proposer, dimensions, &self.observations(records));
        let mut trials: Vec<Table> = Vec::new();
        // Different choices can make the same training.
        let mut keys: Vec<String> = records.of_part(Part::Search).map(|trial| trial.key.clone()).collect();
        let mut reasons: Vec<String> = Vec::new();
        if bracket == 0
            && let Some(baseline) = self.maker.baseline(datasets)?
            && let Ok(key) = self.first_key(&baseline, datasets)?
        {
            trials.push(Table::new());
            keys.push(key);
        }
        let mut family: Option<Point> = None;
        for index in trials.len()..size {
            if index % self.plan.family == 0 {
                family = None;
            }
            let fixed: Vec<Option<f64>> = dimensions
                .iter()
                .enumerate()
                .map(|(d, dimension)| {
                    let key = dimension.name.split('.').next().unwrap_or_default();
                    family.as_ref().filter(|_| is_shared_key(key)).map(|first| first[d])
                })
                .collect();
            let found = trials.len();
            for attempt in 0..MOST_PROPOSALS {
                if (self.stop)() {
                    return Err(SearchError::Stopped);
                }
                let mut rng = Rng::keyed(self.plan.seed, &[bracket as u64, index as u64, attempt]);
                let point = model.propose(&fixed, &mut rng);
                let choices = self.plan.space.choices(&point);
                if trials.contains(&choices) || records.has_tried(&choices) {
                    continue;
                }
                match self.trainable(&choices, datasets)? {
                    Ok(key) if keys.contains(&key) => {}
                    Ok(key) => {
                        keys.push(key);
                        trials.push(choices);
                        family.get_or_insert(point);
                        break;
                    }
                    Err(why) if reasons.len() < MOST_REASONS && !reasons.contains(&why) => reasons.push(why),
                    Err(_) => {}
                }
            }
            // Nearly nothing fits, or nearly everything was tried.
            if trials.len() == found {
                break;
            }
        }
        if bracket == 0 && trials.len() < size && trials.iter().all(Table::is_empty) {
            if reasons.is_empty() {
                reasons.push("the settings that change make no difference".to_owned());
            }
            return Err(SearchError::Nothing(reasons));
        }
        let round = Round { part: Part::Search, bracket, rung: 0, trials };
        Ok((!round.trials.is_empty()).then_some(round))
    }

    /// The key of the first training of a network with these choices, if it can be trained. An error says why not.
    fn trainable(
        &self,
        choices: &Table,
        datasets: &mut Datasets,
    ) -> Result<Result<String, String>, SearchError> {
        match self.maker.candidate(choices, datasets)? {
            Ok(candidate) => self.first_key(&candidate, datasets),
            Err(why) => Ok(Err(why)),
        }
    }

    /// The key of the training of a candidate in the first rung, if it can be trained in every rung.
    fn first_key(
        &self,
        candidate: &TrialNetwork,
        datasets: &mut Datasets,
    ) -> Result<Result<String, String>, SearchError> {
        let data = datasets.of(&candidate.recipe)?;
        let short = (0..self.plan.halving.rungs).map(|rung| candidate.short(self.plan.halving, rung));
        let resolved: Result<Vec<Config>, _> = short.map(|recipe| recipe.resolve(data)).collect();
        Ok(match resolved {
            Ok(configs) => Ok(key(&configs[0], &datasets.fingerprint(&candidate.recipe)?)),
            Err(error) => Err(error.to_string()),
        })
    }

    /// What the trials so far teach.
    fn observations(&self, records: &Records) -> Vec<Observation> {
        let observation = |trial: &Trial| {
            let point = self.plan.space.point(&trial.choices)?;
            Some(Observation { point, rung: trial.rung, quality: trial.quality(self.metric) })
        };
        records.of_part(Part::Search).filter_map(observation).collect()
    }

    /// The finals after the trials so far: at most `most` of the best settings, those first that were trained longest, and
    /// the recipe as it was given. `is_affordable` is asked for each of them; the best one is in the finals all the same.
    pub fn finals(
        &self,
        records: &Records,
        most: usize,
        datasets: &mut Datasets,
        is_affordable: &mut dyn FnMut(&Config, &Dataset) -> bool,
    ) -> Result<Round, SearchError> {
        let mut best: Vec<&Trial> = records
            .of_part(Part::Search)
            .filter(|trial| trial.val.is_some() && !trial.choices.is_empty())
            .collect();
        best.sort_by(|a, b| {
            b.rung.cmp(&a.rung).then_with(|| a.quality(self.metric).compare(&b.quality(self.metric)))
        });
        let as_given = Table::new();
        let mut ranked: Vec<&Table> = best.iter().map(|trial| &trial.choices).collect();
        ranked.insert(ranked.len().min(1), &as_given);
        let (mut trials, mut settings): (Vec<Table>, Vec<Table>) = (Vec::new(), Vec::new());
        for choices in ranked {
            let found = trials.iter().filter(|trial| !trial.is_empty()).count();
            if trials.contains(choices) || (found == most && !choices.is_empty()) {
                continue;
            }
            let Ok(candidate) = self.network(choices, datasets)? else { continue };
            let config = self.whole(&candidate, datasets)?;
            let own = lasting_settings(&config);
            let is_best = trials.is_empty();
            if settings.contains(&own)
                || !(is_affordable(&config, datasets.of(&candidate.recipe)?) || is_best)
            {
                continue;
            }
            // The recipe as it was given comes first.
            let place = if choices.is_empty() { 0 } else { trials.len() };
            trials.insert(place, choices.clone());
            settings.push(own);
        }
        Ok(Round { part: Part::Finals, bracket: records.of_part(Part::Search).count(), rung: 0, trials })
    }

    /// All settings of the training of a candidate in the finals.
    fn whole(&self, candidate: &TrialNetwork, datasets: &mut Datasets) -> Result<Config, SearchError> {
        let recipe = candidate.whole(self.plan.seeds);
        Ok(recipe.resolve(datasets.of(&recipe)?)?)
    }

    /// The network of the choices of a trial, which are none for the recipe as it was given.
    pub fn network(
        &self,
        choices: &Table,
        datasets: &mut Datasets,
    ) -> Result<Result<TrialNetwork, String>, SearchError> {
        if choices.is_empty() {
            let baseline = self.maker.baseline(datasets)?;
            return Ok(baseline.ok_or_else(|| "the recipe does not fit the budget".to_owned()));
        }
        self.maker.candidate(choices, datasets)
    }
}
