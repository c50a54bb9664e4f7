//! `fastgrnn compare`

use crate::args::CompareArgs;
use crate::console::Console;
use crate::report::write_whole;
use crate::saturation::{Saturated, saturation_text};
use crate::scores::{score_text, short};
use crate::table::{facts, table};
use crate::{dataset, model};
use anyhow::Context;
use fastgrnn::compare::{CompareOptions, Comparison, Drift, Side, compare};
use fastgrnn::metrics::Scores;
use fastgrnn::model::AnyModel;
use fastgrnn::report::{CompareReport, Named, bytes, count, fraction, number};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct CompareOutput<'a> {
    dataset: &'a str,
    split: &'a str,
    /// Sequences whose predictions were compared.
    n: usize,
    /// Sequences whose states were followed; 0 where the layers are not the same.
    samples: usize,
    /// Share of equal decisions; null for regression.
    agreement: Option<f64>,
    /// Root of the mean squared difference of predicted numbers; null for classes.
    difference: Option<f64>,
    a: Model,
    b: Model,
    drift: &'a [Drift],
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
}

#[derive(Serialize)]
struct Model {
    model: PathBuf,
    engine: &'static str,
    cell: &'static str,
    bytes: usize,
    /// Against the labels; null without.
    scores: Option<Scores>,
    /// Of an integer model; null otherwise.
    saturations: Option<Saturated>,
}

/// Compares two models on one part of a data set.
pub fn run(args: CompareArgs, console: Console) -> anyhow::Result<()> {
    let (a, b) = (model::load(&args.model_a)?, model::load(&args.model_b)?);
    let data = dataset::load_any(a.float(), &args.source.dataset, args.source.test, args.data, console)?;
    let (split, part) = dataset::part(a.float(), data, args.source.split, console)?;
    let defaults = CompareOptions::default();
    let options = CompareOptions {
        samples: args.samples.map_or(defaults.samples, |n| n as usize),
        threads: args.threads.count(),
    };
    let found = compare(&a, &b, &part, &options)
        .with_context(|| format!("cannot compare the models on '{}'", args.source.dataset))?;
    let answer = CompareOutput {
        dataset: &args.source.dataset,
        split: split.name(),
        n: found.n,
        samples: found.samples,
        agreement: found.agreement,
        difference: found.difference,
        a: side(&args.model_a, &a, &found.a)?,
        b: side(&args.model_b, &b, &found.b)?,
        drift: &found.drift,
        report: args.report.as_ref().map(std::path::absolute).transpose()?,
    };
    if let Some(path) = &args.report {
        let command = format!(
            "fastgrnn compare {} {} --dataset {} --split {} --report {}",
            args.model_a.display(),
            args.model_b.display(),
            args.source.dataset,
            split.name(),
            path.display()
        );
        let page = CompareReport {
            found: &found,
            a: named(&args.model_a, &a),
            b: named(&args.model_b, &b),
            data: format!("{} ({})", args.source.dataset, split.name()),
            command,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        write_whole(path, page.html().as_bytes())?;
    }
    console.answer(&answer, || describe(&answer, &found))
}

fn side(path: &Path, model: &AnyModel, side: &Side) -> anyhow::Result<Model> {
    Ok(Model {
        model: std::path::absolute(path)?,
        engine: model.engine(),
        cell: model.float().network.main_cell().kind.name(),
        bytes: model.sizes().total,
        scores: side.scores.clone(),
        saturations: side.saturations.as_ref().map(Saturated::of),
    })
}

fn named(path: &Path, model: &AnyModel) -> Named {
    Named { name: path.display().to_string(), engine: model.engine(), bytes: model.sizes().total }
}

fn describe(answer: &CompareOutput, found: &Comparison) -> String {
    let about = |m: &Model| {
        let score = m.scores.as_ref().map_or("no labels".to_owned(), |s| score_text(s, None));
        format!("{} ({}, {}): {score}", short(&m.model), m.engine, bytes(m.bytes as u64))
    };
    let mut rows = vec![
        ("data", format!("{} ({}), {} sequences", answer.dataset, answer.split, count(answer.n as u64))),
        ("a", about(&answer.a)),
        ("b", about(&answer.b)),
    ];
    if let Some(agreement) = answer.agreement {
        rows.push(("agree on", fraction(agreement, None)));
    }
    if let Some(difference) = answer.difference {
        rows.push(("differ by", format!("{} (root mean square)", number(difference))));
    }
    if let Some(report) = &answer.report {
        rows.push(("report", short(report)));
    }
    let mut text = facts(&rows);
    match found.drift.as_slice() {
        [] => text.push_str("\n  The layers are not the same: states were not compared.\n"),
        drift => text.push_str(&format!("\n{}", drift_text(drift, found.samples))),
    }
    for (name, m) in [("a", &answer.a), ("b", &answer.b)] {
        if let Some(saturated) = &m.saturations {
            text.push_str(&format!("\n  Model {name}:\n{}", saturation_text(saturated)));
        }
    }
    text
}

/// The drift at a few steps from the first to the last.
fn drift_text(drift: &[Drift], samples: usize) -> String {
    let rows = drift.iter().flat_map(|d| {
        let last = d.points.len().saturating_sub(1);
        let mut shown: Vec<usize> = [0, last / 4, last / 2, 3 * last / 4, last].to_vec();
        shown.dedup();
        shown.into_iter().filter_map(|i| d.points.get(i)).map(move |p| {
            let share = if d.scale > 0.0 { p.mean / d.scale } else { 0.0 };
            vec![
                format!("{} of layer {}", d.value, d.layer),
                p.step.to_string(),
                number(p.mean),
                number(p.max),
                fraction(share, None),
            ]
        })
    });
    let heading = ["state", "step", "mean drift", "largest", "mean of scale"];
    format!(
        "  Drift of b's states from a's, over {} sequences:\n{}",
        count(samples as u64),
        table(&heading, &rows.collect::<Vec<_>>())
    )
}
