//! `fastgrnn info`

use crate::args::InfoArgs;
use crate::console::Console;
use crate::table::{facts, table};
use crate::{board_table, detector, integer_tables, model};
use fastgrnn::model::{AnyModel, Model};
use fastgrnn::report::{TensorRow, board_rows, bytes, count, number, quantity, tensors};
use fastgrnn::window::Window;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Shows what is in a model file.
pub fn run(args: &InfoArgs, console: Console) -> anyhow::Result<()> {
    let any = model::load(&args.model)?;
    let (model, rows) = (any.float(), tensors(&any));
    let cell = model.network.main_cell();
    let mut answer = json!({
        "format": any.format(),
        "engine": any.engine(),
        "cell": cell.kind.name(),
        "equation": cell.kind.declaration().equation,
        "params": model.parameter_count(),
        "nnz": any.nonzero(),
        "bytes": any.sizes(),
        "ram_bytes": any.ram_bytes(),
        "macs_per_step": any.macs_per_step(),
        "network": model.network,
        "tensors": rows,
        "labels": model.labels(),
        "decision": model.decision,
        "features": model.features,
        "normalize": model.normalizer,
        "initial_state": model.initial_state,
        "loss": model.loss,
        "dataset": model.dataset,
        "steps": model.steps,
        "seed": model.seed,
        "recipe": recipe(model),
    });
    if let AnyModel::Integer(model) = &any {
        answer["matrices"] = json!(model.matrix_sizes());
        answer["scales"] = integer_tables::scales(model);
        answer["boards"] = json!(board_rows(model));
        answer["detector"] = model.detector().map_or(Value::Null, |d| detector::json(model, d));
    }
    console.answer(&answer, || describe(&any, &rows))
}

fn describe(any: &AnyModel, rows: &[TensorRow]) -> String {
    let model = any.float();
    let mut text = facts(&about(any));
    match any {
        AnyModel::Float(_) => text.push_str(&format!("\n{}", tensor_table(rows))),
        AnyModel::Integer(model) => {
            text.push_str(&format!("{}\n{}", integer_tables::describe(model), board_table::describe(model)));
        }
    }
    if !model.recipe.is_empty() {
        text.push_str("\nRecipe:\n");
        for (key, value) in recipe(model) {
            text.push_str(&format!("  {key} = {value}\n"));
        }
    }
    text
}

/// The settings of the training by key, in alphabetical order.
fn recipe(model: &Model) -> BTreeMap<String, Value> {
    let json = serde_json::to_value(&model.recipe).expect("settings can be written as JSON");
    serde_json::from_value(json).expect("settings are an object")
}

fn about(any: &AnyModel) -> Vec<(&'static str, String)> {
    let model = any.float();
    let first = model.network.main_cell();
    let declaration = first.kind.declaration();
    let mut nonlinearities = format!("update {}", first.update);
    if declaration.gated() {
        nonlinearities = format!("gate {}, {nonlinearities}", first.gate);
    }
    let outputs = match model.labels() {
        [] => quantity(model.network.outputs as u64, "number"),
        labels => {
            let classes = match model.threshold_of_sets() {
                Some(threshold) => format!(
                    "any of {} at threshold {}",
                    quantity(labels.len() as u64, "label"),
                    number(threshold)
                ),
                None => quantity(labels.len() as u64, "class"),
            };
            format!("{classes}: {}{}", labels.join(", "), decision(model))
        }
    };
    let features = model.features.as_ref().map_or(String::new(), |f| format!(": {}", f.join(", ")));
    let input = match &model.text {
        Some(text) => format!(
            "tokens ({} of them), as vectors of {}",
            count(text.vocabulary.len() as u64),
            quantity(model.network.input() as u64, "number")
        ),
        None => format!("{} a frame{features}", quantity(model.network.input() as u64, "feature")),
    };
    let projection = model.network.input_layer();
    let mut rows = vec![
        ("cell", format!("{}: {}", declaration.title, declaration.equation)),
        ("where", format!("{nonlinearities} (g is the gate's, f and u the update's nonlinearity)")),
        (
            "layers",
            format!(
                "{} of {} units, W {}, U {}",
                model.network.layers.len() - usize::from(projection.is_some()),
                first.hidden,
                first.form_w,
                first.form_u
            ),
        ),
        ("input", input),
        ("output", outputs),
        (
            "trained on",
            format!("{}, up to {}, seed {}", model.dataset, quantity(model.steps as u64, "step"), model.seed),
        ),
        ("normalised", normalised(model)),
        ("size", size(any)),
        ("on a device", format!("{} of RAM", bytes(any.ram_bytes() as u64))),
        ("a step", format!("{} multiplications with weights", count(any.macs_per_step() as u64))),
    ];
    let Window { frames, stride } = model.network.window;
    if let Some(cell) = projection {
        let units = quantity(cell.hidden as u64, "unit");
        let reads = quantity(frames as u64, "frame");
        let text = format!("{units} with update {}, which read the last {reads}", cell.update);
        rows.insert(2, ("input layer", text));
    }
    if stride > 1 {
        rows.insert(2, ("steps", format!("one for every {stride} frames")));
    }
    if let (Some(spec), Some(tables)) = (&model.audio, any.sizes().front_end) {
        rows.push(("front end", format!("{spec}; tables {}", bytes(tables as u64))));
    }
    if let AnyModel::Integer(model) = any
        && let Some(own) = model.detector()
    {
        rows.push(("detector", detector::describe(model, own)));
    }
    rows
}

/// The class to be found and where that is decided.
fn decision(model: &Model) -> String {
    match &model.decision {
        Some(d) => format!("; finds '{}', threshold {}", d.positive, number(d.threshold)),
        None => String::new(),
    }
}

/// Parameters and bytes, also as the paper would count them.
fn size(any: &AnyModel) -> String {
    let (params, sizes) = (count(any.float().parameter_count() as u64), any.sizes());
    let form = match any {
        AnyModel::Float(_) => "as f32",
        AnyModel::Integer(_) => "as device image",
    };
    format!(
        "{params} parameters, {} weights not 0; {} {form}, {} the paper's way",
        count(any.nonzero() as u64),
        bytes(sizes.total as u64),
        bytes(sizes.bytes_as_in_paper as u64)
    )
}

fn tensor_table(rows: &[TensorRow]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|t| {
            let shape: Vec<String> = t.shape.iter().map(usize::to_string).collect();
            vec![t.name.clone(), shape.join(" x "), count(t.bytes)]
        })
        .collect();
    table(&["tensor", "shape", "bytes"], &rows)
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
