//! Leaving clocks and counters out of tables, and naming values that an f32 cannot tell apart.

use super::columns::Columns;
use super::doctor::trend::{Trend, is_clock};
use super::names::listed;
use super::recordings::RecordingRows;
use super::{Finding, FindingCode, Request};

/// The columns and rows of a table.
pub(crate) struct TableParts<'a> {
    pub columns: &'a mut Columns,
    pub rows: &'a mut RecordingRows,
    /// Whether a row is a time step.
    pub steps: bool,
}

/// Leaves the columns out of all `tables` of one part that are clocks or counters in the whole part,
/// and says so. Columns that the request chooses stay.
pub(crate) fn leave_out(mut tables: Vec<TableParts>, request: &Request) -> Vec<Finding> {
    let Some(first) = tables.first() else { return Vec::new() };
    let names = feature_names(first.columns);
    let is_alike = |table: &TableParts| feature_names(table.columns) == names;
    if !request.data.chosen_columns().is_empty() || !tables.iter().all(is_alike) {
        return Vec::new();
    }
    let mut clocks: Vec<usize> = (0..names.len())
        .filter(|&feature| is_clock(tables.iter().flat_map(|table| table.rows.trends_of(feature))))
        .collect();
    let is_wide = tables.iter().all(|table| !table.steps);
    if let Some(expect) = &request.expect {
        // A model reads its features by name. Of rows that are sequences, it knows their length.
        let rest = names.len() - clocks.len();
        if !is_wide || expect.steps == 0 || rest != expect.dim * expect.steps {
            return Vec::new();
        }
    }
    if clocks.len() == names.len() || first.columns.channels.is_some() {
        clocks.clear();
    }
    for &feature in clocks.iter().rev() {
        tables.iter_mut().for_each(|table| {
            table.columns.leave_out(feature);
            table.rows.remove_feature(feature);
        });
    }
    let left_out = clocks.iter().map(|&feature| {
        Finding::warning(
            FindingCode::ClockColumn,
            format!("column '{}' runs like a clock or a counter and was left out", names[feature]),
            "keep it with `columns`, which names all columns to use",
        )
    });
    left_out.chain(lost_digits(&tables, &names, &clocks)).collect()
}

fn feature_names(columns: &Columns) -> Vec<String> {
    columns.features.iter().map(|&i| columns.names[i].clone()).collect()
}

/// Names the features that change by less than an f32 can hold.
fn lost_digits(tables: &[TableParts], names: &[String], clocks: &[usize]) -> Option<Finding> {
    let kept: Vec<&String> =
        names.iter().enumerate().filter(|(i, _)| !clocks.contains(i)).map(|(_, name)| name).collect();
    let is_lost = |feature: usize| {
        let trends = tables.iter().flat_map(|table| table.rows.trends_of(feature));
        Trend::loses_digits(trends)
    };
    let lost: Vec<String> =
        (0..kept.len()).filter(|&feature| is_lost(feature)).map(|i| format!("'{}'", kept[i])).collect();
    (!lost.is_empty()).then(|| {
        Finding::warning(
            FindingCode::LostDigits,
            format!("the changes of {} are lost in 32-bit numbers, beside their large values", listed(&lost)),
            "subtract an offset before, such as the mean or the first value",
        )
    })
}
