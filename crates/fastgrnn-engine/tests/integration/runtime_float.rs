//! The device runtime, step by step, computes what the oracle computes for whole sequences.

use fastgrnn_core::batch::Batch;
use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity, Scalar, Scalars};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::Loss;
use fastgrnn_engine::reference;
use fastgrnn_runtime::float;
use fastgrnn_testing::networks::{
    FORMS, kinds, network, network_of_forms, nonlinearities, off_kinks, relative_error, widen,
};

/// The scores after each sequence, by folding `step` over it.
fn scores(net: &Network, params: &[f32], batch: &Batch) -> Vec<f32> {
    let mut rest = params;
    let mut layers = Vec::new();
    for cell in &net.layers {
        let (layer, after) = float::FloatLayer::new(&cell.into(), rest).unwrap();
        layers.push(layer);
        rest = after;
    }
    let (head, rest) = float::Head::new(net.outputs, net.hidden(), rest).unwrap();
    assert!(rest.is_empty());
    let last = layers[layers.len() - 1];
    let state_len: usize = layers.iter().map(float::FloatLayer::state_len).sum();
    let scratch_len = layers.iter().map(float::FloatLayer::scratch_len).max().unwrap();
    let mut scratch = vec![f32::NAN; scratch_len];
    let mut scores = vec![0.0; batch.len() * net.outputs];
    for (i, scores) in scores.chunks_mut(net.outputs).enumerate() {
        let mut state = vec![0.0; state_len];
        for input in batch.sequence(i).chunks(batch.dim()) {
            float::step_layers(&layers, &mut state, input, &mut scratch).unwrap();
        }
        head.scores(&state[state_len - last.state_len()..], scores).unwrap();
    }
    scores
}

fn check(cell: &Cell, layers: usize, ranks: (Option<usize>, Option<usize>)) {
    check_network(&network(cell, layers, ranks, 3, Readout::Last));
}

fn check_network(net: &Network) {
    let (params, batch) = off_kinks(net, &[5, 3], Loss::default(), false, 0.0);
    let expected = reference::scores(net, &widen(&params), &batch);
    // Relative to all scores: with relu gates states grow by powers, and one score may be a small
    // difference of large terms.
    let error = relative_error(&widen(&scores(net, &params, &batch)), &expected, 1.0);
    assert!(error < 1e-5, "{error:e} in {net:?}");
}

#[test]
fn folded_steps_equal_the_reference_for_every_cell_rank_and_nonlinearity() {
    for kind in kinds() {
        for (gate, update) in nonlinearities(kind) {
            for ranks in [(None, None), (Some(2), Some(3))] {
                check(&Cell::new(kind, 4, 7).with_nonlinearities(gate, update), 1, ranks);
            }
        }
    }
}

#[test]
fn folded_steps_equal_the_reference_for_every_matrix_form() {
    for kind in kinds() {
        for forms in FORMS {
            for (layers, input) in [(1, 7), (2, 4)] {
                let cell = Cell::new(kind, input, 7);
                check_network(&network_of_forms(&cell, layers, forms, 3, Readout::Last));
            }
        }
    }
}

#[test]
fn folded_steps_equal_the_reference_in_stacked_layers() {
    kinds().for_each(|kind| check(&Cell::new(kind, 4, 7), 3, (Some(2), None)));
}

#[test]
fn folded_steps_equal_the_reference_for_every_scalar_mode() {
    let fixed = Scalars {
        alpha: Scalar::Fixed(0.3),
        beta: Scalar::Tied,
        zeta: Scalar::Fixed(0.9),
        nu: Scalar::Fixed(0.1),
    };
    let tied = Scalars { beta: Scalar::Tied, ..Scalars::default() };
    for (kind, scalars) in [
        (CellKind::FastRnn, fixed),
        (CellKind::FastRnn, tied),
        (CellKind::FastRnnVector, fixed),
        (CellKind::FastGrnn, fixed),
    ] {
        let mut cell = Cell::new(kind, 4, 7);
        cell.scalars = scalars;
        check(&cell, 1, (None, None));
    }
}

#[test]
fn buffers_that_are_too_short_are_named() {
    let cell = float::Shape::new(CellKind::Gru, 2, 3);
    let params = [0.0; 57];
    let error = float::FloatLayer::new(&cell, &params[..50]).unwrap_err();
    assert_eq!(error.what, "the parameters");
    let (layer, rest) = float::FloatLayer::new(&cell, &params).unwrap();
    assert!(rest.is_empty());
    let mut scratch = vec![0.0; layer.scratch_len()];
    let error = layer.step(&mut [0.0; 2], &[0.0; 2], &mut scratch).unwrap_err();
    assert_eq!(error.to_string(), "the state has 2 entries but needs 3");
    let error = layer.step(&mut [0.0; 3], &[0.0; 1], &mut scratch).unwrap_err();
    assert_eq!(error.what, "the input");
    let error = layer.step(&mut [0.0; 3], &[0.0; 2], &mut []).unwrap_err();
    assert_eq!(error.what, "the scratch buffer");
}

/// The largest entry of the states of a FastGRNN with ν = 0 and large weights.
fn largest_state(gate: Nonlinearity) -> f64 {
    let mut cell = Cell::new(CellKind::FastGrnn, 3, 6).with_nonlinearities(gate, Nonlinearity::Tanh);
    cell.scalars = Scalars { zeta: Scalar::Fixed(1.0), nu: Scalar::Fixed(0.0), ..Scalars::default() };
    let net = Network::new(vec![cell], 2);
    let mut largest = 0f64;
    for seed in 0..20 {
        let mut rng = Rng::keyed(seed, &[3]);
        let params: Vec<f64> = (0..net.layout().len()).map(|_| 2.0 * rng.normal()).collect();
        let mut batch = Batch::new(3);
        batch.push(&(0..3 * 40).map(|_| rng.normal() as f32).collect::<Vec<_>>());
        let states = reference::states(&net, &params, &batch);
        largest = states[0].iter().fold(largest, |top, h| top.max(h.abs()));
    }
    largest
}

#[test]
fn without_nu_a_gate_between_0_and_1_bounds_the_state_by_1_and_a_signed_gate_does_not() {
    assert!(largest_state(Nonlinearity::Sigmoid) <= 1.0);
    assert!(largest_state(Nonlinearity::QuantSigm) <= 1.0);
    assert!(largest_state(Nonlinearity::Tanh) > 1.0);
}
