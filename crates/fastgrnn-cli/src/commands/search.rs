//! `fastgrnn search`

use crate::args::SearchArgs;
use crate::console::Console;
use crate::misuse::misuse;
use crate::searching::{self, Given, SearchWatcher};
use crate::training::with_absolute_paths;
use fastgrnn::search::{self, Datasets, Limit, Plan, SearchOptions, Shard};
use fastgrnn::train::Recipe;
use std::time::Duration;

/// Different settings that a search tries if nothing says how many.
const USUAL_TRIALS: usize = 24;

/// Searches, continues a search, trains a part of one, or joins the parts.
pub fn run(args: SearchArgs, console: Console) -> anyhow::Result<()> {
    if !args.merge.is_empty() {
        return merge(args, console);
    }
    if args.budget_bytes == Some(0) {
        return Err(misuse("--budget-bytes 0: no network fits; use a number of bytes above 0"));
    }
    let given = Given {
        kind: "search",
        recipe: args.recipe,
        flags: args.flags,
        budget_bytes: args.budget_bytes,
        out: args.out,
        resume: args.resume,
        threads: args.threads.count(),
        device: args.device.choice(),
        shard: args.shard.unwrap_or(Shard::WHOLE),
    };
    let limit = |stored: Option<usize>| match (args.minutes, args.trials) {
        (Some(minutes), _) => Limit::Time(Duration::from_secs_f64(60.0 * minutes)),
        (None, Some(trials)) => Limit::Trials(trials as usize),
        (None, None) => Limit::Trials(stored.unwrap_or(USUAL_TRIALS)),
    };
    let change = |plan: Plan| {
        let mut plan = plan;
        plan.proposer = args.proposer.unwrap_or(plan.proposer);
        plan.halving.cohort = args.cohort.map_or(plan.halving.cohort, usize::from);
        plan.halving.rungs = args.rungs.map_or(plan.halving.rungs, usize::from);
        plan.finalists = args.finalists.map_or(plan.finalists, usize::from);
        plan
    };
    searching::run(given, &limit, &change, console)
}

/// Joins the stores of shards. `--dataset` says where the data is, if it is not where the first shard had it.
fn merge(args: SearchArgs, console: Console) -> anyhow::Result<()> {
    let place = with_absolute_paths(&args.flags).source.dataset;
    let without_place = args.flags.clone().with(|flags| flags.source.dataset = None);
    if args.recipe.is_some() || without_place != Recipe::default() {
        return Err(misuse(
            "--merge takes all settings from the folders; of the flags only --dataset, which says where the data is, \
             --threads and --device go with it",
        ));
    }
    let folders = args.merge.clone();
    let options = SearchOptions {
        out: folders[0].clone(),
        threads: args.threads.count(),
        device: args.device.choice(),
        limit: Limit::Trials(0),
        shard: Shard::WHOLE,
    };
    let load = searching::loader(console);
    let mut datasets = Datasets::new(&load);
    let mut watcher = SearchWatcher::new(console);
    let outcome = search::merge(&folders, place.as_deref(), &mut datasets, &options, &mut watcher)?;
    let words = folders.iter().map(|folder| folder.display().to_string());
    let words: Vec<String> =
        ["fastgrnn", "search", "--merge"].map(str::to_owned).into_iter().chain(words).collect();
    searching::answer(&folders[0], &outcome, words.join(" "), console)
}
