//! Flags of `fastgrnn bench` and `fastgrnn completions`.

use clap::{Args, Subcommand, ValueEnum};
use fastgrnn::train::DeviceChoice;
use fastgrnn_bench::{INFER_SHAPES, InferShape, SHAPES, Shape};
use std::path::PathBuf;

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
    /// Where: cpu, cuda, cuda:N (a GPU by its number) or auto (a GPU if one can be used)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: DeviceChoice,
    /// Also measure PyTorch; installs it into the user's cache if no python3 has it
    #[arg(long, value_enum, value_name = "WHAT")]
    pub against: Option<Rival>,
    /// The Python that has torch
    #[arg(long, value_name = "PATH", requires = "against")]
    pub python: Option<PathBuf>,
    /// Threads of each side on the CPU [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Only these shapes, separated by commas: har, google12, wakeword, pixelmnist, ptb (a language model)
    /// [default: all but ptb]
    #[arg(long, value_name = "SHAPE,…", value_delimiter = ',', value_parser = shape)]
    pub shapes: Vec<Shape>,
    /// On a GPU, networks that are trained at once, separated by commas [default: 1 and 256]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub networks: Vec<u16>,
    /// On a GPU, sequences in the batch of each network, separated by commas [default: 100, and 1024 for
    /// one network]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub batches: Vec<u16>,
    /// Undisturbed blocks of half a second to measure on each side [default: 12]; on a GPU, blocks of
    /// 50 ms in each turn [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub blocks: Option<u16>,
    /// Seconds for everything; what is not measured by then is measured briefly or left out
    /// [default: 3600, on a GPU 90]
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

/// What to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    /// PyTorch on the same device
    Torch,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
