//! Flags that several commands share.

use clap::Args;
use fastgrnn::cells::WeightBits;
use fastgrnn::model::DataPart;
use fastgrnn::quantize::{BiasBits, MatrixBits};
use fastgrnn::settings::parser;
use fastgrnn::train::{DeviceChoice, Recipe};
use std::path::PathBuf;

/// The help text of a key, for a flag that a command declares itself.
pub(super) fn key_help(name: &str) -> String {
    let keys = Recipe::keys();
    keys.iter().find(|key| key.name() == name).expect("flags with this help text are keys").help()
}

/// Bits of an integer model, with the names and meanings that the settings have.
#[derive(Clone, Copy, Debug, Args)]
pub struct BitsArgs {
    #[arg(long, value_name = "8|4", value_parser = parser::<WeightBits>(), help_heading = "Compression", help = key_help("bits-w"))]
    bits_w: Option<WeightBits>,
    #[arg(long, value_name = "8|4", value_parser = parser::<WeightBits>(), help_heading = "Compression", help = key_help("bits-u"))]
    bits_u: Option<WeightBits>,
    #[arg(long, value_name = "8|4", value_parser = parser::<WeightBits>(), help_heading = "Compression", help = key_help("bits-head"))]
    bits_head: Option<WeightBits>,
    #[arg(long, value_name = "8|16", value_parser = bias_bits, help_heading = "Compression", help = key_help("bits-bias"))]
    pub bits_bias: Option<BiasBits>,
}

impl BitsArgs {
    /// The bits of matrices, `known` where nothing was given.
    pub fn of_matrices(self, known: MatrixBits) -> MatrixBits {
        MatrixBits {
            w: self.bits_w.unwrap_or(known.w),
            u: self.bits_u.unwrap_or(known.u),
            head: self.bits_head.unwrap_or(known.head),
        }
    }
}

fn bias_bits(text: &str) -> Result<BiasBits, String> {
    let bits = text.parse().ok().and_then(|count: u8| BiasBits::try_from(count).ok());
    bits.ok_or_else(|| format!("`{text}` is neither 8 nor 16"))
}

/// The number of worker threads; results do not depend on it.
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

/// What trains the networks.
#[derive(Clone, Copy, Debug, Args)]
pub struct DeviceArg {
    /// What trains: cpu, cuda or cuda:N (an NVIDIA GPU), or auto (a GPU if there is one) [default: cpu]
    #[arg(long, value_name = "DEVICE", help_heading = "Run")]
    device: Option<DeviceChoice>,
}

impl DeviceArg {
    /// The device to use.
    pub fn choice(self) -> DeviceChoice {
        self.device.unwrap_or_default()
    }
}

/// The data set that a model is used on.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Data set: a known name, a file, a folder or random:N
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: String,
    #[arg(long, value_name = "PATH", help = key_help("test"))]
    pub test: Option<PathBuf>,
    /// Part of the data set [default: test, or all if there is no test part]
    #[arg(long, value_parser = parser::<DataPart>())]
    pub split: Option<DataPart>,
}
