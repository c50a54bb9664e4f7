//! `fastgrnn bench train` and `bench infer`

use crate::args::{BenchArgs, BenchCommand, BenchInferArgs, BenchTrainArgs, Rival};
use crate::console::Console;
use crate::misuse::misuse;
use fastgrnn::train::DeviceChoice;
use fastgrnn_bench::{BenchOptions, GPU_SIZES, GpuCase, GpuOptions, InferOptions};
use std::time::Duration;

/// Measures.
pub fn run(args: BenchArgs, console: Console) -> anyhow::Result<()> {
    match args.what {
        BenchCommand::Train(args) => train(args, console),
        BenchCommand::Infer(args) => infer(args, console),
    }
}

fn train(args: BenchTrainArgs, console: Console) -> anyhow::Result<()> {
    let gpu = match args.device {
        DeviceChoice::Cpu => None,
        DeviceChoice::Cuda(number) => Some(number),
        DeviceChoice::Auto => fastgrnn_bench::gpu_opens(0).then_some(0),
    };
    if gpu.is_none() && (!args.networks.is_empty() || !args.batches.is_empty()) {
        return Err(misuse("--networks and --batches are for a GPU; add --device cuda"));
    }
    if gpu.is_some() && args.threads.is_some() {
        return Err(misuse("--threads is for the CPU; leave it out, or use --device cpu"));
    }
    match gpu {
        Some(number) => train_on_gpu(number, args, console),
        None => train_on_cpu(args, console),
    }
}

fn train_on_cpu(args: BenchTrainArgs, console: Console) -> anyhow::Result<()> {
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

fn train_on_gpu(number: usize, args: BenchTrainArgs, console: Console) -> anyhow::Result<()> {
    let defaults = GpuOptions::default();
    let shapes = if args.shapes.is_empty() { BenchOptions::default().shapes } else { args.shapes };
    let options = GpuOptions {
        device: number,
        against_torch: args.against == Some(Rival::Torch),
        python: args.python,
        cases: GpuCase::usual(&shapes, &sizes(&args.networks, &args.batches)),
        blocks: args.blocks.map_or(defaults.blocks, usize::from),
        budget: args.budget.map_or(defaults.budget, |s| Duration::from_secs(s.into())),
        ..defaults
    };
    let report = fastgrnn_bench::train_on_gpu(&options, &mut |line| console.note(line))?;
    console.answer(&report, || report.to_string())
}

/// Every number of networks with every batch; the usual sizes if neither is given.
fn sizes(networks: &[u16], batches: &[u16]) -> Vec<(usize, usize)> {
    if networks.is_empty() && batches.is_empty() {
        return GPU_SIZES.to_vec();
    }
    let (networks, batches) = (
        if networks.is_empty() { &[1] } else { networks },
        if batches.is_empty() { &[100] } else { batches },
    );
    let with_each = |&n: &u16| batches.iter().map(move |&batch| (n.into(), batch.into()));
    networks.iter().flat_map(with_each).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_every_number_of_networks_with_every_batch() {
        assert_eq!(sizes(&[], &[]), GPU_SIZES);
        assert_eq!(sizes(&[4, 16], &[]), [(4, 100), (16, 100)]);
        assert_eq!(sizes(&[], &[50]), [(1, 50)]);
        assert_eq!(sizes(&[1, 2], &[8, 9]), [(1, 8), (1, 9), (2, 8), (2, 9)]);
    }
}
