//! What decides the course of a search, and the file that remembers it.

use super::SearchError;
use super::propose::Proposer;
use super::schedule::Halving;
use super::sizing::Budget;
use super::space::Space;
use crate::train::Recipe;
use fastgrnn_core::files::write_atomic;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use toml::{Table, Value};

/// The name of the file in the folder of a search.
pub const PLAN_FILE: &str = "search.toml";

/// What decides the course of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The settings that do not change, and those of the first trial.
    pub recipe: Recipe,
    /// What changes.
    pub space: Space,
    /// What the network may need.
    pub budget: Budget,
    /// How points are proposed.
    pub proposer: Proposer,
    /// The rounds.
    pub halving: Halving,
    /// Trials of a cohort that share the settings that a GPU cannot mix; 1 for none.
    pub family: usize,
    /// Seed of the proposals.
    pub seed: u64,
    /// The most networks that are trained as finalists, besides the recipe as it was given.
    pub finalists: usize,
    /// Seeds of a finalist and of the winner.
    pub seeds: usize,
    /// Whether the winner is measured on the test part.
    pub reads_test: bool,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PlanFile {
    data: String,
    /// How many settings are tried, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trials: Option<usize>,
    seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget_bytes: Option<usize>,
    proposer: Proposer,
    cohort: usize,
    rungs: usize,
    family: usize,
    finalists: usize,
    seeds: usize,
    reads_test: bool,
    recipe: Table,
    search: Table,
}

impl Plan {
    /// A plan with the usual rounds for the CPU.
    pub fn new(recipe: Recipe, space: Space, budget: Budget) -> Self {
        Self {
            recipe,
            space,
            budget,
            proposer: Proposer::default(),
            halving: Halving { cohort: 12, rungs: 3 },
            family: 1,
            seed: 0,
            finalists: 3,
            seeds: 3,
            reads_test: true,
        }
    }

    /// The same with rounds that keep a GPU busy.
    pub fn on_gpu(self) -> Self {
        let halving = Halving { cohort: GPU_COHORT, ..self.halving };
        Self { halving, family: GPU_FAMILY, ..self }
    }

    fn file(&self, data: &str, trials: Option<usize>) -> PlanFile {
        PlanFile {
            data: data.to_owned(),
            trials,
            seed: self.seed,
            budget_bytes: self.budget.bytes,
            proposer: self.proposer,
            cohort: self.halving.cohort,
            rungs: self.halving.rungs,
            family: self.family,
            finalists: self.finalists,
            seeds: self.seeds,
            reads_test: self.reads_test,
            recipe: Table::try_from(&self.recipe).expect("a recipe has no values that TOML lacks"),
            search: self.space.to_table(),
        }
    }

    /// Writes the plan into a folder, or checks that the folder is that of this plan. `data` is the fingerprint of the
    /// data; how many settings are tried may change.
    pub(super) fn claim(&self, folder: &Path, data: &str, trials: Option<usize>) -> Result<(), SearchError> {
        let path = folder.join(PLAN_FILE);
        let own = self.file(data, trials);
        if let Some(known) = read_file(&path)? {
            if known.data != own.data {
                let differences = vec!["the data is not the same".to_owned()];
                return Err(SearchError::Changed { folder: folder.to_owned(), differences });
            }
            let differences = differences(&known, &own);
            if !differences.is_empty() {
                return Err(SearchError::Changed { folder: folder.to_owned(), differences });
            }
        }
        let text = toml::to_string(&own).expect("a plan has no values that TOML lacks");
        // Only where the data is, and how many settings are tried, may have changed.
        if std::fs::read_to_string(&path).is_ok_and(|stored| stored == text) {
            return Ok(());
        }
        write_atomic(&path, text.as_bytes()).map_err(|source| SearchError::Io { path, source })
    }

    /// How many settings the search of a folder tries, if it was said.
    pub fn most_trials(folder: &Path) -> Result<Option<usize>, SearchError> {
        Ok(read_file(&folder.join(PLAN_FILE))?.and_then(|file| file.trials))
    }

    /// The plan that a folder holds.
    pub fn read(folder: &Path) -> Result<Self, SearchError> {
        let path = folder.join(PLAN_FILE);
        let damaged = |what: String| SearchError::Damaged { path: path.clone(), line: 1, what };
        let Some(file) = read_file(&path)? else {
            return Err(SearchError::NoSearch { folder: folder.to_owned() });
        };
        let text = toml::to_string(&file.recipe).map_err(|error| damaged(error.to_string()))?;
        let recipe = Recipe::from_toml_str(&text, &path.display().to_string())
            .map_err(|error| damaged(error.to_string()))?;
        let budget = Budget { bytes: file.budget_bytes, limits: recipe.limits() };
        if !(1..=MAX_COHORT).contains(&file.cohort)
            || file.rungs == 0
            || file.rungs > MAX_RUNGS
            || file.family == 0
            || file.seeds == 0
        {
            return Err(damaged(format!(
                "cohort, rungs, family and seeds are whole numbers from 1, cohort at most {MAX_COHORT}, rungs at most {MAX_RUNGS}"
            )));
        }
        Ok(Self {
            space: Space::from_table(&file.search).map_err(damaged)?,
            recipe,
            budget,
            proposer: file.proposer,
            halving: Halving { cohort: file.cohort, rungs: file.rungs },
            family: file.family,
            seed: file.seed,
            finalists: file.finalists,
            seeds: file.seeds,
            reads_test: file.reads_test,
        })
    }
}

/// Trials that a bracket begins with on a GPU.
const GPU_COHORT: usize = 96;
/// Trials of a bracket on a GPU that share the settings that networks trained at once share.
const GPU_FAMILY: usize = 16;

/// The most trials that a bracket can begin with.
pub const MAX_COHORT: usize = 4_096;
/// More rungs begin with trainings of less than a hundredth.
pub const MAX_RUNGS: usize = 6;

/// Refuses folders of different searches.
pub(super) fn check_equal(folders: &[std::path::PathBuf]) -> Result<(), SearchError> {
    let mut first: Option<PlanFile> = None;
    for folder in folders {
        let Some(file) = read_file(&folder.join(PLAN_FILE))? else {
            return Err(SearchError::NoSearch { folder: folder.clone() });
        };
        match &first {
            None => first = Some(file),
            Some(first) => {
                let differences = differences(first, &file);
                if !differences.is_empty() {
                    return Err(SearchError::Changed { folder: folder.clone(), differences });
                }
            }
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Option<PlanFile>, SearchError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|source| SearchError::Io { path: path.to_owned(), source })?,
    };
    let line = |error: &toml::de::Error| {
        1 + text.bytes().take(error.span().map_or(0, |span| span.start)).filter(|&b| b == b'\n').count()
    };
    toml::from_str(&text).map(Some).map_err(|error| SearchError::Damaged {
        path: path.to_owned(),
        line: line(&error),
        what: error.message().to_owned(),
    })
}

/// Settings that say where things are: the content of the data is compared instead.
const PLACES: [&str; 3] = ["dataset", "test", "data-dir"];

/// Each value that differs, with both.
fn differences(before: &PlanFile, now: &PlanFile) -> Vec<String> {
    let table = |file: &PlanFile| Table::try_from(file).expect("a plan has no values that TOML lacks");
    let mut found = Vec::new();
    compare("", &Value::Table(table(before)), &Value::Table(table(now)), &mut found);
    found
}

fn compare(name: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Table(a), Value::Table(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            let is_compared = |key: &&String| match name {
                "" => key.as_str() != "trials",
                "recipe" => !PLACES.contains(&key.as_str()),
                _ => true,
            };
            for key in keys.into_iter().filter(is_compared) {
                let full = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => compare(&full, a, b, found),
                    (a, b) => {
                        let text = |v: Option<&Value>| v.map_or("unset".to_owned(), |v| v.to_string());
                        found.push(format!("{full} was {}, is now {}", text(a), text(b)));
                    }
                }
            }
        }
        (a, b) if a != b => found.push(format!("{name} was {a}, is now {b}")),
        _ => {}
    }
}
