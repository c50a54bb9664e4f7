//! Flags of the commands that use a model.

use super::shared::{BitsArgs, SourceArgs, Threads, key_help};
use clap::{Args, ValueEnum};
use fastgrnn::data::DataRecipe;
use fastgrnn::settings::parser;
use fastgrnn::train::Numbers;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Model file, or a run folder
    pub model: PathBuf,
    #[command(flatten)]
    pub source: SourceArgs,
    /// Arithmetic [default: that of the model]
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// Write each prediction with its scores as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub predictions: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub threads: Threads,
}

/// The arithmetic of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// f32; an integer model is computed with the values that its integers stand for
    Float,
    /// Integers only, with the same bits as on a device; needs an integer model
    Integer,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Model file, or a run folder
    pub model: PathBuf,
    /// Sequences in any format that training reads, or random:N
    pub file: PathBuf,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Language model file, or a run folder
    pub model: PathBuf,
    /// Beginning of the text; tokens that the model does not know become <unk>
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub prompt: String,
    /// Number of tokens to draw: words or characters, as in the model's training
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub length: u32,
    /// Below 1 the text becomes more predictable, above 1 less; 0 always takes the most probable token
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_hyphen_values = true)]
    pub temperature: f64,
    /// Draw only from this many of the most probable tokens [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub top_k: Option<u16>,
    /// Seed of the random numbers: the same model, flags and seed give the same text on every machine
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
    /// Arithmetic [default: that of the model]
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Model file, or a run folder
    pub model: PathBuf,
}

#[derive(Debug, Args)]
pub struct QuantizeArgs {
    /// Float model file, or a run folder with one
    pub model: PathBuf,
    /// Data set to choose scales with: a known name, a file, a folder or random:N; the part that the model was trained on is used
    #[arg(long, value_name = "NAME|PATH")]
    pub calibrate: String,
    /// Integer model file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[arg(long, value_name = "X,…", value_parser = parser::<Numbers>(), allow_hyphen_values = true, help = key_help("input-lsb"))]
    pub input_lsb: Option<Numbers>,
    /// How much larger than during calibration states may become before they saturate [default: 1.5]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub headroom: Option<f32>,
    #[command(flatten)]
    pub bits: BitsArgs,
    /// Also write the device image, as raw bytes
    #[arg(long, value_name = "FILE")]
    pub image: Option<PathBuf>,
    #[arg(long, value_name = "PATH", help = key_help("test"))]
    pub test: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Model file or run folder; the other model's states are compared with those of this one
    pub model_a: PathBuf,
    /// Model file or run folder
    pub model_b: PathBuf,
    #[command(flatten)]
    pub source: SourceArgs,
    /// Sequences whose states are compared step by step, spread over the part [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Write a page with the drift of the states over time and the saturations
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataRecipe,
    #[command(flatten)]
    pub threads: Threads,
}
