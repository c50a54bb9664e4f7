//! `fastgrnn quantize`: post-training quantisation.

use crate::args::QuantizeArgs;
use crate::console::Console;
use crate::misuse::misuse;
use crate::report::write_whole;
use crate::saturation::{Saturated, saturation_text};
use crate::scores::{score_text, short};
use crate::table::facts;
use crate::{dataset, integer_tables, model};
use anyhow::Context;
use fastgrnn::data::{Examples, Labels};
use fastgrnn::metrics::Scores;
use fastgrnn::model::{AnyModel, Model, Sizes};
use fastgrnn::quantize::{BiasBits, IntegerModel, MatrixBits, Options, quantize};
use fastgrnn::report::{bytes, fraction, quantity};
use fastgrnn::train::Numbers;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What was made and what it costs.
#[derive(Serialize)]
struct QuantizeOutput {
    model: PathBuf,
    image: Option<PathBuf>,
    cell: &'static str,
    params: usize,
    nnz: usize,
    bytes: Sizes,
    ram_bytes: usize,
    macs_per_step: usize,
    /// Sequences that scales were chosen with.
    calibrated_on: usize,
    scales: Value,
    /// On the data set's test part; null without one.
    test: Option<Test>,
}

/// Both engines on the same sequences.
#[derive(Serialize)]
struct Test {
    n: usize,
    float: Scores,
    integer: Scores,
    /// Share of equal decisions; null for regression.
    agreement: Option<f64>,
    saturations: Saturated,
}

/// Quantises, writes, measures.
pub fn run(args: QuantizeArgs, console: Console) -> anyhow::Result<()> {
    let float = match model::load(&args.model)? {
        AnyModel::Float(model) => model,
        AnyModel::Integer(_) => {
            return Err(misuse(format!(
                "{} is an integer model already; a quantized run keeps its float model as model_float.safetensors",
                args.model.display()
            )));
        }
    };
    if same_file(&args.output, &model::file(&args.model)) {
        return Err(misuse(format!(
            "{} is the float model itself, which would be lost; choose another file with -o",
            args.output.display()
        )));
    }
    if let Some(image) = &args.image
        && [&args.output, &model::file(&args.model)]
            .into_iter()
            .any(|other| same_file(image, other) || image == other)
    {
        return Err(misuse(format!(
            "{} is a model file already; choose another one for the image with --image",
            image.display()
        )));
    }
    let own = MatrixBits::of(&float);
    let bits = args.bits.of_matrices(own);
    // Where matrices keep the bits of the model, biases have those that its training was told.
    let trained = float.recipe.quantization.bits_bias.filter(|_| bits == own);
    let trained = trained.map(|bits| if bits == 8 { BiasBits::Eight } else { BiasBits::Sixteen });
    let options =
        Options { bias_bits: args.bits.bits_bias.or(trained), ..options(args.input_lsb, args.headroom)? };
    // The model that is rounded: without training for them, matrices of other bits get steps that fit.
    let wanted =
        float.with_bits(bits).with_context(|| format!("cannot make {} integer", args.model.display()))?;
    let threads = args.threads.count();
    let data = dataset::load_any(&float, &args.calibrate, args.test, args.data, console)?;
    // A single text that a model reads is a test part, and labels are not needed here.
    let (x, indices) = match &data.test {
        Some(test) if data.train.is_empty() => (&test.x, (0..test.len() as u32).collect()),
        _ => (&data.train.x, float.trained_on(&data)),
    };
    let integer = quantize(&wanted, x, &indices, &options)
        .with_context(|| format!("cannot make {} integer", args.model.display()))?;
    let labelled = data.test.filter(|test| !matches!(test.y, Labels::None));
    let test = labelled.map(|test| measure(&float, &integer, &test, threads)).transpose()?;
    integer.save(&args.output)?;
    if let Some(path) = &args.image {
        write_whole(path, integer.image())?;
    }
    let answer = QuantizeOutput {
        model: std::path::absolute(&args.output)?,
        image: args.image.map(std::path::absolute).transpose()?,
        cell: float.network.main_cell().kind.name(),
        params: float.parameter_count(),
        nnz: integer.nonzero(),
        bytes: integer.sizes(),
        ram_bytes: integer.ram_bytes(),
        macs_per_step: integer.macs_per_step(),
        calibrated_on: indices.len(),
        scales: integer_tables::scales(&integer),
        test,
    };
    console.answer(&answer, || describe(&answer, &float, &integer))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn options(input_lsb: Option<Numbers>, headroom: Option<f32>) -> anyhow::Result<Options> {
    let defaults = Options::default();
    let headroom = headroom.unwrap_or(defaults.headroom);
    if !(1.0..=1024.0).contains(&headroom) {
        return Err(misuse(format!("--headroom {headroom}: it must be between 1 and 1024")));
    }
    let input_lsb = input_lsb.map(|lsb| lsb.0.iter().map(|&v| v as f32).collect());
    Ok(Options { input_lsb, headroom, ..defaults })
}

fn measure(float: &Model, integer: &IntegerModel, test: &Examples, threads: usize) -> anyhow::Result<Test> {
    let fits = "the model does not fit the test part";
    let (of_float, by_float) = float.evaluate(test, threads).context(fits)?;
    let (of_integer, by_integer, saturations) = integer.evaluate(test, threads).context(fits)?;
    Ok(Test {
        n: test.len(),
        float: of_float.scores,
        integer: of_integer.scores,
        agreement: by_float.agreement(&by_integer),
        saturations: Saturated::of(&saturations),
    })
}

fn describe(answer: &QuantizeOutput, float: &Model, integer: &IntegerModel) -> String {
    let mut rows = vec![("calibrated", format!("on {}", quantity(answer.calibrated_on as u64, "sequence")))];
    if integer.network.embedding.is_none() {
        let worth = integer_tables::lsb_text(integer);
        rows.push(("one count", format!("is worth {worth} (in the data's units)")));
    }
    if let Some(test) = &answer.test {
        rows.push(("float", format!("{} (measured)", score_text(&test.float, None))));
        rows.push(("integer", format!("{} (measured)", score_text(&test.integer, None))));
        if let Some(agreement) = test.agreement {
            rows.push(("agree on", format!("{} of the test set (measured)", fraction(agreement, None))));
        }
    }
    let before = bytes(float.parameter_bytes() as u64);
    let after = bytes(answer.bytes.total as u64);
    rows.push(("size", format!("{after} as device image, {before} as f32")));
    rows.push(("RAM", bytes(answer.ram_bytes as u64)));
    rows.push(("model", short(&answer.model)));
    if let Some(image) = &answer.image {
        rows.push(("image", short(image)));
    }
    let saturations = answer.test.as_ref().map_or(String::new(), |t| saturation_text(&t.saturations));
    format!("{}\n{}\n{saturations}", facts(&rows), integer_tables::byte_table(&answer.bytes))
}
