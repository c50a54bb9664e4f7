//! `fastgrnn train`

use crate::args::TrainArgs;
use crate::console::Console;
use crate::misuse::misuse;
use crate::runs;
use crate::training::{Place, outcome_text, read_recipe, train};
use anyhow::Context;
use fastgrnn::train::{CONFIG_FILE, Recipe};
use std::path::PathBuf;

/// Trains, writes the report, prints the result.
pub fn run(args: TrainArgs, console: Console) -> anyhow::Result<()> {
    let is_run = |path: &PathBuf| args.resume && path.join(CONFIG_FILE).exists();
    let (recipe, out) = match (args.recipe, args.out) {
        (Some(run), None) if is_run(&run) => (args.flags, Some(run)),
        (Some(path), out) => (read_recipe(&path)?.overlay(args.flags), out),
        (None, out) => (args.flags, out),
    };
    let (recipe, mut place) = place(recipe, out, args.resume, console)?;
    place.replace = args.force;
    let outcome = train(&recipe, place, args.threads.count(), args.device.choice(), console)?;
    console.answer(&outcome.summary, || outcome_text(&outcome))
}

/// Decides the run folder; a run that is resumed keeps its settings.
fn place(
    recipe: Recipe,
    out: Option<PathBuf>,
    resume: bool,
    console: Console,
) -> anyhow::Result<(Recipe, Place)> {
    let named = |r: &Recipe| r.source.dataset.clone().map(|dataset| (dataset, r.network.chosen_cell()));
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
    let config = out.as_ref().map(|out| out.join(CONFIG_FILE)).filter(|c| c.exists());
    match (resume, config) {
        (true, Some(config)) => {
            let stored = Recipe::from_toml(&config).context("cannot resume")?;
            Ok((stored.overlay(recipe), Place { out, resume: true, replace: false }))
        }
        (resume, _) if recipe.source.dataset.is_none() => Err(misuse(match (resume, &out) {
            (true, Some(out)) => format!("{} holds no run to resume", out.display()),
            _ => "nothing to train on: name a recipe file, or a data set with --dataset NAME|PATH \
                  (fastgrnn data list shows the known ones)"
                .into(),
        })),
        (resume, _) => {
            if let (true, Some(out)) = (resume, &out) {
                console.note(&format!("{} holds no run yet: starting one", out.display()));
            }
            Ok((recipe, Place { out, resume: false, replace: false }))
        }
    }
}
