//! `fastgrnn export`: an integer model as code.

use crate::args::{Engine, ExportArgs};
use crate::console::Console;
use crate::misuse::misuse;
use crate::scores::short;
use crate::table::facts;
use crate::{dataset, model};
use anyhow::{Context, anyhow};
use fastgrnn::data::DataRecipe;
use fastgrnn::model::AnyModel;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::{bytes, count};
use fastgrnn_export::{
    ExportError, GOLDEN_SEED, GOLDEN_WINDOWS, Optimize, PackageInfo, PackageOptions, Target, Windows, package,
};
use serde::Serialize;
use std::path::PathBuf;

/// What was written.
#[derive(Serialize)]
struct ExportOutput {
    folder: PathBuf,
    /// Where a folder that was in the way is now; null if there was none.
    moved_aside: Option<PathBuf>,
    #[serde(flatten)]
    info: PackageInfo,
    files: Vec<FileRow>,
}

#[derive(Serialize)]
struct FileRow {
    path: String,
    bytes: usize,
}

/// Makes the package and writes it.
pub fn run(args: ExportArgs, console: Console) -> anyhow::Result<()> {
    let loaded = model::load(&args.model)?;
    let integer = match model::with_engine(loaded, Some(Engine::Integer), &args.model)? {
        AnyModel::Integer(integer) => integer,
        AnyModel::Float(_) => return Err(misuse(format!("{} is a float model", args.model.display()))),
    };
    if args.optimize.is_some() && (args.float || args.target == Target::Rust) {
        return Err(misuse(
            "--optimize is for the integer C code: leave it out with --float and --target rust",
        ));
    }
    let n = args.golden.map_or(GOLDEN_WINDOWS, usize::from);
    let windows = windows(&integer, args.dataset.as_deref(), n, args.data, console)?;
    let options = PackageOptions {
        name: args.name.unwrap_or_else(|| "model".to_owned()),
        max_ram: args.max_ram,
        optimize: args.optimize.map_or(Optimize::Size, Optimize::from),
        float: args.float,
        windows: Some(windows),
    };
    let package =
        package(&integer, args.target, &options).map_err(|e| classify_error(e, &args.model.display()))?;
    let written =
        package.write(&args.output, args.force).map_err(with_flag).context("nothing was exported")?;
    let files =
        package.files.iter().map(|f| FileRow { path: f.path.clone(), bytes: f.bytes.len() }).collect();
    let answer =
        ExportOutput { folder: written.folder, moved_aside: written.moved_aside, info: package.info, files };
    console.answer(&answer, || describe(&answer))
}

/// Turns a wrong name or target into a usage error, and anything else into a failure.
fn classify_error(error: ExportError, model: &dyn std::fmt::Display) -> anyhow::Error {
    match error {
        ExportError::Name { .. } | ExportError::NameTaken { .. } | ExportError::FloatTarget { .. } => {
            misuse(with_flag(error).to_string())
        }
        error => with_flag(error).context(format!("cannot export {model}")),
    }
}

/// The error with the flag that helps, where there is one.
fn with_flag(error: ExportError) -> anyhow::Error {
    let hint = match &error {
        ExportError::Name { .. } | ExportError::NameTaken { .. } => "choose another name with --name",
        ExportError::FloatTarget { .. } => "leave out --float, or choose another --target",
        ExportError::Ram { .. } => "or allow more with --max-ram",
        ExportError::NoWindow => "ask for more windows with --golden, or name another --dataset",
        ExportError::NotEmpty { .. } => {
            "choose another folder with -o, or move this one aside and write a new one with --force"
        }
        ExportError::NotAFolder { .. } | ExportError::InUse { .. } => "choose another folder with -o",
        _ => return error.into(),
    };
    anyhow!("{error}; {hint}")
}

fn windows(
    integer: &IntegerModel,
    dataset: Option<&str>,
    n: usize,
    given: DataRecipe,
    console: Console,
) -> anyhow::Result<Windows> {
    let Some(source) = dataset else { return Ok(Windows::random(integer, n, GOLDEN_SEED)) };
    let data = dataset::load_any(&integer.model, source, None, given, console)?;
    let (part, examples) = match data.test {
        Some(test) => ("the test part of ", test),
        None => ("", data.train),
    };
    Windows::recorded(integer, &examples.x, n, &format!("{part}{}", data.name))
        .with_context(|| format!("{source} does not fit the model"))
}

fn describe(answer: &ExportOutput) -> String {
    let known = &answer.info;
    let golden = &known.golden;
    let mut rows = vec![
        ("written", format!("{} files to {}", answer.files.len(), short(&answer.folder))),
        ("flash", format!("{} of constants, code comes on top (derived)", bytes(known.data_bytes as u64))),
        (
            "RAM",
            format!(
                "{} of state, {} of buffers in a step (derived)",
                bytes(known.state_bytes as u64),
                bytes(known.scratch_bytes as u64)
            ),
        ),
        ("a step", format!("{} multiplications with weights", count(known.macs_per_step as u64))),
        (
            "golden",
            format!(
                "{} windows, {} steps: {}; hash {}",
                golden.windows, golden.steps, golden.origin, golden.hash
            ),
        ),
        ("next", "README.md there says how to use it and how to verify it on the board".to_owned()),
    ];
    if let Some(front) = known.front {
        let of = format!(
            "{} of tables and {} of RAM more, code comes on top (derived)",
            bytes(front.table_bytes as u64),
            bytes(front.ram_bytes as u64)
        );
        rows.insert(3, ("sound", of));
    }
    if let Some(aside) = &answer.moved_aside {
        rows.insert(1, ("moved aside", format!("what was there is now {}", short(aside))));
    }
    facts(&rows)
}
