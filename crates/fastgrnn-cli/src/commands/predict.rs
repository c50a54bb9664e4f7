//! `fastgrnn predict`

use crate::args::PredictArgs;
use crate::console::Console;
use crate::model;
use crate::progress;
use anyhow::Context;
use fastgrnn::data::{self, Request, Unlabelled};
use fastgrnn::model::{AnyModel, Model, Predictions, SetPrediction, Task};
use fastgrnn::report::count;
use serde_json::{Value, json};

/// Prints one line a sequence.
pub fn run(args: PredictArgs, console: Console) -> anyhow::Result<()> {
    let model = model::load(&args.model)?;
    let source = args.file.display().to_string();
    let request =
        Request { watch: progress::reading(&console), ..model.float().request(&source, None, args.data) };
    let input = match model.float().text.is_some() && !args.file.exists() && !looks_like_a_file(&source) {
        true => {
            console.note(&format!("there is no file '{source}'; it is read as a text"));
            data::text_input(&source, &request)
        }
        false => {
            data::load_unlabelled(&args.file, &request).with_context(|| format!("cannot read {source}"))?
        }
    };
    input.notes.iter().for_each(|note| console.note(note));
    if let (Task::Sets { .. }, AnyModel::Float(model)) = (&model.float().task, &model) {
        let sets = model
            .predict_sets(&input.x, args.threads.count())
            .with_context(|| format!("the model does not fit {source}"))?;
        return answer_sets(model, &input, &sets, console);
    }
    let (predictions, saturations) = model
        .predict(&input.x, args.threads.count())
        .with_context(|| format!("the model does not fit {source}"))?;
    if let Some(total) = saturations.map(|s| s.total()).filter(|&total| total > 0) {
        let times = count(total);
        console.note(&format!("values saturated {times} times; docs/quantize.md says what to look at"));
    }
    let model = model.float();
    let rows: Vec<Value> = (0..predictions.len()).map(|i| row(model, &input, &predictions, i)).collect();
    let answer = json!({ "n": rows.len(), "labels": model.labels(), "predictions": rows });
    console.answer(&answer, || (0..predictions.len()).map(|i| line(model, &input, &predictions, i)).collect())
}

/// Best-ranked labels that a line shows.
const SHOWN: usize = 5;

/// Prints the labels of each sequence, and the best-ranked ones with their probabilities.
fn answer_sets(
    model: &Model,
    input: &Unlabelled,
    sets: &[SetPrediction],
    console: Console,
) -> anyhow::Result<()> {
    let labels = model.labels();
    let name = |label: u32| labels[label as usize].as_str();
    let row = |(i, set): (usize, &SetPrediction)| {
        let top = set.ranked.iter().map(|&(label, p)| json!({ "label": name(label), "probability": p }));
        json!({
            "index": i,
            "id": input.ids.get(i),
            "labels": set.labels().map(name).collect::<Vec<_>>(),
            "top": top.collect::<Vec<_>>(),
        })
    };
    let rows: Vec<Value> = sets.iter().enumerate().map(row).collect();
    let threshold = model.threshold_of_sets();
    let answer = json!({ "n": rows.len(), "threshold": threshold, "predictions": rows });
    console.answer(&answer, || {
        let line = |(i, set): (usize, &SetPrediction)| {
            let chosen: Vec<&str> = set.labels().map(name).collect();
            let chosen = if chosen.is_empty() { "–".to_owned() } else { chosen.join("|") };
            let top = set.ranked.iter().take(SHOWN).map(|&(label, p)| format!("{} {p:.4}", name(label)));
            format!("{i}\t{chosen}\t{}{}\n", top.collect::<Vec<_>>().join(", "), id_text(input, i))
        };
        sets.iter().enumerate().map(line).collect()
    })
}

/// The id of a sequence after a tab, unless it is its index.
fn id_text(input: &Unlabelled, i: usize) -> String {
    let index = i.to_string();
    input.ids.get(i).filter(|id| **id != index).map_or(String::new(), |id| format!("\t{id}"))
}

/// Endings of files that hold data.
const ENDINGS: [&str; 12] =
    ["csv", "tsv", "txt", "json", "jsonl", "ndjson", "npy", "npz", "gz", "xz", "zip", "tar"];

/// Whether an argument is meant as a file: it ends as in `texts.csv`.
fn looks_like_a_file(argument: &str) -> bool {
    let ending = argument.rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

fn row(model: &Model, input: &Unlabelled, predictions: &Predictions, i: usize) -> Value {
    let values = predictions.row(i);
    match predictions.classes.get(i) {
        Some(&class) => json!({
            "index": i,
            "id": input.ids.get(i),
            "class": class,
            "label": model.labels()[class as usize],
            "probability": values[class as usize],
            "scores": values,
        }),
        None => json!({ "index": i, "id": input.ids.get(i), "values": values }),
    }
}

/// Index, class and probability (or the numbers), separated by tabs for other programs.
fn line(model: &Model, input: &Unlabelled, predictions: &Predictions, i: usize) -> String {
    let values = predictions.row(i);
    let (index, id) = (i, id_text(input, i));
    match predictions.classes.get(i) {
        Some(&class) => {
            format!("{index}\t{}\t{:.4}{id}\n", model.labels()[class as usize], values[class as usize])
        }
        None => {
            let numbers: Vec<String> = values.iter().map(f32::to_string).collect();
            format!("{index}\t{}{id}\n", numbers.join("\t"))
        }
    }
}
