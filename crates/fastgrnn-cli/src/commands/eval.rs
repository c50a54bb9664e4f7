//! `fastgrnn eval`

use crate::args::EvalArgs;
use crate::confusion::confusion;
use crate::console::{Console, width};
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::saturation::{Saturated, saturation_text};
use crate::scores::score_text;
use crate::table::{facts, table};
use crate::{dataset, model};
use anyhow::Context;
use fastgrnn::data::{Examples, Labels};
use fastgrnn::metrics::Evaluation;
use fastgrnn::model::{Model, Predictions, Task};
use serde::Serialize;

#[derive(Serialize)]
struct EvalOutput<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    dataset: &'a str,
    split: &'a str,
    cell: &'a str,
    params: usize,
    engine: &'a str,
    /// Of the integer engine only.
    #[serde(skip_serializing_if = "Option::is_none")]
    saturations: Option<Saturated>,
}

/// Measures a model on one part of a data set.
pub fn run(args: EvalArgs, console: Console) -> anyhow::Result<()> {
    let model = model::with_engine(model::load(&args.model)?, args.engine, &args.model)?;
    if args.predictions.is_some() && model.float().task == Task::NextToken {
        return Err(misuse(
            "--predictions is for classes, labels and numbers; a language model predicts every token of a text",
        ));
    }
    let data = dataset::load(model.float(), &args.source.dataset, args.source.test, args.data, console)?;
    let (split, part) = dataset::part(model.float(), data, args.source.split, console)?;
    let (evaluation, predictions, saturations) = model
        .evaluate(&part, args.threads.count())
        .with_context(|| format!("the model does not fit the data set '{}'", args.source.dataset))?;
    if let Some(path) = &args.predictions {
        let table = match model.float().task {
            Task::Sets { .. } => sets_csv(model.float(), &part, args.threads.count())?,
            _ => predictions_csv(model.float(), &part, &predictions)?,
        };
        write_whole(path, &table)?;
        console.note(&format!("wrote {}", path.display()));
    }
    let answer = EvalOutput {
        evaluation: &evaluation,
        dataset: &args.source.dataset,
        split: split.name(),
        cell: model.float().network.main_cell().kind.name(),
        params: model.float().parameter_count(),
        engine: model.engine(),
        saturations: saturations.as_ref().map(Saturated::of),
    };
    console.answer(&answer, || describe(&answer))
}

fn describe(answer: &EvalOutput) -> String {
    let e = answer.evaluation;
    let mut text = facts(&[
        ("data", format!("{} ({})", answer.dataset, answer.split)),
        ("engine", answer.engine.to_owned()),
        ("result", score_text(&e.scores, None)),
    ]);
    if let Some(matrix) = &e.confusion {
        text.push_str(&format!("\n{}\n", confusion(matrix, &e.labels, width())));
        let rows = e.labels.iter().zip(&e.per_class).map(|(name, c)| {
            let f = |v: Option<f64>| v.map_or("–".into(), |v| format!("{v:.4}"));
            vec![name.clone(), f(c.precision), f(c.recall), f(c.f1), c.support.to_string()]
        });
        text.push_str(&table(&["class", "precision", "recall", "F1", "n"], &rows.collect::<Vec<_>>()));
    }
    if let Some(saturations) = &answer.saturations {
        text.push_str(&format!("\n{}", saturation_text(saturations)));
    }
    text
}

/// `id,labels,predictions` with `|` between names, and the best-ranked labels with their probabilities.
fn sets_csv(model: &Model, part: &Examples, threads: usize) -> anyhow::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["id", "labels", "predictions", "ranked"])?;
    let labels = model.labels();
    for (i, prediction) in model.predict_sets(&part.x, threads)?.iter().enumerate() {
        let truth = match &part.y {
            Labels::Sets { sets, names, unseen } => {
                let name = |&k: &u32| names.iter().chain(unseen).nth(k as usize).map_or("", String::as_str);
                sets.get(i).iter().map(name).collect::<Vec<_>>().join("|")
            }
            _ => String::new(),
        };
        let predicted: Vec<&str> = prediction.labels().map(|k| labels[k as usize].as_str()).collect();
        let ranked = prediction.ranked.iter().map(|(k, p)| format!("{}:{p}", labels[*k as usize]));
        let ranked = ranked.collect::<Vec<_>>().join("|");
        out.write_record([part.id(i), truth, predicted.join("|"), ranked])?;
    }
    Ok(out.into_inner()?)
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
        let mut record = vec![part.id(i)];
        match &part.y {
            Labels::Class { index, names } => {
                record.push(names[index[i] as usize].clone());
                record.push(labels[predictions.classes[i] as usize].clone());
            }
            Labels::Value { width, values } => {
                record.extend(values[i * width..(i + 1) * width].iter().map(f32::to_string));
            }
            Labels::Sets { .. } | Labels::Next | Labels::None => {}
        }
        record.extend(predictions.row(i).iter().map(f32::to_string));
        out.write_record(&record)?;
    }
    Ok(out.into_inner()?)
}
