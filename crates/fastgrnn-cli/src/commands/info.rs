//! `fastgrnn info`

use crate::args::InfoArgs;
use crate::commands::model;
use crate::console::Console;
use crate::table::{facts, table};
use fastgrnn::model::{FORMAT_VERSION, Model};
use fastgrnn::report::{TensorRow, bytes, count, tensors};
use serde_json::{Value, json};

/// Shows what is in a model file.
pub fn run(args: &InfoArgs, console: Console) -> anyhow::Result<()> {
    let model = model::load(&args.model)?;
    let rows = tensors(&model);
    let cell = &model.network.layers[0];
    let answer = json!({
        "format": FORMAT_VERSION,
        "cell": cell.kind.name(),
        "equation": cell.kind.declaration().equation,
        "params": model.params.len(),
        "bytes": { "total": model.parameter_bytes() },
        "network": model.network,
        "tensors": rows,
        "labels": model.labels(),
        "features": model.features,
        "normalize": model.normalizer,
        "initial_state": model.initial_state,
        "loss": model.loss,
        "dataset": model.dataset,
        "steps": model.steps,
        "seed": model.seed,
        "recipe": model.recipe,
    });
    console.answer(&answer, || describe(&model, &rows))
}

fn describe(model: &Model, rows: &[TensorRow]) -> String {
    let first = &model.network.layers[0];
    let rank = |r: Option<usize>| r.map_or("full".to_owned(), |r| r.to_string());
    let declaration = first.kind.declaration();
    let mut nonlinearities = format!("update {}", first.update);
    if declaration.gated {
        nonlinearities = format!("gate {}, {nonlinearities}", first.gate);
    }
    let outputs = match model.labels() {
        [] => format!("{} numbers", model.network.outputs),
        labels => format!("{} classes: {}", labels.len(), labels.join(", ")),
    };
    let features = model.features.as_ref().map_or(String::new(), |f| format!(": {}", f.join(", ")));
    let mut text = facts(&[
        ("cell", format!("{}: {}", declaration.title, declaration.equation)),
        ("where", format!("{nonlinearities} (g is the gate's, f and u the update's nonlinearity)")),
        (
            "layers",
            format!(
                "{} of {} units, rank of W {}, of U {}",
                model.network.layers.len(),
                first.hidden,
                rank(first.rank_w),
                rank(first.rank_u)
            ),
        ),
        ("input", format!("{} features a step{features}", model.network.input())),
        ("output", outputs),
        ("trained on", format!("{}, up to {} steps, seed {}", model.dataset, model.steps, model.seed)),
        ("normalised", normalised(model)),
        (
            "size",
            format!(
                "{} parameters, {} as f32",
                count(model.params.len() as u64),
                bytes(model.parameter_bytes() as u64)
            ),
        ),
    ]);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|t| {
            let shape: Vec<String> = t.shape.iter().map(usize::to_string).collect();
            vec![t.name.clone(), shape.join(" x "), count(t.bytes)]
        })
        .collect();
    text.push_str(&format!("\n{}", table(&["tensor", "shape", "bytes"], &rows)));
    if !model.recipe.is_empty() {
        text.push_str("\nRecipe:\n");
        for (key, value) in &model.recipe {
            text.push_str(&format!("  {key} = {value}\n"));
        }
    }
    text
}

/// Numbers of a short normalisation in full, of a long one only how many.
fn normalised(model: &Model) -> String {
    let value = serde_json::to_value(&model.normalizer).unwrap_or_default();
    let mode = value.get("mode").and_then(Value::as_str).unwrap_or("none").to_owned();
    let list = |key: &str| match value.get(key).and_then(Value::as_array) {
        Some(values) if (1..=12).contains(&values.len()) => {
            let text: Vec<String> =
                values.iter().filter_map(Value::as_f64).map(fastgrnn::report::number).collect();
            format!("; {key} {}", text.join(" "))
        }
        Some(values) if !values.is_empty() => format!("; {} values of {key}", values.len()),
        _ => String::new(),
    };
    format!("{mode}{}{}", list("mean"), list("scale"))
}
