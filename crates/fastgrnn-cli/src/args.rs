//! Every flag of every command. Training settings are declared in the library, once, for recipe
//! files and flags alike.

mod device;
mod stream;

pub use device::{BoardArgs, Boards, ExportArgs, NewArgs};
pub use stream::{DetectorArgs, ResetArg, StreamArgs, StreamEvalArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use fastgrnn::cells::{CELLS, CellKind, Nonlinearity};
use fastgrnn::data::{LabelKind, Request};
use fastgrnn::train::{Choice, FormSetting, Recipe};
use fastgrnn_bench::{INFER_SHAPES, InferShape, SHAPES, Shape};
use std::path::PathBuf;

/// Recordings in, kilobyte recurrent network out: train FastGRNN, FastRNN, GRU, LSTM and others.
#[derive(Debug, Parser)]
#[command(name = "fastgrnn", version, arg_required_else_help = true)]
#[command(after_help = "Start with `fastgrnn demo`. Exit codes: 0 done, 1 failed, 2 misuse.")]
pub struct Cli {
    /// Print exactly one JSON document on stdout
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// No progress and no notes on stderr
    #[arg(short, long, global = true, help_heading = "Output")]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train on the built-in handwritten digits, from a float network to integers only: no files needed
    Demo(DemoArgs),
    /// Train a network from a recipe or from flags
    Train(Box<TrainArgs>),
    /// Measure a model on labelled data
    Eval(EvalArgs),
    /// Say what a model makes of unlabelled sequences
    Predict(PredictArgs),
    /// Show what is in a model file
    Info(InfoArgs),
    /// Make a float model compute in integers only
    Quantize(QuantizeArgs),
    /// Listen to a stream and report what a model detects
    Stream(StreamArgs),
    /// Build streams of words and noise, choose a detector on validation and count its errors on test
    StreamEval(StreamEvalArgs),
    /// Make an integer model of any shape with random weights, to measure before training
    New(NewArgs),
    /// Train networks that just fit budgets of bytes, and show accuracy against bytes
    Pareto(Box<ParetoArgs>),
    /// Show where two models differ: predictions, states over time, saturation
    Compare(CompareArgs),
    /// Build firmware, run it on emulated boards, compare every score and count what it takes
    Board(BoardArgs),
    /// Write an integer model as code for a board, a crate or a web page
    Export(ExportArgs),
    /// List, inspect and convert data sets
    #[command(subcommand)]
    Data(DataCommand),
    /// Measure speed
    Bench(BenchArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Run folder [default: a fresh one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Recipe file; flags override it
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    /// Run folder [default: a fresh one, runs/DATASET-CELL-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue the run in --out (by default the newest of this data set and cell)
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

/// How many threads work; results are the same for any number.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Run")]
    threads: Option<u16>,
}

impl Threads {
    /// The number to use.
    pub fn count(self) -> usize {
        match self.threads {
            Some(n) => usize::from(n),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// How to read data, for commands that do not train.
#[derive(Debug, Default, Args)]
pub struct ReadArgs {
    /// Where known data sets lie [default: $FASTGRNN_DATA, then shared/data in this folder or one above, then this folder]
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub data_dir: Option<PathBuf>,
    /// Cut or join every sequence into this many time steps
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub timesteps: Option<usize>,
    /// Cut long recordings into windows of this many rows
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub window: Option<usize>,
    /// Rows from the start of one window to the next [default: the window]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub stride: Option<usize>,
    /// CSV column that tells sequences apart
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub id_col: Option<String>,
    /// CSV column with the label
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label_col: Option<String>,
    /// CSV column with the group (subject, recording)
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub group_col: Option<String>,
    /// CSV columns to use as features, separated by commas
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Data")]
    pub columns: Option<Vec<String>>,
    /// CSV columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', help_heading = "Data")]
    pub drop: Option<Vec<String>>,
    /// Whether labels are classes or numbers [default: as the model was trained, else auto]
    #[arg(long, value_enum, help_heading = "Data")]
    pub labels: Option<LabelsArg>,
    /// Most bytes to read or unpack [default: 4 GiB]
    #[arg(long, value_name = "BYTES", help_heading = "Data")]
    pub size_limit: Option<u64>,
    /// Folders of recordings: go on without files that cannot be read, and list them
    #[arg(long, help_heading = "Data")]
    pub skip_bad: bool,
}

/// [`LabelKind`] as a flag.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LabelsArg {
    /// Text and few distinct integers are classes; other numbers are values
    Auto,
    /// Classes, whatever they look like
    Class,
    /// Numbers to regress
    Value,
}

impl ReadArgs {
    /// These options over `base`, for `source`.
    pub fn request(self, base: Request, source: &str, test: Option<PathBuf>) -> Request {
        let labels = match self.labels {
            None => base.labels,
            Some(LabelsArg::Auto) => LabelKind::Auto,
            Some(LabelsArg::Class) => LabelKind::Class,
            Some(LabelsArg::Value) => LabelKind::Value,
        };
        Request {
            source: source.to_owned(),
            test_apart: base.test_apart || test.is_some(),
            test: test.or(base.test),
            data_dir: self.data_dir.or(base.data_dir),
            timesteps: self.timesteps.or(base.timesteps),
            window: self.window.or(base.window),
            stride: self.stride.or(base.stride),
            id_col: self.id_col.or(base.id_col),
            label_col: self.label_col.or(base.label_col),
            group_col: self.group_col.or(base.group_col),
            columns: self.columns.unwrap_or(base.columns),
            drop: self.drop.unwrap_or(base.drop),
            labels,
            size_limit: self.size_limit.unwrap_or(base.size_limit),
            skip_bad: self.skip_bad || base.skip_bad,
            ..base
        }
    }
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Model file, or the run folder that holds one
    pub model: PathBuf,
    /// What to evaluate on: a known name, a file, a folder or random:N
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: String,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    /// Which part of the data set [default: test, or all of it where there is no test part]
    #[arg(long, value_enum)]
    pub split: Option<Split>,
    /// What computes [default: what the model is]
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// Write each prediction with its scores as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub predictions: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub threads: Threads,
}

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Split {
    /// What the chosen seed learnt from
    Train,
    /// What its epoch was chosen on
    Val,
    /// The test set
    Test,
    /// Everything
    All,
}

impl Split {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Val => "val",
            Self::Test => "test",
            Self::All => "all",
        }
    }
}

/// What computes a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// f32; of an integer model with what its integers stand for
    Float,
    /// Integers only, the bits of a device; needs an integer model
    Integer,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Model file, or the run folder that holds one
    pub model: PathBuf,
    /// Sequences: any format that training reads, or random:N
    pub file: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Model file, or the run folder that holds one
    pub model: PathBuf,
}

#[derive(Debug, Args)]
pub struct QuantizeArgs {
    /// Float model file, or the run folder that holds one
    pub model: PathBuf,
    /// Data to choose scales with: a known name, a file, a folder or random:N; of it the part the model learnt from
    #[arg(long, value_name = "NAME|PATH")]
    pub calibrate: String,
    /// Integer model file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What one count of the sensor is worth in the data's units: one value, or one for each feature [default: chosen from the data]
    #[arg(long, value_name = "X,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub input_lsb: Option<Vec<f32>>,
    /// How much larger than in calibration states may become before they saturate [default: 1.5]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub headroom: Option<f32>,
    /// Also write the device image, as raw bytes
    #[arg(long, value_name = "FILE")]
    pub image: Option<PathBuf>,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct ParetoArgs {
    /// Recipe file; flags override it, sizes and sparsity come from the budgets
    #[arg(value_name = "RECIPE.toml")]
    pub recipe: Option<PathBuf>,
    /// Most bytes of the device image, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',', required = true, help_heading = "Budget")]
    pub budget_bytes: Vec<usize>,
    /// Cells to try, separated by commas [default: the recipe's]
    #[arg(long, value_name = "CELL,…", value_delimiter = ',', value_parser = cell, help_heading = "Budget")]
    pub cells: Vec<CellKind>,
    /// Entries of low-rank factors as shares of the full matrix; 1 for full rank [default: 1,0.5]
    #[arg(long, value_name = "X,…", value_delimiter = ',', help_heading = "Budget")]
    pub rank_shares: Option<Vec<f64>>,
    /// Fractions kept of W and U [default: 1,0.5]
    #[arg(long, value_name = "X,…", value_delimiter = ',', help_heading = "Budget")]
    pub kept: Option<Vec<f64>>,
    #[command(flatten)]
    pub flags: Recipe,
    #[command(flatten)]
    pub threads: Threads,
    /// Folder for all runs, table and plot [default: a fresh one, runs/DATASET-pareto-N]
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub out: Option<PathBuf>,
    /// Continue in --out (by default the newest of this data set); finished points are not trained again
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
}

fn cell(name: &str) -> Result<CellKind, String> {
    let known = CELLS.iter().find(|d| d.name == name).map(|d| d.kind);
    known.ok_or_else(|| {
        let names: Vec<&str> = CELLS.iter().map(|d| d.name).collect();
        format!("known cells: {}", names.join(", "))
    })
}

fn form(name: &str) -> Result<FormSetting, String> {
    FormSetting::choose(name).ok_or_else(|| {
        let names: Vec<&str> = FormSetting::all().into_iter().map(FormSetting::choice_name).collect();
        format!("known forms: {}", names.join(", "))
    })
}

fn nonlinearity(name: &str) -> Result<Nonlinearity, String> {
    Nonlinearity::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Nonlinearity::ALL.iter().map(|f| f.name()).collect();
        format!("known nonlinearities: {}", names.join(", "))
    })
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Model file or run folder; states are measured against this one's
    pub model_a: PathBuf,
    /// Model file or run folder
    pub model_b: PathBuf,
    /// What to compare on: a known name, a file, a folder or random:N; labels need not be there
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: String,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    /// Which part of the data set [default: test, or all of it where there is no test part]
    #[arg(long, value_enum)]
    pub split: Option<Split>,
    /// Sequences whose states are followed step by step, spread over the part [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Write a page with the drift of the states over time and saturations
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Data sets known by name, and whether they are here
    List(DataListArgs),
    /// What is in a data set: sizes, lengths, classes, features
    Inspect(DataInspectArgs),
    /// Write a data set as .npz, .csv or .ts
    Convert(DataConvertArgs),
}

#[derive(Debug, Args)]
pub struct DataListArgs {
    /// Where known data sets lie [default: $FASTGRNN_DATA, then shared/data in this folder or one above, then this folder]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DataInspectArgs {
    /// A known name, a file or a folder
    #[arg(value_name = "NAME|PATH")]
    pub dataset: String,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
}

#[derive(Debug, Args)]
pub struct DataConvertArgs {
    /// A known name, a file or a folder
    #[arg(value_name = "NAME|PATH")]
    pub dataset: String,
    /// File to write; its ending says the format
    pub output: PathBuf,
    /// Test set, where the data set does not bring its own
    #[arg(long, value_name = "PATH")]
    pub test: Option<PathBuf>,
    /// Overwrite files that are there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub read: ReadArgs,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub what: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Time one training step at the shapes of the paper's data sets
    Train(BenchTrainArgs),
    /// Time scoring in floats and in integers, on one thread
    Infer(BenchInferArgs),
}

#[derive(Debug, Args)]
pub struct BenchTrainArgs {
    /// Measure PyTorch in the same run; installs it into the user's cache if no python3 has it
    #[arg(long, value_enum, value_name = "WHAT")]
    pub against: Option<Rival>,
    /// The Python that has torch
    #[arg(long, value_name = "PATH", requires = "against")]
    pub python: Option<PathBuf>,
    /// Threads of either side [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Only these shapes, separated by commas: har, google12, wakeword, pixelmnist
    #[arg(long, value_name = "SHAPE,…", value_delimiter = ',', value_parser = shape)]
    pub shapes: Vec<Shape>,
    /// Undisturbed blocks of half a second wanted of each side [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub blocks: Option<u16>,
    /// Most seconds for everything; what is not measured by then is measured briefly [default: 1680]
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<u32>,
}

#[derive(Debug, Args)]
pub struct BenchInferArgs {
    /// Only these networks, separated by commas: har32, har32-smooth, har, har-smooth, google12,
    /// google12-sparse, wakeword
    #[arg(long = "shape", value_name = "NAME,…", value_delimiter = ',', value_parser = infer_shape)]
    pub shapes: Vec<InferShape>,
    /// Seconds for each network [default: 4]
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u16>,
}

fn infer_shape(name: &str) -> Result<InferShape, String> {
    InferShape::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = INFER_SHAPES.iter().map(|s| s.name).collect();
        format!("known shapes: {}", known.join(", "))
    })
}

fn shape(name: &str) -> Result<Shape, String> {
    Shape::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = SHAPES.iter().map(|s| s.name).collect();
        format!("known shapes: {}", known.join(", "))
    })
}

/// Whom to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    /// PyTorch on the CPU
    Torch,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
