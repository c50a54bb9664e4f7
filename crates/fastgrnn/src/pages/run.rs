//! From a finished run to its report.

use super::boards::{BOARD_COLUMNS, BoardRow, board_notes, board_rows};
use super::data::data_section;
use super::sequences::{predicted_plots, sequence_pages};
use crate::train::{Config, Delivered, Pass, SeedRecord, Summary};
use fastgrnn_core::cells::Role;
use fastgrnn_core::format::{count, quantity};
use fastgrnn_core::metrics::{Evaluation, Scores};
use fastgrnn_data::data::{Dataset, Examples};
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::device::Board;
use fastgrnn_model::model::Model;
use fastgrnn_model::quantize::IntegerModel;
use fastgrnn_report::{
    Confusion, Curve, Figure, Kind, Point, RunReport, SeedRow, TableSection, TensorRow, Unit,
};
use fastgrnn_runtime::int::TABLE_LEN;

/// The board whose flash and RAM are headline numbers unless the recipe names another.
const USUAL_BOARD: Board = Board::M0plus;

/// The report of a run: its summary, its settings, what each seed left behind, the model that
/// was chosen, and the data it was trained on. `command` makes the run again.
pub fn run_report(
    summary: &Summary,
    config: &Config,
    records: &[SeedRecord],
    model: &AnyModel,
    data: &Dataset,
    command: &str,
) -> RunReport {
    let chosen = records.iter().find(|r| r.result.seed == summary.best_seed);
    let results = chosen.and_then(|record| record.sequences.as_ref());
    let sequences = sequence_pages(data, results, summary.best_seed);
    let boards = match model {
        AnyModel::Float(_) => Vec::new(),
        AnyModel::Integer(integer) => board_rows(integer),
    };
    let findings = config.findings(data).into_iter().map(|finding| finding.to_string());
    RunReport {
        title: format!("{} · {}", data.name, summary.cell),
        subtitle: subtitle(summary, data),
        figures: figures(summary, config, model, &boards),
        seeds: records.iter().map(|r| seed_row(r, summary.best_seed)).collect(),
        curves: records.iter().flat_map(curves).collect(),
        confusion: chosen.and_then(confusion),
        predicted: results.map_or(Vec::new(), |results| predicted_plots(results, summary.best_seed)),
        mistakes: sequences.mistakes,
        data: data_section(config, data),
        examples: sequences.examples,
        shown: sequences.shown,
        boards: boards_section(model, &boards),
        tensors: tensors(model),
        equation: config.network.cell.declaration().equation.split("; ").map(str::to_owned).collect(),
        config: config.to_toml(),
        command: command.to_owned(),
        notes: data.notes.clone().into_iter().chain(findings).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The table of boards, as `fastgrnn info` prints it; nothing for a float model.
fn boards_section(model: &AnyModel, rows: &[BoardRow]) -> Option<TableSection> {
    let AnyModel::Integer(model) = model else { return None };
    let column = |(name, kind): (&str, &str)| match kind {
        "" => name.to_owned(),
        kind => format!("{name} ({kind})"),
    };
    let named = |row: &BoardRow| {
        let mut cells = row.cells();
        cells[0] = format!("{}: {}", row.board, row.name);
        cells
    };
    Some(TableSection {
        title: "On boards".into(),
        columns: BOARD_COLUMNS.map(column).to_vec(),
        rows: rows.iter().map(named).collect(),
        hint: board_notes(model).join(" "),
    })
}

/// The tensors of a model with their bytes: of a float model as its file holds them, of an integer
/// one as the device image does.
pub fn tensors(model: &AnyModel) -> Vec<TensorRow> {
    match model {
        AnyModel::Float(model) => float_tensors(model),
        AnyModel::Integer(integer) => integer_tensors(integer),
    }
}

fn float_tensors(model: &Model) -> Vec<TensorRow> {
    let layout = model.network.layout();
    let views = layout.views().iter();
    views
        .map(|v| TensorRow {
            name: v.name.clone(),
            shape: match v.role {
                Role::Weight | Role::Embedding | Role::Basis => vec![v.rows, v.cols],
                Role::Bias | Role::Gain | Role::Raw | Role::Step => vec![v.rows],
            },
            bytes: 4 * v.len() as u64,
        })
        .collect()
}

fn integer_tensors(model: &IntegerModel) -> Vec<TensorRow> {
    let row = |name: &str, shape: Vec<usize>, bytes: usize| TensorRow {
        name: name.to_owned(),
        shape,
        bytes: bytes as u64,
    };
    let words = |name: &str, entries: usize| row(name, vec![entries], 2 * entries);
    let inputs = model.network.input.factors.len();
    let mut rows = vec![words("input.offset", inputs), words("input.factor", inputs)];
    // A byte of each matrix says how it is stored.
    let matrices: Vec<TensorRow> = model
        .matrix_sizes()
        .iter()
        .map(|m| row(&m.name, vec![m.rows, m.cols], 1 + m.values + m.indices))
        .collect();
    for (i, layer) in model.network.layers.iter().enumerate() {
        let prefix = format!("layer{i}.");
        rows.extend(matrices.iter().filter(|m| m.name.starts_with(&prefix)).cloned());
        let names = layer.cell.params().into_iter().filter(|p| p.role == Role::Bias).map(|p| p.name);
        let size = layer.bias_bits.bytes();
        rows.extend(
            names
                .zip(&layer.biases)
                .map(|(name, b)| row(&format!("{prefix}{name}"), vec![b.len()], size * b.len())),
        );
        let gains = layer.cell.params().into_iter().filter(|p| p.role == Role::Gain);
        rows.extend(gains.map(|p| row(&format!("{prefix}{}", p.name), vec![p.rows], p.rows)));
        rows.extend(
            layer.stored_scalars().map(|(name, entries)| words(&format!("{prefix}{}", name.name()), entries)),
        );
        if !layer.start.is_empty() {
            rows.push(words(&format!("{prefix}start"), layer.start.len()));
        }
    }
    rows.extend(matrices.iter().filter(|m| m.name.starts_with("head.")).cloned());
    let head_biases = model.network.head_biases.len();
    rows.push(row("head.b", vec![head_biases], model.network.head_bias_bits.bytes() * head_biases));
    if model.network.needs_table() {
        rows.push(words("table", TABLE_LEN));
    }
    let counted: u64 = rows.iter().map(|r| r.bytes).sum();
    rows.push(row("header and shifts", Vec::new(), model.image().len() - counted as usize));
    rows
}

fn subtitle(summary: &Summary, data: &Dataset) -> String {
    let test = data.test.as_ref().map_or(0, Examples::len);
    if let Some(text) = &data.text {
        let tokens = |part: &Examples| (0..part.len()).map(|i| part.x.steps(i) as u64).sum::<u64>();
        return format!(
            "{} · {} to train and validate on, {} to test · {}",
            quantity(summary.seeds.len() as u64, "seed"),
            quantity(tokens(&data.train), "token"),
            count(data.test.as_ref().map_or(0, tokens)),
            format_args!("a vocabulary of {}", count(text.vocabulary.len() as u64))
        );
    }
    let steps = match (data.train.x.min_steps(), data.train.x.max_steps()) {
        (low, high) if low == high => quantity(low as u64, "step"),
        (low, high) => format!("{} to {}", count(low as u64), quantity(high as u64, "step")),
    };
    format!(
        "{} · {} to train and validate on, {} to test · {steps} of {}",
        quantity(summary.seeds.len() as u64, "seed"),
        quantity(data.train.len() as u64, "sequence"),
        count(test as u64),
        quantity(data.train.x.dim() as u64, "feature")
    )
}

fn figures(summary: &Summary, config: &Config, model: &AnyModel, boards: &[BoardRow]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let two_classes = model.float().labels().len() == 2;
    let sd = summary.test_sd.as_ref();
    if let Some(test) = &summary.test {
        scores("test", two_classes, test, sd, &mut figures);
    }
    if let Some(val) = &summary.val {
        scores("validation", two_classes, val, summary.val_sd.as_ref(), &mut figures);
    }
    if summary.seeds.len() > 1 {
        delivered(&summary.delivered, &mut figures);
    }
    figures.push(Figure::new("parameters", summary.params as f64, Unit::Count, Kind::Derived));
    let (size, kind) = match model {
        AnyModel::Float(_) => ("model size, f32", Kind::Derived),
        AnyModel::Integer(_) => ("device image, integers only", Kind::Measured),
    };
    figures.push(Figure::new(size, model.sizes().total as f64, Unit::Bytes, kind));
    if let AnyModel::Integer(_) = model {
        let board = config.limits.fit.or(config.limits.board).unwrap_or(USUAL_BOARD);
        if let Some(row) = boards.iter().find(|row| row.board == board.id()) {
            let name = board.info().short_name;
            for (what, bytes) in [("flash", row.flash_bytes), ("RAM", row.ram_bytes)] {
                let label = format!("{what} on {name}");
                figures.push(Figure::new(&label, bytes as f64, Unit::Bytes, Kind::Derived));
            }
        }
        if let Some(accuracy) = summary.test_float.as_ref().and_then(|s| s.accuracy) {
            let figure =
                Figure::new("test accuracy of the float model", accuracy, Unit::Fraction, Kind::Measured);
            figures.push(figure);
        }
    }
    let each = summary.seconds / summary.seeds.len().max(1) as f64;
    let time = if summary.seeds.len() == 1 { Kind::Measured } else { Kind::Derived };
    figures.push(Figure::new("training time a seed", each, Unit::Seconds, time));
    figures
}

fn scores(part: &str, two_classes: bool, s: &Scores, sd: Option<&Scores>, figures: &mut Vec<Figure>) {
    let mut show = |name: &str, value: Option<f64>, sd: Option<f64>, unit: Unit| {
        figures.push(Figure::new(&format!("{part} {name}"), value, unit, Kind::Measured).with_sd(sd));
    };
    // What does not apply is left out; a score that does not exist, as of a class without sequences, is a dash.
    if s.perplexity.is_some() {
        show("perplexity", s.perplexity, sd.and_then(|d| d.perplexity), Unit::Number);
        show("share of unknown tokens", s.unknown_rate, None, Unit::Fraction);
    }
    if let Some(sets) = &s.sets {
        let of_sd = sd.and_then(|d| d.sets.as_ref());
        let all = sets.entries();
        for (k, (key, value)) in all.into_iter().enumerate() {
            let name = key.replace("_at_", "@").replace("ndcg", "nDCG").replace("_f1", " F1");
            let is_shown = part == "test" || ["micro_f1", "precision_at_1"].contains(&key);
            if is_shown {
                show(&name, value, of_sd.and_then(|d| d.entries()[k].1), Unit::Fraction);
            }
        }
        show("threshold", s.threshold, None, Unit::Number);
        return;
    }
    if s.accuracy.is_some() {
        show("accuracy", s.accuracy, sd.and_then(|d| d.accuracy), Unit::Fraction);
    }
    if s.accuracy.is_some() && part == "test" {
        show("macro F1", s.f1_macro, sd.and_then(|d| d.f1_macro), Unit::Number);
        let of = if s.threshold.is_some() { "F1 of the positive class" } else { "F1 of the second class" };
        if two_classes || s.threshold.is_some() {
            show(of, s.f1, sd.and_then(|d| d.f1), Unit::Number);
        }
    }
    if s.threshold.is_some() && part == "test" {
        show("precision", s.precision, sd.and_then(|d| d.precision), Unit::Fraction);
        show("recall", s.recall, sd.and_then(|d| d.recall), Unit::Fraction);
        show("threshold", s.threshold, sd.and_then(|d| d.threshold), Unit::Number);
    }
    if s.rmse.is_some() {
        show("root mean squared error", s.rmse, sd.and_then(|d| d.rmse), Unit::Number);
        show("mean absolute error", s.mae, sd.and_then(|d| d.mae), Unit::Number);
        show("R²", s.r2, sd.and_then(|d| d.r2), Unit::Number);
    }
}

/// The scores of the delivered model itself, beside the means over the seeds.
fn delivered(delivered: &Delivered, figures: &mut Vec<Figure>) {
    for (part, of_part) in [("test", &delivered.test), ("validation", &delivered.val)] {
        let Some(s) = of_part else { continue };
        let (name, value, is_share) = s.headline();
        let unit = if is_share { Unit::Fraction } else { Unit::Number };
        let name = format!("{part} {name} of the delivered model (seed {})", delivered.seed);
        figures.push(Figure::new(&name, value, unit, Kind::Measured));
    }
}

fn seed_row(record: &SeedRecord, best_seed: u64) -> SeedRow {
    let r = &record.result;
    let (val, test) = (r.val.as_ref(), r.test.as_ref());
    SeedRow {
        seed: r.seed,
        best_epoch: Some(r.best_epoch),
        val_accuracy: val.and_then(|s| s.accuracy),
        val_loss: val.map(|s| s.loss),
        test_accuracy: test.and_then(|s| s.accuracy),
        val_perplexity: val.and_then(|s| s.perplexity),
        test_perplexity: test.and_then(|s| s.perplexity),
        val_micro_f1: val.and_then(|s| s.sets.as_ref()).and_then(|s| s.micro_f1),
        test_micro_f1: test.and_then(|s| s.sets.as_ref()).and_then(|s| s.micro_f1),
        test_f1: test.and_then(|s| s.f1_macro),
        test_loss: test.map(|s| s.loss),
        seconds: Some(r.seconds),
        chosen: r.seed == best_seed,
    }
}

/// The epochs of a seed, or of each of its folds.
fn curves(record: &SeedRecord) -> Vec<Curve> {
    let mut curves: Vec<(Option<usize>, Curve)> = Vec::new();
    for e in record.history.iter().filter(|e| e.pass == Pass::Choose) {
        let point = Point {
            epoch: e.epoch,
            train_loss: Some(e.train_loss),
            train_accuracy: e.train_accuracy,
            val_loss: e.val_loss,
            val_accuracy: e.val_accuracy,
        };
        match curves.last_mut() {
            Some((fold, curve)) if *fold == e.fold => curve.points.push(point),
            _ => {
                let (seed, best_epoch) = (record.result.seed, Some(record.result.best_epoch));
                let name = match e.fold {
                    Some(fold) => format!("seed {seed}, fold {fold}"),
                    None => format!("seed {seed}"),
                };
                curves.push((e.fold, Curve { name, best_epoch, points: vec![point] }));
            }
        }
    }
    curves.into_iter().map(|(_, curve)| curve).collect()
}

fn confusion(record: &SeedRecord) -> Option<Confusion> {
    let of = |name: &str, e: &Evaluation| {
        let matrix = e.confusion.as_ref()?;
        Some(Confusion {
            of: format!("{name}, seed {}", record.result.seed),
            classes: e.labels.clone(),
            counts: matrix.counts().to_vec(),
            per_class: e.per_class.clone(),
        })
    };
    match (&record.test, &record.val) {
        (Some(test), _) => of("test", test),
        (None, Some(val)) => of("validation", val),
        (None, None) => None,
    }
}
