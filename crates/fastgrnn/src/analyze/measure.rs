//! From what sequences came to to the figures of a network.

use super::error::AnalyzeError;
use super::flow::{FollowedSequence, Product};
use super::outcome::{
    AnalyzeOptions, GradientPoint, InitialStates, LayerGradients, LayerProducts, ProductPoint,
};
use super::part::TrainingPart;
use super::scalars::ResidualWeight;
use super::spectrum::{first_vector, frobenius, spectral_norm};
use super::spread::Spread;
use super::theory::{Ingredients, Theory};
use crate::train::{Recipe, starting_model};
use fastgrnn_core::cells::{Cell, CellKind, CellMatrix, MatrixForm};
use fastgrnn_core::net::{InitialState, Loss};
use fastgrnn_data::data::{Dataset, Examples, Labels};
use fastgrnn_model::model::{DataPart, Model, PartError, Task};
use std::f64::consts::LN_10;

/// Distances from the end of a sequence that are shown.
const MOST_DISTANCES: usize = 128;

/// What the paper says about the condition number of a cell's gradient.
fn statement(kind: CellKind) -> String {
    match kind {
        CellKind::FastRnn => "The paper bounds the condition number by ((1 + α/β·max‖UᵀD‖) / (1 − α/β·max‖UᵀD‖))^(T − t). \
                              This applies to sequences on which α/β·max‖UᵀD‖ is below 1."
            .into(),
        CellKind::Rnn => "The paper says that the condition number can be as large as (max ‖UᵀD‖/λ_min(UᵀD))^(T − t), where \
                          λ_min is the smallest singular value. This applies where UᵀD is not singular."
            .into(),
        kind => format!("The paper has no bound of the condition number for a {kind}."),
    }
}

/// The products of all layers.
pub(super) fn products(
    model: &Model,
    followed: &[FollowedSequence],
    steps: &[usize],
    weights: &[ResidualWeight],
) -> Vec<LayerProducts> {
    let of_layer = |(layer, cell): (usize, &Cell)| {
        let points = steps.iter().enumerate().map(|(place, &steps)| {
            let all: Vec<Product> =
                followed.iter().filter_map(|sequence| sequence.layers[layer].products[place]).collect();
            let spread = |of: &dyn Fn(&Product) -> f64| Spread::of(all.iter().map(|p| of(p) / LN_10));
            let bounds = all.iter().filter_map(|product| product.bound);
            ProductPoint {
                steps,
                sequences: all.len(),
                singular: all.iter().filter(|product| product.is_singular()).count(),
                log10_condition: spread(&Product::log_condition),
                log10_largest: spread(&|product| product.largest),
                log10_smallest: spread(&|product| product.smallest),
                log10_bound: Spread::of(bounds.clone().map(|bound| bound / LN_10)),
                bounded: bounds.count(),
            }
        });
        let beta = weights.iter().find(|w| w.layer == layer && w.name == "beta").map(|beta| beta.value);
        let ratio = beta.filter(|_| cell.kind == CellKind::FastRnn);
        LayerProducts {
            layer,
            cell: cell.kind.name(),
            statement: statement(cell.kind),
            ratio: ratio
                .and_then(|beta| Spread::of(followed.iter().map(|s| s.layers[layer].through_u / beta))),
            points: points.collect(),
        }
    };
    model.network.layers.iter().enumerate().map(of_layer).collect()
}

/// The gradients of the loss by the states of all layers.
pub(super) fn gradients(followed: &[FollowedSequence]) -> Vec<LayerGradients> {
    let layers = followed.first().map_or(0, |sequence| sequence.layers.len());
    let of_layer = |layer: usize| {
        let norms = || followed.iter().map(move |sequence| &sequence.layers[layer].gradient);
        let longest = norms().map(Vec::len).max().unwrap_or(0);
        let every = longest.div_ceil(MOST_DISTANCES).max(1);
        let distances = (0..longest).filter(|d| d % every == 0 || d + 1 == longest);
        let points = distances.map(|before_end| {
            let at: Vec<f64> = norms()
                .filter_map(|norms| norms.len().checked_sub(1 + before_end).map(|place| norms[place]))
                .collect();
            GradientPoint {
                before_end,
                sequences: at.len(),
                zero: at.iter().filter(|&&norm| norm == 0.0).count(),
                log10_norm: Spread::of(at.iter().map(|norm| norm.log10())),
            }
        });
        LayerGradients { layer, points: points.collect() }
    };
    (0..layers).map(of_layer).filter(|of_layer| !of_layer.points.is_empty()).collect()
}

/// The network with the parameters from which the training of `model` started, where these can be made again.
pub(super) fn start_of(model: &Model, data: &Dataset) -> Option<Model> {
    let config = Recipe::of_model(model).resolve(data).ok()?;
    let start = starting_model(&config, data, model.seed).ok()?;
    (start.network == model.network).then_some(start)
}

/// Scores from the state 0 and from random states, on the test part, or else on the validation part.
pub(super) fn initial_states(
    model: &Model,
    data: &Dataset,
    options: &AnalyzeOptions,
) -> Result<InitialStates, AnalyzeError> {
    let (part, examples) = match &data.test {
        Some(test) => (DataPart::Test, test.clone()),
        None => match model.validated_on(data) {
            Ok(indices) => (DataPart::Val, data.train.select(&indices)),
            Err(PartError::NoValidation | PartError::NoTest { .. } | PartError::Data(_)) => {
                (DataPart::All, data.train.clone())
            }
        },
    };
    let from_zero = Model { initial_state: InitialState::Zero, ..model.clone() };
    let (zero, _) = from_zero.evaluate(&examples, options.threads)?;
    let random = model.scores_from_random_states(&examples, options.states, model.seed, options.threads)?;
    Ok(InitialStates { part: part.name(), zero: zero.scores, random })
}

/// A network's data.
pub(super) struct Measured<'a> {
    /// The sequences that it is analysed on.
    pub examples: &'a Examples,
    /// Which these are.
    pub part: TrainingPart,
    pub is_trained: bool,
    /// A trained network before its training, where that is known.
    pub start: Option<&'a Model>,
}

/// The paper's bounds, for a network of one layer of the cells that it has bounds for.
pub(super) fn theory(
    model: &Model,
    &Measured { examples, part, is_trained, start }: &Measured,
    followed: &[FollowedSequence],
    weights: &[ResidualWeight],
    options: &AnalyzeOptions,
) -> Result<Theory, AnalyzeError> {
    let cell = match &model.network.layers[..] {
        [cell] if matches!(cell.kind, CellKind::Rnn | CellKind::FastRnn) => cell,
        [cell] => {
            return Ok(Theory::none(format!(
                "The paper has bounds of convergence and generalisation for rnn and fastrnn, not for a {}.",
                cell.kind
            )));
        }
        layers => {
            return Ok(Theory::none(format!(
                "The paper has bounds for one layer; this network has {}.",
                layers.len()
            )));
        }
    };
    let weight = |name: &str, of_rnn: f64| {
        weights.iter().find(|weight| weight.name == name).map_or(of_rnn, |weight| weight.value)
    };
    let (alpha, beta) = (weight("alpha", 1.0), weight("beta", 0.0));
    let largest_slope = followed.iter().map(|sequence| sequence.layers[0].slope).fold(0.0, f64::max);
    let has_labels = !matches!(examples.y, Labels::None);
    let loss = if has_labels { Some(losses(model, examples, options.threads)?) } else { None };
    let first_loss = match (is_trained, start) {
        (false, _) => loss.map(|loss| loss.mean),
        (true, Some(start)) if has_labels => Some(losses(start, examples, options.threads)?.mean),
        (true, _) => None,
    };
    let (w, u) = (dense(model, &cell.w()), dense(model, &cell.u()));
    let view = |name: &str| {
        let layout = model.network.layout();
        layout.view(name).map_or_else(Vec::new, |view| as_f64(&model.params[view.range()]))
    };
    let followed_losses = || followed.iter().filter_map(|sequence| sequence.loss).reduce(f64::max);
    let largest_loss = loss.and_then(|loss| loss.largest).or_else(followed_losses);
    Ok(Theory::of(&Ingredients {
        alpha,
        beta,
        steps: examples.x.max_steps(),
        sequences: examples.len(),
        sequences_are: part.meaning(is_trained),
        features: model.network.input(),
        units: cell.hidden,
        outputs: model.network.outputs,
        // Without an update, nothing goes through the nonlinearity.
        slope: (alpha > 0.0).then(|| largest_slope / alpha),
        norm_u: spectral_norm(&u, &mut first_vector(cell.hidden)),
        frobenius_u: frobenius(&u),
        frobenius_w: frobenius(&w),
        frobenius_head: frobenius(&view("head.w")),
        input: largest_input(model, examples)?,
        bias: view("layer0.b").iter().chain(&view("head.b")).fold(0.0, |top, b| top.max(b.abs())),
        first_loss,
        loss: loss.map(|loss| loss.mean),
        largest_loss,
        delta: options.delta,
    }))
}

/// The losses of sequences.
#[derive(Clone, Copy)]
struct Losses {
    mean: f64,
    /// The largest one, of classes.
    largest: Option<f64>,
}

fn losses(model: &Model, examples: &Examples, threads: usize) -> Result<Losses, AnalyzeError> {
    let (found, predictions) = model.evaluate(examples, threads)?;
    let is_of_classes = match (model.loss, &model.task) {
        (Loss::SoftmaxCrossEntropy, Task::Classes { .. }) => true,
        // One score for two classes.
        (Loss::BinaryCrossEntropy, Task::Classes { labels }) => {
            labels.len() == 2 && model.network.outputs == 1
        }
        _ => false,
    };
    let largest = match model.own_labels(&examples.y)? {
        Labels::Class { index, .. } if is_of_classes => {
            let probability = |(i, &class): (usize, &u32)| predictions.row(i).get(class as usize).copied();
            let probabilities = index.iter().enumerate().filter_map(probability);
            // A probability that an f32 rounds to 0 is at least the smallest that it holds.
            let loss = |p: f32| -f64::from(p.max(f32::MIN_POSITIVE)).ln();
            probabilities.map(loss).reduce(f64::max)
        }
        _ => None,
    };
    Ok(Losses { mean: found.scores.loss, largest })
}

/// A matrix of the first layer, multiplied out; row-major.
fn dense(model: &Model, matrix: &CellMatrix) -> Vec<f64> {
    let (rows, cols) = (matrix.rows, matrix.cols);
    let layout = model.network.layout();
    let tensor = |suffix: &str| {
        let view = layout.view(&format!("layer0.{}{suffix}", matrix.letter));
        view.map_or_else(Vec::new, |view| as_f64(&model.params[view.range()]))
    };
    match matrix.form {
        MatrixForm::Full => tensor(""),
        MatrixForm::LowRank(rank) => {
            let (left, right) = (tensor("1"), tensor("2"));
            let of = |at: usize| {
                let (i, j) = (at / cols, at % cols);
                (0..rank).map(|k| left[i * rank + k] * right[j * rank + k]).sum()
            };
            (0..rows * cols).map(of).collect()
        }
        MatrixForm::Diagonal => {
            let entries = tensor("");
            (0..rows * cols)
                .map(|at| if at / cols % cols == at % cols { entries[at / cols] } else { 0.0 })
                .collect()
        }
        MatrixForm::Absent => vec![0.0; rows * cols],
    }
}

/// The largest norm of the input of a time step, as the first layer reads it.
fn largest_input(model: &Model, examples: &Examples) -> Result<f64, AnalyzeError> {
    let norm = |step: &[f32]| step.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
    let (x, width) = (&examples.x, model.network.input());
    let mut largest = 0.0f64;
    let mut batch = model.network.empty_batch();
    for i in 0..x.len() {
        if let Some(vectors) = model.vectors() {
            let of_token =
                |&token: &u32| vectors.get(token as usize * width..).and_then(|v| v.get(..width)).map(norm);
            largest = x.tokens(i).iter().filter_map(of_token).fold(largest, f64::max);
            continue;
        }
        model.clear(&mut batch);
        model.push(&mut batch, x, i)?;
        largest = batch.sequence(0).chunks_exact(width).map(norm).fold(largest, f64::max);
    }
    Ok(largest.sqrt())
}

fn as_f64(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}
