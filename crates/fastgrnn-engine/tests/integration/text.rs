//! Embeddings, wide heads, carried states and regularisation: the engine computes what the f64 oracle
//! does, and the oracle is its own derivative.

use fastgrnn_core::batch::{Batch, Sets, Targets};
use fastgrnn_core::cells::{Cell, CellKind};
use fastgrnn_core::net::{EMBEDDING, Embedding, Network, Readout};
use fastgrnn_core::regularize::{Dropout, Regularization};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::{self, Engine, EngineError, Gradient, Loss};
use fastgrnn_engine::reference;
use fastgrnn_testing::networks::{
    central_differences, kinds, network, norm, off_kinks, relative_error, widen,
};

const SOFTMAX: Loss = Loss::SoftmaxCrossEntropy;

/// A network on a vocabulary; of a tied one the vocabulary is the outputs, and vectors have `hidden`
/// entries.
fn of_tokens(kind: CellKind, layers: usize, outputs: usize, tied: bool, readout: Readout) -> Network {
    let (dim, vocabulary) = if tied { (6, outputs) } else { (5, 9) };
    let plain = network(&Cell::new(kind, dim, 6), layers, (None, Some(2)), outputs, readout);
    let net = Network { embedding: Some(Embedding { vocabulary, tied }), ..plain };
    net.check().unwrap();
    net
}

/// Every kind of regularisation at once, and each alone.
fn regularizations() -> Vec<Regularization> {
    let dropouts = [
        Dropout { embedding: 0.3, ..Dropout::default() },
        Dropout { input: 0.4, ..Dropout::default() },
        Dropout { layer: 0.5, is_per_sequence: true, ..Dropout::default() },
        Dropout { output: 0.5, ..Dropout::default() },
        Dropout { output: 0.5, is_per_sequence: true, ..Dropout::default() },
    ];
    let mut all: Vec<Regularization> = dropouts
        .into_iter()
        .map(|dropout| Regularization {
            dropout: Dropout { seed: 5, ..dropout },
            ..Regularization::default()
        })
        .collect();
    all.push(Regularization { activation: 2.0, ..Regularization::default() });
    all.push(Regularization { temporal: 1.5, ..Regularization::default() });
    let dropout =
        Dropout { seed: 7, embedding: 0.2, input: 0.3, layer: 0.3, output: 0.4, is_per_sequence: true };
    all.push(Regularization { dropout, activation: 1.0, temporal: 0.7 });
    all
}

/// Compares loss, penalty and each tensor's gradient with the oracle's, on every instruction set.
fn check(net: &Network, params: &[f32], batch: &Batch, loss: Loss) {
    let wide = widen(params);
    let (value, expected) = reference::gradient(net, &wide, batch, loss);
    for isa in engine::available_isas() {
        let mut engine = Engine::with_isa(net, 2, isa).unwrap().unwrap();
        let mut gradient = Gradient::new(net);
        let step = engine.gradient(params, batch, loss, &mut gradient).unwrap();
        let error = relative_error(&[step.loss + step.penalty], &[value], 1e-3);
        assert!(error < 1e-4, "the loss is off by {error:e} on {isa:?} of {net:?}");
        let found = widen(&gradient.values);
        for view in net.layout().views() {
            let floor = 1e-3 * norm(&expected) / if view.len() == 1 { 1.0 } else { 1e3 };
            let error = relative_error(&found[view.range()], &expected[view.range()], floor);
            assert!(error < 1e-4, "{} is off by {error:e} on {isa:?} of {net:?}", view.name);
        }
        check_rows(net, &gradient, batch);
    }
}

/// The rows that are not listed are zero.
fn check_rows(net: &Network, gradient: &Gradient, batch: &Batch) {
    let Some(rows) = gradient.rows() else {
        return assert!(net.is_tied() || net.embedding.is_none());
    };
    let view = net.layout().view(EMBEDDING).unwrap().clone();
    let mut occurring: Vec<u32> = (0..batch.len()).flat_map(|i| batch.tokens(i)).copied().collect();
    occurring.sort_unstable();
    occurring.dedup();
    assert_eq!(rows, occurring);
    for (token, row) in gradient.values[view.range()].chunks(view.cols).enumerate() {
        assert!(rows.contains(&(token as u32)) || row.iter().all(|g| *g == 0.0), "token {token}");
    }
}

/// Compares the oracle's gradient with central differences.
fn check_oracle(net: &Network, params: &[f64], batch: &Batch, loss: Loss) {
    let (_, gradient) = reference::gradient(net, params, batch, loss);
    let differences = central_differences(net, params, batch, loss);
    let error = relative_error(&differences, &gradient, 1e-3);
    assert!(error < 1e-6, "off by {error:e} in {net:?} with {:?}", batch.regularization);
}

#[test]
fn embeddings_of_every_cell_equal_the_reference_and_the_reference_equals_differences() {
    for kind in kinds() {
        let pooled = [(false, Readout::Mean), (false, Readout::Max)];
        let plain = [(false, Readout::Every), (true, Readout::Every), (false, Readout::Last)];
        for (tied, readout) in plain.into_iter().chain(pooled) {
            let net = of_tokens(kind, 1 + usize::from(tied), 7, tied, readout);
            let (params, batch) = off_kinks(&net, &[4, 1, 6], SOFTMAX, false, 1e-4);
            check(&net, &params, &batch, SOFTMAX);
            check_oracle(&net, &widen(&params), &batch, SOFTMAX);
        }
    }
}

#[test]
fn every_regulariser_equals_the_reference_and_the_reference_equals_differences() {
    for (i, regularization) in regularizations().into_iter().enumerate() {
        for readout in [Readout::Every, Readout::Last, Readout::Mean, Readout::Max] {
            for is_text in [false, true] {
                let net = match is_text {
                    true => of_tokens(CellKind::FastGrnn, 2, 6, i % 2 == 0, readout),
                    false => network(&Cell::new(CellKind::Lstm, 5, 6), 2, (None, None), 4, readout),
                };
                let (params, mut batch) = off_kinks(&net, &[5, 2, 7, 1], SOFTMAX, false, 1e-4);
                batch.regularization = regularization;
                batch.earlier.readings = i % 2;
                batch.earlier.every = 2;
                check(&net, &params, &batch, SOFTMAX);
                check_oracle(&net, &widen(&params), &batch, SOFTMAX);
            }
        }
    }
}

#[test]
fn regularisation_changes_training_and_leaves_scores_alone() {
    let net = of_tokens(CellKind::FastGrnn, 2, 6, false, Readout::Every);
    let (params, mut batch) = off_kinks(&net, &[5, 3], SOFTMAX, false, 0.0);
    let mut engine = Engine::new(&net, 1).unwrap();
    let mut gradient = Gradient::new(&net);
    let plain = engine.gradient(&params, &batch, SOFTMAX, &mut gradient).unwrap();
    let before = gradient.values.clone();
    let (mut scores, mut again) = (Vec::new(), Vec::new());
    engine.forward(&params, &batch, &mut scores).unwrap();
    for regularization in regularizations() {
        batch.regularization = regularization;
        engine.gradient(&params, &batch, SOFTMAX, &mut gradient).unwrap();
        assert_ne!(before, gradient.values, "{regularization:?}");
        engine.forward(&params, &batch, &mut again).unwrap();
        assert_eq!(scores, again, "{regularization:?}");
        let evaluated = engine.evaluate(&params, &batch, SOFTMAX).unwrap();
        assert!((evaluated.loss - plain.loss).abs() < 1e-6 && evaluated.penalty == 0.0);
    }
}

#[test]
fn a_head_in_blocks_equals_the_reference() {
    for (outputs, readout) in [(513, Readout::Every), (1024, Readout::Last), (1300, Readout::Every)] {
        for tied in [false, true] {
            let net = of_tokens(CellKind::FastGrnn, 1, outputs, tied, readout);
            let (params, mut batch) = off_kinks(&net, &[40, 3, 40, 17], SOFTMAX, false, 0.0);
            check(&net, &params, &batch, SOFTMAX);
            // What a teacher says, and 0/1 targets, go row by row.
            batch.targets = Targets::Value(match &batch.targets {
                Targets::Class(classes) => classes
                    .iter()
                    .flat_map(|&c| (0..outputs).map(move |o| f32::from(o == c as usize)))
                    .collect(),
                _ => unreachable!("softmax has classes"),
            });
            check(&net, &params, &batch, Loss::BinaryCrossEntropy);
        }
    }
}

#[test]
fn a_row_of_a_wide_head_equals_a_narrow_one_of_the_same_scores() {
    // The same states with 512 outputs (one block) and, beside these, outputs that never win.
    let narrow = of_tokens(CellKind::FastGrnn, 1, 512, false, Readout::Every);
    let wide = of_tokens(CellKind::FastGrnn, 1, 700, false, Readout::Every);
    let (params, batch) = off_kinks(&narrow, &[30, 30], SOFTMAX, false, 0.0);
    let mut more = vec![0.0; wide.layout().len()];
    for view in narrow.layout().views() {
        let to = wide.layout().view(&view.name).unwrap().offset;
        more[to..to + view.len()].copy_from_slice(&params[view.range()]);
    }
    let bias = wide.layout().view("head.b").unwrap().range();
    more[bias][512..].fill(-200.0);
    let of = |net: &Network, params: &[f32]| {
        let mut engine = Engine::new(net, 1).unwrap();
        engine.evaluate(params, &batch, SOFTMAX).unwrap()
    };
    let (a, b) = (of(&narrow, &params), of(&wide, &more));
    assert!((a.loss - b.loss).abs() < 1e-6 * a.loss, "{a:?} {b:?}");
    assert_eq!(a.correct, b.correct);
}

#[test]
fn sets_of_classes_equal_the_reference_with_few_and_with_many_outputs() {
    let mut rng = Rng::new(3);
    for outputs in [4, 900] {
        let net = of_tokens(CellKind::Gru, 1, outputs, false, Readout::Last);
        let (params, mut batch) = off_kinks(&net, &[4; 40], SOFTMAX, false, 0.0);
        let mut sets = Sets::default();
        for row in 0..40 {
            let mut set: Vec<u32> = (0..row % 4).map(|_| rng.below(outputs) as u32).collect();
            set.sort_unstable();
            set.dedup();
            sets.push(&set);
        }
        batch.targets = Targets::Set(sets.clone());
        check(&net, &params, &batch, Loss::BinaryCrossEntropy);
        let mut engine = Engine::new(&net, 1).unwrap();
        let mut scores = Vec::new();
        engine.forward(&params, &batch, &mut scores).unwrap();
        let step = engine.evaluate(&params, &batch, Loss::BinaryCrossEntropy).unwrap();
        let hits = (0..40)
            .filter(|&row| {
                let scores = &scores[row * outputs..(row + 1) * outputs];
                let best = (0..outputs).fold(0, |best, o| if scores[o] > scores[best] { o } else { best });
                sets.get(row).contains(&(best as u32))
            })
            .count();
        assert_eq!(step.correct, hits);
        let apart = engine.loss(&scores, &batch, Loss::BinaryCrossEntropy).unwrap();
        assert!((apart.loss - step.loss).abs() < 1e-5 * step.loss, "{apart:?} {step:?}");
    }
}

#[test]
fn carried_states_make_two_batches_one_long_sequence() {
    for kind in kinds() {
        let net = of_tokens(kind, 2, 7, false, Readout::Every);
        let (params, whole) = off_kinks(&net, &[9, 9, 9], SOFTMAX, false, 0.0);
        let mut engine = Engine::new(&net, 2).unwrap();
        let (mut expected, mut scores, mut states) = (Vec::new(), Vec::new(), Vec::new());
        engine.forward(&params, &whole, &mut expected).unwrap();
        let mut part = Batch::of_tokens();
        let mut joined = vec![Vec::new(); 3];
        for range in [0..4, 4..9] {
            part.clear();
            part.carried = states.clone();
            (0..3).for_each(|i| part.push_tokens(&whole.tokens(i)[range.clone()]));
            engine.forward(&params, &part, &mut scores).unwrap();
            engine.states(&mut states);
            for (joined, scores) in joined.iter_mut().zip(scores.chunks(range.len() * 7)) {
                joined.extend_from_slice(scores);
            }
        }
        assert_eq!(joined.concat(), expected, "{kind}");
        let oracle = reference::last_states(&net, &widen(&params), &whole);
        let error = relative_error(&widen(&states), &oracle, 1e-3);
        assert!(error < 1e-5, "the last states of {kind} are off by {error:e}");
    }
}

#[test]
fn gradients_from_a_carried_state_equal_the_reference() {
    let mut rng = Rng::new(4);
    for kind in kinds() {
        let net = of_tokens(kind, 2, 7, true, Readout::Every);
        let (params, mut batch) = off_kinks(&net, &[5, 3], SOFTMAX, false, 0.0);
        batch.carried = (0..2 * net.state_len()).map(|_| (0.5 * rng.normal()) as f32).collect();
        if reference::kink_margin(&net, &widen(&params), &batch) < 2e-5 {
            continue;
        }
        check(&net, &params, &batch, SOFTMAX);
        check_oracle(&net, &widen(&params), &batch, SOFTMAX);
    }
}

#[test]
fn threads_do_not_change_a_bit_of_a_language_model_s_gradient() {
    let net = of_tokens(CellKind::FastGrnn, 1, 600, true, Readout::Every);
    let (params, mut batch) = off_kinks(&net, &[25; 21], SOFTMAX, false, 0.0);
    batch.regularization = *regularizations().last().unwrap();
    let of = |threads: usize| {
        let mut engine = Engine::new(&net, threads).unwrap();
        let mut gradient = Gradient::new(&net);
        let step = engine.gradient(&params, &batch, SOFTMAX, &mut gradient).unwrap();
        (
            step.loss.to_bits(),
            step.penalty.to_bits(),
            gradient.values.iter().map(|g| g.to_bits()).collect::<Vec<_>>(),
        )
    };
    assert!(of(1) == of(2) && of(2) == of(5));
}

#[test]
fn a_gradient_forgets_the_tokens_of_the_batch_before() {
    let net = of_tokens(CellKind::FastGrnn, 1, 3, false, Readout::Last);
    let (params, first) = off_kinks(&net, &[6; 4], SOFTMAX, false, 0.0);
    let mut second = Batch::of_tokens();
    second.push_tokens(&[2]);
    second.targets = Targets::Class(vec![1]);
    let mut engine = Engine::new(&net, 1).unwrap();
    let (mut used, mut fresh) = (Gradient::new(&net), Gradient::new(&net));
    engine.gradient(&params, &first, SOFTMAX, &mut used).unwrap();
    engine.gradient(&params, &second, SOFTMAX, &mut used).unwrap();
    engine.gradient(&params, &second, SOFTMAX, &mut fresh).unwrap();
    assert_eq!(used.values, fresh.values);
    assert_eq!(used.rows(), Some(&[2][..]));
}

#[test]
fn batches_that_do_not_fit_a_network_of_tokens_are_refused() {
    let net = of_tokens(CellKind::FastGrnn, 1, 3, false, Readout::Last);
    let params = vec![0.0; net.layout().len()];
    let mut engine = Engine::new(&net, 1).unwrap();
    let mut numbers = Batch::new(5);
    numbers.push(&[0.0; 10]);
    let error = engine.forward(&params, &numbers, &mut Vec::new()).unwrap_err();
    assert_eq!(error, EngineError::Tokens { expected: "tokens" });
    let mut unknown = Batch::of_tokens();
    unknown.push_tokens(&[3, 9]);
    let error = engine.forward(&params, &unknown, &mut Vec::new()).unwrap_err();
    assert_eq!(error, EngineError::Vocabulary { sequence: 0, token: 9, vocabulary: 9 });
    let mut set = Batch::of_tokens();
    set.push_tokens(&[1]);
    for (members, part) in [(&[1, 3][..], "class 3"), (&[2, 1], "ascending"), (&[1, 1], "ascending")] {
        let mut sets = Sets::default();
        sets.push(members);
        set.targets = Targets::Set(sets);
        let error = engine.evaluate(&params, &set, Loss::BinaryCrossEntropy).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = engine.evaluate(&params, &set, SOFTMAX).unwrap_err();
    assert!(error.to_string().contains("binary cross-entropy"), "{error}");
}
