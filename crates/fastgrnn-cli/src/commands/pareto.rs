//! `fastgrnn pareto`

use crate::args::ParetoArgs;
use crate::console::Console;
use crate::failure::Stopped;
use crate::misuse::misuse;
use crate::progress::{self, Watcher};
use crate::report::write_whole;
use crate::scores::short;
use crate::shell::quoted;
use crate::table::{facts, table};
use crate::training::read_recipe;
use crate::{dataset, interrupt, runs};
use anyhow::bail;
use fastgrnn::data::{self, Dataset, Request};
use fastgrnn::pareto::{self, Grid, ParetoError, TrainedCandidate};
use fastgrnn::report::{PARETO_HEADING, ParetoReport, bytes, pareto_row, quantity};
use fastgrnn::train::{DeviceChoice, Recipe, RunOptions, TrainError};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where the runs of the points lie.
const POINTS: &str = "points";

#[derive(Serialize)]
struct ParetoOutput<'a> {
    run: &'a Path,
    dataset: &'a str,
    points: &'a [TrainedCandidate],
    /// For each budget, and within it for each cell, what to take; chosen on validation.
    best: Vec<BestCandidate<'a>>,
    report: PathBuf,
}

#[derive(Serialize)]
struct BestCandidate<'a> {
    budget: usize,
    /// Null for the best of all cells.
    cell: Option<&'a str>,
    point: &'a str,
}

/// Trains a grid and shows accuracy against bytes.
pub fn run(args: ParetoArgs, console: Console) -> anyhow::Result<()> {
    let recipe = recipe(&args, console)?;
    let Some(dataset) = recipe.source.dataset.clone() else {
        return Err(misuse(
            "nothing to train on: name a recipe file, or a data set with --dataset NAME|PATH",
        ));
    };
    let out = place(&dataset, args.out.clone(), args.resume)?;
    let data = read(&recipe, console)?;
    let defaults = Grid::default();
    let grid = Grid {
        budgets: args.budget_bytes.clone(),
        cells: args.cells.clone(),
        rank_shares: args.rank_shares.clone().unwrap_or(defaults.rank_shares),
        kept: args.kept.clone().unwrap_or(defaults.kept),
    };
    let list = pareto::grid(&recipe, &data, &grid)?;
    list.notes.iter().for_each(|note| console.note(note));
    // Only now: settings that cannot be used leave nothing behind.
    let out = std::path::absolute(match out {
        Some(out) => out,
        None => runs::fresh(&dataset, "pareto")?,
    })?;
    let points = train_points(&list, &data, &out, &args, console)?;
    let best = best_of(&points, &grid);
    let (html, command) = (out.join("pareto.html"), command(&args, &out));
    let report = ParetoReport {
        dataset: data.name.clone(),
        points: &points,
        chosen: best.iter().filter(|b| b.cell.is_none()).map(|b| (b.budget, b.point.to_owned())).collect(),
        command,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let answer = ParetoOutput { run: &out, dataset: &dataset, points: &points, best, report: html };
    write_whole(&answer.report, report.html().as_bytes())?;
    write_whole(&out.join("pareto.md"), report.markdown().as_bytes())?;
    write_whole(&out.join("pareto.svg"), report.svg().unwrap_or_default().as_bytes())?;
    write_whole(&out.join("pareto.json"), serde_json::to_string_pretty(&answer)?.as_bytes())?;
    console.answer(&answer, || describe(&answer))
}

/// The recipe with its flags. Sizes that the budgets decide are refused as flags and noted in a recipe.
fn recipe(args: &ParetoArgs, console: Console) -> anyhow::Result<Recipe> {
    if let Some(key) = pareto::decided(&args.flags).first() {
        return Err(misuse(format!(
            "--{key} would have no effect: the budgets decide sizes, --rank-shares and --kept what is tried \
             (fastgrnn train takes --{key})"
        )));
    }
    if args.flags.network.cell.is_some() && !args.cells.is_empty() {
        return Err(misuse("--cell and --cells: name all cells with --cells"));
    }
    let Some(path) = &args.recipe else { return Ok(args.flags.clone()) };
    let recipe = read_recipe(path)?;
    match pareto::decided(&recipe).as_slice() {
        [] => {}
        keys => {
            console.note(&format!("{} of the recipe is not used: the budgets decide it", keys.join(", ")))
        }
    }
    Ok(recipe.overlay(args.flags.clone()))
}

/// The folder to use, if it is known; one that holds points is continued only with `--resume`.
fn place(dataset: &str, out: Option<PathBuf>, resume: bool) -> anyhow::Result<Option<PathBuf>> {
    let out = match (out, resume) {
        (None, true) => {
            let newest = runs::newest(dataset, "pareto");
            return newest.map(Some).ok_or_else(|| {
                misuse(format!("there is no pareto run of {dataset} under runs/ to resume; start one first"))
            });
        }
        (out, _) => out,
    };
    match out {
        Some(out) if !resume && out.join(POINTS).exists() => Err(misuse(format!(
            "{} already holds a run; --resume continues it, or choose another folder with --out",
            out.display()
        ))),
        out => Ok(out),
    }
}

fn read(recipe: &Recipe, console: Console) -> anyhow::Result<Dataset> {
    let request = Request { watch: progress::reading(&console), ..recipe.request() };
    dataset::finish(data::load(&request), &request.source, console)
}

fn train_points(
    list: &pareto::CandidateList,
    data: &Dataset,
    out: &Path,
    args: &ParetoArgs,
    console: Console,
) -> anyhow::Result<Vec<TrainedCandidate>> {
    interrupt::listen();
    let (folder, device) = (out.join(POINTS), args.device.choice());
    let options = |out: PathBuf| RunOptions { out, resume: true, threads: args.threads.count(), device };
    // One network that explodes is no reason to lose the others.
    let left_out = |error: &ParetoError| console.note(&format!("left out: {error}"));
    let failed = |error: ParetoError| match error {
        ParetoError::Train { source: TrainError::Interrupted { .. }, .. }
        | ParetoError::TrainAll(TrainError::Interrupted { .. }) => {
            let resume = format!("{} --resume", command(args, out));
            Stopped { what: format!("continue with: {resume}"), resume: Some(resume) }.into()
        }
        error => anyhow::Error::from(error),
    };
    let mut points = Vec::new();
    if device == DeviceChoice::Cpu {
        for (i, candidate) in list.candidates.iter().enumerate() {
            let size = bytes(candidate.image_bytes as u64);
            console.note(&format!(
                "point {} of {}: {}, {size}",
                i + 1,
                list.candidates.len(),
                candidate.name
            ));
            let options = options(folder.join(&candidate.name));
            match pareto::train(candidate, data, &options, &mut Watcher::new(console)) {
                Ok(point) => points.push(point),
                Err(error @ ParetoError::Train { source: TrainError::Diverged { .. }, .. }) => {
                    left_out(&error)
                }
                Err(error) => return Err(failed(error)),
            }
        }
    } else {
        console.note(&format!("training {}", quantity(list.candidates.len() as u64, "point")));
        let mut watcher = Watcher::new(console);
        let (trained, diverged) =
            pareto::train_all(&list.candidates, data, &options(folder), &mut watcher).map_err(failed)?;
        diverged.iter().for_each(left_out);
        points = trained;
    }
    if points.is_empty() {
        bail!("no point could be trained");
    }
    pareto::mark_front(&mut points);
    points.sort_by_key(|p| (p.cell.clone(), p.bytes));
    Ok(points)
}

fn best_of<'a>(points: &'a [TrainedCandidate], grid: &Grid) -> Vec<BestCandidate<'a>> {
    let mut cells: Vec<&str> = points.iter().map(|p| p.cell.as_str()).collect();
    cells.dedup();
    let mut best = Vec::new();
    for &budget in &grid.budgets {
        for cell in std::iter::once(None).chain(cells.iter().map(|c| Some(*c))) {
            let found = pareto::best(points, budget, cell);
            best.extend(found.map(|point| BestCandidate { budget, cell, point: &point.name }));
        }
    }
    best
}

/// The command as it was given, with the folder it writes into, for a shell in any folder.
fn command(args: &ParetoArgs, out: &Path) -> String {
    let given: Vec<OsString> = std::env::args_os().skip(1).filter(|word| word != "--resume").collect();
    let before = std::iter::once(None).chain(given.iter().map(Some));
    let is_path = |word: &OsString, before: Option<&OsString>| {
        args.recipe.as_ref().is_some_and(|recipe| recipe == Path::new(word))
            || before.is_some_and(|flag| PATH_FLAGS.iter().any(|known| flag == known))
    };
    let absolute = given.iter().zip(before).map(|(word, before)| match is_path(word, before) {
        true => absolute_word(word),
        false => word.to_string_lossy().into_owned(),
    });
    let mut words: Vec<String> = std::iter::once("fastgrnn".to_owned()).chain(absolute).collect();
    if args.out.is_none() {
        words.extend(["--out".to_owned(), out.display().to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Flags whose value is a path, or may be one.
const PATH_FLAGS: [&str; 6] = ["--dataset", "--test", "--data-dir", "--teacher", "--word-vectors", "--out"];

/// A word of the command line that means the same in every folder, if it is the path of something.
fn absolute_word(word: &OsStr) -> String {
    let path = std::path::absolute(word).ok().filter(|path| path.exists());
    path.map_or_else(|| word.to_string_lossy().into_owned(), |path| path.display().to_string())
}

fn describe(answer: &ParetoOutput) -> String {
    let rows: Vec<Vec<String>> = answer.points.iter().map(pareto_row).collect();
    let chosen: Vec<Vec<String>> = answer
        .best
        .iter()
        .map(|b| vec![bytes(b.budget as u64), b.cell.unwrap_or("any cell").to_owned(), b.point.to_owned()])
        .collect();
    format!(
        "{}\n  Best on validation within each budget:\n{}\n{}",
        table(&PARETO_HEADING, &rows),
        table(&["budget", "cell", "point"], &chosen),
        place_text(answer.run)
    )
}

fn place_text(out: &Path) -> String {
    facts(&[("everything is in", short(out))])
}
