//! The f32 engine computes what the f64 oracle does, on every instruction set and thread count.

use fastgrnn_core::batch::{Batch, Earlier, Targets};
use fastgrnn_core::cells::{CELLS, Cell, CellKind, Nonlinearity, Scalar, Scalars, Start};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{self, Engine, Gradient, Isa, Loss};
use fastgrnn_testing::networks::{
    FORMS, LOSSES, ROUNDING_MARGIN, ReferenceStep, kinds, lengths, network, network_of_forms, nonlinearities,
    off_kinks, orthogonal, relative_error, soften, units, widen,
};

const MARGIN: f64 = ROUNDING_MARGIN;
const LOW: (Option<usize>, Option<usize>) = (Some(2), Some(3));
const FULL: (Option<usize>, Option<usize>) = (None, None);

struct Outcome {
    loss: f64,
    scores: Vec<f32>,
    gradient: Vec<f32>,
}

fn run(net: &Network, threads: usize, isa: Isa, params: &[f32], batch: &Batch, loss: Loss) -> Outcome {
    let mut engine = Engine::with_isa(net, threads, isa).unwrap().expect("this CPU has the instruction set");
    run_on(net, &mut engine, params, batch, loss)
}

fn run_on(net: &Network, engine: &mut Engine, params: &[f32], batch: &Batch, loss: Loss) -> Outcome {
    let mut scores = Vec::new();
    engine.forward(params, batch, &mut scores).unwrap();
    let mut gradient = Gradient::new(net);
    // What the gradient held before must not matter.
    gradient.values.fill(f32::NAN);
    let step = engine.gradient(params, batch, loss, &mut gradient).unwrap();
    Outcome { loss: step.loss, scores, gradient: gradient.values }
}

/// Compares scores, loss and each tensor's gradient with the oracle's, on every instruction set.
fn check(net: &Network, params: &[f32], batch: &Batch, loss: Loss) {
    let expected = ReferenceStep::new(net, params, batch, loss);
    for isa in engine::available_isas() {
        let found = run(net, 2, isa, params, batch, loss);
        let about = format!("{isa:?}, {loss:?}, {} sequences, {} steps", batch.len(), batch.total_steps());
        expected.assert_near(found.loss, &found.scores, &found.gradient, &about);
    }
}

#[test]
fn gradients_equal_the_reference_for_every_cell_rank_and_nonlinearity() {
    for kind in kinds() {
        for (i, (gate, update)) in nonlinearities(kind).into_iter().enumerate() {
            for ranks in [FULL, LOW, (LOW.0, None), (None, LOW.1)] {
                let cell = Cell::new(kind, 5, 7).with_nonlinearities(gate, update);
                let readout = [Readout::Last, Readout::Every][i / 3 % 2];
                let net = network(&cell, 1 + i % 2, ranks, 3, readout);
                let loss = LOSSES[i % 3];
                let (params, batch) = off_kinks(&net, &lengths(3, 6), loss, i % 4 > 1, MARGIN);
                check(&net, &params, &batch, loss);
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_at_odd_sizes() {
    for kind in kinds() {
        for hidden in [1, 7, 16, 17, 33, 100] {
            for (i, count) in [1, 3, 37, 100].into_iter().enumerate() {
                for ranks in [FULL, LOW] {
                    let mut cell = Cell::new(kind, [1, 9, 4, 17][i], hidden);
                    if cell.update == Nonlinearity::Relu {
                        // Large states make a network so certain that f32 does not hold its error.
                        cell.update = Nonlinearity::Tanh;
                    }
                    let net = network(&cell, 1, ranks, 2 + i, Readout::Last);
                    let lengths = lengths(count, 6);
                    let (params, batch) = off_kinks(&net, &lengths, Loss::default(), i % 2 > 0, 0.0);
                    check(&net, &params, &batch, Loss::default());
                }
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_every_cell_and_matrix_form() {
    for kind in kinds() {
        for (i, forms) in FORMS.into_iter().enumerate() {
            for hidden in [1, 7, 17, 33] {
                for (layers, input) in [(1, hidden), (2, 5)] {
                    let readout = [Readout::Last, Readout::Every][i % 2];
                    let cell = Cell::new(kind, input, hidden);
                    let net = network_of_forms(&cell, layers, forms, 3, readout);
                    let (params, batch) = off_kinks(&net, &lengths(37, 7), LOSSES[i % 3], i > 2, 0.0);
                    check(&net, &params, &batch, LOSSES[i % 3]);
                }
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_every_orthogonal_matrix() {
    for kind in kinds().filter(|kind| kind.declaration().reads_state) {
        for hidden in [1, 7, 18, 80].map(|hidden| units(kind, hidden)) {
            for (i, form) in orthogonal(hidden).into_iter().enumerate() {
                let cell = Cell::new(kind, 5, hidden).with_orthogonal_u(form);
                let net = network(&cell, 1 + i % 2, FULL, 3, [Readout::Last, Readout::Every][i % 2]);
                let (params, batch) = off_kinks(&net, &lengths(5, 6), LOSSES[i % 3], i > 1, 0.0);
                check(&net, &params, &batch, LOSSES[i % 3]);
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_the_paper_s_shapes() {
    for (input, hidden, ranks) in
        [(9, 80, (5, 40)), (32, 100, (16, 25)), (32, 32, (10, 15)), (1, 128, (1, 30))]
    {
        for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm] {
            for ranks in [FULL, (Some(ranks.0), Some(ranks.1))] {
                let net = network(&Cell::new(kind, input, hidden), 1, ranks, 12, Readout::Last);
                let (params, batch) = off_kinks(&net, &[8; 100], Loss::default(), false, 0.0);
                check(&net, &params, &batch, Loss::default());
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_in_two_layers_for_every_readout_and_loss() {
    for kind in kinds() {
        for readout in [Readout::Last, Readout::Every, Readout::Mean, Readout::Max] {
            for loss in LOSSES {
                for hidden in [7, 17] {
                    let net = network(&Cell::new(kind, 3, hidden), 2, LOW, 4, readout);
                    let (params, batch) = off_kinks(&net, &lengths(37, 7), loss, true, 0.0);
                    check(&net, &params, &batch, loss);
                }
            }
        }
    }
}

#[test]
fn gradients_equal_the_reference_for_piecewise_linear_cells_in_full_tiles() {
    let piecewise = (Nonlinearity::QuantSigm, Nonlinearity::QuantTanh);
    for kind in kinds() {
        let cell = Cell::new(kind, 4, 17).with_nonlinearities(piecewise.0, piecewise.1);
        let net = network(&cell, 1, LOW, 3, Readout::Last);
        let (params, batch) = off_kinks(&net, &lengths(37, 4), Loss::default(), false, 2e-6);
        check(&net, &params, &batch, Loss::default());
    }
}

#[test]
fn gradients_equal_the_reference_for_targets_between_classes_and_a_teacher() {
    let mut rng = Rng::new(12);
    for (loss, outputs) in [(LOSSES[0], 12), (LOSSES[0], 2), (LOSSES[1], 4), (LOSSES[1], 1)] {
        for (i, (soft, taught)) in [(true, false), (false, true), (true, true)].into_iter().enumerate() {
            for readout in [Readout::Last, Readout::Every] {
                let net = network(&Cell::new(CellKind::FastGrnn, 4, 9), 1 + i % 2, LOW, outputs, readout);
                let (params, mut batch) = off_kinks(&net, &lengths(37, 5), loss, i > 0, 0.0);
                let rows = if readout == Readout::Last { 37 } else { batch.total_steps() };
                soften(&mut batch, outputs, rows, soft, taught, &mut rng);
                if soft && readout == Readout::Last {
                    batch.earlier = fastgrnn_core::batch::Earlier { readings: 2, every: 1 };
                }
                check(&net, &params, &batch, loss);
            }
        }
    }
}

#[test]
fn a_class_as_shares_and_a_teacher_without_weight_change_nothing_but_rounding() {
    let net = network(&Cell::new(CellKind::FastGrnn, 4, 9), 1, FULL, 3, Readout::Last);
    let (params, mut batch) = off_kinks(&net, &[4; 20], LOSSES[0], false, 0.0);
    let plain = run(&net, 1, engine::available_isas()[0], &params, &batch, LOSSES[0]);
    let Targets::Class(classes) = &batch.targets else { panic!("classes") };
    batch.soft = classes.iter().flat_map(|&c| (0..3).map(move |k| f32::from(k == c))).collect();
    batch.teacher =
        fastgrnn_core::batch::Teacher { rows: vec![1.0 / 3.0; 60], weight: 0.0, temperature: 3.0 };
    let soft = run(&net, 1, engine::available_isas()[0], &params, &batch, LOSSES[0]);
    assert!((plain.loss - soft.loss).abs() < 1e-6);
    assert!(relative_error(&widen(&soft.gradient), &widen(&plain.gradient), 1e-6) < 1e-5);
}

#[test]
fn soft_targets_of_the_wrong_size_or_for_numbers_are_refused() {
    let net = network(&Cell::new(CellKind::FastGrnn, 4, 9), 1, FULL, 3, Readout::Last);
    let mut engine = Engine::new(&net, 1).unwrap();
    for (loss, soft, part) in [
        (LOSSES[0], 5, "5 soft targets for 2 rows of 3 outputs"),
        (LOSSES[2], 6, "soft targets are shares of classes"),
        (LOSSES[1], 6, "soft targets are shares of classes"),
    ] {
        let (params, mut batch) = off_kinks(&net, &[4; 2], loss, false, 0.0);
        batch.soft = vec![0.5; soft];
        let mut gradient = Gradient::new(&net);
        let error = engine.gradient(&params, &batch, loss, &mut gradient).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn gradients_equal_the_reference_for_every_scalar_mode() {
    let fixed = Scalars {
        alpha: Scalar::Fixed(0.3),
        zeta: Scalar::Fixed(1.0),
        nu: Scalar::Fixed(0.0),
        beta: Scalar::Learnt,
    };
    let tied = Scalars { beta: Scalar::Tied, ..Scalars::default() };
    let both = Scalars { beta: Scalar::Tied, ..fixed };
    let cases = [
        (CellKind::FastRnn, tied),
        (CellKind::FastRnn, fixed),
        (CellKind::FastRnn, both),
        (CellKind::FastRnnVector, fixed),
        (CellKind::FastRnnVector, Scalars { zeta: Scalar::Learnt, ..fixed }),
        (CellKind::FastGrnn, fixed),
        (CellKind::FastGrnn, Scalars { nu: Scalar::Learnt, ..fixed }),
    ];
    for (kind, scalars) in cases {
        let mut cell = Cell::new(kind, 3, 9);
        cell.scalars = scalars;
        let net = network(&cell, 2, LOW, 2, Readout::Last);
        let (params, batch) = off_kinks(&net, &lengths(5, 6), Loss::default(), false, 0.0);
        check(&net, &params, &batch, Loss::default());
    }
}

#[test]
fn gradients_equal_the_reference_over_long_sequences() {
    for kind in kinds() {
        let net = network(&Cell::new(kind, 1, 8), 1, FULL, 3, Readout::Last);
        let (mut params, batch) = off_kinks(&net, &[300, 1, 171], Loss::default(), false, 0.0);
        // A draw that amplifies differences would amplify those of rounding, over hundreds of steps. Pairs of
        // units keep the draw, which is away from their kinks.
        if let Some(u) = net.layout().view("layer0.u").filter(|_| !kind.declaration().has_pairs) {
            params[u.range()].iter_mut().for_each(|u| *u *= 0.5);
        }
        check(&net, &params, &batch, Loss::default());
    }
}

#[test]
fn instruction_sets_agree_to_rounding() {
    for kind in kinds() {
        for ranks in [FULL, LOW] {
            let net = network(&Cell::new(kind, 9, 33), 2, ranks, 4, Readout::Last);
            let (params, batch) = off_kinks(&net, &lengths(37, 9), Loss::default(), false, 0.0);
            let outcome = |isa| run(&net, 1, isa, &params, &batch, Loss::default());
            let portable = outcome(Isa::Portable);
            for isa in engine::available_isas() {
                let found = outcome(isa);
                let error = relative_error(&widen(&found.gradient), &widen(&portable.gradient), 0.0);
                assert!(error < 1e-5, "the gradient of {kind} differs by {error:e} on {isa:?}");
                let error = relative_error(&widen(&found.scores), &widen(&portable.scores), 0.0);
                assert!(error < 1e-5, "the scores of {kind} differ by {error:e} on {isa:?}");
            }
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn one_two_and_three_threads_give_identical_bits() {
    for kind in kinds() {
        for (ranks, readout) in [(FULL, Readout::Last), (LOW, Readout::Every)] {
            for count in [1, 37, 100] {
                let net = network(&Cell::new(kind, 5, 17), 2, ranks, 4, readout);
                let (params, batch) = off_kinks(&net, &lengths(count, 8), Loss::default(), false, 0.0);
                for isa in engine::available_isas() {
                    let one = run(&net, 1, isa, &params, &batch, Loss::default());
                    for threads in [2, 3] {
                        let more = run(&net, threads, isa, &params, &batch, Loss::default());
                        let what = format!("{kind} on {isa:?} with {threads} threads, {count} sequences");
                        assert_eq!(one.loss.to_bits(), more.loss.to_bits(), "{what}");
                        assert_eq!(bits(&one.scores), bits(&more.scores), "{what}");
                        assert_eq!(bits(&one.gradient), bits(&more.gradient), "{what}");
                    }
                }
            }
        }
        for forms in FORMS {
            let net = network_of_forms(&Cell::new(kind, 17, 17), 2, forms, 4, Readout::Last);
            let (params, batch) = off_kinks(&net, &lengths(37, 8), Loss::default(), false, 0.0);
            let [one, three] = [1, 3].map(|n| run(&net, n, Isa::Portable, &params, &batch, Loss::default()));
            assert_eq!(bits(&one.gradient), bits(&three.gradient), "{kind} {forms:?}");
        }
    }
}

#[test]
fn an_engine_forgets_the_batches_before() {
    for kind in kinds() {
        let net = network(&Cell::new(kind, 3, 17), 2, FULL, 4, Readout::Last);
        let (params, large) = off_kinks(&net, &lengths(100, 9), Loss::default(), true, 0.0);
        let (_, small) = off_kinks(&net, &lengths(3, 4), Loss::default(), false, 0.0);
        let mut engine = Engine::new(&net, 2).unwrap();
        let fresh = run_on(&net, &mut engine, &params, &small, Loss::default());
        run_on(&net, &mut engine, &params, &large, Loss::default());
        let again = run_on(&net, &mut engine, &params, &small, Loss::default());
        assert_eq!(bits(&fresh.gradient), bits(&again.gradient), "{kind}");
        assert_eq!(bits(&fresh.scores), bits(&again.scores), "{kind}");
    }
}

#[test]
fn the_loss_of_given_scores_is_the_loss_of_the_step() {
    for loss in LOSSES {
        let net = network(&Cell::new(CellKind::FastGrnn, 3, 7), 1, FULL, 4, Readout::Every);
        let (params, batch) = off_kinks(&net, &lengths(37, 6), loss, false, 0.0);
        let mut engine = Engine::new(&net, 2).unwrap();
        let (mut scores, mut gradient) = (Vec::new(), Gradient::new(&net));
        let step = engine.gradient(&params, &batch, loss, &mut gradient).unwrap();
        engine.forward(&params, &batch, &mut scores).unwrap();
        let apart = engine.loss(&scores, &batch, loss).unwrap();
        assert!((step.loss - apart.loss).abs() < 1e-6 * step.loss, "{loss:?}");
        assert_eq!((step.correct, step.rows), (apart.correct, apart.rows), "{loss:?}");
        assert_eq!(step.rows, batch.total_steps());
    }
}

#[test]
fn a_nan_in_any_parameter_reaches_the_loss() {
    let mut rng = Rng::new(8);
    for declaration in CELLS {
        let cell = Cell::new(declaration.kind, 2, 6).with_ranks(Some(1), Some(2));
        let net = Network::new(vec![cell], 3);
        let mut batch = Batch::new(2);
        batch.push_zeros(4).iter_mut().for_each(|x| *x = rng.normal() as f32);
        batch.targets = Targets::Class(vec![1]);
        let params = net.start(Start::Slow, 4, 0);
        for isa in engine::available_isas() {
            for view in net.layout().views() {
                let mut broken = params.clone();
                broken[view.offset] = f32::NAN;
                let found = run(&net, 1, isa, &broken, &batch, Loss::SoftmaxCrossEntropy);
                assert!(found.loss.is_nan(), "{} of {} on {isa:?}", view.name, declaration.name);
            }
        }
    }
}

#[test]
fn earlier_readings_count_in_the_loss_as_in_the_reference_and_leave_scores_alone() {
    for (i, (readings, every)) in [(1, 1), (3, 2), (9, 4)].into_iter().enumerate() {
        for loss in LOSSES {
            let cell = Cell::new(CellKind::FastGrnn, 5, 7);
            let net = network(&cell, 1 + i % 2, LOW, 3, Readout::Last);
            let (params, mut batch) = off_kinks(&net, &lengths(40, 11), loss, false, MARGIN);
            let plain = run(&net, 2, Isa::Portable, &params, &batch, loss);
            batch.earlier = Earlier { readings, every };
            batch.last_only = (0..if every == 2 { batch.len() } else { 0 }).map(|i| i % 3 == 0).collect();
            check(&net, &params, &batch, loss);
            let found = run(&net, 2, Isa::Portable, &params, &batch, loss);
            assert_eq!(found.scores, plain.scores);
            assert_ne!(found.gradient, plain.gradient);
            assert_eq!(found.gradient, run(&net, 1, Isa::Portable, &params, &batch, loss).gradient);
        }
    }
}
