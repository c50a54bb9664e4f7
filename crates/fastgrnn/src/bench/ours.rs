//! Our side of the comparison: a network, a random batch, and training steps on it.

use super::BenchError;
use super::shape::Shape;
use crate::batch::{Batch, Targets};
use crate::cells::{CellKind, Start};
use crate::engine::{Engine, Loss};
use crate::rng::Rng;
use std::time::{Duration, Instant};

/// A network in training.
pub(super) struct Ours {
    engine: Engine,
    params: Vec<f32>,
    gradient: Vec<f32>,
    batch: Batch,
    optimiser: Adam,
}

impl Ours {
    /// A network of `shape` on `batch` random sequences, warmed up.
    pub(super) fn new(
        shape: &Shape,
        kind: CellKind,
        low_rank: bool,
        sequences: usize,
        threads: usize,
    ) -> Result<Self, BenchError> {
        let net = shape.network(kind, low_rank);
        let len = net.layout().len();
        let mut rng = Rng::new(0);
        let mut batch = Batch::new(shape.input);
        for _ in 0..sequences {
            batch.push_zeros(shape.steps).fill_with(|| rng.normal() as f32);
        }
        batch.targets = Targets::Class((0..sequences).map(|_| rng.below(shape.classes) as u32).collect());
        let mut ours = Self {
            engine: Engine::new(&net, threads)?,
            params: net.start(Start::default(), shape.steps, 0),
            gradient: vec![0.0; len],
            optimiser: Adam::new(len),
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
        self.optimiser.step(&mut self.params, &self.gradient);
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

/// Adam on a flat buffer.
struct Adam {
    steps: i32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    fn new(len: usize) -> Self {
        Self { steps: 0, first: vec![0.0; len], second: vec![0.0; len] }
    }

    fn step(&mut self, params: &mut [f32], gradient: &[f32]) {
        self.steps = self.steps.saturating_add(1);
        let size = (1e-3 / (1.0 - 0.9f64.powi(self.steps))) as f32;
        let unbias = (1.0 / (1.0 - 0.999f64.powi(self.steps))) as f32;
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((p, &g), (m, v)) in params.iter_mut().zip(gradient).zip(moments) {
            *m += 0.1 * (g - *m);
            *v += 0.001 * (g * g - *v);
            *p -= size * *m / ((unbias * *v).sqrt() + 1e-8);
        }
    }
}
