//! `fastgrnn bench train` and `bench infer`

use crate::args::{BenchArgs, BenchCommand, BenchInferArgs, BenchTrainArgs, Rival};
use crate::console::Console;
use fastgrnn_bench::{BenchOptions, InferOptions};
use std::time::Duration;

/// Measures.
pub fn run(args: BenchArgs, console: Console) -> anyhow::Result<()> {
    match args.what {
        BenchCommand::Train(args) => train(args, console),
        BenchCommand::Infer(args) => infer(args, console),
    }
}

fn train(args: BenchTrainArgs, console: Console) -> anyhow::Result<()> {
    let defaults = BenchOptions::default();
    let options = BenchOptions {
        against_torch: args.against == Some(Rival::Torch),
        python: args.python,
        threads: args.threads.map_or(defaults.threads, usize::from),
        shapes: if args.shapes.is_empty() { defaults.shapes } else { args.shapes },
        blocks: args.blocks.map_or(defaults.blocks, usize::from),
        budget: args.budget.map_or(defaults.budget, |s| Duration::from_secs(s.into())),
        ..defaults
    };
    let report = fastgrnn_bench::train(&options, &mut |line| console.note(line))?;
    console.answer(&report, || report.to_string())
}

fn infer(args: BenchInferArgs, console: Console) -> anyhow::Result<()> {
    let defaults = InferOptions::default();
    let options = InferOptions {
        shapes: if args.shapes.is_empty() { defaults.shapes } else { args.shapes },
        time: args.seconds.map_or(defaults.time, |s| Duration::from_secs(s.into())),
        ..defaults
    };
    let report = fastgrnn_bench::infer(&options, &mut |line| console.note(line))?;
    console.answer(&report, || report.to_string())
}
