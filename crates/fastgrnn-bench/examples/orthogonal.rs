//! The time of a training step of networks whose U is orthogonal, in times of the same RNN with a full U.
//!
//!     cargo run --release -p fastgrnn-bench --example orthogonal -- [UNITS] [STEPS] [BATCH] [FEATURES]

use fastgrnn::cells::{Cell, CellKind, Orthogonal, Start};
use fastgrnn::net::Network;
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{Engine, Gradient, Loss};
use std::time::Instant;

/// Times that every network is measured; the least time of each counts.
const ROUNDS: usize = 200;

struct Measured {
    name: String,
    params: Vec<f32>,
    engine: Engine,
    gradient: Gradient,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = [80, 128, 100, 9];
    for (size, given) in sizes.iter_mut().zip(std::env::args().skip(1)) {
        *size = given.parse()?;
    }
    let [hidden, steps, batch, features] = sizes;
    let rnn = Cell::new(CellKind::Rnn, features, hidden);
    let eurnn = Cell::new(CellKind::Eurnn, features, hidden);
    let forms = [
        Orthogonal::Reflections { count: hidden },
        Orthogonal::Spectral { count: hidden.min(16), margin: 0.1 },
        Orthogonal::Factored { margin: 0.1 },
        Orthogonal::Rotations { layers: (hidden / 2).min(8) },
        Orthogonal::Rotations { layers: hidden / 2 },
        Orthogonal::FftRotations,
    ];
    let name = |cell: &Cell| match cell.orthogonal_u {
        Some(Orthogonal::Rotations { layers }) => format!("{}, {layers} layers of rotations", cell.kind),
        form => format!("{}, {}", cell.kind, form.map_or("full", Orthogonal::name)),
    };
    let cells = [rnn.clone(), eurnn.clone()].into_iter();
    let cells = cells.chain(forms.map(|form| rnn.clone().with_orthogonal_u(form)));
    let cells = cells.chain(forms[3..].iter().map(|&form| eurnn.clone().with_orthogonal_u(form)));
    let mut measured = Vec::new();
    for cell in cells {
        let (name, network) = (name(&cell), Network::new(vec![cell], 6));
        let (params, engine) = (network.start(Start::default(), steps, 0), Engine::new(&network, 2)?);
        measured.push(Measured {
            name,
            params,
            engine,
            gradient: Gradient::new(&network),
            seconds: f64::MAX,
        });
    }
    let (mut examples, mut rng) = (Batch::new(features), Rng::new(1));
    for _ in 0..batch {
        examples.push_zeros(steps).iter_mut().for_each(|x| *x = rng.normal() as f32);
    }
    examples.targets = Targets::Class((0..batch as u32).map(|i| i % 6).collect());
    for _ in 0..ROUNDS {
        for Measured { params, engine, gradient, seconds, .. } in &mut measured {
            let start = Instant::now();
            engine.gradient(params, &examples, Loss::SoftmaxCrossEntropy, gradient)?;
            *seconds = seconds.min(start.elapsed().as_secs_f64());
        }
    }
    println!("{hidden} units, {steps} steps, {batch} sequences of {features} features, 2 threads");
    for Measured { name, seconds, .. } in &measured {
        println!("{name:32} {:8.3} ms  {:5.2}", 1e3 * seconds, seconds / measured[0].seconds);
    }
    Ok(())
}
