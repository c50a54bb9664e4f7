//! Training as the commands `train`, `pareto` and `demo` do it.

use crate::confusion::confusion;
use crate::console::{Console, width};
use crate::misuse::misuse;
use crate::progress::{self, Watcher};
use crate::report;
use crate::scores::{score_text, short};
use crate::shell::resume_command;
use crate::table::facts;
use crate::{dataset, interrupt, runs};
use anyhow::Context;
use fastgrnn::data::{self, Request};
use fastgrnn::metrics::Scores;
use fastgrnn::report::{bytes, count, duration, fraction, number, quantity};
use fastgrnn::train::{self, Delivered, DeviceChoice, Outcome, REPORT_FILE, Recipe, RunOptions};
use std::path::{Path, PathBuf};

/// Reads a recipe file. A data set instead of a recipe gets an error of its own.
pub fn read_recipe(path: &Path) -> anyhow::Result<Recipe> {
    let name = path.display();
    let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let is_known = data::known_sets(None).iter().any(|set| Path::new(&set.name) == path);
    if is_known || (!is_toml && (path.is_dir() || Recipe::from_toml(path).is_err())) {
        return Err(misuse(format!("{name} is not a recipe (.toml); did you mean --dataset {name}?")));
    }
    Ok(Recipe::from_toml(path)?)
}

/// The folder of a run, and what happens to the run in it.
pub struct Place {
    pub out: Option<PathBuf>,
    /// It is continued.
    pub resume: bool,
    /// It is removed.
    pub replace: bool,
}

/// Loads the data, trains and writes the report.
pub fn train(
    recipe: &Recipe,
    place: Place,
    threads: usize,
    device: DeviceChoice,
    console: Console,
) -> anyhow::Result<Outcome> {
    let recipe = &with_absolute_paths(recipe);
    let request = Request { watch: progress::reading(&console), ..recipe.request() };
    let data = dataset::finish(data::load(&request), &request.source, console)?;
    let config = recipe.resolve(&data).context("the settings cannot be used")?;
    config.check_memory(&data, threads).context("the settings cannot be used")?;
    config.findings(&data).iter().for_each(|finding| console.note(&finding.to_string()));
    recipe.notes(&config, &data).iter().for_each(|note| console.note(note));
    let is_new = place.out.is_none();
    let out = match place.out {
        Some(out) => out,
        None => runs::fresh(&config.source.dataset, config.network.cell.name())?,
    };
    interrupt::listen();
    let options = RunOptions { out, resume: place.resume, threads, device };
    let mut watcher = Watcher::new(console);
    let outcome = match place.replace {
        true => train::run_anew(&config, &data, &options, &mut watcher),
        false => train::run(&config, &data, &options, &mut watcher),
    };
    if outcome.is_err() && is_new {
        runs::discard(&options.out);
    }
    let outcome = outcome?;
    drop(watcher);
    report::write(&outcome, &config, &data).with_context(|| {
        format!("the run is complete, but not its report; {}", resume_command(&options.out))
    })?;
    Ok(outcome)
}

/// The scores of the delivered model itself, beside the means over the seeds.
fn delivered_text(delivered: &Delivered) -> String {
    let short = |name: &str, scores: &Option<Scores>| {
        let (figure, value, is_share) = scores.as_ref()?.headline();
        let value = if is_share { fraction(value, None) } else { number(value) };
        Some(format!("{name} {figure} {value}"))
    };
    let scores = [short("validation", &delivered.val), short("test", &delivered.test)];
    let scores: Vec<String> = scores.into_iter().flatten().collect();
    match scores.is_empty() {
        true => format!("seed {}, the first: there is no validation part to choose by", delivered.seed),
        false => format!("seed {}: {}", delivered.seed, scores.join(", ")),
    }
}

/// The recipe with paths that mean the same in every folder, so that the run can be continued from any.
pub fn with_absolute_paths(recipe: &Recipe) -> Recipe {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    recipe.clone().with(|r| {
        let is_known = |name: &str| data::known_sets(None).iter().any(|set| set.name == name);
        let path = r.source.dataset.as_ref().filter(|name| !is_known(name)).map(PathBuf::from);
        if let Some(path) =
            path.filter(|path| path.exists()).as_ref().map(absolute).as_deref().and_then(Path::to_str)
        {
            r.source.dataset = Some(path.to_owned());
        }
        r.source.test = r.source.test.as_ref().map(absolute);
        // A manifest is named by its path in the data, or by that of a file elsewhere.
        let data = r.source.dataset.as_ref().map(PathBuf::from).unwrap_or_default();
        if let Some(manifest) = r.data.manifest.as_ref().filter(|manifest| !data.join(manifest).is_file())
            && manifest.is_file()
        {
            let manifest = absolute(manifest);
            let inside = manifest.strip_prefix(&data).ok().map(Path::to_path_buf);
            r.data.manifest = Some(inside.unwrap_or(manifest));
        }
        r.data.data_dir = r.data.data_dir.as_ref().map(absolute);
        r.training.teacher = r.training.teacher.as_ref().map(absolute);
        r.parameters.word_vectors = r.parameters.word_vectors.as_ref().map(absolute);
    })
}

/// The result as text.
pub fn outcome_text(outcome: &Outcome) -> String {
    let s = &outcome.summary;
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
        let folds = match s.cv.len() {
            0 => String::new(),
            folds => format!(", over {folds} folds"),
        };
        rows.push(("validation", score_text(val, s.val_sd.as_ref()) + &folds));
    }
    if s.seeds.len() > 1 {
        rows.push(("delivered", delivered_text(&s.delivered)));
    }
    rows.push(("network", format!("{}, {} parameters", s.cell, count(s.params as u64))));
    let form = if s.model_float.is_some() { "on a device" } else { "as f32" };
    let front = s
        .bytes
        .front_end
        .map_or(String::new(), |front| format!("; the front end's tables {}", bytes(front as u64)));
    rows.push(("size", format!("{} {form}{front}", bytes(s.bytes.total as u64))));
    let seeds = quantity(s.seeds.len() as u64, "seed");
    rows.push(("time", format!("{} for {seeds}", duration(s.seconds))));
    rows.push(("model", short(&s.model)));
    rows.push(("report", short(&s.run.join(REPORT_FILE))));
    let best = outcome.records.iter().find(|r| r.result.seed == s.best_seed);
    let part =
        best.and_then(|r| r.test.as_ref().map(|e| ("test", e)).or(r.val.as_ref().map(|e| ("validation", e))));
    let matrix = match part {
        Some((name, e)) if e.confusion.is_some() => {
            let matrix = e.confusion.as_ref().map_or(String::new(), |m| confusion(m, &e.labels, width()));
            format!("\nConfusion matrix of the {name} set, seed {}:\n\n{matrix}\n", s.best_seed)
        }
        _ => String::new(),
    };
    format!("{matrix}{}", facts(&rows))
}
