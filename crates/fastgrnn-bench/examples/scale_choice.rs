//! Powers of two or fixed multipliers as scales of weight bytes? Measures what each costs.
//!
//! `cargo run --release -p fastgrnn-bench --example scale_choice -- MODEL.safetensors DATASET [--json]` takes a trained
//! float model, rounds its weights to 8 bits with one scale a matrix, and evaluates the test part with
//! each: nothing rounded; the nearest power of two; the largest weight at 127, which needs a
//! multiplication by an arbitrary number after each sum; and the scale with the least squared
//! error. Everything else stays float, so the differences are the weights' alone.

use fastgrnn::cells::Role;
use fastgrnn::data::{self, Request};
use fastgrnn::model::Model;
use fastgrnn::quantize::Grid;

/// `values` rounded to multiples of `step`, 127 of them on either side.
fn rounded(values: &[f32], step: f32) -> Vec<f32> {
    values.iter().map(|v| (v / step).round_ties_even().clamp(-127.0, 127.0) * step).collect()
}

fn squared_error(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

fn power_of_two(values: &[f32]) -> Vec<f32> {
    let grid = Grid::of(values);
    values.iter().map(|&v| grid.nearest(v)).collect()
}

fn largest_at_127(values: &[f32]) -> Vec<f32> {
    let largest = values.iter().fold(f32::MIN_POSITIVE, |top, v| top.max(v.abs()));
    rounded(values, largest / 127.0)
}

fn least_error(values: &[f32]) -> Vec<f32> {
    let largest = values.iter().fold(f32::MIN_POSITIVE, |top, v| top.max(v.abs()));
    let tries = (0..80).map(|i| rounded(values, largest / 127.0 * (1.0 - 0.01 * i as f32)));
    tries.min_by(|a, b| squared_error(a, values).total_cmp(&squared_error(b, values))).unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, args): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a == "--json");
    let [path, dataset] = args.as_slice() else {
        return Err("usage: scale_choice MODEL DATASET [--json]".into());
    };
    let model = Model::load(path)?;
    let data = data::load(&Request { expect: Some(model.expects()), ..Request::new(dataset) })?;
    let test = data.test.as_ref().ok_or("the data set has no test part")?;
    let (_, float) = model.evaluate(test, 1)?;
    let mut rows = Vec::new();
    type Rounding = fn(&[f32]) -> Vec<f32>;
    let choices: [(&str, Rounding); 4] = [
        ("float", |v| v.to_vec()),
        ("8 bits, power of two", power_of_two),
        ("8 bits, largest weight at 127", largest_at_127),
        ("8 bits, multiplier of least error", least_error),
    ];
    for (name, choice) in choices {
        let mut params = model.params.clone();
        let (mut error, mut size) = (0.0, 0.0);
        for view in model.network.layout().views().iter().filter(|v| v.role == Role::Weight) {
            let values = &model.params[view.range()];
            let new = choice(values);
            error += squared_error(values, &new);
            size += squared_error(values, &vec![0.0; values.len()]);
            params[view.range()].copy_from_slice(&new);
        }
        let (evaluation, own) = Model { params, ..model.clone() }.evaluate(test, 1)?;
        let same = float.classes.iter().zip(&own.classes).filter(|(a, b)| a == b).count();
        rows.push(serde_json::json!({
            "weights": name,
            "accuracy": evaluation.scores.accuracy,
            "agreement": same as f64 / float.classes.len().max(1) as f64,
            "relative_error": (error / size).sqrt(),
        }));
    }
    if !flags.is_empty() {
        let cell = model.network.main_cell().kind.name();
        println!(
            "{}",
            serde_json::json!({ "kind": "scales", "dataset": dataset, "cell": cell, "rows": rows })
        );
        return Ok(());
    }
    println!("{:<34} {:>9} {:>10} {:>15}", "weights", "accuracy", "agreement", "relative error");
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:<34} {:>9.4} {:>10.4} {:>15.5}",
            row["weights"].as_str().unwrap_or(""),
            number("accuracy"),
            number("agreement"),
            number("relative_error")
        );
    }
    Ok(())
}
