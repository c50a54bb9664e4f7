//! `fastgrnn generate`

use crate::args::GenerateArgs;
use crate::console::Console;
use crate::misuse::misuse;
use crate::model;
use anyhow::Context;
use fastgrnn::generate::{GenerateError, GenerateOptions, Generated};
use fastgrnn::report::quantity;
use serde::Serialize;
use std::path::PathBuf;

/// A prompt and what follows it.
#[derive(Serialize)]
struct GenerateOutput {
    model: PathBuf,
    engine: &'static str,
    /// The prompt as the model read it.
    prompt: String,
    /// What was drawn.
    text: String,
    /// The numbers of the tokens that were drawn.
    tokens: Vec<u32>,
    /// Tokens of the prompt, and how many of them the model does not know.
    prompt_tokens: usize,
    prompt_unknown: usize,
    seed: u32,
    temperature: f64,
    top_k: Option<u16>,
}

/// Continues a text.
pub fn run(args: GenerateArgs, console: Console) -> anyhow::Result<()> {
    let model = model::with_engine(model::load(&args.model)?, args.engine, &args.model)?;
    let options = GenerateOptions {
        length: args.length as usize,
        temperature: args.temperature,
        most: args.top_k.unwrap_or(0),
        seed: args.seed,
    };
    let generated = model.generate(&args.prompt, &options).map_err(|error| match error {
        GenerateError::Temperature { value } => {
            misuse(format!("--temperature {value}: it must be 0, or between 0.0625 and 16"))
        }
        error @ GenerateError::Task { .. } => error.into(),
    });
    let generated: Generated =
        generated.with_context(|| format!("cannot generate text with {}", args.model.display()))?;
    let text = model.text()?;
    let unknown = generated.unknown();
    if unknown > 0 {
        console.note(&format!(
            "{} of the prompt {} not in the model's vocabulary and became <unk>",
            quantity(unknown as u64, "token"),
            if unknown == 1 { "is" } else { "are" }
        ));
    }
    let whole = text.decode(&[&generated.prompt[..], &generated.tokens].concat());
    let answer = GenerateOutput {
        model: std::path::absolute(&args.model)?,
        engine: model.engine(),
        prompt: text.decode(&generated.prompt),
        text: text.decode(&generated.tokens),
        prompt_tokens: generated.prompt.len(),
        prompt_unknown: unknown,
        tokens: generated.tokens,
        seed: args.seed,
        temperature: args.temperature,
        top_k: args.top_k,
    };
    console.answer(&answer, || format!("{whole}\n"))
}
