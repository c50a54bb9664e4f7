//! A search as the commands `search` and `tune` do it.

mod watcher;

pub use watcher::SearchWatcher;

use watcher::round_name;

use crate::console::Console;
use crate::failure::Stopped;
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::scores::{score_text, short};
use crate::shell::{own_command, quoted};
use crate::table::{facts, table};
use crate::training::{read_recipe, with_absolute_paths};
use crate::{interrupt, progress, runs};
use fastgrnn::data::{self, Dataset, Request};
use fastgrnn::report::{
    FRONT_HEADING, IMPORTANCE_HEADING, SearchReport, bytes, front_row, importance_row, number, quantity,
};
use fastgrnn::search::{
    self, Budget, Datasets, Limit, PLAN_FILE, Plan, Records, SearchError, SearchOptions, SearchOutcome,
    Shard, Space, Winner,
};
use fastgrnn::train::{DeviceChoice, Recipe, RecipeError};
use serde::Serialize;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The page of a search, in its folder.
const REPORT_FILE: &str = "search.html";
/// What a search prints with `--json`.
#[derive(Serialize)]
pub struct SearchOutput<'a> {
    /// The folder of the search.
    pub run: &'a Path,
    pub dataset: &'a str,
    #[serde(flatten)]
    pub outcome: &'a SearchOutcome,
    /// The page.
    pub report: PathBuf,
}

/// What was given of a search.
pub struct Given {
    /// The command, which also names folders.
    pub kind: &'static str,
    pub recipe: Option<PathBuf>,
    pub flags: Recipe,
    pub budget_bytes: Option<usize>,
    pub out: Option<PathBuf>,
    pub resume: bool,
    pub threads: usize,
    pub device: DeviceChoice,
    pub shard: Shard,
}

/// Searches, or continues a search, and prints what it came to. `limit` says when to end, where the folder may know
/// how many trials were asked for; `change` makes a plan that of the command.
pub fn run(
    given: Given,
    limit: &dyn Fn(Option<usize>) -> Limit,
    change: &dyn Fn(Plan) -> Plan,
    console: Console,
) -> anyhow::Result<()> {
    // A folder with a search says what was searched where nothing else is named.
    let stored = |out: &Option<PathBuf>| match out {
        Some(out) if given.resume && out.join(PLAN_FILE).exists() => Plan::read(out).map(Some),
        _ => Ok(None),
    };
    let base = match &given.recipe {
        Some(path) => read_recipe(path)?,
        None => stored(&given.out)?.map_or_else(Recipe::default, |plan| plan.recipe),
    };
    let recipe = with_absolute_paths(&base.overlay(given.flags.clone()));
    let Some(dataset) = recipe.source.dataset.clone() else {
        let text = "nothing to search with: name a recipe file, or a data set with --dataset NAME|PATH";
        return Err(misuse(text));
    };
    let out = runs::place(&dataset, given.kind, given.out.clone(), given.resume, PLAN_FILE)?;
    let load = loader(console);
    let mut datasets = Datasets::new(&load);
    let plan = change(plan(recipe, &given, stored(&out)?, &mut datasets)?);
    let is_new = out.is_none();
    let out = std::path::absolute(match out {
        Some(out) => out,
        None => runs::fresh(&dataset, given.kind)?,
    })?;
    let stored_trials = if given.resume { Plan::most_trials(&out)? } else { None };
    let options = SearchOptions {
        out: out.clone(),
        threads: given.threads,
        device: given.device,
        limit: limit(stored_trials),
        shard: given.shard,
    };
    let names: Vec<&str> = plan.space.dimensions().iter().map(|d| d.name.as_str()).collect();
    console.note(&format!("searching {}; a bracket is {}", names.join(", "), plan.halving.described()));
    interrupt::listen();
    let mut watcher = SearchWatcher::new(console);
    let result = search::run(&plan, &mut datasets, &options, &interrupt::is_requested, &mut watcher);
    if result.is_err() && is_new {
        runs::discard(&out);
    }
    let command = own_command(given.recipe.as_deref(), &out);
    let outcome = result.map_err(|error| failed(error, &command))?;
    drop(watcher);
    answer(&out, &outcome, command, console)
}

/// The plan of a search: the one that is `stored`, if there is one, with everything that was given.
fn plan(
    recipe: Recipe,
    given: &Given,
    stored: Option<Plan>,
    datasets: &mut Datasets,
) -> anyhow::Result<Plan> {
    let declared = match &given.recipe {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|source| cannot_read(path, source))?;
            Space::from_toml_str(&text, &path.display().to_string())?
        }
        None => None,
    };
    let plan = match stored {
        Some(plan) => plan,
        None => {
            let on_gpu = given.device.is_gpu();
            let budget = Budget { bytes: given.budget_bytes, limits: recipe.limits() };
            let space = match &declared {
                Some(space) => space.clone(),
                None => Space::usual(&recipe, datasets.of(&recipe)?, &budget, on_gpu),
            };
            let plan = Plan::new(recipe.clone(), space, budget);
            if on_gpu { plan.on_gpu() } else { plan }
        }
    };
    let space = declared.unwrap_or(plan.space);
    if space.dimensions().is_empty() {
        return Err(SearchError::NoSpace.into());
    }
    let budget = Budget { bytes: given.budget_bytes.or(plan.budget.bytes), limits: recipe.limits() };
    space.check(&recipe, &budget)?;
    Ok(Plan {
        space,
        budget,
        seeds: recipe.training.seeds.unwrap_or(plan.seeds),
        seed: recipe.training.seed.unwrap_or(plan.seed),
        recipe,
        ..plan
    })
}

fn cannot_read(path: &Path, source: std::io::Error) -> RecipeError {
    RecipeError::Read { path: path.to_owned(), source }
}

/// Reads data sets, and prints the notes of the readers, each once.
pub fn loader(console: Console) -> impl Fn(&Request) -> Result<Dataset, data::DataError> {
    let noted: RefCell<Vec<String>> = RefCell::default();
    move |request| {
        let data = data::load(&Request { watch: progress::reading(&console), ..request.clone() })?;
        let mut noted = noted.borrow_mut();
        for note in &data.notes {
            if !noted.contains(note) {
                console.note(note);
                noted.push(note.clone());
            }
        }
        Ok(data)
    }
}

/// The error of a search that stopped: one that can be continued says how.
fn failed(error: SearchError, command: &str) -> anyhow::Error {
    match error {
        SearchError::Interrupted { .. } => {
            let resume = format!("{command} --resume");
            Stopped { what: format!("continue with: {resume}"), resume: Some(resume) }.into()
        }
        SearchError::Stopped => Stopped { what: "nothing was trained yet".into(), resume: None }.into(),
        error => error.into(),
    }
}

/// Writes the page of a search and prints what it came to.
pub fn answer(out: &Path, outcome: &SearchOutcome, command: String, console: Console) -> anyhow::Result<()> {
    let out = &std::path::absolute(out)?;
    let plan = Plan::read(out)?;
    let dataset = plan.recipe.source.dataset.clone().unwrap_or_default();
    let report = SearchReport {
        dataset: short(Path::new(&dataset)),
        outcome,
        records: &Records::read(out)?,
        space: &plan.space,
        course: plan.halving.described(),
        next: outcome.winner.as_ref().map_or_else(Vec::new, |winner| next(winner, &plan)),
        command,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let path = out.join(REPORT_FILE);
    write_whole(&path, report.html().as_bytes())?;
    let output = SearchOutput { run: out, dataset: &dataset, outcome, report: path };
    console.answer(&output, || describe(&output, &report.next))
}

/// Commands that a user may want next.
fn next(winner: &Winner, plan: &Plan) -> Vec<String> {
    let path = |path: &Path| quoted(&short(path));
    let source = &plan.recipe.source;
    let mut eval = format!("fastgrnn eval {}", path(&winner.model));
    if let Some(dataset) = &source.dataset {
        eval.push_str(&format!(" --dataset {}", path(Path::new(dataset))));
    }
    if let Some(test) = &source.test {
        eval.push_str(&format!(" --test {}", path(test)));
    }
    let mut commands = vec![format!("fastgrnn train {}", path(&winner.recipe)), eval];
    if winner.is_integer {
        let target = path(&winner.recipe.with_file_name("c"));
        commands.push(format!("fastgrnn export {} --target c -o {target}", path(&winner.model)));
    }
    commands
}

/// Settings that mattered most that are shown; the page shows all.
const MOST_SETTINGS: usize = 5;

fn describe(output: &SearchOutput, next: &[String]) -> String {
    let outcome = output.outcome;
    let mut text = String::new();
    if !outcome.front.is_empty() {
        let rows: Vec<Vec<String>> = outcome.front.iter().map(|p| front_row(p, outcome.metric)).collect();
        text.push_str("Networks that no other beats on validation without being larger or slower:\n\n");
        text.push_str(&table(&FRONT_HEADING, &rows));
        text.push('\n');
    }
    let important = outcome.importance.iter().filter(|i| i.stands_out).take(MOST_SETTINGS);
    let important: Vec<Vec<String>> =
        important.map(|i| importance_row(i, outcome.metric.is_some())).collect();
    if !important.is_empty() {
        text.push_str("What mattered in the first rung:\n\n");
        text.push_str(&table(&IMPORTANCE_HEADING, &important));
        text.push('\n');
    }
    let mut rows = vec![("tried", format!("{} of settings", quantity(outcome.trials as u64, "combination")))];
    if let Some(winner) = &outcome.winner {
        winner_rows(winner, &mut rows);
    }
    if let Some(waiting) = &outcome.waiting {
        let part = round_name(waiting.part, waiting.bracket, waiting.rung);
        rows.push(("next", format!("{part}: {} of {} trials are done", waiting.done, waiting.of)));
        rows.push(("then", "join the folders of all shards with fastgrnn search --merge DIR…".into()));
    }
    rows.push(("report", short(&output.report)));
    text.push_str(&facts(&rows));
    if !next.is_empty() {
        text.push_str("\n  try next:\n");
        next.iter().for_each(|command| text.push_str(&format!("    {command}\n")));
    }
    text
}

fn winner_rows(winner: &Winner, rows: &mut Vec<(&'static str, String)>) {
    let form = if winner.is_integer { "on a device" } else { "as f32" };
    let ms = winner.size.ms.map_or(String::new(), |ms| format!(", {} ms (modelled)", number(ms)));
    let units = quantity(winner.hidden as u64, "unit");
    rows.push(("winner", format!("{}, {units}, {} {form}{ms}", winner.cell, bytes(winner.bytes as u64))));
    rows.push(("validation", score_text(&winner.val, winner.val_sd.as_ref())));
    if let Some(baseline) = &winner.baseline {
        let size = winner.baseline_bytes.map_or(String::new(), |size| format!(", {}", bytes(size as u64)));
        rows.push(("before", format!("{}{size}, as it was given", score_text(baseline, None))));
    }
    if let Some(test) = &winner.test {
        rows.push(("test", score_text(test, winner.test_sd.as_ref())));
    }
    match winner.changes.as_deref() {
        None => rows.push(("changed", "the recipe as it was given does not fit, or failed".into())),
        Some([]) => {
            rows.push(("changed", "nothing: the recipe as it was given is the best one found".into()))
        }
        Some(changes) => {
            for (place, change) in changes.iter().enumerate() {
                rows.push((if place == 0 { "changed" } else { "" }, change.to_string()));
            }
        }
    }
    rows.push(("recipe", short(&winner.recipe)));
    rows.push(("model", short(&winner.model)));
}
