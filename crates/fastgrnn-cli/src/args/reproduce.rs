//! Flags of the command that makes the tables of the paper again.

use super::shared::{DeviceArg, Threads};
use clap::Args;
use fastgrnn::reproduce::{DataSet, PaperTable};
use fastgrnn::settings::parser;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Tables to make [default: all]
    #[arg(value_name = "TABLE", value_parser = parser::<PaperTable>())]
    pub tables: Vec<PaperTable>,
    /// Only these data sets, such as HAR-2 [default: all]
    #[arg(long = "dataset", value_name = "NAME", num_args = 1.., value_parser = data_set)]
    pub sets: Vec<&'static DataSet>,
    /// Only these rows, such as GRU [default: all]
    #[arg(long = "row", value_name = "NAME", num_args = 1..)]
    pub rows: Vec<String>,
    /// Short trainings of one seed, in a folder of their own
    #[arg(long)]
    pub quick: bool,
    /// Seeds of each row [default: 5, and fewer where trainings take long]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub seeds: Option<u16>,
    /// Train nothing: write the pages from what is stored
    #[arg(long)]
    pub stored: bool,
    /// Take over the jobs of other stores first, such as those of other machines
    #[arg(long, value_name = "JOBS.jsonl", num_args = 1..)]
    pub join: Vec<PathBuf>,
    /// Folder with the known data sets [default: the environment variable FASTGRNN_DATA]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Folder of the store and the pages; one that holds a store is continued [default: reproduction; a temporary
    /// folder with --quick]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
}

/// The data set with this name.
fn data_set(name: &str) -> Result<&'static DataSet, String> {
    DataSet::find(name).ok_or_else(|| {
        let names: Vec<&str> = DataSet::names().collect();
        format!("the tables have no such data set; they have {}", names.join(", "))
    })
}
