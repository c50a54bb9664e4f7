//! The command line. Settings of the library are not declared here: commands include the groups in which
//! the library declares them, so that a key has the same name and help text everywhere.

mod analyze;
mod bench;
mod data;
mod device;
mod models;
mod reproduce;
mod search;
mod shared;
mod stream;
mod training;

pub use analyze::AnalyzeArgs;
pub use bench::{BenchArgs, BenchCommand, BenchInferArgs, BenchTrainArgs, CompletionsArgs, Rival};
pub use data::{DataCommand, DataConvertArgs, DataInspectArgs, DataListArgs};
pub use device::{BoardArgs, Boards, ExportArgs, NewArgs};
pub use models::{CompareArgs, Engine, EvalArgs, GenerateArgs, InfoArgs, PredictArgs, QuantizeArgs};
pub use reproduce::ReproduceArgs;
pub use search::{SearchArgs, TuneArgs};
pub use stream::{DetectorArgs, ResetArg, StreamArgs, StreamEvalArgs};
pub use training::{DemoArgs, ParetoArgs, RunsArgs, TrainArgs};

use crate::flags;
use crate::misuse::misuse;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use fastgrnn::cells::Nonlinearity;

/// Train kilobyte-sized recurrent networks (FastGRNN, FastRNN, GRU, LSTM and others) on sequences, and
/// run them on microcontrollers
#[derive(Debug, Parser)]
#[command(name = "fastgrnn", version, arg_required_else_help = true)]
#[command(after_help = "Start with `fastgrnn demo`. Exit codes: 0 success, 1 failure, 2 usage error, \
                        130 after Ctrl-C.")]
pub struct Cli {
    /// Print exactly one JSON document on stdout: the answer, or the error
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Print no progress and no notes on stderr
    #[arg(short, long, global = true, help_heading = "Output")]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Printed below the flags of commands that read data for a model.
const AS_IN_TRAINING: &str = "Data settings that are not given are those of the model's training.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train on the built-in handwritten digits, from a float network to an integer model; needs no files
    Demo(DemoArgs),
    /// Train a network from a recipe or from flags
    Train(Box<TrainArgs>),
    /// List the runs below a folder: state, scores, size and settings that differ
    Runs(RunsArgs),
    /// Measure a model on labelled data
    #[command(after_help = AS_IN_TRAINING)]
    Eval(EvalArgs),
    /// Predict the classes or values of unlabelled sequences
    #[command(after_help = AS_IN_TRAINING)]
    Predict(PredictArgs),
    /// Continue a text with a language model
    Generate(GenerateArgs),
    /// Show the contents of a model file
    Info(InfoArgs),
    /// Convert a float model into one that computes with integers only
    #[command(after_help = AS_IN_TRAINING)]
    Quantize(QuantizeArgs),
    /// Listen to a stream and report what a model detects
    Stream(StreamArgs),
    /// Build streams of words and noise, choose a detector on validation data and count its errors on test data
    #[command(after_help = AS_IN_TRAINING)]
    StreamEval(StreamEvalArgs),
    /// Make an integer model of any shape with random weights, to measure it before training
    New(NewArgs),
    /// Find the best network for a budget of bytes, memory and time
    Search(Box<SearchArgs>),
    /// Find better settings than the defaults within some minutes
    Tune(Box<TuneArgs>),
    /// Train networks that fit budgets of bytes, and show accuracy against bytes
    Pareto(Box<ParetoArgs>),
    /// Make the tables and figures of the FastGRNN paper again, with the paper's values beside ours
    Reproduce(ReproduceArgs),
    /// Measure the theory of the FastGRNN paper: condition number of the gradient, residual weights, bounds
    #[command(after_help = AS_IN_TRAINING)]
    Analyze(Box<AnalyzeArgs>),
    /// Show where two models differ: predictions, states over time, saturation
    #[command(after_help = AS_IN_TRAINING)]
    Compare(CompareArgs),
    /// Build firmware, run it on emulated boards, compare every score and measure time and memory
    #[command(after_help = AS_IN_TRAINING)]
    Board(BoardArgs),
    /// Write an integer model as code for a board, a crate or a web page
    #[command(after_help = AS_IN_TRAINING)]
    Export(ExportArgs),
    /// List, inspect and convert data sets
    #[command(subcommand)]
    Data(DataCommand),
    /// Measure speed
    Bench(BenchArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Reads the command line; a request for help or the version ends the process.
pub fn parse() -> anyhow::Result<Cli> {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        match (error.kind(), error.get(ContextKind::InvalidArg)) {
            (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => {
                let better = flags::renamed(flag).or_else(|| flags::meant(flag, is_flag_of_this_command));
                better.map_or_else(|| error.into(), misuse)
            }
            _ => error.into(),
        }
    })
}

/// The flags that `train -h` shows.
const TRAIN_FLAGS: [&str; 15] = [
    "recipe",
    "dataset",
    "test",
    "id-col",
    "label-col",
    "window",
    "cell",
    "hidden",
    "quantize",
    "fit",
    "epochs",
    "lr",
    "seeds",
    "out",
    "resume",
];
/// The flags that `pareto -h` shows.
const PARETO_FLAGS: [&str; 9] =
    ["recipe", "budget_bytes", "cells", "dataset", "label-col", "epochs", "seeds", "out", "resume"];

/// The flags that `search -h` shows.
const SEARCH_FLAGS: [&str; 12] = [
    "recipe",
    "budget_bytes",
    "trials",
    "minutes",
    "dataset",
    "label-col",
    "board",
    "max-ms",
    "max-ram",
    "device",
    "out",
    "resume",
];
/// The flags that `tune -h` shows.
const TUNE_FLAGS: [&str; 8] =
    ["recipe", "minutes", "budget_bytes", "dataset", "id-col", "label-col", "out", "resume"];

/// The command with a short help (`-h`) of its most used flags; `--help` shows all.
fn with_short_help(command: clap::Command, name: &str, common: &[&str]) -> clap::Command {
    let command = command.mut_args(|arg| match common.contains(&arg.get_id().as_str()) {
        true => arg,
        false => arg.hide_short_help(true),
    });
    let more = format!("These are the most used flags; fastgrnn {name} --help lists all.");
    command.after_help(more).after_long_help("Exit codes and errors as JSON: docs/exit-codes.md.")
}

/// Whether the command that was called has a flag.
fn is_flag_of_this_command(name: &str) -> bool {
    let words = std::env::args_os().skip(1);
    let main = command();
    let called = words.filter_map(|word| main.find_subcommand(word)).next();
    called.is_some_and(|command| command.get_arguments().any(|arg| arg.get_long() == Some(name)))
}

/// The command line, with the settings of `new` adapted: a random model has to have a cell and a size,
/// and its nonlinearities need no table.
pub fn command() -> clap::Command {
    let nonlinearity = |name: &'static str, default: Nonlinearity| {
        let text = format!("Nonlinearity of the {name} [default: {default}, unless the cell has its own]");
        move |arg: clap::Arg| arg.help(text)
    };
    let mut main = Cli::command();
    let commands = [
        ("train", &TRAIN_FLAGS[..]),
        ("search", &SEARCH_FLAGS[..]),
        ("tune", &TUNE_FLAGS[..]),
        ("pareto", &PARETO_FLAGS[..]),
    ];
    for (name, common) in commands {
        main = main.mut_subcommand(name, |command| with_short_help(command, name, common));
    }
    main.mut_subcommand("new", |new| {
        new.mut_arg("cell", |arg| arg.required(true).help("Recurrent cell"))
            .mut_arg("hidden", |arg| arg.required(true).help("Units of the state of a layer"))
            .mut_arg("gate", nonlinearity("gates", Nonlinearity::QuantSigm))
            .mut_arg("update", nonlinearity("update", Nonlinearity::QuantTanh))
    })
}
