//! Text from language models: the same on every machine, and as probable as the model says.

use crate::integer_text::{VOCABULARY, integer, language_model, text};
use fastgrnn_core::cells::CellKind;
use fastgrnn_data::text::END_OF_LINE;
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::generate::{GenerateError, GenerateOptions};
use fastgrnn_model::model::{Model, Task};
use fastgrnn_runtime::int::{Draw, TokenSampler};

/// A float model and the integer one made from it.
fn models(tied: bool, layers: usize) -> [AnyModel; 2] {
    let model = language_model(CellKind::FastGrnn, tied, layers);
    let integer = integer(&model, &text(600));
    [AnyModel::Float(model), AnyModel::Integer(Box::new(integer))]
}

fn options(length: usize, seed: u32) -> GenerateOptions {
    GenerateOptions { length, seed, ..GenerateOptions::default() }
}

#[test]
fn the_same_seed_gives_the_same_text_and_another_one_another() {
    for model in models(false, 1) {
        let of = |seed| model.generate("abc", &options(200, seed)).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1).tokens, of(2).tokens);
        assert_eq!((of(1).tokens.len(), of(1).prompt.len()), (200, 3));
        let longer = model.generate("abc", &options(300, 1)).unwrap();
        assert_eq!(longer.tokens[..200], of(1).tokens, "a longer text begins alike");
    }
}

#[test]
fn an_integer_model_draws_what_a_device_draws() {
    let [_, model] = models(true, 2);
    let options = GenerateOptions { temperature: 0.8, most: 6, ..options(100, 9) };
    let found = model.generate("ab\nc", &options).unwrap();
    let AnyModel::Integer(integer) = &model else { panic!("the second one is an integer model") };
    let view = integer.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut state = view.start(&mut memory, &mut scratch).unwrap();
    let mut scores = vec![0; view.outputs()];
    let vocabulary = &integer.model.text.as_ref().unwrap().vocabulary;
    for token in [END_OF_LINE, "a", "b", END_OF_LINE, "c"] {
        view.step(&mut state, &[vocabulary.index(token) as i16]).unwrap();
    }
    let mut sampler = TokenSampler::new(9, Draw { sharpness: 320, most: 6 });
    for token in found.tokens {
        view.scores(&state, &mut scores).unwrap();
        assert_eq!(sampler.draw(&scores, view.score_bits()) as u32, token);
        view.step(&mut state, &[token as i16]).unwrap();
    }
}

#[test]
fn a_temperature_of_0_takes_what_the_scores_say() {
    for (tied, layers) in [(false, 1), (true, 2)] {
        let [float, integer] = models(tied, layers);
        let greedy = GenerateOptions { temperature: 0.0, ..options(30, 5) };
        let [a, b] = [&float, &integer].map(|model| model.generate("abcdef", &greedy).unwrap().tokens);
        assert_eq!(a[..3], b[..3], "float and integers agree where the scores are apart");
        assert_eq!(a, float.generate("abcdef", &GenerateOptions { seed: 6, ..greedy }).unwrap().tokens);
        assert!(a.iter().chain(&b).all(|&token| token != 0), "<unk> is never drawn");
    }
}

#[test]
fn few_choices_and_low_temperatures_make_a_text_less_varied() {
    let [_, model] = models(false, 1);
    let different = |options: GenerateOptions| {
        let tokens = model.generate("", &options).unwrap().tokens;
        (1..VOCABULARY as u32).filter(|token| tokens.contains(token)).count()
    };
    let (hot, cold) = (
        different(GenerateOptions { temperature: 16.0, ..options(500, 1) }),
        different(GenerateOptions { temperature: 0.0625, ..options(500, 1) }),
    );
    assert!(hot == VOCABULARY - 1 && cold < hot, "{hot} {cold}");
    let greedy = GenerateOptions { temperature: 0.0, ..options(50, 1) };
    let one = GenerateOptions { most: 1, ..options(50, 1) };
    assert_eq!(model.generate("", &one).unwrap().tokens, model.generate("", &greedy).unwrap().tokens);
}

#[test]
fn unknown_tokens_of_the_prompt_are_counted() {
    let [model, _] = models(false, 1);
    let found = model.generate("a?b!", &options(1, 0)).unwrap();
    assert_eq!((found.prompt.len(), found.unknown()), (4, 2));
}

#[test]
fn what_cannot_be_continued_is_refused() {
    let [model, _] = models(false, 1);
    for value in [-1.0, 0.01, 17.0, f64::NAN, f64::INFINITY] {
        let error = model.generate("", &GenerateOptions { temperature: value, ..options(1, 0) });
        assert!(matches!(error, Err(GenerateError::Temperature { .. })), "{value}");
    }
    let AnyModel::Float(float) = model else { panic!("the first one is a float model") };
    let labels = vec!["a".to_owned(), "b".to_owned()];
    let classifier = AnyModel::Float(Model { task: Task::Classes { labels }, ..float });
    let error = classifier.generate("", &options(1, 0)).unwrap_err().to_string();
    assert!(error.contains("predicts classes") && error.contains("task = lm"), "{error}");
}
