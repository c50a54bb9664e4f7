//! `fastgrnn train`

use crate::args::TrainArgs;
use crate::commands::report;
use crate::console::Console;
use crate::misuse::misuse;
use crate::progress::{self, Watcher};
use crate::table::{confusion, facts};
use crate::{interrupt, runs};
use anyhow::Context;
use fastgrnn::data::{self, Request};
use fastgrnn::metrics::Scores;
use fastgrnn::report::{bytes, count, duration, fraction, number, number_sd};
use fastgrnn::train::{self, Recipe, RunOptions, SeedRecord, Summary};
use std::path::{Path, PathBuf};

/// Trains, writes the report, prints the result.
pub fn run(args: TrainArgs, console: Console) -> anyhow::Result<()> {
    let recipe = match &args.recipe {
        Some(path) => read_recipe(path)?.overlay(args.flags),
        None => args.flags,
    };
    let (recipe, place) = place(recipe, args.out, args.resume, console)?;
    let done = train(&recipe, place, args.threads.count(), console)?;
    console.answer(&done.summary, || done.text())
}

/// Reads a recipe file. A data set in its place is a slip that deserves its own answer.
pub fn read_recipe(path: &Path) -> anyhow::Result<Recipe> {
    let name = path.display();
    let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let is_known = data::known_sets(None).iter().any(|set| Path::new(&set.name) == path);
    if is_known || (!is_toml && (path.is_dir() || Recipe::from_toml(path).is_err())) {
        return Err(misuse(format!("{name} is not a recipe (.toml); did you mean --dataset {name}?")));
    }
    Ok(Recipe::from_toml(path)?)
}

/// Where a run goes and whether one is there to continue.
pub struct Place {
    pub out: Option<PathBuf>,
    pub resume: bool,
}

/// A finished run with what its report needs.
pub struct Done {
    pub summary: Summary,
    pub records: Vec<SeedRecord>,
}

/// Decides the run folder; a folder to resume also brings its settings.
fn place(
    recipe: Recipe,
    out: Option<PathBuf>,
    resume: bool,
    console: Console,
) -> anyhow::Result<(Recipe, Place)> {
    let named = |r: &Recipe| {
        let cell = r.cell.unwrap_or(fastgrnn::cells::CellKind::FastGrnn);
        r.dataset.clone().map(|dataset| (dataset, cell))
    };
    let out = match (resume, out) {
        (true, None) => {
            let (dataset, cell) = named(&recipe)
                .ok_or_else(|| misuse("--resume needs to know which run: add --out RUN, the run's folder"))?;
            let newest = runs::newest(&dataset, cell.name());
            Some(newest.ok_or_else(|| {
                misuse(format!("there is no run of {dataset} with {cell} under runs/ to resume"))
            })?)
        }
        (_, out) => out,
    };
    let config = out.as_ref().map(|out| out.join("config.toml")).filter(|c| c.exists());
    match (resume, config) {
        (true, Some(config)) => {
            let stored = Recipe::from_toml(&config).context("cannot resume")?;
            Ok((stored.overlay(recipe), Place { out, resume: true }))
        }
        (resume, _) if recipe.dataset.is_none() => Err(misuse(match (resume, &out) {
            (true, Some(out)) => format!("{} holds no run to resume", out.display()),
            _ => "nothing to train on: name a recipe file, or a data set with --dataset NAME|PATH \
                  (fastgrnn data list shows the known ones)"
                .into(),
        })),
        (resume, _) => {
            if let (true, Some(out)) = (resume, &out) {
                console.note(&format!("{} holds no run yet: starting one", out.display()));
            }
            Ok((recipe, Place { out, resume: false }))
        }
    }
}

/// Loads, trains, writes the report.
pub fn train(recipe: &Recipe, place: Place, threads: usize, console: Console) -> anyhow::Result<Done> {
    let request = Request { watch: progress::reading(&console), ..recipe.request() };
    let data =
        data::load(&request).with_context(|| format!("cannot read the data set '{}'", request.source))?;
    data.notes.iter().for_each(|note| console.note(note));
    let config = recipe.resolve(&data).context("the settings cannot be used")?;
    config.check_memory(&data, threads).context("the settings cannot be used")?;
    recipe.notes(&config, &data).iter().for_each(|note| console.note(note));
    let out = match place.out {
        Some(out) => out,
        None => runs::fresh(&config.dataset, config.cell.name())?,
    };
    interrupt::listen();
    let options = RunOptions { out: out.clone(), resume: place.resume, threads };
    let mut watcher = Watcher::new(console);
    let summary = train::run(&config, &data, &options, &mut watcher)?;
    drop(watcher);
    let records = read_records(&summary)?;
    report::write(&summary, &config, &records, &data)?;
    Ok(Done { summary, records })
}

fn read_records(summary: &Summary) -> anyhow::Result<Vec<SeedRecord>> {
    summary.seeds.iter().map(|s| read_record(&summary.run.join(format!("seed-{}", s.seed)))).collect()
}

fn read_record(folder: &Path) -> anyhow::Result<SeedRecord> {
    let path = folder.join("result.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
}

impl Done {
    /// The result for people.
    pub fn text(&self) -> String {
        let s = &self.summary;
        let mut rows = Vec::new();
        if let Some(test) = &s.test {
            rows.push(("test", score_text(test, s.test_sd.as_ref())));
        }
        if let Some(float) = &s.test_float {
            rows.push(("test, float", score_text(float, None)));
        }
        let agreements: Option<Vec<f64>> = s.seeds.iter().map(|seed| seed.agreement).collect();
        if let Some(all) = agreements {
            let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
            rows.push(("agree on", format!("{} of the test set", fraction(mean, None))));
        }
        if let Some(val) = &s.val {
            rows.push(("validation", score_text(val, None)));
        }
        rows.push(("network", format!("{}, {} parameters", s.cell, count(s.params as u64))));
        let form = if s.model_float.is_some() { "on a device" } else { "as f32" };
        let front = s
            .bytes
            .front_end
            .map_or(String::new(), |front| format!("; the front end's tables {}", bytes(front as u64)));
        rows.push(("size", format!("{} {form}{front}", bytes(s.bytes.total as u64))));
        let seeds = if s.seeds.len() == 1 { "1 seed".into() } else { format!("{} seeds", s.seeds.len()) };
        rows.push(("time", format!("{} for {seeds}", duration(s.seconds))));
        rows.push(("model", short(&s.model)));
        rows.push(("report", short(&s.run.join("report.html"))));
        let best = self.records.iter().find(|r| r.result.seed == s.best_seed);
        let part = best
            .and_then(|r| r.test.as_ref().map(|e| ("test", e)).or(r.val.as_ref().map(|e| ("validation", e))));
        let matrix = match part {
            Some((name, e)) if e.confusion.is_some() => {
                let matrix = e.confusion.as_ref().map_or(String::new(), |m| confusion(m, &e.labels));
                format!("\nConfusion matrix of the {name} set, seed {}:\n\n{matrix}\n", s.best_seed)
            }
            _ => String::new(),
        };
        format!("{matrix}{}", facts(&rows))
    }
}

/// A path as a person would type it here: relative where it lies under the current folder.
pub fn short(path: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    let inside = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    inside.unwrap_or(path).display().to_string()
}

/// How well the positive class is found, where there is one.
fn found_text(s: &Scores, sd: Option<&Scores>) -> String {
    let (Some(f1), Some(precision), Some(recall), Some(threshold)) =
        (s.f1, s.precision, s.recall, s.threshold)
    else {
        return String::new();
    };
    format!(
        "F1 {}, precision {}, recall {} at threshold {}, ",
        fraction(f1, sd.and_then(|s| s.f1)),
        fraction(precision, sd.and_then(|s| s.precision)),
        fraction(recall, sd.and_then(|s| s.recall)),
        number(threshold)
    )
}

/// Accuracy and F1, or the errors of a regression.
pub fn score_text(s: &Scores, sd: Option<&Scores>) -> String {
    let plain = |v: f64, d: Option<f64>| d.map_or_else(|| number(v), |d| number_sd(v, d));
    match (s.accuracy, s.f1_macro, s.rmse) {
        (Some(a), Some(f), _) => format!(
            "{}accuracy {}, macro F1 {}, loss {}, n {}",
            found_text(s, sd),
            fraction(a, sd.and_then(|s| s.accuracy)),
            plain(f, sd.and_then(|s| s.f1_macro)),
            plain(s.loss, sd.map(|s| s.loss)),
            count(s.n as u64)
        ),
        (_, _, Some(rmse)) => format!(
            "root mean squared error {}, mean absolute error {}, R² {}, n {}",
            plain(rmse, sd.and_then(|s| s.rmse)),
            s.mae.map_or("-".into(), number),
            s.r2.map_or("-".into(), number),
            count(s.n as u64)
        ),
        _ => format!("loss {}, n {}", plain(s.loss, sd.map(|s| s.loss)), count(s.n as u64)),
    }
}
