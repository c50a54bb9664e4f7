//! `fastgrnn eval`

use crate::args::{EvalArgs, Split};
use crate::commands::{model, report::write_whole, train::score_text};
use crate::console::Console;
use crate::misuse::misuse;
use crate::table::{confusion, facts, table};
use anyhow::Context;
use fastgrnn::data::{self, Dataset, Examples, Labels, SplitBy, validation_split};
use fastgrnn::metrics::Evaluation;
use fastgrnn::model::{Model, Predictions};
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    dataset: &'a str,
    split: &'a str,
    cell: &'a str,
    params: usize,
}

/// Measures a model on one part of a data set.
pub fn run(args: EvalArgs, console: Console) -> anyhow::Result<()> {
    let model = model::load(&args.model)?;
    let base = model::request_of(&model, &args.read)?;
    let request = args.read.request(base, &args.dataset, args.test);
    let data =
        data::load(&request).with_context(|| format!("cannot read the data set '{}'", args.dataset))?;
    data.notes.iter().for_each(|note| console.note(note));
    let (split, part) = choose(&model, data, args.split, console)?;
    let (evaluation, predictions) = model
        .evaluate(&part, args.threads.count())
        .with_context(|| format!("the model does not fit the data set '{}'", args.dataset))?;
    if let Some(path) = &args.predictions {
        write_whole(path, &predictions_csv(&model, &part, &predictions)?)?;
        console.note(&format!("wrote {}", path.display()));
    }
    let cell = model.network.layers[0].kind.name();
    let name = &args.dataset;
    let answer = Answer {
        evaluation: &evaluation,
        dataset: name,
        split: split.name(),
        cell,
        params: model.params.len(),
    };
    console.answer(&answer, || describe(&answer))
}

fn describe(answer: &Answer) -> String {
    let e = answer.evaluation;
    let mut text = facts(&[
        ("data", format!("{} ({})", answer.dataset, answer.split)),
        ("result", score_text(&e.scores, None)),
    ]);
    if let Some(matrix) = &e.confusion {
        text.push_str(&format!("\n{}\n", confusion(matrix, &e.labels)));
        let rows = e.labels.iter().zip(&e.per_class).map(|(name, c)| {
            let f = |v: f64| format!("{v:.4}");
            vec![name.clone(), f(c.precision), f(c.recall), f(c.f1), c.support.to_string()]
        });
        text.push_str(&table(&["class", "precision", "recall", "F1", "n"], &rows.collect::<Vec<_>>()));
    }
    text
}

/// The part that was asked for; without asking the test part, or everything where there is none.
fn choose(
    model: &Model,
    data: Dataset,
    split: Option<Split>,
    console: Console,
) -> anyhow::Result<(Split, Examples)> {
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
        (Some(Split::All), test) => Ok((Split::All, join(data.train, test))),
        (Some(split), _) => {
            let share = model.recipe.get("val-split").and_then(serde_json::Value::as_f64).unwrap_or(0.2);
            let group = model.recipe.get("val-group").and_then(serde_json::Value::as_bool).unwrap_or(false);
            let by = if group { SplitBy::Group } else { SplitBy::Stratified };
            if share <= 0.0 {
                return Err(misuse(
                    "the model was trained without a validation part; use --split all or test",
                ));
            }
            let (train, val) = validation_split(&data.train, by, share, model.seed)?;
            Ok((split, data.train.select(if split == Split::Val { &val } else { &train })))
        }
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

/// `id,label,prediction` and a score a class; for numbers the targets and what was predicted.
fn predictions_csv(model: &Model, part: &Examples, predictions: &Predictions) -> anyhow::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let labels = model.labels();
    let mut heading = vec!["id".to_owned()];
    match labels {
        [] => {
            heading.extend((0..predictions.width).map(|k| format!("label_{k}")));
            heading.extend((0..predictions.width).map(|k| format!("prediction_{k}")));
        }
        labels => {
            heading.extend(["label".to_owned(), "prediction".to_owned()]);
            heading.extend(labels.iter().map(|name| format!("score_{name}")));
        }
    }
    out.write_record(&heading)?;
    for i in 0..predictions.len() {
        let mut record = vec![part.ids.as_ref().map_or_else(|| i.to_string(), |ids| ids[i].clone())];
        match &part.y {
            Labels::Class { index, names } => {
                record.push(names[index[i] as usize].clone());
                record.push(labels[predictions.classes[i] as usize].clone());
            }
            Labels::Value { width, values } => {
                record.extend(values[i * width..(i + 1) * width].iter().map(f32::to_string));
            }
            Labels::None => {}
        }
        record.extend(predictions.row(i).iter().map(f32::to_string));
        out.write_record(&record)?;
    }
    Ok(out.into_inner()?)
}
