//! Reading data sets for the commands that use a model.

use crate::console::Console;
use crate::misuse::misuse;
use crate::progress;
use crate::scores::short;
use anyhow::Context;
use fastgrnn::data::{self, DataError, DataRecipe, Dataset, Examples, Labels, Request};
use fastgrnn::model::{DataPart, Model, PartError};
use std::path::{Path, PathBuf};

/// Reads a data set as `model` needs it.
pub fn load(
    model: &Model,
    source: &str,
    test: Option<PathBuf>,
    given: DataRecipe,
    console: Console,
) -> anyhow::Result<Dataset> {
    let request = Request { watch: progress::reading(&console), ..model.request(source, test, given) };
    finish(data::load(&request), source, console)
}

/// The same for commands that do not need labels.
pub fn load_any(
    model: &Model,
    source: &str,
    test: Option<PathBuf>,
    given: DataRecipe,
    console: Console,
) -> anyhow::Result<Dataset> {
    let request = Request { watch: progress::reading(&console), ..model.request(source, test, given) };
    let path = Path::new(source);
    let loaded = match data::load(&request) {
        Err(DataError::NoLabels { .. }) if path.exists() => {
            data::load_unlabelled(path, &request).map(|input| unlabelled(input, source))
        }
        other => other,
    };
    finish(loaded, source, console)
}

/// Adds the name of the data set to an error, and prints the notes of the reader.
pub fn finish(loaded: Result<Dataset, DataError>, source: &str, console: Console) -> anyhow::Result<Dataset> {
    let data = loaded.with_context(|| format!("cannot read the data set '{}'", short(Path::new(source))))?;
    data.notes.iter().for_each(|note| console.note(note));
    Ok(data)
}

/// Sequences without labels as a training part without a test part.
fn unlabelled(input: data::Unlabelled, source: &str) -> Dataset {
    let train = Examples { ids: Some(input.ids), ..Examples::new(input.x, Labels::None) };
    Dataset::new(source, train).with_notes(input.notes).with_features(input.features)
}

/// The part of the data set that was chosen; by default the test part, or everything without one.
pub fn part(
    model: &Model,
    data: Dataset,
    chosen: Option<DataPart>,
    console: Console,
) -> anyhow::Result<(DataPart, Examples)> {
    let name = data.name.clone();
    let (part, examples) = model.part(data, chosen).map_err(|error| match error {
        PartError::NoValidation => misuse(format!("{error}; use --split all or --split test")),
        PartError::NoTest { .. } => {
            misuse(format!("{error}; name one with --test PATH, or use everything with --split all"))
        }
        PartError::Data(error) => error.into(),
    })?;
    if chosen.is_none() && part == DataPart::All {
        console.note(&format!("{name} has no test part: everything in it is used"));
    }
    Ok((part, examples))
}
