//! Flags of `fastgrnn data`.

use super::shared::key_help;
use clap::{Args, Subcommand};
use fastgrnn::data::{DataRecipe, TextRecipe};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// List the data sets known by name, and whether their files are there
    List(DataListArgs),
    /// Show what is in a data set: sizes, lengths, classes, features
    Inspect(DataInspectArgs),
    /// Look for what may make a model worse than its scores: clocks, copies, rare classes, gaps
    Doctor(DataInspectArgs),
    /// Write a data set as .npz, .csv or .ts
    Convert(DataConvertArgs),
}

#[derive(Debug, Args)]
pub struct DataListArgs {
    #[arg(long, value_name = "DIR", help = key_help("data-dir"))]
    pub data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DataInspectArgs {
    /// A known name, a file or a folder
    #[arg(value_name = "NAME|PATH")]
    pub dataset: String,
    #[arg(long, value_name = "PATH", help = key_help("test"))]
    pub test: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub text: TextRecipe,
}

#[derive(Debug, Args)]
pub struct DataConvertArgs {
    /// A known name, a file or a folder
    #[arg(value_name = "NAME|PATH")]
    pub dataset: String,
    /// File to write; its ending decides the format
    pub output: PathBuf,
    #[arg(long, value_name = "PATH", help = key_help("test"))]
    pub test: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub text: TextRecipe,
}
