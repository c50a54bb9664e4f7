//! Flags of the commands about devices: `new`, `board` and `export`.

use super::{ReadArgs, Split, cell, form, nonlinearity};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fastgrnn::cells::{CellKind, Nonlinearity};
use fastgrnn::device::Board;
use fastgrnn::train::{FormSetting, Rank};
use fastgrnn_boards::default_optimization;
use fastgrnn_export::{Optimize, Target};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct NewArgs {
    /// The recurrent cell
    #[arg(long, value_name = "CELL", value_parser = cell, help_heading = "Network")]
    pub cell: CellKind,
    /// Features a time step
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub input: usize,
    /// Units of the state
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub hidden: usize,
    /// Cells stacked on one another
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Network")]
    pub layers: usize,
    /// Rank of the input matrix, or full [default: full]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub rank_w: Option<Rank>,
    /// Rank of the recurrent matrix, or full [default: full]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub rank_u: Option<Rank>,
    /// Form of the input matrix: full, diagonal or none [default: full]
    #[arg(long, value_name = "FORM", value_parser = form, help_heading = "Network")]
    pub form_w: Option<FormSetting>,
    /// Form of the recurrent matrix [default: full, none for cells without one]
    #[arg(long, value_name = "FORM", value_parser = form, help_heading = "Network")]
    pub form_u: Option<FormSetting>,
    /// Fraction kept of the input matrix, or of each of its factors; exactly so many entries are not 0
    #[arg(long, value_name = "KEPT", default_value_t = 1.0, help_heading = "Network")]
    pub sparsity_w: f64,
    /// Fraction kept of the recurrent matrix, or of each of its factors
    #[arg(long, value_name = "KEPT", default_value_t = 1.0, help_heading = "Network")]
    pub sparsity_u: f64,
    /// Fraction kept of the head's matrix
    #[arg(long, value_name = "KEPT", default_value_t = 1.0, help_heading = "Network")]
    pub sparsity_head: f64,
    /// Nonlinearity of the gates [default: quantSigm, which needs no table]
    #[arg(long, value_name = "NAME", value_parser = nonlinearity, help_heading = "Network")]
    pub gate: Option<Nonlinearity>,
    /// Nonlinearity of the update [default: quantTanh, which needs no table, unless the cell has its own]
    #[arg(long, value_name = "NAME", value_parser = nonlinearity, help_heading = "Network")]
    pub update: Option<Nonlinearity>,
    /// Classes
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub classes: usize,
    /// Time steps of a sequence, which --dataset random:N then has
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub steps: usize,
    /// What weights are drawn from; the same seed gives the same file
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
    /// Recordings to run on: a known name, a file or a folder; labels need not be there
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: String,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    /// Which part of the data set [default: test, or all of it where there is no test part]
    #[arg(long, value_enum)]
    pub split: Option<Split>,
    /// Sound for a model that listens, a WAV or FLAC file; may be repeated [default: two seconds of noise]
    #[arg(long, value_name = "FILE")]
    pub wav: Vec<PathBuf>,
    /// Windows to run, spread over the part [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Wait states of the flash [default: the board's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100))]
    pub wait_states: Option<u32>,
    #[arg(long, help = optimize_help(), value_enum)]
    pub optimize: Option<OptimizeArg>,
    /// Soft-float code of the same network instead of integers; only classes are compared
    #[arg(long, conflicts_with = "optimize")]
    pub float: bool,
    /// Keep what was built and written, in a folder for each board
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
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
    format!("What matters more [default: size on {}, speed elsewhere]", small.join(" and "))
}

/// One board or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boards {
    /// All that are known.
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

/// What generated code and its compiler are to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OptimizeArg {
    /// Flash
    Size,
    /// Time
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
    /// What to write
    #[arg(long, value_parser = targets())]
    pub target: Target,
    /// Folder to write; it must not hold anything yet
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Prefix of all names, and the files' name [default: model]
    #[arg(long)]
    pub name: Option<String>,
    /// Most bytes of RAM for state, buffers, a frame and scores; checked again when the code is compiled
    #[arg(long, value_name = "BYTES")]
    pub max_ram: Option<usize>,
    /// What the C code is made for where size and speed disagree [default: size]
    #[arg(long, value_enum)]
    pub optimize: Option<OptimizeArg>,
    /// Soft float instead of integers, to be compared with
    #[arg(long)]
    pub float: bool,
    /// Move a folder that holds something aside, to DIR.old, and write a new one
    #[arg(long)]
    pub force: bool,
    /// Data set whose sequences become golden vectors [default: seeded random counts]
    #[arg(long, value_name = "NAME|PATH", help_heading = "Golden vectors")]
    pub dataset: Option<String>,
    /// Windows of golden vectors [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Golden vectors")]
    pub golden: Option<u16>,
    #[command(flatten)]
    pub read: ReadArgs,
}

fn targets() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.map(Target::name))
        .try_map(|name| Target::from_name(&name).ok_or("no such target"))
}
