//! How fast sequences are scored, in floats and in integers, on one thread.
//!
//! The engines take turns within one run and each is represented by its fastest turn, so that a
//! machine that others use, too, still gives ratios of use.
//!
//! ```
//! use fastgrnn_bench::{INFER_SHAPES, InferOptions};
//! use std::time::Duration;
//! let shapes = vec![INFER_SHAPES[0]];
//! let options = InferOptions { shapes, sequences: 8, time: Duration::from_millis(1) };
//! let report = fastgrnn_bench::infer(&options, &mut |_| {}).unwrap();
//! assert!(report.rows.iter().all(|row| row.ns_per_step > 0.0));
//! ```

use super::{BenchError, SHAPES, Shape};
use fastgrnn_core::cells::{CellKind, Nonlinearity, Role, Start};
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::Sequences;
use fastgrnn_engine::engine::best_isa;
use fastgrnn_model::model::{Model, Scorer, Task};
use fastgrnn_model::quantize::{IntegerEngine, IntegerModel, Options, quantize};
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// A FastGRNN to score with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InferShape {
    /// Its name in the report.
    pub name: &'static str,
    /// Its sizes; always low-rank.
    pub shape: Shape,
    /// Nonlinearity of the gate.
    pub gate: Nonlinearity,
    /// Nonlinearity of the update.
    pub update: Nonlinearity,
    /// Fraction of the weights that are not 0.
    pub kept: f64,
}

const fn linear(name: &'static str, shape: Shape, kept: f64) -> InferShape {
    let (gate, update) = (Nonlinearity::QuantSigm, Nonlinearity::QuantTanh);
    InferShape { name, shape, gate, update, kept }
}

const fn smooth(name: &'static str, shape: Shape) -> InferShape {
    let (gate, update) = (Nonlinearity::Sigmoid, Nonlinearity::Tanh);
    InferShape { name, shape, gate, update, kept: 1.0 }
}

const SMALL_HAR: Shape = Shape { hidden: 32, rank_w: 6, rank_u: 16, ..SHAPES[0] };

/// What `fastgrnn bench infer` measures.
pub const INFER_SHAPES: [InferShape; 7] = [
    linear("har32", SMALL_HAR, 1.0),
    smooth("har32-smooth", SMALL_HAR),
    linear("har", SHAPES[0], 1.0),
    smooth("har-smooth", SHAPES[0]),
    linear("google12", SHAPES[1], 1.0),
    linear("google12-sparse", SHAPES[1], 0.3),
    linear("wakeword", SHAPES[2], 1.0),
];

impl InferShape {
    /// The shape called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        INFER_SHAPES.into_iter().find(|shape| shape.name == name)
    }

    /// A network with random weights, of which the largest are kept.
    fn model(&self) -> Model {
        let mut net = self.shape.network(CellKind::FastGrnn, true);
        (net.layers[0].gate, net.layers[0].update) = (self.gate, self.update);
        let mut params = net.start(Start::default(), self.shape.steps, 0);
        for view in net.layout().views().iter().filter(|v| v.role == Role::Weight && v.name != "head.w") {
            let weights = &mut params[view.range()];
            let mut sizes: Vec<f32> = weights.iter().map(|w| w.abs()).collect();
            sizes.sort_by(f32::total_cmp);
            let dropped = ((1.0 - self.kept) * sizes.len() as f64) as usize;
            let least = sizes.get(dropped).copied().unwrap_or(0.0);
            weights.iter_mut().filter(|w| w.abs() < least).for_each(|w| *w = 0.0);
        }
        let labels = (0..net.outputs).map(|i| i.to_string()).collect();
        Model::new(net, params, Task::Classes { labels })
    }
}

/// What to measure, and for how long.
#[derive(Clone, Debug)]
pub struct InferOptions {
    /// Which networks.
    pub shapes: Vec<InferShape>,
    /// Sequences of a turn.
    pub sequences: usize,
    /// Time for each shape; every engine has at least three turns.
    pub time: Duration,
}

impl Default for InferOptions {
    fn default() -> Self {
        Self { shapes: INFER_SHAPES.to_vec(), sequences: 128, time: Duration::from_secs(4) }
    }
}

/// What `fastgrnn bench infer --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InferReport {
    /// Sequences of a turn; the runtime has fewer.
    pub sequences: usize,
    /// A row for each shape and engine.
    pub rows: Vec<InferRow>,
}

/// One engine at one shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InferRow {
    /// Name of the shape.
    pub shape: &'static str,
    /// `float`, `runtime` (integers, as a device computes them) or `integer`.
    pub engine: &'static str,
    /// Its instruction set.
    pub isa: String,
    /// Nanoseconds of a step of one sequence, in its fastest turn.
    pub ns_per_step: f64,
    /// How many times faster than the float engine.
    pub ratio: f64,
    /// Turns that it had.
    pub turns: usize,
}

/// Sequences of the runtime's turns, which are many times slower.
const FOR_RUNTIME: usize = 4;
/// Fewest turns of an engine.
const LEAST_TURNS: usize = 3;

/// Measures scoring; `progress` is told what happens, line by line.
pub fn infer(options: &InferOptions, progress: &mut dyn FnMut(&str)) -> Result<InferReport, BenchError> {
    let mut report = InferReport { sequences: options.sequences.max(1), rows: Vec::new() };
    for shape in &options.shapes {
        progress(&format!("{}: measuring", shape.name));
        let mut sides = Sides::new(shape, report.sequences)?;
        sides.measure(options.time)?;
        report.rows.extend(sides.rows(shape.name));
    }
    Ok(report)
}

/// The engines at one shape.
struct Sides {
    float: Model,
    scorer: Scorer,
    integer: IntegerModel,
    engines: Vec<Engine>,
    x: Sequences,
}

/// One of those that take turns.
struct Engine {
    /// `None` for floats.
    by: Option<IntegerEngine>,
    indices: Vec<u32>,
    best: Duration,
    turns: usize,
}

impl Sides {
    fn new(shape: &InferShape, sequences: usize) -> Result<Self, BenchError> {
        let Shape { steps, input, .. } = shape.shape;
        let mut rng = Rng::new(0);
        let mut x = Sequences::new(input);
        for _ in 0..sequences {
            x.push(&(0..steps * input).map(|_| rng.normal() as f32).collect::<Vec<_>>());
        }
        let all: Vec<u32> = (0..sequences as u32).collect();
        let float = shape.model();
        let integer = quantize(&float, &x, &all, &Options::default())?;
        let few = all[..FOR_RUNTIME.min(sequences)].to_vec();
        let engine = |by, indices| Engine { by, indices, best: Duration::MAX, turns: 0 };
        let mut engines = vec![engine(None, all.clone()), engine(Some(IntegerEngine::Scalar), few)];
        engines.extend(IntegerEngine::available().pop().map(|best| engine(Some(best), all)));
        let scorer = Scorer::new(&float.network, 1)?;
        Ok(Self { float, scorer, integer, engines, x })
    }

    fn measure(&mut self, time: Duration) -> Result<(), BenchError> {
        let start = Instant::now();
        let mut round = 0;
        while round < LEAST_TURNS || start.elapsed() < time {
            for engine in &mut self.engines {
                let before = Instant::now();
                match engine.by {
                    None => {
                        let params = &self.float.params;
                        self.scorer.score(&self.float, params, &self.x, None, &engine.indices)?;
                    }
                    Some(by) => {
                        self.integer.scores_by(by, &self.x, &engine.indices, 1);
                    }
                }
                engine.best = engine.best.min(before.elapsed());
                engine.turns += 1;
            }
            round += 1;
        }
        Ok(())
    }

    fn rows(&self, shape: &'static str) -> Vec<InferRow> {
        let ns = |engine: &Engine| {
            let steps: usize = engine.indices.iter().map(|&i| self.x.steps(i as usize)).sum();
            1e9 * engine.best.as_secs_f64() / steps as f64
        };
        let float = self.engines.first().map_or(f64::NAN, ns);
        let row = |engine: &Engine| {
            let (name, isa) = match engine.by {
                None => ("float", best_isa().name().to_owned()),
                Some(IntegerEngine::Scalar) => ("runtime", IntegerEngine::Scalar.name().to_owned()),
                Some(by) => ("integer", by.name().to_owned()),
            };
            let ns_per_step = ns(engine);
            InferRow {
                shape,
                engine: name,
                isa,
                ns_per_step,
                ratio: float / ns_per_step,
                turns: engine.turns,
            }
        };
        self.engines.iter().map(row).collect()
    }
}

impl fmt::Display for InferReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "a step of one sequence, {} sequences on one thread; ratio to floats", self.sequences)?;
        writeln!(
            f,
            "{:<16} {:<8} {:<12} {:>9} {:>7} {:>6}",
            "shape", "engine", "isa", "ns/step", "ratio", "turns"
        )?;
        for InferRow { shape, engine, isa, ns_per_step, ratio, turns } in &self.rows {
            writeln!(f, "{shape:<16} {engine:<8} {isa:<12} {ns_per_step:>9.1} {ratio:>7.2} {turns:>6}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_a_row_and_sparse_networks_are_sparse() {
        let sparse = InferShape::from_name("google12-sparse").unwrap();
        let weights = sparse.model().params;
        let zeros = weights.iter().filter(|&&w| w == 0.0).count() as f64 / weights.len() as f64;
        assert!((0.4..0.8).contains(&zeros), "{zeros}");
        let shape = Shape { steps: 3, ..SMALL_HAR };
        let options =
            InferOptions { shapes: vec![linear("har32", shape, 0.5)], sequences: 5, time: Duration::ZERO };
        let report = infer(&options, &mut |_| {}).unwrap();
        let engines: Vec<_> = report.rows.iter().map(|row| row.engine).collect();
        assert_eq!(engines, ["float", "runtime", "integer"]);
        assert_eq!(report.rows[0].ratio, 1.0);
        assert!(report.rows.iter().all(|row| row.ns_per_step > 0.0 && row.turns == LEAST_TURNS));
        assert!(report.to_string().lines().count() == 5);
    }
}
