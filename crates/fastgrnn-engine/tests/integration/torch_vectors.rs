//! Both implementations agree with PyTorch: stored vectors, made by scripts/torch_vectors.py.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::Network;
use fastgrnn_engine::engine::{Engine, Gradient, Loss};
use fastgrnn_engine::reference;
use fastgrnn_testing::networks::{relative_error, widen};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    network: Network,
    params: Vec<f32>,
    x: Vec<Vec<f32>>,
    initial: Vec<f32>,
    targets: Vec<u32>,
    scores: Vec<f64>,
    loss: f64,
    gradient: Vec<f64>,
}

impl Case {
    fn batch(&self) -> Batch {
        let mut batch = Batch::new(self.network.input());
        self.x.iter().for_each(|sequence| batch.push(sequence));
        batch.initial = self.initial.clone();
        batch.targets = Targets::Class(self.targets.clone());
        batch
    }

    /// Compares scores, loss and the gradient of each tensor with PyTorch's.
    fn check(&self, who: &str, scores: &[f64], loss: f64, gradient: &[f64], tolerance: f64) {
        let compare = |what: &str, found: &[f64], expected: &[f64]| {
            let error = relative_error(found, expected, 1e-3);
            assert!(error < tolerance, "{}: {what} of the {who} is off by {error:e}", self.name);
        };
        compare("scores", scores, &self.scores);
        compare("loss", &[loss], &[self.loss]);
        for view in self.network.layout().views() {
            compare(&view.name, &gradient[view.range()], &self.gradient[view.range()]);
        }
    }
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../vectors/torch.json")).unwrap();
    cases.iter().for_each(|case| case.network.check().unwrap());
    cases
}

#[test]
fn the_reference_equals_pytorch() {
    for case in cases() {
        let (params, batch) = (widen(&case.params), case.batch());
        let scores = reference::scores(&case.network, &params, &batch);
        let (loss, gradient) = reference::gradient(&case.network, &params, &batch, Loss::SoftmaxCrossEntropy);
        case.check("reference", &scores, loss, &gradient, 1e-9);
    }
}

#[test]
fn the_engine_equals_pytorch() {
    for case in cases() {
        let batch = case.batch();
        let mut engine = Engine::new(&case.network, 2).unwrap();
        let mut scores = Vec::new();
        engine.forward(&case.params, &batch, &mut scores).unwrap();
        let mut gradient = Gradient::new(&case.network);
        let step = engine.gradient(&case.params, &batch, Loss::SoftmaxCrossEntropy, &mut gradient).unwrap();
        case.check("engine", &widen(&scores), step.loss, &widen(&gradient.values), 1e-4);
    }
}

/// A language model and its perplexity on a text.
#[derive(Deserialize)]
struct LanguageCase {
    name: String,
    network: Network,
    params: Vec<f32>,
    text: Vec<u32>,
    perplexity: f64,
    gradient: Vec<f64>,
}

impl LanguageCase {
    /// The tokens of `range` are predicted.
    fn batch(&self, range: std::ops::Range<usize>) -> Batch {
        let inputs: Vec<u32> = std::iter::once(0).chain(self.text.iter().copied()).collect();
        let mut batch = Batch::of_tokens();
        batch.push_tokens(&inputs[range.clone()]);
        batch.targets = Targets::Class(self.text[range].to_vec());
        batch
    }

    fn check(&self, who: &str, perplexity: f64, gradient: &[f64], tolerance: f64) {
        let error = relative_error(&[perplexity], &[self.perplexity], 1e-3);
        assert!(error < tolerance, "{}: the perplexity of the {who} is off by {error:e}", self.name);
        for view in self.network.layout().views() {
            let error = relative_error(&gradient[view.range()], &self.gradient[view.range()], 1e-3);
            assert!(error < tolerance, "{}: {} of the {who} is off by {error:e}", self.name, view.name);
        }
    }
}

#[test]
fn the_perplexity_of_a_language_model_equals_pytorch() {
    let cases: Vec<LanguageCase> = serde_json::from_str(include_str!("../vectors/language.json")).unwrap();
    let loss = Loss::SoftmaxCrossEntropy;
    for case in cases {
        case.network.check().unwrap();
        let len = case.text.len();
        let whole = case.batch(0..len);
        let (mean, gradient) = reference::gradient(&case.network, &widen(&case.params), &whole, loss);
        case.check("reference", mean.exp(), &gradient, 1e-9);
        let mut engine = Engine::new(&case.network, 2).unwrap();
        let mut gradient = Gradient::new(&case.network);
        let step = engine.gradient(&case.params, &whole, loss, &mut gradient).unwrap();
        case.check("engine", step.loss.exp(), &widen(&gradient.values), 1e-4);
        // In two parts, with the state carried from one to the other.
        let first = engine.evaluate(&case.params, &case.batch(0..10), loss).unwrap();
        let mut second = case.batch(10..len);
        engine.states(&mut second.carried);
        let second = engine.evaluate(&case.params, &second, loss).unwrap();
        let mean = (first.loss * 10.0 + second.loss * (len - 10) as f64) / len as f64;
        let error = relative_error(&[mean.exp()], &[case.perplexity], 1e-3);
        assert!(error < 1e-5, "{}: with a carried state the perplexity is off by {error:e}", case.name);
    }
}
