//! What is true of an EURNN whatever computes it.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::cells::{Cell, CellKind, Orthogonal, SHORTEST, Start};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{self, Engine, Gradient, Loss};
use fastgrnn_engine::reference::{self, Parameters, Unit};
use fastgrnn_testing::networks::widen;

/// A bias, and no nonlinearity but relu.
struct OneBias(f64);

impl Parameters for OneBias {
    fn bias(&self, _: &str, _: usize) -> f64 {
        self.0
    }

    fn gain(&self, _: &str, _: usize) -> f64 {
        unreachable!("an EURNN has no gain")
    }

    fn scalar(&self, _: &str, _: usize) -> f64 {
        unreachable!("an EURNN has no scalar")
    }

    fn gate(&self, _: f64) -> f64 {
        unreachable!("an EURNN has no gate")
    }

    fn update(&self, x: f64) -> f64 {
        x.max(0.0)
    }
}

#[test]
fn the_rule_changes_the_length_of_a_number_by_the_bias_and_keeps_its_phase() {
    let mut rng = Rng::new(3);
    for _ in 0..1000 {
        let (length, phase, bias) = (rng.range(1e-5, 3.0), rng.range(-3.2, 3.2), rng.range(-1.0, 1.0));
        let z = [length * phase.cos(), length * phase.sin()];
        let next = [0, 1].map(|k| {
            let unit = Unit {
                wx: [0.25 * z[k], 0.0, 0.0, 0.0],
                uh: [0.75 * z[k], 0.0, 0.0, 0.0],
                ..Unit::default()
            };
            reference::step(CellKind::Eurnn, &OneBias(bias), k, &Unit { partner: z[1 - k], ..unit }).h
        });
        let changed = f64::max(length + bias, 0.0);
        assert!((next[0] - changed * phase.cos()).abs() < 1e-12, "{length} {phase} {bias}");
        assert!((next[1] - changed * phase.sin()).abs() < 1e-12, "{length} {phase} {bias}");
    }
}

/// A network whose state no input changes, and its parameters: W is 0, and the bias is given.
fn closed(form: Orthogonal, hidden: usize, bias: f32, seed: u64) -> (Network, Vec<f32>) {
    let cell = Cell::new(CellKind::Eurnn, 2, hidden).with_orthogonal_u(form);
    let network = Network { readout: Readout::Every, ..Network::new(vec![cell], 2) };
    let mut params = network.start(Start::default(), 10, seed);
    let layout = network.layout();
    for (name, value) in [("layer0.w", 0.0), ("layer0.b", bias)] {
        params[layout.view(name).unwrap().range()].fill(value);
    }
    (network, params)
}

fn of_steps(network: &Network, steps: usize, initial: Vec<f32>) -> Batch {
    let mut batch = Batch::new(network.input());
    batch.push_zeros(steps).fill(1.0);
    batch.initial = initial;
    batch.targets = Targets::Class((0..steps as u32).map(|t| t % 2).collect());
    batch
}

#[test]
fn a_unitary_matrix_and_biases_of_0_keep_the_length_of_the_state() {
    for (seed, hidden) in [(1, 4), (2, 6), (3, 20), (4, 64)] {
        for form in [1, hidden / 2]
            .map(|layers| Orthogonal::Rotations { layers })
            .into_iter()
            .chain([Orthogonal::FftRotations])
        {
            let (network, params) = closed(form, hidden, 0.0, seed);
            let mut rng = Rng::new(seed);
            let initial: Vec<f32> = (0..hidden).map(|_| rng.normal() as f32).collect();
            let length = |state: &[f64]| state.iter().map(|h| h * h).sum::<f64>().sqrt();
            let batch = of_steps(&network, 200, initial.clone());
            for state in reference::states(&network, &widen(&params), &batch)[0].chunks(hidden) {
                let ratio = length(state) / length(&widen(&initial));
                assert!((ratio - 1.0).abs() < 1e-9, "{form:?}: {ratio}");
            }
        }
    }
}

#[test]
fn a_state_of_0_stays_and_has_a_finite_gradient() {
    for bias in [-0.5, 0.0, 0.5] {
        let (network, params) = closed(Orthogonal::FftRotations, 16, bias, 5);
        for (initial, stays) in [(0.0, true), (0.1 * SHORTEST, true), (1.0, false)] {
            let batch = of_steps(&network, 50, vec![initial; 16]);
            let states = reference::states(&network, &widen(&params), &batch);
            assert_eq!(states[0].iter().all(|h| *h == 0.0), stays, "{bias} {initial}");
            for isa in engine::available_isas() {
                let mut engine = Engine::with_isa(&network, 1, isa).unwrap().unwrap();
                let mut gradient = Gradient::new(&network);
                let step = engine.gradient(&params, &batch, Loss::default(), &mut gradient).unwrap();
                assert!(step.loss.is_finite() && gradient.values.iter().all(|g| g.is_finite()), "{isa:?}");
            }
        }
    }
}
