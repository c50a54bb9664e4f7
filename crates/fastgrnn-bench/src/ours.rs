//! Our side of the comparison: a network, a random batch, and training steps on it.

use super::BenchError;
use super::shape::{Shape, ShapeKind};
use fastgrnn::train::{Optim, Optimizer};
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::cells::{CellKind, Start};
use fastgrnn_core::net::Layout;
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{Engine, Gradient, Loss};
use std::time::{Duration, Instant};

/// A network in training.
pub(super) struct Ours {
    engine: Engine,
    params: Vec<f32>,
    gradient: Gradient,
    batch: Batch,
    optimiser: Optim,
    layout: Layout,
}

impl Ours {
    /// A network of `shape` on random sequences, warmed up.
    pub(super) fn new(
        shape: &Shape,
        kind: CellKind,
        low_rank: bool,
        threads: usize,
    ) -> Result<Self, BenchError> {
        let net = shape.network(kind, low_rank);
        let layout = net.layout();
        let batch = random_batch(shape);
        let mut ours = Self {
            engine: Engine::new(&net, threads)?,
            params: net.start(Start::default(), shape.steps, 0),
            gradient: Gradient::new(&net),
            optimiser: Optim::new(Optimizer::Adam, 0.9, 0.0, layout.len()),
            layout,
            batch,
        };
        for _ in 0..3 {
            ours.step()?;
        }
        Ok(ours)
    }

    /// Forward, backward and Adam.
    fn step(&mut self) -> Result<(), BenchError> {
        self.engine.gradient(&self.params, &self.batch, Loss::SoftmaxCrossEntropy, &mut self.gradient)?;
        let Self { layout, params, gradient, .. } = self;
        self.optimiser.step_rows(layout, params, &gradient.values, gradient.rows(), 1e-3);
        Ok(())
    }

    /// The seconds of each step taken within `time`; at least one.
    pub(super) fn run(&mut self, time: Duration) -> Result<Vec<f64>, BenchError> {
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.is_empty() || start.elapsed() < time {
            let before = Instant::now();
            self.step()?;
            times.push(before.elapsed().as_secs_f64());
        }
        Ok(times)
    }
}

fn random_batch(shape: &Shape) -> Batch {
    let mut rng = Rng::new(0);
    let (mut batch, rows) = match shape.kind {
        ShapeKind::Classifier => (Batch::new(shape.input), shape.batch),
        ShapeKind::LanguageModel => (Batch::of_tokens(), shape.batch * shape.steps),
    };
    let classes = |n: usize, rng: &mut Rng| (0..n).map(|_| rng.below(shape.classes) as u32).collect();
    for _ in 0..shape.batch {
        match shape.kind {
            ShapeKind::Classifier => batch.push_zeros(shape.steps).fill_with(|| rng.normal() as f32),
            ShapeKind::LanguageModel => {
                let words: Vec<u32> = classes(shape.steps, &mut rng);
                batch.push_tokens(&words);
            }
        }
    }
    batch.targets = Targets::Class(classes(rows, &mut rng));
    batch
}
