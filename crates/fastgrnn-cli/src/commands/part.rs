//! Which data a command that uses a model works on.

use crate::args::{ReadArgs, Split};
use crate::commands::model;
use crate::console::Console;
use crate::misuse::misuse;
use anyhow::Context;
use fastgrnn::data::{self, DataError, Dataset, Examples, Labels, SplitBy, Suggestions};
use fastgrnn::model::Model;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads a data set as `model` needs it.
pub fn load(
    model: &Model,
    source: &str,
    test: Option<PathBuf>,
    read: ReadArgs,
    console: Console,
) -> anyhow::Result<Dataset> {
    let base = model::request_of(model, &read)?;
    let request = read.request(base, source, test);
    told(data::load(&request), source, console)
}

/// The same for commands that can do without labels.
pub fn load_any(
    model: &Model,
    source: &str,
    test: Option<PathBuf>,
    read: ReadArgs,
    console: Console,
) -> anyhow::Result<Dataset> {
    let base = model::request_of(model, &read)?;
    let request = read.request(base, source, test);
    let path = Path::new(source);
    let loaded = match data::load(&request) {
        Err(DataError::NoLabels { .. }) if path.exists() => {
            data::load_unlabelled(path, &request).map(|input| unlabelled(input, source))
        }
        other => other,
    };
    told(loaded, source, console)
}

fn told(loaded: Result<Dataset, DataError>, source: &str, console: Console) -> anyhow::Result<Dataset> {
    let data = loaded.with_context(|| format!("cannot read the data set '{source}'"))?;
    data.notes.iter().for_each(|note| console.note(note));
    Ok(data)
}

/// Sequences without labels as a training part without a test part.
fn unlabelled(input: data::Unlabelled, source: &str) -> Dataset {
    Dataset {
        name: source.to_owned(),
        train: Examples { ids: Some(input.ids), ..Examples::new(input.x, Labels::None) },
        test: None,
        notes: input.notes,
        features: input.features,
        image: None,
        validation: None,
        background: None,
        audio: None,
        suggested: Suggestions::default(),
    }
}

/// What the model learnt from, as far as that can be known: its training part of the data set it
/// was trained on, else all of the training data.
pub fn learnt_from(model: &Model, data: &Dataset) -> Vec<u32> {
    let all = || (0..data.train.len() as u32).collect();
    let refitted = model.recipe.get("refit").and_then(Value::as_str).is_some_and(|refit| refit != "none");
    if refitted || model.dataset != data.name {
        return all();
    }
    let (by, share) = split_of(model);
    data.split(by, share, model.seed).map_or_else(|_| all(), |(train, _)| train)
}

/// How the model's validation part was split off.
fn split_of(model: &Model) -> (SplitBy, f64) {
    let share = model.recipe.get("val-split").and_then(Value::as_f64).unwrap_or(0.2);
    let group = model.recipe.get("val-group").and_then(Value::as_bool).unwrap_or(false);
    (if group { SplitBy::Group } else { SplitBy::Stratified }, share)
}

/// Which training examples the model's settings were chosen on.
pub fn validation(model: &Model, data: &Dataset) -> anyhow::Result<Vec<u32>> {
    let (by, share) = split_of(model);
    let (_, val) = data.split(by, share, model.seed)?;
    if val.is_empty() {
        return Err(misuse(format!("{} has no validation part to choose an operating point on", data.name)));
    }
    Ok(val)
}

/// The part that was asked for; without asking the test part, or everything where there is none.
pub fn choose(
    model: &Model,
    data: Dataset,
    split: Option<Split>,
    console: Console,
) -> anyhow::Result<(Split, Examples)> {
    if let Some(asked @ (Split::Train | Split::Val)) = split {
        let (by, share) = split_of(model);
        if share <= 0.0 {
            return Err(misuse("the model was trained without a validation part; use --split all or test"));
        }
        let (train, val) = data.split(by, share, model.seed)?;
        return Ok((asked, data.train.select(if asked == Split::Val { &val } else { &train })));
    }
    match (split, data.test) {
        (None | Some(Split::Test), Some(test)) => Ok((Split::Test, test)),
        (Some(Split::Test), None) => Err(misuse(format!(
            "{} has no test part; name one with --test PATH, or evaluate on all of it with --split all",
            data.name
        ))),
        (None, None) => {
            console.note(&format!("{} has no test part: evaluating on all of it", data.name));
            Ok((Split::All, data.train))
        }
        (Some(_), test) => Ok((Split::All, join(data.train, test))),
    }
}

fn join(train: Examples, test: Option<Examples>) -> Examples {
    let Some(test) = test else { return train };
    // The two parts may both count from 0.
    let ids = |part: &Examples, name: &str| -> Vec<String> {
        let id = |i: usize| part.ids.as_ref().map_or_else(|| i.to_string(), |ids| ids[i].clone());
        (0..part.len()).map(|i| format!("{name}:{}", id(i))).collect()
    };
    let ids = [ids(&train, "train"), ids(&test, "test")].concat();
    let mut x = train.x;
    (0..test.x.len()).for_each(|i| x.push(test.x.get(i)));
    let y = match (train.y, test.y) {
        (Labels::Class { mut index, names }, Labels::Class { index: more, .. }) => {
            index.extend(more);
            Labels::Class { index, names }
        }
        (Labels::Value { width, mut values }, Labels::Value { values: more, .. }) => {
            values.extend(more);
            Labels::Value { width, values }
        }
        _ => Labels::None,
    };
    Examples { ids: Some(ids), ..Examples::new(x, y) }
}
