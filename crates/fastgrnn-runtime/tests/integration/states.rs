//! What a caller does with a state: reset it, save it, restore it, lend too little.

use fastgrnn_runtime::int::{Decision, Draw, Model, TokenSampler};
use fastgrnn_testing::oracle::compare::{buffers, scores};
use fastgrnn_testing::oracle::image::write;
use fastgrnn_testing::oracle::network::{blocks, state_vectors};
use fastgrnn_testing::oracle::random::{CELLS, Case, Manner, case, windowed};
use fastgrnn_testing::oracle::sample::DrawOracle;
use fastgrnn_testing::oracle::score;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

/// Runs a test on random cases of every cell and manner.
fn on_cases(cases: u32, test: impl Fn(Case)) {
    let manners = select(vec![Manner::Wild, Manner::Tame]);
    let any = (CELLS, manners).prop_flat_map(
        |(code, manner)| prop_oneof![2 => case(code, manner).boxed(), 1 => windowed(case(code, manner)).boxed()],
    );
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&any, |case| {
        test(case);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_reset_is_a_reset() {
    on_cases(300, |case| {
        let image = write(&case.network, &case.forms);
        let model = Model::<3>::read(&image).unwrap();
        let (mut memory, mut scratch) = buffers(&model);
        let mut state = model.start(&mut memory, &mut scratch).unwrap();
        let fresh = state.layers().to_vec();
        let stored = case.network.layers.iter().flat_map(|layer| {
            let length = state_vectors(layer.cell.code()) * layer.hidden;
            layer.start.clone().unwrap_or(vec![0; length])
        });
        assert!(fresh.iter().copied().eq(stored), "a start is what the image stores");
        let mut run = || {
            let steps = case.inputs.iter().map(|counts| {
                model.step(&mut state, counts).unwrap();
                (state.layers().to_vec(), scores(&model, &state))
            });
            let seen: Vec<_> = steps.collect();
            model.reset(&mut state).unwrap();
            assert_eq!(state.layers(), fresh);
            seen
        };
        assert_eq!(run(), run());
    });
}

#[test]
fn a_sequence_continued_from_a_saved_state_is_the_sequence() {
    on_cases(300, |case| {
        let image = write(&case.network, &case.forms);
        let model = Model::<3>::read(&image).unwrap();
        let (mut memory, mut scratch) = buffers(&model);
        let mut whole = model.start(&mut memory, &mut scratch).unwrap();
        let mut saved = whole.kept().to_vec();
        for counts in &case.inputs {
            model.step(&mut whole, counts).unwrap();
            // Each step in buffers of its own, knowing nothing but what was saved.
            let (mut memory, mut scratch) = buffers(&model);
            let mut part = model.start(&mut memory, &mut scratch).unwrap();
            part.kept_mut().copy_from_slice(&saved);
            model.step(&mut part, counts).unwrap();
            saved = part.kept().to_vec();
            assert_eq!(saved, whole.kept());
            assert_eq!(scores(&model, &part), scores(&model, &whole));
        }
    });
}

#[test]
fn buffers_are_those_of_the_page_and_shorter_ones_are_refused() {
    on_cases(300, |case| {
        let layers = &case.network.layers;
        let image = write(&case.network, &case.forms);
        let model = Model::<3>::read(&image).unwrap();
        let states: usize = layers.iter().map(|layer| state_vectors(layer.cell.code()) * layer.hidden).sum();
        let rank = layers.iter().flat_map(|layer| [layer.w.rank(), layer.u.rank()]).max().unwrap();
        let sums = layers.iter().map(|layer| {
            let apart = usize::from(layer.cell.code() == 5);
            (blocks(layer.cell.code()) + apart) * layer.hidden
        });
        let inputs = case.network.counts();
        let frames = usize::from(case.network.frames);
        let window = frames * case.network.width() + usize::from(frames > 1);
        let ram = 2 * (states + window + rank) + 4 * (sums.max().unwrap() + rank);
        assert_eq!(2 * model.memory_len() + 4 * model.scratch_len(), ram);

        let (mut memory, mut scratch) = buffers(&model);
        let short = memory.len() - 1;
        assert!(model.start(&mut memory[..short], &mut scratch).is_err());
        let short = scratch.len() - 1;
        assert!(model.start(&mut memory, &mut scratch[..short]).is_err());
        let mut state = model.start(&mut memory, &mut scratch).unwrap();
        assert!(model.step(&mut state, &vec![0; inputs - 1]).is_err());
        assert!(model.scores(&state, &mut vec![0; model.outputs() - 1]).is_err());
    });
}

#[test]
fn a_state_of_another_model_never_panics() {
    on_cases(100, |case| {
        let image = write(&case.network, &case.forms);
        let model = Model::<3>::read(&image).unwrap();
        let mut smaller = case.network.clone();
        smaller.layers.truncate(1);
        if let Some(vectors) = &mut smaller.vectors {
            vectors.tied = false;
        }
        smaller.head.a.columns = smaller.layers[0].hidden;
        smaller.head.a.entries = vec![1; smaller.head.a.rows * smaller.head.a.columns];
        let image = write(&smaller, &case.forms);
        let other = Model::<3>::read(&image).unwrap();
        let (mut memory, mut scratch) = buffers(&other);
        let mut state = other.start(&mut memory, &mut scratch).unwrap();
        let _ = model.step(&mut state, &case.inputs[0]);
        let _ = model.scores(&state, &mut vec![0; model.outputs()]);
    });
}

#[test]
fn any_scores_draw_the_token_that_the_page_says() {
    let score = || prop_oneof![any::<i32>(), -70_000..=70_000, select(vec![i32::MIN, -1, 0, 1, i32::MAX])];
    let scores = prop_oneof![
        proptest::collection::vec(score(), 1..40),
        (any::<i32>(), 1..9_usize).prop_map(|(s, n)| vec![s; n])
    ];
    let sharpness = prop_oneof![Just(0_u16), 16..=4096_u16, select(vec![16, 256, 4096])];
    let most = prop_oneof![Just(0_u16), 1..6_u16, any::<u16>()];
    let mut runner = TestRunner::new(Config { cases: 4000, failure_persistence: None, ..Config::default() });
    let strategy = (scores, -8..=34_i8, sharpness, most, any::<u32>());
    let outcome = runner.run(&strategy, |(scores, f_s, sharpness, most, seed)| {
        let mut sampler = TokenSampler::new(seed, Draw { sharpness, most });
        let mut oracle = DrawOracle { q: sharpness.into(), k: most.into(), g: seed.into() };
        let wide: Vec<i64> = scores.iter().map(|score| i64::from(*score)).collect();
        for _ in 0..3 {
            prop_assert_eq!(sampler.draw(&scores, f_s.into()), oracle.draw(&wide, f_s));
            prop_assert_eq!(u64::from(sampler.random()), oracle.g);
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn any_scores_are_decided_as_the_page_says() {
    let score = || prop_oneof![any::<i32>(), -70_000..=70_000, select(vec![i32::MIN, -1, 0, 1, i32::MAX])];
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let strategy = (case(0, Manner::Wild), proptest::collection::vec(score(), 400));
    let outcome = runner.run(&strategy, |(case, scores)| {
        let (meaning, f_s) = (case.network.meaning, case.network.head.f_s);
        let image = write(&case.network, &case.forms);
        let model = Model::<3>::read(&image).unwrap();
        for scores in scores.chunks_exact(model.outputs()) {
            let wide: Vec<i64> = scores.iter().map(|score| i64::from(*score)).collect();
            let expected = Decision {
                class: score::class(meaning, &wide),
                confidence: score::confidence(meaning, f_s, &wide),
            };
            assert_eq!(model.decide(scores), expected, "{scores:?} meaning {meaning} with F_s = {f_s}");
        }
        // Too few scores have no meaning but must do no harm.
        let _ = model.decide(&[]);
        Ok(())
    });
    outcome.unwrap();
}
