//! A training loop by hand on the engine, for whoever wants another optimiser or schedule than a
//! recipe offers. The task: was the first value of the sequence positive?
//!
//! `cargo run --example training_loop`

use fastgrnn::batch::{Batch, Targets};
use fastgrnn::cells::{Cell, CellKind, Start};
use fastgrnn::engine::{Engine, Gradient, Loss};
use fastgrnn::net::Network;
use fastgrnn::rng::Rng;

const STEPS: usize = 30;

fn draw(batch: &mut Batch, n: usize, rng: &mut Rng) {
    batch.clear();
    let mut classes = Vec::new();
    for _ in 0..n {
        let sequence: Vec<f32> = (0..STEPS).map(|_| rng.normal() as f32).collect();
        classes.push(u32::from(sequence[0] > 0.0));
        batch.push(&sequence);
    }
    batch.targets = Targets::Class(classes);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 16)], 2);
    let mut params = net.start(Start::default(), STEPS, 0);
    let mut gradient = Gradient::new(&net);
    let mut velocity = vec![0.0; params.len()];
    let mut engine = Engine::new(&net, 2)?;
    let mut rng = Rng::new(0);
    let mut batch = Batch::new(1);

    for step in 1..=600 {
        draw(&mut batch, 64, &mut rng);
        let result = engine.gradient(&params, &batch, Loss::SoftmaxCrossEntropy, &mut gradient)?;
        let norm = gradient.values.iter().map(|g| g * g).sum::<f32>().sqrt();
        let rate = 0.1 / norm.max(1.0);
        for ((p, v), g) in params.iter_mut().zip(&mut velocity).zip(&gradient.values) {
            *v = 0.9 * *v + g;
            *p -= rate * *v;
        }
        if step % 100 == 0 {
            let accuracy = result.correct as f64 / result.rows as f64;
            println!("step {step}: loss {:.4}, accuracy {accuracy:.3}", result.loss);
        }
    }

    draw(&mut batch, 1000, &mut rng);
    let mut scores = Vec::new();
    engine.forward(&params, &batch, &mut scores)?;
    let fresh = engine.loss(&scores, &batch, Loss::SoftmaxCrossEntropy)?;
    println!("1000 fresh sequences: accuracy {:.3}", fresh.correct as f64 / fresh.rows as f64);
    Ok(())
}
