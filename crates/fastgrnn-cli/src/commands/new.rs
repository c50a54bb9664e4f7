//! `fastgrnn new`: a model of any shape, to measure before training one.

use crate::args::NewArgs;
use crate::console::Console;
use crate::flags::with_flags;
use crate::integer_tables;
use crate::misuse::misuse;
use crate::scores::short;
use crate::table::facts;
use anyhow::Context;
use fastgrnn::cells::{Cell, MatrixForm, WeightBits};
use fastgrnn::model::Sizes;
use fastgrnn::quantize::{IntegerModel, MatrixBits};
use fastgrnn::random::RandomModel;
use fastgrnn::report::{bytes, count};
use fastgrnn::settings::{Group, NetworkRecipe, ReadoutSetting};
use fastgrnn::train::{FormSetting, Rank};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Serialize)]
struct NewOutput {
    model: PathBuf,
    cell: &'static str,
    params: usize,
    nnz: usize,
    bytes: Sizes,
    ram_bytes: usize,
    macs_per_step: usize,
    /// Steps of a sequence of `--dataset random:N`.
    steps: usize,
    seed: u64,
    scales: Value,
}

/// Draws, writes, describes.
pub fn run(args: NewArgs, console: Console) -> anyhow::Result<()> {
    if args.output.is_dir() {
        return Err(misuse(format!("{} is a folder; name the file to write with -o", args.output.display())));
    }
    let spec = spec(&args)?;
    let model = spec.build().context("there is no such model")?;
    model.save(&args.output)?;
    let answer = NewOutput {
        model: std::path::absolute(&args.output)?,
        cell: spec.cell.kind.name(),
        params: model.model.parameter_count(),
        nnz: model.nonzero(),
        bytes: model.sizes(),
        ram_bytes: model.ram_bytes(),
        macs_per_step: model.macs_per_step(),
        steps: spec.steps,
        seed: spec.seed,
        scales: integer_tables::scales(&model),
    };
    console.answer(&answer, || describe(&answer, &model))
}

fn spec(args: &NewArgs) -> anyhow::Result<RandomModel> {
    let (network, sparsity) = (&args.network, args.sparsity.clone().with_defaults());
    let kind = network.cell.map(|_| network.chosen_cell());
    let (Some(kind), Some(hidden)) = (kind, network.hidden) else {
        return Err(misuse("--cell and --hidden are required"));
    };
    network.check().and_then(|()| sparsity.check()).map_err(|error| {
        let problem = format!("`{} = {}`: it must be {}", error.key, error.value, error.expected);
        misuse(with_flags(&problem))
    })?;
    network.clone().settle_gate_gain().map_err(|conflict| misuse(with_flags(&conflict.to_string())))?;
    if let Some(readout) = network.readout.filter(|readout| *readout != ReadoutSetting::Last) {
        return Err(misuse(format!(
            "--readout {readout}: an integer model reads the last state; leave it out"
        )));
    }
    if network.embedding.is_some() || network.tied.is_some() {
        return Err(misuse(
            "--embedding and --tied are about texts, but this network reads numbers; leave them out",
        ));
    }
    let mut cell = Cell::new(kind, args.input, hidden);
    cell.form_w = form("w", network.form_w, network.rank_w, cell.form_w)?;
    cell.form_u = form("u", plain_form_u(network)?, network.rank_u, cell.form_u)?;
    let mut spec = RandomModel::new(cell, args.classes, args.steps);
    spec.layers = network.layers.unwrap_or(spec.layers);
    spec.input_layer = network.input_layer;
    spec.kept_w = sparsity.keep_w.unwrap_or(spec.kept_w);
    spec.kept_u = sparsity.keep_u.unwrap_or(spec.kept_u);
    spec.kept_head = sparsity.keep_head.unwrap_or(spec.kept_head);
    let eight = WeightBits::Eight;
    let bits = args.bits.of_matrices(MatrixBits { w: eight, u: eight, head: eight });
    (spec.cell.bits_w, spec.cell.bits_u, spec.bits_head) = (bits.w, bits.u, bits.head);
    spec.bias_bits = args.bits.bits_bias;
    spec.seed = args.seed;
    if let Some(gate) = network.gate {
        if !kind.declaration().gated() {
            return Err(misuse(format!("--gate {gate}: a {kind} has no gate; leave it out")));
        }
        spec.cell.gate = gate;
    }
    spec.cell.update = network.update.unwrap_or(spec.cell.update);
    Ok(spec)
}

/// The form of U, which cannot be one that only training has.
fn plain_form_u(network: &NetworkRecipe) -> anyhow::Result<Option<FormSetting>> {
    let form = match network.form_u {
        None => None,
        Some(form) => Some(form.plain().ok_or_else(|| {
            misuse(format!(
                "--form-u {form}: on a device it is a full matrix like any other; use --form-u full"
            ))
        })?),
    };
    if network.reflections.is_some() || network.rotations.is_some() || network.spectral_margin.is_some() {
        let text = "--reflections, --rotations and --spectral-margin are about training; leave them out";
        return Err(misuse(text));
    }
    Ok(form)
}

/// The form of a matrix from its two flags.
fn form(
    matrix: &str,
    form: Option<FormSetting>,
    rank: Option<Rank>,
    otherwise: MatrixForm,
) -> anyhow::Result<MatrixForm> {
    match (form, rank) {
        (None, None) => Ok(otherwise),
        (Some(form), Some(rank)) if form != FormSetting::Full && rank != Rank::Full => {
            let text =
                format!("--form-{matrix} {form} contradicts --rank-{matrix} {rank}; leave one of them out");
            Err(misuse(text))
        }
        (form, rank) => Ok(form.unwrap_or_default().with_rank(rank.unwrap_or_default())),
    }
}

fn describe(answer: &NewOutput, model: &IntegerModel) -> String {
    let facts = facts(&[
        ("network", format!("{}, {} parameters", answer.cell, count(answer.params as u64))),
        ("weights", format!("{} not 0, drawn from seed {}", count(answer.nnz as u64), answer.seed)),
        ("size", format!("{} as device image", bytes(answer.bytes.total as u64))),
        ("RAM", bytes(answer.ram_bytes as u64)),
        ("a step", format!("{} multiplications with weights", count(answer.macs_per_step as u64))),
        ("model", short(&answer.model)),
        ("try it", format!("--dataset random:100 has {} steps a sequence", answer.steps)),
    ]);
    format!("{facts}\n{}", integer_tables::byte_table(&model.sizes()))
}
