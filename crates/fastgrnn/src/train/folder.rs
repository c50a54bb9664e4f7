//! The names in a run folder.

use fastgrnn_report::PREDICTED_FILES;
use std::path::{Path, PathBuf};

/// The resolved configuration, itself a recipe.
pub const CONFIG_FILE: &str = "config.toml";
/// One line of JSON for each epoch.
pub const METRICS_FILE: &str = "metrics.jsonl";
/// The summary of a finished run.
pub const SUMMARY_FILE: &str = "summary.json";
/// The model: the integer one with `quantize`. In the folder of a seed, and that of the best seed in the
/// run folder.
pub const MODEL_FILE: &str = "model.safetensors";
/// With `quantize`, the float model behind the integer one.
pub const FLOAT_MODEL_FILE: &str = "model_float.safetensors";
/// In the folder of a seed: what the seed came to.
pub const RESULT_FILE: &str = "result.json";
/// In the folder of a seed: where to continue; deleted once the seed is done.
pub const CHECKPOINT_FILE: &str = "checkpoint.safetensors";
/// Why a run failed; deleted when it is continued.
pub const ERROR_FILE: &str = "error.txt";
/// The report of a run.
pub const REPORT_FILE: &str = "report.html";
/// The folder with the plots of the report.
pub const PLOTS_FOLDER: &str = "plots";
/// The plots that a report may have.
pub(super) const PLOT_FILES: [&str; 7] = [
    "loss.svg",
    "accuracy.svg",
    "confusion.svg",
    PREDICTED_FILES[0],
    PREDICTED_FILES[1],
    PREDICTED_FILES[2],
    PREDICTED_FILES[3],
];
/// Locked by the process that trains into the folder.
pub(super) const LOCK_FILE: &str = ".lock";

/// The folder of a seed in a run folder.
pub fn seed_folder(run: &Path, seed: u64) -> PathBuf {
    run.join(format!("seed-{seed}"))
}
