//! How fast a training step is, by itself and against PyTorch on the same machine at the same time.
//!
//! A step is forward, backward and Adam on 100 sequences in f32. Machines drift and neighbours
//! wake up, so nothing is timed once: ours and PyTorch's run by turns in blocks of half a second,
//! blocks during which other processes took more than 2 % of the cores are discarded, and each
//! side is represented by the median of its fastest quarter of steps.
//!
//! ```no_run
//! use fastgrnn_bench::BenchOptions;
//! let report = fastgrnn_bench::train(&BenchOptions::default(), &mut |line| eprintln!("{line}")).unwrap();
//! println!("{report}");
//! ```
mod error;
mod infer;
mod load;
mod options;
mod ours;
mod python;
mod report;
mod samples;
mod shape;
mod torch;

pub use error::BenchError;
pub use infer::{INFER_SHAPES, InferOptions, InferReport, InferRow, InferShape, infer};
pub use options::BenchOptions;
pub use report::{BenchReport, LinearInT, RankName, Row, TorchTimes};
pub use shape::{BATCH, SHAPES, Shape, flops};

use fastgrnn_core::cells::CellKind;
use fastgrnn_engine::engine;
use load::Moment;
use ours::Ours;
use samples::Samples;
use std::time::Instant;
use torch::Torch;

/// Our rows of each shape: cell, and whether it is low-rank.
const ROWS: [(CellKind, bool); 4] = [
    (CellKind::FastGrnn, true),
    (CellKind::FastGrnn, false),
    (CellKind::Gru, false),
    (CellKind::Lstm, false),
];

/// PyTorch's variants of each shape: name, and whether it is low-rank. The compiled ones come last
/// and live in a process of their own, which is given up when compiling takes too long.
const VARIANTS: [(&str, bool); 6] = [
    ("lean", true),
    ("lean", false),
    ("gru", false),
    ("lstm", false),
    ("lean_compiled", true),
    ("lean_compiled", false),
];

/// The length whose cost a step is compared with that of `pixelmnist`, for linearity in T.
const SHORT_T: usize = 98;

/// Measures training steps; `progress` is told what happens, line by line.
pub fn train(options: &BenchOptions, progress: &mut dyn FnMut(&str)) -> Result<BenchReport, BenchError> {
    let deadline = Instant::now() + options.budget;
    let python = match options.against_torch {
        true => Some(python::with_torch(options.python.as_deref(), deadline, progress)?),
        false => None,
    };
    let mut report = BenchReport::new(options);
    for (i, shape) in options.shapes.iter().enumerate() {
        let now = Instant::now();
        let share = deadline.saturating_duration_since(now) / (options.shapes.len() - i) as u32;
        report.note_peak(engine::fma_peak_gflops(options.threads, options.block / 2));
        let mut bench = ShapeBench::prepare(options, shape, python.as_deref(), now + share, progress)?;
        bench.measure(now + share, progress)?;
        report.note_peak(engine::fma_peak_gflops(options.threads, options.block / 2));
        bench.report(&mut report);
    }
    report.finish();
    Ok(report)
}

/// Everything that runs by turns for one shape.
struct ShapeBench<'a> {
    options: &'a BenchOptions,
    shape: Shape,
    sides: Vec<Side>,
    eager: Option<Torch>,
    /// A process for each compiled loop, so that one that never finishes costs only itself: full rank,
    /// low rank.
    compiled: [Option<Torch>; 2],
}

/// One of those that take turns.
struct Side {
    runner: Runner,
    samples: Samples,
}

enum Runner {
    /// Ours: cell, low rank, time steps.
    Ours(CellKind, bool, usize, Box<Ours>),
    /// PyTorch's: variant, low rank.
    Torch(&'static str, bool),
}

fn variant_id(variant: &str, low_rank: bool) -> String {
    format!("{variant} {}", if low_rank { "low" } else { "full" })
}

impl<'a> ShapeBench<'a> {
    fn prepare(
        options: &'a BenchOptions,
        shape: &Shape,
        python: Option<&std::path::Path>,
        deadline: Instant,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, BenchError> {
        progress(&format!("{}: preparing", shape.name));
        let mut bench =
            Self { options, shape: *shape, sides: Vec::new(), eager: None, compiled: [None, None] };
        let mut torch = Vec::new();
        if let Some(python) = python {
            bench.eager = Some(Torch::start(python, options.threads)?);
            for compiled in &mut bench.compiled {
                *compiled = Some(Torch::start(python, options.threads)?);
            }
            // Half of the time is for measuring, whatever compiling takes.
            let start = Instant::now();
            let compiled_by = start + deadline.saturating_duration_since(start) / 2;
            for (variant, low_rank) in VARIANTS {
                if bench.prepare_torch(variant, low_rank, compiled_by, progress)? {
                    torch.push(Runner::Torch(variant, low_rank));
                }
            }
        }
        let mut ours = Vec::new();
        let short = Shape { steps: SHORT_T, ..*shape };
        let linear = (shape.name == "pixelmnist").then_some((CellKind::FastGrnn, true, &short));
        for (kind, low_rank, shape) in
            ROWS.into_iter().map(|(kind, low_rank)| (kind, low_rank, shape)).chain(linear)
        {
            let side = Ours::new(shape, kind, low_rank, options.batch, options.threads)?;
            ours.push(Runner::Ours(kind, low_rank, shape.steps, Box::new(side)));
        }
        bench.sides = by_turns(ours, torch)
            .into_iter()
            .map(|runner| Side { runner, samples: Samples::default() })
            .collect();
        Ok(bench)
    }

    /// Prepares one of PyTorch's variants; `false` if it has to be left out.
    fn prepare_torch(
        &mut self,
        variant: &'static str,
        low_rank: bool,
        compiled_by: Instant,
        progress: &mut dyn FnMut(&str),
    ) -> Result<bool, BenchError> {
        let id = variant_id(variant, low_rank);
        let (shape, batch) = (self.shape, self.options.batch);
        if variant != "lean_compiled" {
            let Some(eager) = &mut self.eager else { return Ok(false) };
            return eager.prepare(&id, variant, &shape, low_rank, batch, torch::PATIENCE).map(|()| true);
        }
        let Some(compiled) = &mut self.compiled[usize::from(low_rank)] else { return Ok(false) };
        progress(&format!(
            "{}: torch.compile of the {} loop (a minute or two)",
            shape.name,
            rank(low_rank).name()
        ));
        let patience = compiled_by.saturating_duration_since(Instant::now());
        match compiled.prepare(&id, variant, &shape, low_rank, batch, patience) {
            Ok(()) => Ok(true),
            Err(error) => {
                progress(&format!("{}: no compiled loop: {error}", shape.name));
                self.compiled[usize::from(low_rank)] = None;
                Ok(false)
            }
        }
    }

    /// Runs the sides by turns until each has enough undisturbed blocks, or time is up.
    fn measure(&mut self, deadline: Instant, progress: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let ids: Vec<u32> = self.eager.iter().chain(self.compiled.iter().flatten()).map(Torch::id).collect();
        for round in 0.. {
            let (kept, disturbed) = self.sides.iter().fold((usize::MAX, 0), |(kept, disturbed), side| {
                (kept.min(side.samples.kept()), disturbed + side.samples.disturbed())
            });
            let wanted = self.options.blocks;
            progress(&format!("{}: {kept} of {wanted} blocks, {disturbed} discarded", self.shape.name));
            if kept >= wanted || (round > 0 && Instant::now() >= deadline) {
                return Ok(());
            }
            for side in &mut self.sides {
                if side.samples.kept() >= wanted {
                    continue;
                }
                let before = Moment::now(&ids);
                let times = match &mut side.runner {
                    Runner::Ours(.., ours) => ours.run(self.options.block)?,
                    Runner::Torch(variant, low_rank) => {
                        let process = match *variant {
                            "lean_compiled" => &mut self.compiled[usize::from(*low_rank)],
                            _ => &mut self.eager,
                        };
                        let Some(process) = process else { continue };
                        process.run(&variant_id(variant, *low_rank), self.options.block)?
                    }
                };
                side.samples.add(times, before.until(&Moment::now(&ids)));
            }
        }
        Ok(())
    }

    /// Milliseconds of a PyTorch variant.
    fn torch_ms(&self, variant: &str, low_rank: bool) -> Option<f64> {
        let side = self
            .sides
            .iter()
            .find(|side| matches!(side.runner, Runner::Torch(v, low) if v == variant && low == low_rank))?;
        side.samples.seconds().map(|seconds| 1e3 * seconds)
    }

    fn report(&self, report: &mut BenchReport) {
        report.torch_version = self.eager.as_ref().map(|torch| torch.version.clone());
        for side in &self.sides {
            let Runner::Ours(kind, low_rank, steps, _) = side.runner else { continue };
            let Some(seconds) = side.samples.seconds() else { continue };
            if steps != self.shape.steps {
                report.note_short(1e6 * seconds / steps as f64);
                continue;
            }
            let torch = self.eager.is_some().then(|| TorchTimes {
                lean: self.torch_ms("lean", low_rank),
                lean_compiled: self.torch_ms("lean_compiled", low_rank),
                gru: self.torch_ms("gru", false),
                lstm: self.torch_ms("lstm", false),
            });
            let rival = torch.as_ref().and_then(|torch| match kind {
                CellKind::Gru => torch.gru,
                CellKind::Lstm => torch.lstm,
                _ => torch.fastest(),
            });
            let flops = flops(&self.shape.network(kind, low_rank), steps, self.options.batch);
            report.rows.push(Row {
                shape: self.shape.name,
                cell: kind,
                rank: rank(low_rank),
                ms: 1e3 * seconds,
                torch,
                ratio_vs_fastest_torch: rival.map(|ms| ms / (1e3 * seconds)),
                gflops: 1e-9 * flops / seconds,
                fraction_of_peak: 0.0,
                on_cpu: side.samples.on_cpu(self.options.threads),
                blocks: side.samples.kept(),
                blocks_discarded: side.samples.disturbed(),
                quiet: self.sides.iter().all(|side| side.samples.kept() > 0),
                steps,
            });
        }
    }
}

fn rank(low_rank: bool) -> RankName {
    if low_rank { RankName::Low } else { RankName::Full }
}

/// The two lists merged so that they alternate for as long as both last.
fn by_turns<T>(a: Vec<T>, b: Vec<T>) -> Vec<T> {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut merged = Vec::new();
    loop {
        let before = merged.len();
        merged.extend(a.next());
        merged.extend(b.next());
        if merged.len() == before {
            return merged;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn turns_alternate_for_as_long_as_both_lists_last() {
        assert_eq!(by_turns(vec![1, 2], vec![10, 20, 30, 40]), [1, 10, 2, 20, 30, 40]);
    }

    #[test]
    fn our_own_rows_are_measured_without_torch() {
        let shape =
            Shape { name: "pixelmnist", steps: 12, input: 1, hidden: 8, rank_w: 1, rank_u: 3, classes: 3 };
        let options = BenchOptions {
            shapes: vec![shape],
            batch: 5,
            block: Duration::from_millis(5),
            blocks: 1,
            budget: Duration::from_millis(200),
            ..BenchOptions::default()
        };
        let report = train(&options, &mut |_| {}).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["fma_peak_gflops"].as_f64().unwrap() > 0.0);
        assert!(json["linear_in_t"]["us_per_step_98"].as_f64().unwrap() > 0.0);
        let rows = json["rows"].as_array().unwrap();
        let names: Vec<_> = rows.iter().map(|row| (row["cell"].as_str(), row["rank"].as_str())).collect();
        let expected = [("fastgrnn", "low"), ("fastgrnn", "full"), ("gru", "full"), ("lstm", "full")];
        assert_eq!(names, expected.map(|(cell, rank)| (Some(cell), Some(rank))));
        for row in rows {
            assert!(row["ms"].as_f64().unwrap() > 0.0 && row["gflops"].as_f64().unwrap() > 0.0);
            assert!(row["torch"].is_null() && row["ratio_vs_fastest_torch"].is_null());
            let fraction = row["fraction_of_peak"].as_f64().unwrap();
            assert!(fraction > 0.0 && fraction < 1.0);
        }
    }
}
