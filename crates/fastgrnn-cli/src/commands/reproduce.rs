//! `fastgrnn reproduce`

use crate::args::ReproduceArgs;
use crate::console::Console;
use crate::failure::Stopped;
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::scores::short;
use crate::searching::{SearchWatcher, loader};
use crate::shell::{own_command, quoted};
use crate::table::{facts, table};
use crate::{board_job, interrupt};
use anyhow::Context;
use fastgrnn::engine;
use fastgrnn::report::{ReproductionReport, reproduction_summary};
use fastgrnn::reproduce::{
    self, Build, PaperTable, ReproduceError, ReproduceOptions, Reproduction, TableCell,
};
use fastgrnn::settings::Choice;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where the store and the pages lie if nothing else is said.
const FOLDER: &str = "reproduction";
/// The pages, in that folder.
const PAGE: &str = "results.html";
const MARKDOWN: &str = "results.md";

#[derive(Serialize)]
struct ReproduceOutput<'a> {
    /// The folder of the store and the pages.
    run: &'a Path,
    cells: &'a [TableCell],
    /// How many networks were trained now.
    trained: usize,
    report: PathBuf,
    markdown: PathBuf,
}

/// Makes tables again, and writes them as pages.
pub fn run(args: ReproduceArgs, console: Console) -> anyhow::Result<()> {
    if args.quick && args.seeds.is_some_and(|seeds| seeds != 1) {
        return Err(misuse("--quick trains one seed; leave out --seeds, or --quick"));
    }
    let out = folder(&args)?;
    let all = args.tables.is_empty();
    let mut tables: Vec<PaperTable> = Vec::new();
    for table in if all { PaperTable::all() } else { args.tables.clone() } {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    let options = ReproduceOptions {
        out: out.clone(),
        tables,
        sets: args.sets.clone(),
        rows: args.rows.clone(),
        is_quick: args.quick,
        seeds: args.seeds.map(usize::from),
        join: args.join.clone(),
        trains: !args.stored,
        data_dir: args.data_dir.clone(),
        threads: args.threads.count(),
        device: args.device.choice(),
        program: Build {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: option_env!("FASTGRNN_COMMIT").map(str::to_owned),
            isa: engine::best_isa().name().into(),
        },
    };
    interrupt::listen_and_end_boards();
    let load = loader(console);
    let mut watcher = SearchWatcher::new(console);
    let command = own_command(None, &out);
    let made = reproduce::run(&options, &load, &board_job::measure, &interrupt::is_requested, &mut watcher);
    drop(watcher);
    let made = made.map_err(|error| match error {
        ReproduceError::Interrupted { .. } => {
            Stopped { what: format!("continue with: {command}"), resume: Some(command.clone()) }.into()
        }
        error @ (ReproduceError::NoRow | ReproduceError::NoStore { .. }) => misuse(error.to_string()),
        error => anyhow::Error::from(error),
    })?;
    let report = ReproductionReport {
        reproduction: &made,
        is_quick: args.quick,
        command: table_command(&options, all),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let (page, markdown) = (out.join(PAGE), out.join(MARKDOWN));
    write_whole(&page, report.html().as_bytes())?;
    write_whole(&markdown, report.markdown().as_bytes())?;
    let output = ReproduceOutput {
        run: &out,
        cells: &made.cells,
        trained: made.trained,
        report: page.clone(),
        markdown: markdown.clone(),
    };
    console.answer(&output, || describe(&report, &made, [&page, &markdown]))
}

/// The folder of the store; a new one for short trainings.
fn folder(args: &ReproduceArgs) -> anyhow::Result<PathBuf> {
    let folder = match (&args.out, args.quick) {
        (Some(out), _) => out.clone(),
        (None, false) => PathBuf::from(FOLDER),
        (None, true) => {
            let made = tempfile::Builder::new().prefix("fastgrnn-quick-").tempdir();
            made.context("cannot make a temporary folder")?.keep()
        }
    };
    Ok(std::path::absolute(folder)?)
}

/// The command of these tables, without folders of this machine.
fn table_command(options: &ReproduceOptions, all: bool) -> String {
    let mut words = vec!["fastgrnn reproduce".to_owned()];
    if !all {
        words.extend(options.tables.iter().map(ToString::to_string));
    }
    for set in &options.sets {
        words.push(format!("--dataset {}", set.name));
    }
    for row in &options.rows {
        words.push(format!("--row {}", quoted(row)));
    }
    if options.is_quick {
        words.push("--quick".into());
    }
    words.extend(options.seeds.filter(|_| !options.is_quick).map(|seeds| format!("--seeds {seeds}")));
    words.join(" ")
}

fn describe(report: &ReproductionReport, made: &Reproduction, pages: [&Path; 2]) -> String {
    let mut text = String::new();
    for &paper_table in &made.tables {
        text.push_str(&format!("{}\n\n", paper_table.title()));
        for set in report.set_tables(paper_table) {
            text.push_str(&format!("{}\n", set.dataset));
            let columns: Vec<&str> = set.columns.iter().map(String::as_str).collect();
            text.push_str(&table(&columns, &set.rows));
            set.findings.iter().for_each(|finding| text.push_str(&format!("  {finding}\n")));
            text.push('\n');
        }
        report.missing(paper_table).iter().for_each(|missing| text.push_str(&format!("{missing}\n\n")));
    }
    text.push_str(&facts(&[
        ("done", reproduction_summary(made)),
        ("page", short(pages[0])),
        ("Markdown", short(pages[1])),
    ]));
    text
}
