//! An integer model as people read it: bytes, matrices, scales.

use crate::table::table;
use fastgrnn::model::Sizes;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::{count, number};
use serde_json::{Value, json};

/// The scales as JSON: what a count of each feature is worth, fraction bits of everything.
pub fn scales(model: &IntegerModel) -> Value {
    let (network, input) = (&model.network, &model.network.input);
    let layers = network.layers.iter().map(|layer| {
        let s = &layer.shifts;
        json!({ "sums_bits": s.sums, "state_bits": s.state, "memory_bits": s.memory })
    });
    json!({
        "input_lsb": input.lsb,
        "input_bits": input.bits,
        "layers": layers.collect::<Vec<_>>(),
        "score_bits": network.score_bits(),
    })
}

/// The tables of `info`.
pub fn describe(model: &IntegerModel) -> String {
    format!("\n{}\n{}\n{}", byte_table(&model.sizes()), matrix_table(model), scale_text(model))
}

/// Every byte by what it is for.
pub fn byte_table(sizes: &Sizes) -> String {
    let rows = [
        ("values of W and U", sizes.weights),
        ("indices", sizes.indices),
        ("scales and input normalisation", sizes.scales),
        ("biases and scalars", sizes.biases),
        ("head", sizes.head),
        ("vectors of tokens", sizes.embedding),
        ("table of smooth nonlinearities", sizes.table),
        ("header", sizes.header),
        ("total: the device image", sizes.total),
        ("the paper's way of counting", sizes.bytes_as_in_paper),
    ];
    let is_shown = |(what, bytes): &(&str, usize)| *bytes > 0 || *what != "vectors of tokens";
    let row = |(what, bytes): (&str, usize)| vec![what.to_owned(), count(bytes as u64)];
    table(&["what", "bytes"], &rows.into_iter().filter(is_shown).map(row).collect::<Vec<_>>())
}

fn matrix_table(model: &IntegerModel) -> String {
    let rows = model.matrix_sizes().into_iter().map(|m| {
        vec![
            m.name,
            format!("{} x {}", m.rows, m.cols),
            m.form.to_owned(),
            format!("{:.1} %", 100.0 * m.kept),
            count(m.values as u64),
            count(m.indices as u64),
        ]
    });
    let heading = ["matrix", "shape", "stored", "not 0", "values, B", "indices, B"];
    table(&heading, &rows.collect::<Vec<_>>())
}

fn scale_text(model: &IntegerModel) -> String {
    let (mut text, input) = match model.network.embedding {
        Some(_) => (String::new(), "vectors of tokens"),
        None => {
            let worth = lsb_text(model);
            (
                format!("  One count of the input is worth {worth} (in the data's units).\n"),
                "normalised input",
            )
        }
    };
    text.push_str(&format!("  Fraction bits: {input} {}", model.network.input.bits));
    for (i, layer) in model.network.layers.iter().enumerate() {
        let s = &layer.shifts;
        text.push_str(&format!("; layer {i}: sums {}, state {}", s.sums, s.state));
        if layer.cell.state_len() > layer.cell.hidden {
            text.push_str(&format!(", memory {}", s.memory));
        }
    }
    text.push_str(&format!("; scores {}.\n", model.network.score_bits()));
    text
}

/// What a count of each feature is worth; once where all are alike.
pub fn lsb_text(model: &IntegerModel) -> String {
    let lsb = &model.network.input.lsb;
    let all: Vec<String> = lsb.iter().map(|&v| number(f64::from(v))).collect();
    match lsb.iter().all(|v| v == &lsb[0]) {
        true => format!("{} for every feature", all[0]),
        false => all.join(", "),
    }
}
