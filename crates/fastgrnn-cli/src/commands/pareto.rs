//! `fastgrnn pareto`

use crate::args::ParetoArgs;
use crate::console::Console;
use crate::failure::Stopped;
use crate::misuse::misuse;
use crate::progress;
use crate::report::write_whole;
use crate::scores::short;
use crate::searching::SearchWatcher;
use crate::shell::own_command;
use crate::table::{facts, table};
use crate::training::read_recipe;
use crate::{dataset, interrupt, runs};
use anyhow::bail;
use fastgrnn::data::{self, Dataset, Request};
use fastgrnn::pareto::{self, Grid, ParetoError, TrainedCandidate};
use fastgrnn::report::{PARETO_HEADING, ParetoReport, bytes, pareto_row, quantity};
use fastgrnn::train::{Recipe, RunOptions};
use serde::Serialize;
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
    let out = runs::place(&dataset, "pareto", args.out.clone(), args.resume, POINTS)?;
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
    let (html, command) = (out.join("pareto.html"), own_command(args.recipe.as_deref(), &out));
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
    console.note(&format!("training {}", quantity(list.candidates.len() as u64, "point")));
    let options = RunOptions {
        out: out.join(POINTS),
        resume: true,
        threads: args.threads.count(),
        device: args.device.choice(),
    };
    let mut watcher = SearchWatcher::new(console);
    let stop = &interrupt::is_requested;
    let trained = pareto::train_all(&list.candidates, data, &options, stop, &mut watcher);
    drop(watcher);
    let (mut points, failed) = trained.map_err(|error| match error {
        ParetoError::Interrupted { .. } => {
            let resume = format!("{} --resume", own_command(args.recipe.as_deref(), out));
            Stopped { what: format!("continue with: {resume}"), resume: Some(resume) }.into()
        }
        error => anyhow::Error::from(error),
    })?;
    // One network that explodes is no reason to lose the others.
    failed.iter().for_each(|error| console.note(&format!("left out: {error}")));
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
