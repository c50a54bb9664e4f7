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
