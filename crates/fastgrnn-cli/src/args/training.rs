//! Flags of the commands that train.

use super::shared::{DeviceArg, Threads};
use clap::Args;
use fastgrnn::cells::CellKind;
use fastgrnn::settings::parser;
use fastgrnn::train::Recipe;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Run folder [default: a new one in runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Recipe file, whose keys flags override; with --resume also a run folder
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Run folder [default: a new one, runs/DATASET-CELL-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue the run in --out [default: the newest run of this data set and cell]
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
    /// Remove the run that --out holds, and train anew
    #[arg(long, help_heading = "Run", requires = "out", conflicts_with = "resume")]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ParetoArgs {
    /// Recipe file; flags override its keys, the budgets decide sizes and sparsity
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    /// Largest sizes of the device image in bytes, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',', required = true, help_heading = "Budget")]
    pub budget_bytes: Vec<usize>,
    /// Cells to try, separated by commas [default: that of the recipe]
    #[arg(long, value_name = "CELL,…", value_delimiter = ',', value_parser = parser::<CellKind>(), help_heading = "Budget")]
    pub cells: Vec<CellKind>,
    /// Sizes of low-rank factors to try, as shares of the full matrix; 1 for full rank [default: 1,0.5]
    #[arg(long, value_name = "X,…", value_delimiter = ',', help_heading = "Budget")]
    pub rank_shares: Option<Vec<f64>>,
    /// Fractions of W and U to keep that are tried [default: 1,0.5]
    #[arg(long, value_name = "X,…", value_delimiter = ',', help_heading = "Budget")]
    pub kept: Option<Vec<f64>>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Folder for all runs, the table and the plot [default: a new one, runs/DATASET-pareto-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue in --out; finished points are not trained again [default: the newest of this data set]
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Folder to search
    #[arg(value_name = "DIR", default_value = "runs")]
    pub folder: PathBuf,
}
