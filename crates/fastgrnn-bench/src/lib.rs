//! How fast a training step is, by itself and against PyTorch on the same machine at the same time.
//!
//! A step is forward, backward and Adam on one batch in f32. Machines drift and neighbours
//! wake up, so nothing is timed once: ours and PyTorch's run by turns in blocks of half a second,
//! blocks during which other processes took more than 2 % of the cores are discarded, and each
//! side is represented by the median of its fastest quarter of steps.
//!
//! ```no_run
//! use fastgrnn_bench::BenchOptions;
//! let report = fastgrnn_bench::train(&BenchOptions::default(), &mut |line| eprintln!("{line}")).unwrap();
//! println!("{report}");
//! ```
//!
//! [`train_on_gpu`] measures a step without the optimiser on an NVIDIA GPU, for one network and for many at once.
mod error;
mod gpu;
mod infer;
mod load;
mod options;
mod ours;
mod process;
mod python;
mod report;
mod samples;
mod shape;
mod torch;
mod variant;

pub use error::BenchError;
pub use gpu::{
    Basis, GPU_SIZES, GpuCase, GpuOptions, GpuReport, GpuRow, PeerTime, TorchVersions, gpu_opens,
    train_on_gpu,
};
pub use infer::{INFER_SHAPES, InferOptions, InferReport, InferRow, InferShape, infer};
pub use options::BenchOptions;
pub use report::{BenchReport, LinearInT, RankName, Row, TorchTime};
pub use shape::{SHAPES, Shape, ShapeKind, flops};
pub use variant::{Mode, Softmax, Variant, Weights};

use fastgrnn_core::cells::CellKind;
use fastgrnn_engine::engine;
use load::Moment;
use ours::Ours;
use samples::Samples;
use std::path::Path;
use std::time::Instant;
use torch::Torch;

/// Our rows of each shape: cell, and whether it is low-rank.
const ROWS: [(CellKind, bool); 4] = [
    (CellKind::FastGrnn, true),
    (CellKind::FastGrnn, false),
    (CellKind::Gru, false),
    (CellKind::Lstm, false),
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
    /// The Python to start for PyTorch, if it is measured.
    python: Option<&'a Path>,
    /// Runs the variants that need no compiling.
    uncompiled: Option<Torch>,
}

/// One of those that take turns.
struct Side {
    runner: Runner,
    samples: Samples,
}

enum Runner {
    /// Ours: cell, low rank, time steps.
    Ours(CellKind, bool, usize, Box<Ours>),
    /// PyTorch's; a compiled one has a process of its own, so that one that never finishes costs only
    /// itself.
    Torch(Variant, Option<Box<Torch>>),
}

impl<'a> ShapeBench<'a> {
    fn prepare(
        options: &'a BenchOptions,
        shape: &Shape,
        python: Option<&'a Path>,
        deadline: Instant,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, BenchError> {
        progress(&format!("{}: preparing", shape.name));
        let mut bench = Self { options, shape: *shape, sides: Vec::new(), python, uncompiled: None };
        let mut torch = Vec::new();
        if let Some(python) = python {
            bench.uncompiled = Some(Torch::start(python, options.threads)?);
            // Half of the time is for measuring, whatever compiling takes.
            let start = Instant::now();
            let compiled_by = start + deadline.saturating_duration_since(start) / 2;
            for variant in Variant::all(shape.kind) {
                match bench.prepare_torch(variant, compiled_by, progress) {
                    Ok(process) => torch.push(Runner::Torch(variant, process)),
                    Err(error) => progress(&format!("{}: without {}: {error}", shape.name, variant.id())),
                }
            }
        }
        let mut ours = Vec::new();
        let short = Shape { steps: SHORT_T, ..*shape };
        let linear = (shape.name == "pixelmnist").then_some((CellKind::FastGrnn, true, &short));
        for (kind, low_rank, shape) in
            ROWS.into_iter().map(|(kind, low_rank)| (kind, low_rank, shape)).chain(linear)
        {
            let side = Ours::new(shape, kind, low_rank, options.threads)?;
            ours.push(Runner::Ours(kind, low_rank, shape.steps, Box::new(side)));
        }
        bench.sides = by_turns(ours, torch)
            .into_iter()
            .map(|runner| Side { runner, samples: Samples::default() })
            .collect();
        Ok(bench)
    }

    /// Prepares one of PyTorch's variants; gives the process of a compiled one.
    fn prepare_torch(
        &mut self,
        variant: Variant,
        compiled_by: Instant,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Box<Torch>>, BenchError> {
        let shape = &self.shape;
        match self.python {
            Some(python) if variant.is_compiled() => {
                progress(&format!("{}: compiling {} (about a minute)", shape.name, variant.id()));
                let mut process = Box::new(Torch::start(python, self.options.threads)?);
                let patience = compiled_by.saturating_duration_since(Instant::now());
                process.prepare(&variant, shape, patience)?;
                Ok(Some(process))
            }
            _ => {
                if let Some(process) = &mut self.uncompiled {
                    process.prepare(&variant, shape, process::PATIENCE)?;
                }
                Ok(None)
            }
        }
    }

    /// Runs the sides by turns until each has enough undisturbed blocks, or time is up.
    fn measure(&mut self, deadline: Instant, progress: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let compiled = self.sides.iter().filter_map(|side| match &side.runner {
            Runner::Torch(_, process) => process.as_deref(),
            Runner::Ours(..) => None,
        });
        let ids: Vec<u32> = self.uncompiled.iter().chain(compiled).map(Torch::id).collect();
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
                    Runner::Torch(variant, process) => {
                        let process = process.as_deref_mut().or(self.uncompiled.as_mut());
                        let Some(process) = process else { continue };
                        process.run(variant, self.options.block)?
                    }
                };
                side.samples.add(times, before.until(&Moment::now(&ids)));
            }
        }
        Ok(())
    }

    /// PyTorch's times for a cell at a rank, if PyTorch was measured.
    fn torch_times(&self, cell: CellKind, low_rank: bool) -> Option<Vec<TorchTime>> {
        self.python?;
        let alike = Variant::all(self.shape.kind)
            .into_iter()
            .filter(|v| v.cell == cell && v.weights.is_low_rank() == low_rank);
        let ms = |variant: Variant| {
            let mut sides = self.sides.iter();
            let side = sides.find(|side| matches!(side.runner, Runner::Torch(v, _) if v == variant))?;
            side.samples.seconds().map(|seconds| 1e3 * seconds)
        };
        Some(alike.map(|variant| TorchTime { variant, ms: ms(variant) }).collect())
    }

    fn report(&self, report: &mut BenchReport) {
        report.torch_version = self.uncompiled.as_ref().map(|torch| torch.version.clone());
        for side in &self.sides {
            let Runner::Ours(kind, low_rank, steps, _) = side.runner else { continue };
            let Some(seconds) = side.samples.seconds() else { continue };
            if steps != self.shape.steps {
                report.note_short(1e6 * seconds / steps as f64);
                continue;
            }
            let flops = flops(&self.shape.network(kind, low_rank), steps, self.shape.batch);
            let mut row = Row {
                shape: self.shape.name,
                batch: self.shape.batch,
                cell: kind,
                rank: rank(low_rank),
                ms: 1e3 * seconds,
                torch: self.torch_times(kind, low_rank),
                ratio_vs_fastest_torch: None,
                gflops: 1e-9 * flops / seconds,
                fraction_of_peak: 0.0,
                on_cpu: side.samples.on_cpu(self.options.threads),
                blocks: side.samples.kept(),
                blocks_discarded: side.samples.disturbed(),
                quiet: self.sides.iter().all(|side| side.samples.kept() > 0),
                steps,
            };
            row.ratio_vs_fastest_torch = row.fastest_torch().map(|(_, ms)| ms / row.ms);
            report.rows.push(row);
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
        let shape = Shape {
            steps: 12,
            hidden: 8,
            rank_u: 3,
            classes: 3,
            batch: 5,
            ..Shape::from_name("pixelmnist").unwrap()
        };
        let words = Shape {
            name: "words",
            input: 8,
            rank_w: 2,
            classes: 600,
            batch: 3,
            kind: ShapeKind::LanguageModel,
            ..shape
        };
        let options = BenchOptions {
            shapes: vec![shape, words],
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
        let expected = expected.map(|(cell, rank)| (Some(cell), Some(rank)));
        assert_eq!(names, [expected, expected].concat());
        for row in rows {
            assert!(row["ms"].as_f64().unwrap() > 0.0 && row["gflops"].as_f64().unwrap() > 0.0);
            assert!(row["torch"].is_null() && row["ratio_vs_fastest_torch"].is_null());
            let fraction = row["fraction_of_peak"].as_f64().unwrap();
            assert!(fraction > 0.0 && fraction < 1.0);
        }
    }
}
