//! Low rank, sparsity and integers added one at a time: what each costs and saves.

use crate::console::Console;
use crate::table::table;
use crate::training::{Place, train};
use fastgrnn::metrics::Scores;
use fastgrnn::model::AnyModel;
use fastgrnn::pareto::Component;
use fastgrnn::report::{count, fraction, number};
use fastgrnn::train::{DeviceChoice, Outcome};
use serde::Serialize;
use std::path::PathBuf;

/// A trained component.
#[derive(Debug, Serialize)]
pub struct ComponentRow {
    /// `full-rank`, `low-rank`, `sparse`, `integer`, or `tiny` for a small dense one.
    pub stage: &'static str,
    pub params: usize,
    pub nnz: usize,
    /// The device image; of a float model its parameters, sparse matrices with a bitmap.
    pub bytes: usize,
    pub val: Option<Scores>,
    pub test: Option<Scores>,
    pub test_sd: Option<Scores>,
    pub model: PathBuf,
    pub run: PathBuf,
}

/// Trains `components` one after the other, each into `folder(name)`; also returns the last run.
pub fn train_all(
    components: &[Component],
    folder: impl Fn(&str) -> PathBuf,
    threads: usize,
    console: Console,
) -> anyhow::Result<(Vec<ComponentRow>, Option<Outcome>)> {
    let (mut rows, mut last) = (Vec::new(), None);
    for (i, component) in components.iter().enumerate() {
        console.note(&format!("{} of {}: {}", i + 1, components.len(), title(component.name)));
        let place = Place { out: Some(folder(component.name)), resume: false, replace: false };
        let outcome = train(&component.recipe, place, threads, DeviceChoice::Cpu, console)?;
        rows.push(row(component.name, &outcome));
        last = Some(outcome);
    }
    Ok((rows, last))
}

fn row(stage: &'static str, outcome: &Outcome) -> ComponentRow {
    let Outcome { summary, model, .. } = outcome;
    ComponentRow {
        stage,
        params: summary.params,
        nnz: model.nonzero(),
        bytes: match model {
            AnyModel::Float(model) => model.sparse_bytes(),
            AnyModel::Integer(model) => model.image().len(),
        },
        val: summary.val.clone(),
        test: summary.test.clone(),
        test_sd: summary.test_sd.clone(),
        model: summary.model.clone(),
        run: summary.run.clone(),
    }
}

fn title(stage: &str) -> &str {
    match stage {
        "full-rank" => "float, full rank",
        "low-rank" => "+ low rank",
        "sparse" => "+ sparse",
        "integer" => "+ integers only",
        "tiny" => "small and dense, integers only",
        other => other,
    }
}

const HEADING: [&str; 6] = ["stage", "parameters", "weights not 0", "bytes", "validation", "test"];

fn cells(row: &ComponentRow) -> Vec<String> {
    let score = |s: Option<&Scores>, sd: Option<f64>| match s {
        Some(s) => s.accuracy.map_or_else(|| number(s.loss), |a| fraction(a, sd)),
        None => "–".into(),
    };
    let sd = row.test_sd.as_ref().and_then(|s| s.accuracy);
    vec![
        title(row.stage).to_owned(),
        count(row.params as u64),
        count(row.nnz as u64),
        count(row.bytes as u64),
        score(row.val.as_ref(), None),
        score(row.test.as_ref(), sd),
    ]
}

/// The rows for people.
pub fn text(rows: &[ComponentRow]) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    format!(
        "{}  Bytes: of floats 4 a value, sparse matrices with a bitmap; of integers the whole device image.\n  \
         Scores are measured.\n",
        table(&HEADING, &cells)
    )
}
