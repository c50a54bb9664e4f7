//! Flags of the commands that find settings.

use super::shared::{DeviceArg, Threads};
use clap::{ArgGroup, Args};
use fastgrnn::search::{MAX_COHORT, Proposer, Shard};
use fastgrnn::settings::parser;
use fastgrnn::train::Recipe;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("limit").args(["trials", "minutes"]))]
pub struct SearchArgs {
    /// Recipe file; what it sets stays as it is, [search] in it declares what may change
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    /// Largest size of the device image in bytes
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub budget_bytes: Option<usize>,
    /// Different settings to try [default: 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub trials: Option<u32>,
    /// Minutes to search, the trainings of the finals included
    #[arg(long, value_name = "M", value_parser = minutes, help_heading = "Search")]
    pub minutes: Option<f64>,
    /// How settings are proposed [default: random]
    #[arg(long, value_parser = parser::<Proposer>(), help_heading = "Search")]
    pub proposer: Option<Proposer>,
    /// Trials that a bracket begins with [default: 12, on a GPU 96]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_COHORT as i64),
          help_heading = "Search")]
    pub cohort: Option<u16>,
    /// Rungs of a bracket: a third of the trials goes on to three times the epochs; 1 trains all to the end [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=6), help_heading = "Search")]
    pub rungs: Option<u16>,
    /// Settings that are trained as finalists, besides the recipe as it was given [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Search")]
    pub finalists: Option<u16>,
    /// Train a part of each round: the first of two is 1/2
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "minutes", help_heading = "Machines")]
    pub shard: Option<Shard>,
    /// Join the searches in these folders, which shards of one search wrote, and plan their next round
    #[arg(long, value_name = "DIR", num_args = 1.., help_heading = "Machines",
          conflicts_with_all = ["limit", "budget_bytes", "proposer", "cohort", "rungs", "finalists", "shard", "out", "resume"])]
    pub merge: Vec<PathBuf>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Folder of the search [default: a new one, runs/DATASET-search-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue the search in --out [default: the newest of this data set]
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// Recipe file; what it sets stays as it is
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    /// Minutes to search, the last trainings included
    #[arg(long, value_name = "M", default_value = "5", value_parser = minutes, help_heading = "Search")]
    pub minutes: f64,
    /// Largest size of the device image in bytes; the network then computes with integers
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub budget_bytes: Option<usize>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Folder of the search [default: a new one, runs/DATASET-tune-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue the search in --out for --minutes more [default: the newest of this data set]
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

/// A number of minutes, of which there can be a part.
fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.01..=100_000.0).contains(&minutes) => Ok(minutes),
        _ => Err("use a number of minutes from 0.01, such as 5 or 0.5".into()),
    }
}
