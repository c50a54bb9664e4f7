//! `fastgrnn runs`

use crate::args::RunsArgs;
use crate::console::Console;
use crate::date::utc;
use crate::misuse::misuse;
use crate::table::table;
use fastgrnn::metrics::Scores;
use fastgrnn::report::{bytes, fraction, number};
use fastgrnn::train::{ListedRun, RunState, list_runs};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct RunsOutput {
    folder: PathBuf,
    runs: Vec<DatedRun>,
}

#[derive(Serialize)]
struct DatedRun {
    #[serde(flatten)]
    run: ListedRun,
    /// When it was last written to.
    date: String,
}

/// Lists the runs below a folder.
pub fn run(args: &RunsArgs, console: Console) -> anyhow::Result<()> {
    let folder = std::path::absolute(&args.folder)?;
    let runs = list_runs(&folder)
        .map_err(|e| misuse(format!("cannot list the folder {}: {e}", args.folder.display())))?;
    let runs = runs.into_iter().map(|run| DatedRun { date: utc(run.modified), run }).collect();
    let answer = RunsOutput { folder, runs };
    console.answer(&answer, || describe(&answer, &args.folder))
}

fn describe(answer: &RunsOutput, folder: &Path) -> String {
    if answer.runs.is_empty() {
        return format!("  no runs below {}\n", folder.display());
    }
    let heading = ["run", "state", "data set", "validation", "test", "size", "written (UTC)", "settings"];
    let rows: Vec<Vec<String>> = answer.runs.iter().map(row).collect();
    let mut text = table(&heading, &rows);
    for DatedRun { run, .. } in &answer.runs {
        if let Some(problem) = &run.problem {
            text.push_str(&format!("\n  {}: {problem}", run.name));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn row(DatedRun { run, date }: &DatedRun) -> Vec<String> {
    let settings: Vec<String> = run.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let dataset = run.dataset.as_deref().map(|name| {
        let last = Path::new(name).file_name().and_then(|last| last.to_str());
        last.unwrap_or(name).to_owned()
    });
    vec![
        run.name.clone(),
        state(run),
        dataset.unwrap_or_default(),
        run.val.as_ref().map_or_else(String::new, main_score),
        run.test.as_ref().map_or_else(String::new, main_score),
        run.bytes.map_or_else(String::new, |n| bytes(n as u64)),
        date.get(..16).unwrap_or(date).replace('T', " "),
        settings.join(" "),
    ]
}

fn state(run: &ListedRun) -> String {
    let at = |what: &str| match (run.epoch, run.epochs) {
        (Some(epoch), Some(epochs)) => format!("{what} at epoch {epoch} of {epochs}"),
        _ => what.to_owned(),
    };
    match run.state {
        RunState::Finished => "finished".into(),
        RunState::Running => at("running"),
        RunState::Stopped => at("stopped"),
        RunState::Failed => "failed".into(),
        RunState::Broken => "broken".into(),
    }
}

/// The score by which runs are compared.
fn main_score(scores: &Scores) -> String {
    if let Some(f1) = scores.sets.as_ref().and_then(|sets| sets.micro_f1) {
        return format!("micro F1 {}", fraction(f1, None));
    }
    match (scores.threshold.and(scores.f1), scores.accuracy, scores.r2) {
        (Some(f1), _, _) => format!("F1 {}", fraction(f1, None)),
        (None, Some(accuracy), _) => fraction(accuracy, None),
        (None, None, Some(r2)) => format!("R² {}", number(r2)),
        (None, None, None) => format!("loss {}", number(scores.loss)),
    }
}
