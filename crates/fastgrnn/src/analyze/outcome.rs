//! What is measured, and what was found.

use super::part::TrainingPart;
use super::scalars::{ResidualWeight, Tie};
use super::spread::Spread;
use super::theory::Theory;
use fastgrnn_core::metrics::Scores;
use serde::Serialize;

/// How much is measured. Results do not depend on `threads`.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzeOptions {
    /// Sequences that are followed, spread over those that the network was trained on.
    pub examples: usize,
    /// Numbers of steps over which Jacobians are multiplied; if there are none, powers of two and the longest sequence.
    pub steps: Vec<usize>,
    /// Random initial states from which a trained network is measured.
    pub states: usize,
    /// The probability with which the generalisation bound may fail.
    pub delta: f64,
    /// Worker threads.
    pub threads: usize,
}

impl Default for AnalyzeOptions {
    fn default() -> Self {
        Self { examples: 20, steps: Vec::new(), states: 3, delta: 0.05, threads: 1 }
    }
}

/// What was found about a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The cell of its first layer.
    pub cell: &'static str,
    /// Layers.
    pub layers: usize,
    /// Units of the last layer.
    pub units: usize,
    /// Whether it was trained, or has the parameters from which a training starts.
    pub trained: bool,
    /// Nonlinearity of the update of its first layer.
    pub nonlinearity: &'static str,
    /// The data set.
    pub dataset: String,
    /// Which of its training sequences are analysed.
    pub training_part: TrainingPart,
    /// How many these are.
    pub training_sequences: usize,
    /// Sequences of the training data that are left out, because a training holds them out for validation.
    pub held_out: usize,
    /// Sequences that were followed.
    pub sequences: usize,
    /// Steps of the longest sequence that is analysed.
    pub steps: usize,
    /// Products of Jacobians, layer by layer.
    pub products: Vec<LayerProducts>,
    /// Gradients of the loss by the states, layer by layer; empty without labels.
    pub gradients: Vec<LayerGradients>,
    /// α, β, ζ and ν.
    pub residual_weights: Vec<ResidualWeight>,
    /// How far β is from 1 − α.
    pub ties: Vec<Tie>,
    /// Scores from random initial states; nothing for a network that was not trained, or without labels.
    pub initial_state: Option<InitialStates>,
    /// The paper's bounds.
    pub theory: Theory,
}

/// Products of the Jacobians of one layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerProducts {
    /// The layer, from 0.
    pub layer: usize,
    /// Its cell.
    pub cell: &'static str,
    /// What the paper says about the condition number, and where that applies.
    pub statement: String,
    /// α/β·max‖UᵀD‖ of the sequences, for a FastRNN; the bound applies where it is below 1.
    pub ratio: Option<Spread>,
    /// One for each number of steps.
    pub points: Vec<ProductPoint>,
}

/// The product of the Jacobians of the last `steps` steps. Figures are decimal logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProductPoint {
    /// T − t.
    pub steps: usize,
    /// Sequences that are as long.
    pub sequences: usize,
    /// Sequences whose product is singular to the accuracy of f64, so that its condition number is infinite and the
    /// logarithm of its smallest singular value is −∞. They count in all figures.
    pub singular: usize,
    /// Ratio of the largest to the smallest singular value.
    pub log10_condition: Option<Spread>,
    /// The largest singular value.
    pub log10_largest: Option<Spread>,
    /// The smallest one.
    pub log10_smallest: Option<Spread>,
    /// The paper's bound of the condition number.
    pub log10_bound: Option<Spread>,
    /// Sequences to which the bound applies.
    pub bounded: usize,
}

/// The gradient of the loss by the states of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerGradients {
    /// The layer, from 0.
    pub layer: usize,
    /// One for each distance from the last step, at most some hundred of them.
    pub points: Vec<GradientPoint>,
}

/// The norm of the gradient of the loss by a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GradientPoint {
    /// Steps between the state and the end of the sequence: T − t.
    pub before_end: usize,
    /// Sequences that are as long.
    pub sequences: usize,
    /// Sequences whose gradient is 0 there, so that its logarithm is −∞. They count in the figures.
    pub zero: usize,
    /// Decimal logarithm of the norm.
    pub log10_norm: Option<Spread>,
}

/// Scores of a network from several initial states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InitialStates {
    /// The part of the data set: `test`, `val` or `all`.
    pub part: &'static str,
    /// From the state 0.
    pub zero: Scores,
    /// From random states.
    pub random: Vec<Scores>,
}
