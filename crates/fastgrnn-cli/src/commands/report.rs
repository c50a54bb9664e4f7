//! The report that a finished training leaves in its run folder.

use anyhow::Context;
use fastgrnn::data::Dataset;
use fastgrnn::files::write_atomic;
use fastgrnn::model::AnyModel;
use fastgrnn::report::run_report;
use fastgrnn::train::{Config, SeedRecord, Summary};
use std::path::Path;

/// Writes `report.html` and its plots.
pub fn write(
    summary: &Summary,
    config: &Config,
    records: &[SeedRecord],
    data: &Dataset,
) -> anyhow::Result<()> {
    let model = AnyModel::load(&summary.model).context("cannot report on the run")?;
    let command = format!("fastgrnn train {}", summary.run.join("config.toml").display());
    let report = run_report(summary, config, records, &model, data, &command);
    for plot in report.plots() {
        write_whole(&summary.run.join("plots").join(plot.name), plot.svg.as_bytes())?;
    }
    write_whole(&summary.run.join("report.html"), report.html().as_bytes())
}

/// Writes a file so that it is there whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_atomic(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
