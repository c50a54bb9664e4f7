//! `fastgrnn analyze`

use crate::args::AnalyzeArgs;
use crate::console::Console;
use crate::failure::Stopped;
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::scores::short;
use crate::shell::quoted;
use crate::table::{facts, table};
use crate::{dataset, interrupt, model, progress};
use anyhow::Context;
use fastgrnn::analyze::{Analysis, AnalyzeError, AnalyzeOptions, Theory, analyze};
use fastgrnn::cells::CellKind;
use fastgrnn::data::{self, Dataset, Request};
use fastgrnn::model::{AnyModel, Model};
use fastgrnn::report::{
    AnalysisReport, AnalyzedNetwork, BOUND_COLUMNS, BOUND_NOTE, CONDITION_COLUMNS, CONDITION_NOTE,
    GRADIENT_COLUMNS, GRADIENT_NOTE, ReproductionReport, STATE_COLUMNS, STATE_NOTE, WEIGHT_COLUMNS,
    WEIGHT_NOTE, bound_rows, condition_rows, conditions_rows, gradient_rows, quantity_rows, ratio_lines,
    sequence_lines, state_rows, weight_rows,
};
use fastgrnn::reproduce::{PaperTable, Reproduction, TableCell, stored};
use fastgrnn::train::{Recipe, starting_model};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The data set of networks that are made, if none is given: it needs no files.
const BUILT_IN: &str = "digits";
const CELLS: [CellKind; 3] = [CellKind::Rnn, CellKind::FastRnn, CellKind::FastGrnn];
/// Tables of a reproduction that belong to the theory.
const TABLES: [PaperTable; 3] = [PaperTable::AlphaBeta, PaperTable::FixedAlpha, PaperTable::InitialState];

#[derive(Serialize)]
struct AnalyzeOutput<'a> {
    networks: &'a [AnalyzedOutput],
    /// Values of the tables of the reproduction; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    reproduction: Option<&'a [TableCell]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
}

#[derive(Serialize)]
struct AnalyzedOutput {
    /// The file, or the cell of a network that was made.
    name: String,
    /// The file, absolute; null for a network that was made.
    model: Option<PathBuf>,
    #[serde(flatten)]
    analysis: Analysis,
}

/// Analyses models, or networks before their training, and writes the page.
pub fn run(args: AnalyzeArgs, console: Console) -> anyhow::Result<()> {
    check(&args)?;
    // Read first: a mistake in its path should not come after minutes of work.
    let reproduction = args.reproduction.as_deref().map(reproduction).transpose()?;
    let is_about_networks = !args.models.is_empty() || reproduction.is_none() || is_about_made(&args);
    let networks = match (args.models.is_empty(), is_about_networks) {
        (false, _) => of_models(&args, console)?,
        (true, true) => of_cells(&args, console)?,
        (true, false) => Vec::new(),
    };
    let named: Vec<AnalyzedNetwork> = networks
        .iter()
        .map(|network| AnalyzedNetwork { name: &network.name, analysis: &network.analysis })
        .collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let command = command();
    let tables = reproduction.as_ref().map(|(made, is_quick)| ReproductionReport {
        reproduction: made,
        is_quick: *is_quick,
        command: command.clone(),
        version: version.clone(),
    });
    if let Some(path) = &args.out {
        let page = AnalysisReport {
            networks: &named,
            reproduction: tables.as_ref(),
            command: command.clone(),
            version,
        };
        write_whole(path, page.html().as_bytes())?;
    }
    let report = args.out.as_ref().map(std::path::absolute).transpose()?;
    let output = AnalyzeOutput {
        networks: &networks,
        reproduction: reproduction.as_ref().map(|(made, _)| &made.cells[..]),
        report,
    };
    console.answer(&output, || describe(&named, tables.as_ref(), output.report.as_deref()))
}

/// Whether a flag is about networks that are made.
fn is_about_made(args: &AnalyzeArgs) -> bool {
    let is_given = args.dataset.is_some() || !args.steps.is_empty() || args.examples.is_some();
    is_given || maker_flag(args).is_some()
}

/// The first flag that is about networks that are made.
fn maker_flag(args: &AnalyzeArgs) -> Option<&'static str> {
    let flags = [
        ("--cell", !args.cell.is_empty()),
        ("--hidden", args.hidden.is_some()),
        ("--seed", args.seed.is_some()),
        (
            "--start, --alpha, --beta, --zeta, --nu or another flag about parameters",
            args.parameters != Default::default(),
        ),
    ];
    flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

fn check(args: &AnalyzeArgs) -> anyhow::Result<()> {
    if args.out.as_ref().is_some_and(|out| out.is_dir()) {
        let out = args.out.as_deref().unwrap_or(Path::new("")).display();
        return Err(misuse(format!(
            "--out {out} is a folder; name the page to write, such as --out {out}/analysis.html"
        )));
    }
    match maker_flag(args) {
        Some(flag) if !args.models.is_empty() => Err(misuse(format!(
            "{flag}: this is about networks that are made, but models are given; leave one of them out"
        ))),
        _ => Ok(()),
    }
}

/// The tables about the theory of a folder of reproductions.
fn reproduction(folder: &Path) -> anyhow::Result<(Reproduction, bool)> {
    stored(folder, &TABLES).with_context(|| {
        format!(
            "{} holds no reproduction; make one with: fastgrnn reproduce alpha-beta fixed-alpha initial-state --out {}",
            folder.display(),
            quoted(&folder.display().to_string())
        )
    })
}

fn of_models(args: &AnalyzeArgs, console: Console) -> anyhow::Result<Vec<AnalyzedOutput>> {
    let mut all = Vec::new();
    for path in &args.models {
        let model = model::load(path)?;
        let name = short(path);
        if let AnyModel::Integer(_) = model {
            console.note(&format!(
                "{name} is an integer model: the values that its integers stand for are analysed"
            ));
        }
        let float = model.float();
        let source = match &args.dataset {
            Some(source) => source.clone(),
            None if float.dataset.is_empty() => {
                return Err(misuse(format!(
                    "{name} does not say which data it belongs to; name it with --dataset"
                )));
            }
            None => float.dataset.clone(),
        };
        let loaded = dataset::load(float, &source, args.test.clone(), args.data.clone(), console);
        let data = match &args.dataset {
            Some(_) => loaded?,
            None => loaded.with_context(|| {
                format!("{name} belongs to the data set '{source}'; name its files with --dataset")
            })?,
        };
        let analysis = analyzed(args, &name, float, true, &data, console)?;
        all.push(AnalyzedOutput { name, model: Some(std::path::absolute(model::file(path))?), analysis });
    }
    Ok(all)
}

fn of_cells(args: &AnalyzeArgs, console: Console) -> anyhow::Result<Vec<AnalyzedOutput>> {
    let source = args.dataset.clone().unwrap_or_else(|| BUILT_IN.into());
    let base = Recipe::default().with(|r| {
        (r.source.dataset, r.source.test) = (Some(source.clone()), args.test.clone());
        (r.data, r.parameters) = (args.data.clone(), args.parameters.clone());
        r.network.hidden = args.hidden.map(usize::from);
    });
    let request = Request { watch: progress::reading(&console), ..base.request() };
    let data = dataset::finish(data::load(&request), &source, console)?;
    let cells = if args.cell.is_empty() { CELLS.to_vec() } else { args.cell.clone() };
    let mut all: Vec<AnalyzedOutput> = Vec::new();
    for cell in cells {
        let name = cell.name().to_owned();
        if all.iter().any(|other| other.name == name) {
            continue;
        }
        let recipe = base.clone().with(|r| r.network.cell = Some(cell));
        let config =
            recipe.resolve(&data).with_context(|| format!("there is no such {cell} for '{source}'"))?;
        let model = starting_model(&config, &data, args.seed.unwrap_or(0))?;
        let analysis = analyzed(args, &name, &model, false, &data, console)?;
        all.push(AnalyzedOutput { name, model: None, analysis });
    }
    Ok(all)
}

fn analyzed(
    args: &AnalyzeArgs,
    name: &str,
    model: &Model,
    is_trained: bool,
    data: &Dataset,
    console: Console,
) -> anyhow::Result<Analysis> {
    let defaults = AnalyzeOptions::default();
    let options = AnalyzeOptions {
        examples: args.examples.map_or(defaults.examples, |n| n as usize),
        steps: args.steps.iter().map(|&n| n as usize).collect(),
        threads: args.threads.count(),
        ..defaults
    };
    interrupt::end_analysis();
    let mut watch = progress::sequences(console, name);
    let found = analyze(model, is_trained, data, &options, &interrupt::is_requested, &mut watch);
    drop(watch);
    found.map_err(|error| match error {
        AnalyzeError::Stopped => Stopped { what: "nothing was written".into(), resume: None }.into(),
        error => anyhow::Error::from(error).context(format!("cannot analyse {name} on '{}'", data.name)),
    })
}

/// This command, as it was given.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("fastgrnn".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn describe(
    networks: &[AnalyzedNetwork],
    tables: Option<&ReproductionReport>,
    report: Option<&Path>,
) -> String {
    let mut text = String::new();
    sequence_lines(networks).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    if !networks.is_empty() {
        text.push('\n');
    }
    let mut section = |title: &str, note: &str, columns: &[&str], rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            text.push_str(&format!("{title}\n{note}\n\n{}\n", table(columns, &rows)));
        }
    };
    let condition = "Condition number of the gradient";
    section(condition, CONDITION_NOTE, &CONDITION_COLUMNS, condition_rows(networks));
    let gradient = "Gradient of the loss by the state";
    section(gradient, GRADIENT_NOTE, &GRADIENT_COLUMNS, gradient_rows(networks));
    section("Residual weights", WEIGHT_NOTE, &WEIGHT_COLUMNS, weight_rows(networks));
    section("Influence of the initial state", STATE_NOTE, &STATE_COLUMNS, state_rows(networks));
    let bounds = "Bounds of convergence and generalisation";
    section(bounds, BOUND_NOTE, &BOUND_COLUMNS, bound_rows(networks));
    ratio_lines(networks).iter().for_each(|line| text.push_str(&format!("{line}\n\n")));
    for network in networks {
        let theory = &network.analysis.theory;
        match &theory.why_not {
            Some(why) => text.push_str(&format!("{}: {why}\n\n", network.name)),
            None => text.push_str(&theory_text(network.name, theory)),
        }
    }
    if let Some(tables) = tables {
        for &paper_table in &tables.reproduction.tables {
            text.push_str(&format!("\n{}\n\n", paper_table.title()));
            for set in tables.set_tables(paper_table) {
                let columns: Vec<&str> = set.columns.iter().map(String::as_str).collect();
                text.push_str(&format!("{}\n{}", set.dataset, table(&columns, &set.rows)));
                set.findings.iter().for_each(|finding| text.push_str(&format!("  {finding}\n")));
            }
            tables.missing(paper_table).iter().for_each(|missing| text.push_str(&format!("{missing}\n")));
        }
    }
    if let Some(report) = report {
        text.push_str(&format!("\n{}", facts(&[("page", short(report))])));
    }
    text
}

/// What the bounds of a network assume, and the numbers that they are made of.
fn theory_text(name: &str, theory: &Theory) -> String {
    let mut text = format!("{name}: what the bounds assume\n\n");
    for row in conditions_rows(theory) {
        text.push_str(&format!("  {:<9}  {}: {}\n", row[1], row[0], row[2]));
    }
    text.push_str(&format!("\n{name}: quantities of the bounds\n\n"));
    let rows = quantity_rows(theory);
    let values: Vec<(&str, String)> =
        rows.iter().map(|row| (row[0].as_str(), format!("{:<10} {}, {}", row[2], row[1], row[3]))).collect();
    text + &facts(&values) + "\n"
}
