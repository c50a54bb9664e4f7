//! Flags of the commands that listen.

use clap::Args;
use fastgrnn::data::DataRecipe;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct StreamArgs {
    /// Integer model file, or the run folder that holds one
    pub model: PathBuf,
    #[command(flatten)]
    pub source: Source,
    /// Read rows of features from --stdin instead of sound, separated by commas
    #[arg(long, requires = "stdin", conflicts_with_all = ["wav", "mic"])]
    pub csv: bool,
    /// Sample rate of raw sound from --stdin [default: that of the model]
    #[arg(long, value_name = "HZ", requires = "stdin", conflicts_with_all = ["csv", "wav", "mic"], value_parser = clap::value_parser!(u32).range(100..=768_000))]
    pub rate: Option<u32>,
    /// Print a JSON object on one line for each detection
    #[arg(long, conflicts_with = "json")]
    pub jsonl: bool,
    #[command(flatten)]
    pub detector: DetectorArgs,
}

/// Where a stream comes from.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Source {
    /// Read a WAV or FLAC file
    #[arg(long, value_name = "FILE")]
    pub wav: Option<PathBuf>,
    /// Read standard input: raw 16-bit little-endian mono sound, or WAV; with --csv rows of features
    #[arg(long)]
    pub stdin: bool,
    /// Listen to the microphone
    #[arg(long)]
    pub mic: bool,
}

/// Changes of the model's detector.
#[derive(Clone, Debug, Default, Args)]
pub struct DetectorArgs {
    /// Classes to report, separated by commas [default: all but silence, unknown, noise and the like]
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',', help_heading = "Detector")]
    pub keywords: Option<Vec<String>>,
    /// Threshold of the averaged posterior, above 0 and at most 1
    #[arg(long, value_name = "P", help_heading = "Detector")]
    pub threshold: Option<f64>,
    /// Average posteriors over about 2^N frames, N from 0 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=10), help_heading = "Detector")]
    pub smoothing: Option<u8>,
    /// Least number of frames between two detections
    #[arg(long, value_name = "FRAMES", help_heading = "Detector")]
    pub refractory: Option<u16>,
    /// Frames after the start or a reset in which nothing is detected
    #[arg(long, value_name = "FRAMES", help_heading = "Detector")]
    pub warm_up: Option<u16>,
    /// When the state of the network is reset: never, every:N frames, or after quiet:N quiet frames in a row
    #[arg(long, value_name = "POLICY", value_parser = reset, help_heading = "Detector")]
    pub reset: Option<ResetArg>,
    /// A frame is quiet if the mean of its features is below this (for log-mel, in nats)
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Detector")]
    pub quiet_level: Option<f64>,
}

/// When to reset; the level is another flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetArg {
    Never,
    Every(u16),
    Quiet(u16),
}

fn reset(text: &str) -> Result<ResetArg, String> {
    let frames = |n: &str| n.parse().ok().filter(|&n| n > 0);
    let known = match text.split_once(':') {
        None if text == "never" => Some(ResetArg::Never),
        Some(("every", n)) => frames(n).map(ResetArg::Every),
        Some(("quiet", n)) => frames(n).map(ResetArg::Quiet),
        _ => None,
    };
    known.ok_or_else(|| "use never, every:N or quiet:N, N from 1 to 65535".to_owned())
}

#[derive(Debug, Args)]
pub struct StreamEvalArgs {
    /// Integer model file, or the run folder that holds one
    pub model: PathBuf,
    /// Data set to build streams from: a known name or a folder of recordings [default: that of the training]
    #[arg(long, value_name = "NAME|PATH")]
    pub dataset: Option<String>,
    /// Folder of background recordings [default: _background_noise_ of the data set]
    #[arg(long, value_name = "DIR")]
    pub noise: Option<PathBuf>,
    /// Also listen to sound: a folder with one sub-folder of recordings for each word
    #[arg(long, value_name = "DIR")]
    pub audio: Option<PathBuf>,
    /// Seed of the streams
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Length of the test stream
    #[arg(long, value_name = "MINUTES", default_value_t = 20.0)]
    pub minutes: f64,
    /// Number of target words in the test stream, all different
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub targets: u32,
    /// Level of the words above the noise in dB, lowest and highest
    #[arg(long, value_name = "LOW:HIGH", default_value = "5:25", value_parser = range, allow_hyphen_values = true)]
    pub snr: (f64, f64),
    /// Store the detector in the model file
    #[arg(long)]
    pub save: bool,
    /// Write the curve of false rejects over false accepts
    #[arg(long, value_name = "FILE.svg")]
    pub det: Option<PathBuf>,
    #[command(flatten)]
    pub detector: DetectorArgs,
    #[command(flatten)]
    pub data: DataRecipe,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.abs() <= 200.0);
    let (low, high) = text.split_once(':').unwrap_or((text, text));
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => Err("use two numbers of dB, the lower first, such as 5:25".to_owned()),
    }
}
