//! Flags of the commands about devices: `new`, `board` and `export`.

use super::shared::{BitsArgs, SourceArgs};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fastgrnn::data::DataRecipe;
use fastgrnn::device::Board;
use fastgrnn::settings::{NetworkRecipe, SparsityRecipe};
use fastgrnn_boards::default_optimization;
use fastgrnn_export::{Optimize, Target};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct NewArgs {
    #[command(flatten)]
    pub network: NetworkRecipe,
    #[command(flatten)]
    pub sparsity: SparsityRecipe,
    #[command(flatten)]
    pub bits: BitsArgs,
    /// Features of a time step
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub input: usize,
    /// Number of classes
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub classes: usize,
    /// Time steps of a sequence; --dataset random:N then makes sequences of this length
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub steps: usize,
    /// Seed of the weights; the same seed gives the same file
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Integer model file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct BoardArgs {
    /// Integer model file
    pub model: PathBuf,
    #[arg(long = "board", help = boards_help(), value_name = "BOARD,…", value_delimiter = ',', value_parser = boards, required = true)]
    pub boards: Vec<Boards>,
    #[command(flatten)]
    pub source: SourceArgs,
    /// WAV or FLAC file for a model that listens; may be repeated [default: two seconds of noise]
    #[arg(long, value_name = "FILE")]
    pub wav: Vec<PathBuf>,
    /// Number of windows to run, spread over the part [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Wait states of the flash [default: those of the board]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100))]
    pub wait_states: Option<u32>,
    #[arg(long, help = optimize_help(), value_enum)]
    pub optimize: Option<OptimizeArg>,
    /// Use soft-float code of the same network instead of integers; only classes are compared
    #[arg(long, conflicts_with = "optimize")]
    pub float: bool,
    /// Keep the generated files, in a folder for each board
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataRecipe,
}

fn boards_help() -> String {
    format!("Boards, separated by commas: {} or all", Board::known_ids())
}

fn optimize_help() -> String {
    let small: Vec<&str> = Board::ALL
        .into_iter()
        .filter(|&board| default_optimization(board) == Optimize::Size)
        .map(Board::id)
        .collect();
    format!("What the code is optimised for [default: size on {}, speed elsewhere]", small.join(" and "))
}

/// One board or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boards {
    /// All known boards.
    All,
    /// This one.
    One(Board),
}

fn boards(name: &str) -> Result<Boards, String> {
    if name == "all" {
        return Ok(Boards::All);
    }
    Board::from_id(name).map(Boards::One).ok_or_else(|| format!("known boards: {}, all", Board::known_ids()))
}

/// What generated code is optimised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OptimizeArg {
    /// Little flash
    Size,
    /// Little time
    Speed,
}

impl From<OptimizeArg> for Optimize {
    fn from(arg: OptimizeArg) -> Self {
        match arg {
            OptimizeArg::Size => Self::Size,
            OptimizeArg::Speed => Self::Speed,
        }
    }
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Integer model file, or the run folder that holds one
    pub model: PathBuf,
    /// Kind of package
    #[arg(long, value_parser = targets())]
    pub target: Target,
    /// Folder to write; it must be empty or not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Prefix of all names in the code, and name of the files [default: model]
    #[arg(long)]
    pub name: Option<String>,
    /// Largest number of bytes of RAM for state, buffers, a frame and scores; also checked when the code is compiled
    #[arg(long, value_name = "BYTES")]
    pub max_ram: Option<usize>,
    /// What the C code is optimised for [default: size]
    #[arg(long, value_enum)]
    pub optimize: Option<OptimizeArg>,
    /// Write soft-float code instead of integer code, for comparison
    #[arg(long)]
    pub float: bool,
    /// If the folder is not empty, move it to DIR.old and write a new one
    #[arg(long)]
    pub force: bool,
    /// Data set whose sequences become test vectors [default: seeded random counts]
    #[arg(long, value_name = "NAME|PATH", help_heading = "Test vectors")]
    pub dataset: Option<String>,
    /// Number of windows of test vectors [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Test vectors")]
    pub golden: Option<u16>,
    #[command(flatten)]
    pub data: DataRecipe,
}

fn targets() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.map(Target::name))
        .try_map(|name| Target::from_name(&name).ok_or("no such target"))
}
