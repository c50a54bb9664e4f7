//! Flags that several commands share.

use clap::Args;
use fastgrnn::model::DataPart;
use fastgrnn::settings::parser;
use fastgrnn::train::{DeviceChoice, Recipe};
use std::path::PathBuf;

/// The help text of a key, for a flag that a command declares itself.
pub(super) fn key_help(name: &str) -> String {
    let keys = Recipe::keys();
    keys.iter().find(|key| key.name() == name).expect("flags with this help text are keys").help()
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
