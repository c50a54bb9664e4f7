//! `fastgrnn bench train`

use crate::args::{BenchArgs, BenchCommand, Rival};
use crate::console::Console;
use fastgrnn::bench::{self, BenchOptions};
use std::time::Duration;

/// Measures.
pub fn run(args: BenchArgs, console: Console) -> anyhow::Result<()> {
    let BenchCommand::Train(args) = args.what;
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
    let report = bench::train(&options, &mut |line| console.note(line))?;
    console.answer(&report, || report.to_string())
}
