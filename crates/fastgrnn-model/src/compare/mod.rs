//! Two models on the same sequences: where they differ, and from which step on.
//!
//! The usual pair is a float model and the integer one made from it. Predictions are compared for
//! any two models; where both have the same layers, their states are followed step by step, in
//! real units, so that one sees whether an error grows with time or stays where it arose.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind, Start};
//! use fastgrnn_model::compare::{CompareOptions, compare};
//! use fastgrnn_data::data::{Examples, Labels, Sequences};
//! use fastgrnn_model::any::AnyModel;
//! use fastgrnn_model::model::{Model, Task};
//! use fastgrnn_core::net::Network;
//! use fastgrnn_model::quantize::{Options, quantize};
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
//! let params = net.start(Start::default(), 3, 0);
//! let labels = vec!["still".to_string(), "moving".to_string()];
//! let model = Model::new(net, params, Task::Classes { labels });
//! let mut x = Sequences::new(1);
//! x.push(&[0.1, 0.2, 0.3]);
//! let integer = quantize(&model, &x, &[0], &Options::default())?;
//! let (a, b) = (AnyModel::Float(model), AnyModel::Integer(Box::new(integer)));
//! let found = compare(&a, &b, &Examples::new(x, Labels::None), &CompareOptions::default())?;
//! assert_eq!(found.agreement, Some(1.0));
//! assert_eq!(found.drift[0].points.len(), 3);
//! assert!(found.drift[0].relative < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod drift;
mod walk;

pub use drift::{Drift, DriftPoint};

use crate::any::AnyModel;
use crate::model::{ModelError, Predictions, SetPrediction};
use crate::quantize::Saturations;
use drift::Follower;
use fastgrnn_core::metrics::Scores;
use fastgrnn_data::data::{Examples, Labels, Sequences};
use walk::{FOLLOWED, states, values};

/// How much is compared. Results do not depend on `threads`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareOptions {
    /// Sequences whose states are followed, spread over all; predictions are compared on all. Of a long one,
    /// such as the text of a language model, the first 10,000 steps are followed.
    pub samples: usize,
    /// Worker threads.
    pub threads: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { samples: 256, threads: 1 }
    }
}

/// One of the two models.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Against the labels, where there are any.
    pub scores: Option<Scores>,
    /// Of an integer model.
    pub saturations: Option<Saturations>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Sequences whose predictions were compared.
    pub n: usize,
    /// Sequences whose states were followed.
    pub samples: usize,
    /// Share of equal decisions; none for regression.
    pub agreement: Option<f64>,
    /// Root of the mean squared difference of predicted numbers, for regression.
    pub difference: Option<f64>,
    /// The first model.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// How far the second model's states are from the first's, layer by layer; empty where the
    /// layers are not the same.
    pub drift: Vec<Drift>,
}

/// What one cannot compare.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Nothing to compare on.
    #[error("there are no sequences to compare the models on")]
    NoData,
    /// One predicts classes, the other numbers, or other classes.
    #[error("the models do not answer the same question: {a} against {b}")]
    Tasks {
        /// What the first predicts.
        a: String,
        /// What the second predicts.
        b: String,
    },
    /// The models read texts in different ways.
    #[error("the models do not read the same tokens: their tokenizers or vocabularies differ")]
    Texts,
    /// A model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Compares two models on all `examples`; labels are used where they are.
pub fn compare(
    a: &AnyModel,
    b: &AnyModel,
    examples: &Examples,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    if examples.is_empty() {
        return Err(CompareError::NoData);
    }
    let same = same_question(a, b)?;
    let (side_a, by_a) = side(a, examples, options.threads)?;
    let (side_b, mut by_b) = side(b, examples, options.threads)?;
    by_b.classes.iter_mut().for_each(|class| *class = same.get(*class as usize).map_or(*class, |c| *c));
    let (samples, drift) = follow(a, b, &examples.x, options.samples)?;
    Ok(Comparison {
        n: examples.len(),
        samples,
        agreement: match sets_agreement(a, b, &same, &examples.x, options.threads)? {
            Some(agreement) => Some(agreement),
            None => by_a.agreement(&by_b),
        },
        difference: difference(&by_a, &by_b).filter(|_| a.float().threshold_of_sets().is_none()),
        a: side_a,
        b: side_b,
        drift,
    })
}

/// The share of sequences for which both decide for the same labels, if sequences have several.
fn sets_agreement(
    a: &AnyModel,
    b: &AnyModel,
    same: &[u32],
    x: &Sequences,
    threads: usize,
) -> Result<Option<f64>, ModelError> {
    let (a, b) = (a.float(), b.float());
    if a.threshold_of_sets().is_none() || b.threshold_of_sets().is_none() {
        return Ok(None);
    }
    let (by_a, by_b) = (a.predict_sets(x, threads)?, b.predict_sets(x, threads)?);
    let sorted = |labels: &mut dyn Iterator<Item = u32>| labels.collect::<std::collections::BTreeSet<u32>>();
    let is_equal = |(a, b): &(&SetPrediction, &SetPrediction)| {
        let of_b = &mut b.labels().map(|label| same.get(label as usize).map_or(label, |own| *own));
        sorted(&mut a.labels()) == sorted(of_b)
    };
    let equal = by_a.iter().zip(&by_b).filter(is_equal).count();
    Ok(Some(equal as f64 / by_a.len().max(1) as f64))
}

fn difference(a: &Predictions, b: &Predictions) -> Option<f64> {
    let pairs = a.values.iter().zip(&b.values);
    let sum: f64 = pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    let is_regression = a.classes.is_empty() && !a.values.is_empty();
    is_regression.then(|| (sum / a.values.len() as f64).sqrt())
}

/// The first model's number of each of the second's classes.
fn same_question(a: &AnyModel, b: &AnyModel) -> Result<Vec<u32>, CompareError> {
    let (a, b) = (a.float(), b.float());
    if a.text != b.text {
        return Err(CompareError::Texts);
    }
    let numbers: Option<Vec<u32>> =
        b.labels().iter().map(|l| a.labels().iter().position(|k| k == l).map(|i| i as u32)).collect();
    let outputs = a.network.outputs == b.network.outputs || !a.labels().is_empty();
    let are_alike = a.threshold_of_sets().is_some() == b.threshold_of_sets().is_some();
    match numbers {
        Some(numbers) if numbers.len() == a.labels().len() && outputs && are_alike => Ok(numbers),
        _ => {
            let what = |model: &crate::model::Model| match model.labels() {
                [] => format!("{} numbers", model.network.outputs),
                labels if model.threshold_of_sets().is_some() => {
                    format!("sets of the labels {}", labels.join(", "))
                }
                labels => format!("the classes {}", labels.join(", ")),
            };
            Err(CompareError::Tasks { a: what(a), b: what(b) })
        }
    }
}

fn side(model: &AnyModel, examples: &Examples, threads: usize) -> Result<(Side, Predictions), ModelError> {
    if matches!(examples.y, Labels::None) {
        let (predictions, saturations) = model.predict(&examples.x, threads)?;
        return Ok((Side { scores: None, saturations }, predictions));
    }
    let (evaluation, predictions, saturations) = model.evaluate(examples, threads)?;
    Ok((Side { scores: Some(evaluation.scores), saturations }, predictions))
}

/// Follows the states of both models over about `samples` sequences.
fn follow(
    a: &AnyModel,
    b: &AnyModel,
    x: &Sequences,
    samples: usize,
) -> Result<(usize, Vec<Drift>), ModelError> {
    let layers =
        |m: &AnyModel| -> Vec<_> { m.float().network.layers.iter().map(|c| (c.kind, c.hidden)).collect() };
    // Steps of networks that move on by different strides are different moments.
    let window = a.float().network.window;
    if layers(a) != layers(b) || window.stride != b.float().network.window.stride || samples == 0 {
        return Ok((0, Vec::new()));
    }
    let samples = samples.min(x.len());
    let chosen: Vec<usize> = (0..samples).map(|k| k * x.len() / samples).collect();
    let steps = chosen.iter().map(|&i| window.steps(x.steps(i))).max().unwrap_or(0).min(FOLLOWED);
    let mut follower = Follower::new(values(&a.float().network), steps);
    for &i in &chosen {
        follower.see(&states(a, x, i)?, &states(b, x, i)?);
    }
    Ok((samples, follower.finish()))
}
