//! The oracle's backward pass is the derivative of its forward pass.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::cells::{Cell, CellKind, Scalar, Scalars};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::Loss;
use fastgrnn_engine::reference;
use fastgrnn_testing::networks::{
    FORMS, LOSSES, central_differences, kinds, network, network_of_forms, nonlinearities, norm, off_kinks,
    orthogonal, relative_error, soften, widen,
};

/// Compares the gradient of every tensor with central differences, to 1e-6 of its norm.
fn check(net: &Network, params: &[f64], batch: &Batch, loss: Loss) {
    let (value, gradient) = reference::gradient(net, params, batch, loss);
    assert!(value.is_finite());
    assert!(norm(&gradient) > 1e-3, "a gradient of nearly 0 tests nothing: {net:?}");
    let differences = central_differences(net, params, batch, loss);
    // Differences of a large loss (states grow by powers with unbounded gates) keep its rounding errors.
    let floor = f64::max(1e-3, 1e-4 * value);
    for view in net.layout().views() {
        let error = relative_error(&gradient[view.range()], &differences[view.range()], floor);
        assert!(error < 1e-6, "{} is off by {error:e} with {loss:?} in {net:?}", view.name);
    }
}

const RANKS: [(Option<usize>, Option<usize>); 4] =
    [(None, None), (Some(1), None), (None, Some(2)), (Some(1), Some(2))];

#[test]
fn backward_equals_central_differences_for_every_cell_rank_and_nonlinearity() {
    for kind in kinds() {
        for (gate, update) in nonlinearities(kind) {
            for ranks in RANKS {
                let cell = Cell::new(kind, 2, 3).with_nonlinearities(gate, update);
                let net = network(&cell, 1, ranks, 3, Readout::Last);
                let (params, batch) = off_kinks(&net, &[4, 2], Loss::SoftmaxCrossEntropy, false, 1e-3);
                check(&net, &widen(&params), &batch, Loss::SoftmaxCrossEntropy);
            }
        }
    }
}

#[test]
fn backward_equals_central_differences_for_every_cell_and_matrix_form() {
    for kind in kinds() {
        for forms in FORMS {
            for (layers, input) in [(1, 2), (1, 3), (2, 2)] {
                let net = network_of_forms(&Cell::new(kind, input, 3), layers, forms, 3, Readout::Last);
                let (params, batch) = off_kinks(&net, &[4, 2], Loss::SoftmaxCrossEntropy, layers > 1, 1e-3);
                check(&net, &widen(&params), &batch, Loss::SoftmaxCrossEntropy);
            }
        }
    }
}

#[test]
fn backward_equals_central_differences_for_every_orthogonal_matrix() {
    for kind in kinds().filter(|kind| kind.declaration().reads_state) {
        for form in orthogonal(4) {
            let cell = Cell::new(kind, 2, 4).with_orthogonal_u(form);
            let net = network(&cell, 1, (None, None), 3, Readout::Last);
            let (params, batch) = off_kinks(&net, &[4, 2], Loss::SoftmaxCrossEntropy, true, 1e-3);
            check(&net, &widen(&params), &batch, Loss::SoftmaxCrossEntropy);
        }
    }
}

#[test]
fn backward_equals_central_differences_with_two_layers_and_initial_states() {
    for kind in kinds() {
        for (i, (gate, update)) in nonlinearities(kind).into_iter().enumerate() {
            let cell = Cell::new(kind, 2, 3).with_nonlinearities(gate, update);
            let readout = [Readout::Last, Readout::Every][i % 2];
            let net = network(&cell, 2, RANKS[i % 4], 2, readout);
            let (params, batch) = off_kinks(&net, &[3, 1, 4], Loss::SoftmaxCrossEntropy, i % 3 > 0, 1e-3);
            check(&net, &widen(&params), &batch, Loss::SoftmaxCrossEntropy);
        }
    }
}

#[test]
fn backward_equals_central_differences_for_every_loss_and_readout() {
    for kind in kinds() {
        for readout in [Readout::Last, Readout::Every] {
            for loss in LOSSES {
                let net = network(&Cell::new(kind, 2, 3), 1, (None, None), 2, readout);
                let (params, batch) = off_kinks(&net, &[3, 1, 4], loss, true, 1e-3);
                check(&net, &widen(&params), &batch, loss);
            }
        }
    }
}

#[test]
fn backward_equals_central_differences_for_targets_between_classes_and_a_teacher() {
    let mut rng = Rng::new(11);
    for readout in [Readout::Last, Readout::Every] {
        for (loss, outputs) in [(LOSSES[0], 3), (LOSSES[0], 2), (LOSSES[1], 3), (LOSSES[1], 1)] {
            for (soft, taught) in [(true, false), (false, true), (true, true)] {
                let net = network(&Cell::new(CellKind::FastGrnn, 2, 3), 1, (None, None), outputs, readout);
                let (params, mut batch) = off_kinks(&net, &[3, 1, 4], loss, true, 1e-3);
                let rows = if readout == Readout::Last { 3 } else { 8 };
                soften(&mut batch, outputs, rows, soft, taught, &mut rng);
                check(&net, &widen(&params), &batch, loss);
            }
        }
    }
}

#[test]
fn backward_equals_central_differences_for_every_scalar_mode() {
    let cases = [
        (CellKind::FastRnn, Scalars { beta: Scalar::Tied, ..Scalars::default() }),
        (CellKind::FastRnn, Scalars { alpha: Scalar::Fixed(0.3), ..Scalars::default() }),
        (CellKind::FastRnn, Scalars { beta: Scalar::Fixed(1.0), ..Scalars::default() }),
        (CellKind::FastRnn, Scalars { alpha: Scalar::Fixed(0.3), beta: Scalar::Tied, ..Scalars::default() }),
        (CellKind::FastRnnVector, Scalars { alpha: Scalar::Fixed(0.3), ..Scalars::default() }),
        (
            CellKind::FastRnnVector,
            Scalars { zeta: Scalar::Fixed(1.0), nu: Scalar::Fixed(0.0), ..Scalars::default() },
        ),
        (CellKind::FastGrnn, Scalars { zeta: Scalar::Fixed(1.0), ..Scalars::default() }),
        (CellKind::FastGrnn, Scalars { nu: Scalar::Fixed(0.0), ..Scalars::default() }),
    ];
    for (kind, scalars) in cases {
        let mut cell = Cell::new(kind, 2, 3);
        cell.scalars = scalars;
        let net = network(&cell, 2, (None, None), 2, Readout::Last);
        let (params, batch) = off_kinks(&net, &[4, 2], Loss::SoftmaxCrossEntropy, false, 1e-3);
        check(&net, &widen(&params), &batch, Loss::SoftmaxCrossEntropy);
    }
}

#[test]
fn binary_cross_entropy_reads_classes_as_zero_and_one() {
    for (outputs, classes, values) in [(1, [0, 1], vec![0.0, 1.0]), (2, [0, 1], vec![1.0, 0.0, 0.0, 1.0])] {
        let net = network(&Cell::new(CellKind::FastGrnn, 2, 3), 1, (None, None), outputs, Readout::Last);
        let (params, mut batch) = off_kinks(&net, &[4, 2], Loss::BinaryCrossEntropy, false, 0.0);
        batch.targets = Targets::Class(classes.to_vec());
        let by_class = reference::gradient(&net, &widen(&params), &batch, Loss::BinaryCrossEntropy);
        batch.targets = Targets::Value(values);
        assert_eq!(by_class, reference::gradient(&net, &widen(&params), &batch, Loss::BinaryCrossEntropy));
    }
}

#[test]
fn a_weight_of_two_counts_a_sequence_twice() {
    let net = network(&Cell::new(CellKind::Gru, 2, 3), 1, (None, None), 2, Readout::Every);
    let mut rng = Rng::new(5);
    let params = widen(&fastgrnn_testing::networks::params(&net, &mut rng));
    let (a, b): (Vec<f32>, Vec<f32>) =
        ((0..6).map(|_| rng.normal() as f32).collect(), (0..4).map(|_| rng.normal() as f32).collect());
    let (mut weighted, mut repeated) = (Batch::new(2), Batch::new(2));
    weighted.push(&a);
    weighted.push(&b);
    weighted.weights = vec![2.0, 1.0];
    weighted.targets = Targets::Class(vec![0, 1, 1, 0, 1]);
    repeated.push(&a);
    repeated.push(&a);
    repeated.push(&b);
    repeated.targets = Targets::Class(vec![0, 1, 1, 0, 1, 1, 0, 1]);
    let (loss, gradient) = reference::gradient(&net, &params, &weighted, Loss::SoftmaxCrossEntropy);
    let (loss2, gradient2) = reference::gradient(&net, &params, &repeated, Loss::SoftmaxCrossEntropy);
    assert!((loss - loss2).abs() < 1e-14);
    assert!(relative_error(&gradient, &gradient2, 0.0) < 1e-13);
}

#[test]
fn a_sequence_s_scores_do_not_depend_on_its_neighbours() {
    let net = network(&Cell::new(CellKind::Lstm, 2, 3), 2, (None, None), 2, Readout::Last);
    let (params, batch) = off_kinks(&net, &[3, 7, 1], Loss::SoftmaxCrossEntropy, false, 0.0);
    let together = reference::scores(&net, &widen(&params), &batch);
    for i in 0..batch.len() {
        let mut alone = Batch::new(2);
        alone.push(batch.sequence(i));
        assert_eq!(reference::scores(&net, &widen(&params), &alone), together[i * 2..i * 2 + 2]);
    }
}

#[test]
fn states_of_the_last_layer_make_the_scores() {
    let net = network(&Cell::new(CellKind::Ugrnn, 2, 3), 2, (None, None), 1, Readout::Every);
    let (params, batch) = off_kinks(&net, &[3, 2], Loss::SquaredError, false, 0.0);
    let params = widen(&params);
    let states = reference::states(&net, &params, &batch);
    let head = &params[net.layout().view("head.w").unwrap().range()];
    let bias = params[params.len() - 1];
    for (state, score) in states[1].chunks(3).zip(reference::scores(&net, &params, &batch)) {
        let expected: f64 = state.iter().zip(head).map(|(s, w)| s * w).sum::<f64>() + bias;
        assert!((score - expected).abs() < 1e-14);
    }
}
