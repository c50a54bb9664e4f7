//! Derivatives by states, of the f64 reference, against central differences.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::cells::{Cell, MatrixForm};
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::reference::{gradient, jacobians, last_states, state_gradients};
use fastgrnn_testing::networks::kinds;

const STEPS: usize = 3;
/// States are multiples of this, so that an f32 holds them and their changes exactly.
const CHANGE: f64 = 1.0 / 4096.0;

/// A network of each cell with each form of U that it may have, random parameters, and one sequence from a state.
fn cases() -> Vec<(Network, Vec<f64>, Batch)> {
    let mut cases = Vec::new();
    for kind in kinds() {
        let forms = [None, Some(MatrixForm::LowRank(2)), Some(MatrixForm::Diagonal)];
        for (number, form) in forms.into_iter().enumerate() {
            let mut cell = Cell::new(kind, 2, 4);
            if let Some(form) = form {
                if !kind.declaration().reads_state {
                    continue;
                }
                cell.form_u = form;
            }
            let net = Network::new(vec![cell], 3);
            // The draws of a cell do not change when another one is declared.
            let mut rng = Rng::keyed(number as u64, &[kind.name().len() as u64]);
            let params = (0..net.layout().len()).map(|_| 0.7 * rng.normal()).collect();
            let mut batch = Batch::new(2);
            let x: Vec<f32> = (0..2 * STEPS).map(|_| rng.normal() as f32).collect();
            batch.push(&x);
            batch.targets = Targets::Class(vec![1]);
            let state = (0..net.state_len()).map(|_| ((0.5 * rng.normal() / CHANGE).round() * CHANGE) as f32);
            batch.carried = state.collect();
            cases.push((net, params, batch));
        }
    }
    cases
}

/// The derivative by number `k` of the first state.
fn difference(batch: &Batch, k: usize, of: impl Fn(&Batch) -> Vec<f64>) -> Vec<f64> {
    let at = |change: f64| {
        let mut moved = batch.clone();
        moved.carried[k] += change as f32;
        of(&moved)
    };
    at(CHANGE).iter().zip(at(-CHANGE)).map(|(up, down)| (up - down) / (2.0 * CHANGE)).collect()
}

#[test]
fn the_product_of_the_jacobians_is_the_derivative_of_the_last_state_by_the_first() {
    for (net, params, batch) in cases() {
        let size = net.state_len();
        let mut product: Vec<f64> =
            (0..size * size).map(|i| f64::from(u8::from(i % (size + 1) == 0))).collect();
        let mut seen = Vec::new();
        jacobians(&net, &params, &batch, 0, 0, &mut |t, step| {
            seen.push(t);
            assert!(step.through_u.iter().all(|v| v.is_finite()) && step.slope >= 0.0);
            // From the last step to the first: each factor comes to the right of those before.
            let of = |i: usize, j: usize| -> f64 {
                (0..size).map(|k| product[i * size + k] * step.matrix[k * size + j]).sum()
            };
            product = (0..size * size).map(|at| of(at / size, at % size)).collect();
            true
        });
        assert_eq!(seen, (0..STEPS).rev().collect::<Vec<_>>());
        for k in 0..size {
            let expected = difference(&batch, k, |batch| last_states(&net, &params, batch));
            for (i, expected) in expected.into_iter().enumerate() {
                let found = product[i * size + k];
                let about = net.layers[0].kind;
                assert!(
                    (found - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                    "{about}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn a_walk_ends_where_it_is_told_to() {
    let (net, params, batch) = cases().remove(0);
    let mut seen = 0;
    jacobians(&net, &params, &batch, 0, 0, &mut |_, _| {
        seen += 1;
        false
    });
    assert_eq!(seen, 1);
}

#[test]
fn the_derivative_of_the_loss_by_the_first_state_has_the_norm_of_the_differences() {
    let loss = Loss::SoftmaxCrossEntropy;
    for (net, params, batch) in cases() {
        let (value, norms) = state_gradients(&net, &params, &batch, loss);
        assert_eq!(value, gradient(&net, &params, &batch, loss).0);
        assert_eq!(norms[0].len(), STEPS + 1);
        let by_state = (0..net.state_len())
            .map(|k| difference(&batch, k, |batch| vec![gradient(&net, &params, batch, loss).0])[0]);
        let expected = by_state.map(|d| d * d).sum::<f64>().sqrt();
        assert!(
            (norms[0][0] - expected).abs() < 1e-6 * (1.0 + expected),
            "{}: {norms:?}",
            net.layers[0].kind
        );
        assert!(norms[0][STEPS] > 0.0);
    }
}
