//! Flags of the command that measures the theory of the paper.

use super::shared::{Threads, key_help};
use clap::Args;
use fastgrnn::cells::CellKind;
use fastgrnn::data::DataRecipe;
use fastgrnn::settings::{ParameterRecipe, parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Float model files or run folders; without any, networks as they are before their training
    #[arg(value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Data set: a known name, a file, a folder or random:N [default: that of each model, or digits]
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: Option<String>,
    #[arg(long, value_name = "PATH", help = key_help("test"))]
    pub test: Option<PathBuf>,
    /// Cells of the networks that are made [default: rnn,fastrnn,fastgrnn]
    #[arg(long, value_name = "CELL,…", value_delimiter = ',', value_parser = parser::<CellKind>())]
    pub cell: Vec<CellKind>,
    /// Units of the networks that are made [default: as in training]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub hidden: Option<u16>,
    /// Seed of the networks that are made [default: 0]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Numbers of last time steps whose Jacobians are multiplied [default: powers of two and the longest sequence]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Vec<u32>,
    /// Sequences that are followed, of those that the network was trained on [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub examples: Option<u32>,
    /// Also show the tables of this folder of `fastgrnn reproduce` about α, β and the initial state
    #[arg(long, value_name = "DIR")]
    pub reproduction: Option<PathBuf>,
    /// Write a page with plots of everything
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub parameters: ParameterRecipe,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub threads: Threads,
}
