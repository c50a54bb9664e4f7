//! Integer networks that read texts: what they compute beside the float model of the same numbers.

use fastgrnn_core::cells::{Cell, CellKind, MatrixForm, Role, Scalar, Scalars, Start};
use fastgrnn_core::net::{Embedding, Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_data::data::{Examples, Labels, Sequences};
use fastgrnn_data::text::{Counts, END_OF_LINE, TextFormat, TokenKind, Tokenizer};
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::compare::{CompareOptions, compare};
use fastgrnn_model::model::{Model, ModelError, Task};
use fastgrnn_model::quantize::{IntegerModel, Options, QuantizeError, image_bytes, quantize};

pub const VOCABULARY: usize = 11;

/// A language model with weights of the size that training gives.
pub fn language_model(kind: CellKind, tied: bool, layers: usize) -> Model {
    let dim = if tied { 12 } else { 7 };
    let mut cells = vec![Cell::new(kind, dim, 12)];
    cells[0].form_w = MatrixForm::LowRank(4);
    (1..layers).for_each(|_| cells.push(Cell::new(kind, 12, 12)));
    // Such a state stays below 1 however long the text is.
    let scalars = Scalars { zeta: Scalar::Fixed(1.0), nu: Scalar::Fixed(0.0), ..Scalars::default() };
    let has_zeta = |cell: &&mut Cell| matches!(cell.kind, CellKind::FastGrnn | CellKind::FastGrnnGain);
    cells.iter_mut().filter(has_zeta).for_each(|cell| cell.scalars = scalars);
    let network = Network {
        embedding: Some(Embedding { vocabulary: VOCABULARY, tied }),
        readout: Readout::Every,
        ..Network::new(cells, VOCABULARY)
    };
    let mut params = network.start(Start::default(), 20, 3);
    let mut rng = Rng::new(9);
    for view in network.layout().views().iter().filter(|v| v.role != Role::Raw) {
        params[view.range()].iter_mut().for_each(|p| *p += 0.3 * rng.normal() as f32);
    }
    let mut counts = Counts::default();
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", END_OF_LINE].iter().for_each(|token| counts.add(token));
    let tokenizer = Tokenizer { kind: TokenKind::Characters, lowercase: false };
    let text = TextFormat { tokenizer, vocabulary: counts.vocabulary(100, 1, &[]) };
    Model { text: Some(text), ..Model::new(network, params, Task::NextToken) }
}

pub fn text(tokens: usize) -> Sequences {
    let mut rng = Rng::new(4);
    let mut x = Sequences::of_tokens();
    x.push_tokens(&(0..tokens).map(|_| rng.below(VOCABULARY) as u32).collect::<Vec<u32>>());
    x
}

fn examples(x: &Sequences) -> Examples {
    Examples::new(x.clone(), Labels::Next)
}

pub fn integer(model: &Model, x: &Sequences) -> IntegerModel {
    quantize(model, x, &[0], &Options::default()).unwrap()
}

#[test]
fn an_integer_language_model_is_as_good_as_the_float_model_of_its_numbers() {
    let x = text(3_000);
    for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm, CellKind::FastRnn] {
        for (tied, layers) in [(false, 1), (true, 1), (true, 2)] {
            let integer = integer(&language_model(kind, tied, layers), &x);
            let (found, _, saturations) = integer.evaluate(&examples(&x), 1).unwrap();
            // The float engine on exactly what the integers stand for.
            let (expected, _) = integer.model.evaluate(&examples(&x), 1).unwrap();
            let off = (found.scores.loss - expected.scores.loss).abs();
            assert!(off < 0.004, "{kind:?} {tied}: {} {}", found.scores.loss, expected.scores.loss);
            assert_eq!(found.scores.tokens, Some(3_000));
            assert_eq!(found.scores.unknown_rate, expected.scores.unknown_rate);
            assert_eq!(saturations.steps, 3_000);
        }
    }
}

#[test]
fn the_loss_does_not_depend_on_threads_and_carries_the_state() {
    let (model, x) = (language_model(CellKind::FastGrnn, false, 1), text(2_500));
    let integer = integer(&model, &x);
    let loss = |x: &Sequences, threads| integer.evaluate(&examples(x), threads).unwrap().0.scores.loss;
    assert_eq!(loss(&x, 1).to_bits(), loss(&x, 3).to_bits());
    // By the runtime alone, one token after the other.
    let view = integer.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut state = view.start(&mut memory, &mut scratch).unwrap();
    let mut scores = vec![0; view.outputs()];
    let end = model.text.as_ref().unwrap().vocabulary.index(END_OF_LINE);
    let (mut before, mut sum) = (end, 0.0);
    let unit = f64::from(-integer.network.score_bits()).exp2();
    for &token in x.tokens(0) {
        view.step(&mut state, &[before as i16]).unwrap();
        view.scores(&state, &mut scores).unwrap();
        let all: f64 = scores.iter().map(|&s| (f64::from(s) * unit).exp()).sum();
        sum += all.ln() - f64::from(scores[token as usize]) * unit;
        before = token;
    }
    assert!((loss(&x, 2) - sum / 2_500.0).abs() < 1e-9);
}

#[test]
fn the_file_of_an_integer_language_model_holds_everything() {
    for tied in [false, true] {
        let (model, x) = (language_model(CellKind::FastGrnn, tied, 1), text(600));
        let integer = integer(&model, &x);
        let bytes = integer.to_bytes().unwrap();
        assert_eq!(IntegerModel::from_bytes(&bytes).unwrap(), integer);
        assert_eq!(integer.model.text, model.text);
        let sizes = integer.sizes();
        let dim = model.network.input();
        assert_eq!(sizes.embedding, VOCABULARY * dim);
        assert_eq!(sizes.head, 2 * VOCABULARY + if tied { 0 } else { VOCABULARY * 12 });
        assert_eq!(sizes.total, integer.image().len());
        let counted = sizes.cells() + sizes.embedding + sizes.head;
        assert_eq!(counted, sizes.total);
        let nonzero = |view: &fastgrnn_core::net::View| {
            integer.matrix_sizes().iter().find(|m| m.name == view.name).map_or(0, |m| m.nonzero)
        };
        assert_eq!(image_bytes(&model.network, nonzero), sizes.total);
    }
}

#[test]
fn an_integer_text_classifier_decides_as_its_float_model() {
    let mut model = language_model(CellKind::FastGrnn, false, 1);
    model.network.readout = Readout::Last;
    model.task = Task::Classes { labels: (0..VOCABULARY).map(|i| i.to_string()).collect() };
    let mut x = Sequences::of_tokens();
    let mut rng = Rng::new(8);
    for steps in 1..60 {
        x.push_tokens(&(0..steps).map(|_| rng.below(VOCABULARY) as u32).collect::<Vec<u32>>());
    }
    let all: Vec<u32> = (0..x.len() as u32).collect();
    let integer = quantize(&model, &x, &all, &Options::default()).unwrap();
    let (found, _) = integer.predict(&x, 2).unwrap();
    let expected = integer.model.predict(&x, 1).unwrap();
    assert!(found.agreement(&expected).unwrap() > 0.95);
    let names = model.labels().to_vec();
    let labelled = Examples::new(x.clone(), Labels::Class { index: expected.classes.clone(), names });
    let (evaluation, _, _) = integer.evaluate(&labelled, 1).unwrap();
    assert!(evaluation.scores.accuracy.unwrap() > 0.95 && evaluation.scores.loss.is_finite());
}

#[test]
fn two_language_models_are_compared_by_their_states() {
    let (model, x) = (language_model(CellKind::FastGrnn, false, 1), text(700));
    let integer = integer(&model, &x);
    let (a, b) = (AnyModel::Float(model.clone()), AnyModel::Integer(Box::new(integer)));
    let found = compare(&a, &b, &examples(&x), &CompareOptions::default()).unwrap();
    assert_eq!((found.agreement, found.difference, found.samples), (None, None, 1));
    assert!(found.drift[0].relative < 0.05, "{:?}", found.drift[0].relative);
    assert!(found.a.scores.unwrap().perplexity.is_some() && found.b.scores.unwrap().perplexity.is_some());
    let other = AnyModel::Float(Model { text: None, ..model });
    assert!(compare(&a, &other, &examples(&x), &CompareOptions::default()).is_err());
}

#[test]
fn what_does_not_fit_a_network_that_reads_texts_is_refused() {
    let (model, x) = (language_model(CellKind::FastGrnn, false, 1), text(50));
    let mut numbers = Sequences::new(7);
    numbers.push(&[0.0; 14]);
    let refused = |x: &Sequences, options: &Options| quantize(&model, x, &[0], options).unwrap_err();
    let defaults = Options::default();
    assert!(matches!(refused(&numbers, &defaults), QuantizeError::Kind { found: "numbers", .. }));
    let lsb = Options { input_lsb: Some(vec![1.0]), ..Options::default() };
    assert!(matches!(refused(&x, &lsb), QuantizeError::LsbOfText));
    let integer = integer(&model, &x);
    assert!(matches!(integer.predict(&x, 1), Err(ModelError::NextToken)));
}
