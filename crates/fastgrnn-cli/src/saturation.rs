//! What an integer engine had to cut, for JSON and for people.

use crate::table::table;
use fastgrnn::quantize::{SaturationRow, Saturations};
use fastgrnn::report::count;
use serde::Serialize;

/// Values cut to their width while a data set was computed.
#[derive(Debug, Serialize)]
pub struct Saturated {
    /// All of them.
    pub total: u64,
    /// Steps of all sequences.
    pub steps: u64,
    /// Where, worst first; places without any are left out.
    pub rows: Vec<SaturationRow>,
}

impl Saturated {
    /// What was counted.
    pub fn of(saturations: &Saturations) -> Self {
        Self { total: saturations.total(), steps: saturations.steps, rows: saturations.rows() }
    }
}

/// One line, and a table where anything was cut.
pub fn saturation_text(saturated: &Saturated) -> String {
    let steps = count(saturated.steps);
    if saturated.rows.is_empty() {
        return format!("  No value saturated in {steps} steps.\n");
    }
    let rows: Vec<Vec<String>> = saturated
        .rows
        .iter()
        .map(|row| {
            let often = row.count as f64 / saturated.steps.max(1) as f64;
            vec![format!("{} of layer {}", row.place, row.layer), count(row.count), format!("{often:.4}")]
        })
        .collect();
    format!(
        "  Values that saturated in {steps} steps (docs/quantize.md says what to do):\n{}",
        table(&["value", "times", "a step"], &rows)
    )
}
