//! The report of a training run.

use anyhow::Context;
use fastgrnn::data::Dataset;
use fastgrnn::files::write_atomic;
use fastgrnn::report::run_report;
use fastgrnn::train::{CONFIG_FILE, Config, Outcome, PLOTS_FOLDER, REPORT_FILE};
use std::path::Path;

/// Writes `report.html` and its plots.
pub fn write(outcome: &Outcome, config: &Config, data: &Dataset) -> anyhow::Result<()> {
    let Outcome { summary, records, model } = outcome;
    let command = format!("fastgrnn train {}", summary.run.join(CONFIG_FILE).display());
    let report = run_report(summary, config, records, model, data, &command);
    for plot in report.plots() {
        write_whole(&summary.run.join(PLOTS_FOLDER).join(plot.name), plot.svg.as_bytes())?;
    }
    write_whole(&summary.run.join(REPORT_FILE), report.html().as_bytes())
}

/// Writes a file completely or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_atomic(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
