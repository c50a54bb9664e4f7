//! The theory of the FastGRNN paper, measured on a network.
//!
//! [`analyze`] follows a network in f64 along sequences that it was trained on. It measures the product of the Jacobians of
//! the last steps, whose condition number the paper bounds, and the gradient of the loss by the state after each step. It
//! also reads the learnt residual weights, measures a trained network from random initial states, and evaluates the
//! paper's bounds of convergence and generalisation.
//!
//! ```
//! use fastgrnn::analyze::{AnalyzeOptions, analyze};
//! use fastgrnn::data::{self, Request};
//! use fastgrnn::train::{Recipe, starting_model};
//! let data = data::load(&Request::new("digits"))?;
//! let recipe = Recipe::default().with(|r| {
//!     r.network.cell = Some(fastgrnn::cells::CellKind::FastRnn);
//!     r.network.hidden = Some(8);
//! });
//! let model = starting_model(&recipe.resolve(&data)?, &data, 0)?;
//! let options = AnalyzeOptions { examples: 5, ..AnalyzeOptions::default() };
//! let found = analyze(&model, false, &data, &options, &|| false, &mut |_, _| {})?;
//! let last = found.products[0].points.last().unwrap();
//! let (condition, bound) = (last.log10_condition.unwrap(), last.log10_bound.unwrap());
//! assert!(last.steps == 8 && condition.max <= bound.max);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod flow;
mod measure;
mod outcome;
mod part;
mod scalars;
mod spectrum;
mod spread;
mod theory;
mod work;

pub use error::AnalyzeError;
pub use outcome::{
    Analysis, AnalyzeOptions, GradientPoint, InitialStates, LayerGradients, LayerProducts, ProductPoint,
};
pub use part::TrainingPart;
pub use scalars::{ResidualWeight, Tie};
pub use spectrum::ProductSpectrum;
pub use spread::Spread;
pub use theory::{BoundQuantity, Condition, Convergence, Generalization, Theory};

use fastgrnn_data::data::{Dataset, Examples, Labels};
use fastgrnn_model::model::{Model, Task};

/// Most units of a layer: the matrices of every step are taken apart.
const MOST_UNITS: usize = 512;
/// Most bytes of states in f64, of one sequence.
const MOST_BYTES: usize = 2 << 30;
/// Bytes that the reference keeps of a unit and a step.
const UNIT_BYTES: usize = 160;
/// The longest distance that is chosen where none is given.
const FAR: usize = 1_024;

/// Measures a network on a data set. `stop` is asked often whether to end, and `watch` is given how many sequences are
/// done, and of how many.
pub fn analyze(
    model: &Model,
    is_trained: bool,
    data: &Dataset,
    options: &AnalyzeOptions,
    stop: &(dyn Fn() -> bool + Sync),
    watch: &mut dyn FnMut(usize, usize),
) -> Result<Analysis, AnalyzeError> {
    let part = TrainingPart::of(model, data);
    let examples = &*part.examples(model, data);
    let longest = check(model, &data.name, examples)?;
    let steps = wanted_steps(&options.steps, longest, &data.name)?;
    let labels = match examples.y {
        Labels::None => None,
        _ => Some(model.own_labels(&examples.y)?),
    };
    let follower = flow::Follower::new(model, examples, labels.as_ref(), &steps, stop);
    let count = options.examples.clamp(1, examples.len());
    let of_place = |place: usize| follower.follow(place * examples.len() / count);
    let followed = work::in_parallel(count, options.threads, of_place, watch)?;
    let start = is_trained.then(|| measure::start_of(model, data)).flatten();
    let weights = scalars::residual_weights(model, start.as_ref().map(|start| &start.params[..]));
    let products = measure::products(model, &followed, &steps, &weights);
    let initial_state = match is_trained && labels.is_some() {
        true => Some(measure::initial_states(model, data, options)?),
        false => None,
    };
    if stop() {
        return Err(AnalyzeError::Stopped);
    }
    let network = &model.network;
    let measured = measure::Measured { examples, part, is_trained, start: start.as_ref() };
    Ok(Analysis {
        cell: network.main_cell().kind.name(),
        layers: network.layers.len(),
        units: network.hidden(),
        trained: is_trained,
        nonlinearity: network.main_cell().update.name(),
        dataset: data.name.clone(),
        training_part: part,
        training_sequences: examples.len(),
        held_out: data.train.len() - examples.len(),
        sequences: count,
        steps: longest,
        products,
        gradients: measure::gradients(&followed),
        ties: scalars::ties(&weights),
        theory: measure::theory(model, &measured, &followed, &weights, options)?,
        residual_weights: weights,
        initial_state,
    })
}

/// Refuses what cannot be followed; returns the steps of the longest sequence.
fn check(model: &Model, dataset: &str, examples: &Examples) -> Result<usize, AnalyzeError> {
    if model.task == Task::NextToken {
        return Err(AnalyzeError::LanguageModel);
    }
    let longest = examples.x.max_steps();
    if examples.is_empty() || longest == 0 || examples.x.min_steps() == 0 {
        return Err(AnalyzeError::NoData { dataset: dataset.to_owned() });
    }
    model.check_sequences(&examples.x)?;
    let layers = &model.network.layers;
    if let Some((layer, cell)) = layers.iter().enumerate().find(|(_, cell)| cell.hidden > MOST_UNITS) {
        return Err(AnalyzeError::TooWide { layer, hidden: cell.hidden, most: MOST_UNITS });
    }
    let hidden = layers.iter().map(|cell| cell.hidden).sum::<usize>();
    if hidden.saturating_mul(longest).saturating_mul(UNIT_BYTES) > MOST_BYTES {
        return Err(AnalyzeError::TooLong { steps: longest, hidden });
    }
    Ok(longest)
}

/// The numbers of steps over which Jacobians are multiplied, ascending.
fn wanted_steps(given: &[usize], longest: usize, dataset: &str) -> Result<Vec<usize>, AnalyzeError> {
    let mut steps: Vec<usize> = given.to_vec();
    if steps.is_empty() {
        steps.extend((0..).map(|power| 1 << power).take_while(|&n| n < longest.min(FAR)));
        steps.push(longest.min(FAR));
    }
    steps.sort_unstable();
    steps.dedup();
    match steps.iter().find(|&&n| n == 0 || n > longest) {
        Some(&asked) => Err(AnalyzeError::Steps { asked, most: longest, dataset: dataset.to_owned() }),
        None => Ok(steps),
    }
}

#[cfg(test)]
mod tests;
