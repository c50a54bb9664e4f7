//! The threshold of a positive class in integers.

use fastgrnn_core::cells::{Cell, CellKind, Start};
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_data::data::{Examples, Labels, Sequences};
use fastgrnn_model::model::{Decision, Model, Task};
use fastgrnn_model::quantize::{IntegerModel, Options, quantize};

fn examples() -> Examples {
    let (mut x, mut index) = (Sequences::new(2), Vec::new());
    let mut rng = fastgrnn_core::rng::Rng::new(8);
    for i in 0..80 {
        x.push(&[0; 12].map(|_: i32| rng.normal() as f32));
        index.push(u32::from(i % 7 == 0));
    }
    Examples::new(x, Labels::Class { index, names: vec!["no".into(), "yes".into()] })
}

fn integer(outputs: usize, bias: f32, positive: &str) -> IntegerModel {
    let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], outputs);
    let mut params = network.start(Start::default(), 6, 3);
    let head = network.layout().view("head.b").unwrap().range();
    params[head.start] = bias;
    let labels = vec!["no".to_string(), "yes".to_string()];
    let mut model = Model::new(network, params, Task::Classes { labels });
    if outputs == 1 {
        model.loss = Loss::BinaryCrossEntropy;
    }
    model.decision = Some(Decision::even(positive));
    let all: Vec<u32> = (0..80).collect();
    quantize(&model, &examples().x, &all, &Options::default()).unwrap()
}

#[test]
fn the_chosen_threshold_is_the_plain_decision_of_the_device_and_no_offset_is_better() {
    let (examples, all) = (examples(), (0..80).collect::<Vec<u32>>());
    for (outputs, positive, bias) in
        [(2, "yes", 0.0), (2, "no", 0.0), (1, "yes", 0.0), (1, "no", 0.3), (2, "yes", 9.0), (1, "yes", -30.0)]
    {
        let model = integer(outputs, bias, positive);
        let f1 = |m: &IntegerModel| m.evaluate(&examples, 1).unwrap().0.scores.f1.unwrap();
        let (best, offset) = model.with_best_threshold(&examples, &all, 1).unwrap().unwrap();
        let unit = f64::from(best.network.head_shift as i32 - best.network.score_bits()).exp2();
        assert_eq!(offset / unit, (offset / unit).round(), "a whole number of steps");
        assert_eq!(model.with_offset(offset).unwrap().network, best.network);
        assert!(f1(&best) >= f1(&model), "{outputs} {positive} {bias}");
        for k in -60..60 {
            let other = model.with_offset(offset + f64::from(k) * 0.05).unwrap();
            assert!(f1(&other) <= f1(&best), "{outputs} {positive} {bias}: {k}");
        }
    }
}

#[test]
fn an_offset_beyond_the_biases_makes_their_steps_coarser() {
    let model = integer(2, 0.01, "yes");
    let far = model.with_offset(20.0).unwrap();
    assert!(far.network.head_shift > model.network.head_shift);
    let biases = |m: &IntegerModel| {
        let unit = f64::from(m.network.head_shift as i32 - m.network.score_bits()).exp2();
        m.network.head_biases.iter().map(|&b| f64::from(b) * unit).collect::<Vec<_>>()
    };
    let (before, after) = (biases(&model), biases(&far));
    assert!((before[1] - after[1] - 20.0).abs() < 1e-3 && (before[0] - after[0]).abs() < 1e-3);
    assert_eq!(far.evaluate(&examples(), 1).unwrap().0.scores.recall, Some(0.0));
}

#[test]
fn a_model_without_a_positive_class_has_no_threshold() {
    let mut model = integer(2, 0.0, "yes");
    model.model.decision = None;
    assert!(model.with_best_threshold(&examples(), &[0, 1, 2], 1).unwrap().is_none());
    assert_eq!(model.with_offset(1.0).unwrap(), model);
}
