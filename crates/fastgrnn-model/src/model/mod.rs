//! A trained model: everything needed to predict, in one file.
//!
//! The file is safetensors, so that any ecosystem can open it. Parameters are tensors named as in
//! the [`Layout`](fastgrnn_core::net::Layout); the normalisation's numbers are tensors too; one metadata
//! key, `fastgrnn`, holds the rest as JSON with sorted keys. Nothing in it differs between
//! identical runs: no time, path or thread count.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind, Start};
//! use fastgrnn_model::model::{Model, Task};
//! use fastgrnn_core::net::Network;
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 2, 4)], 2);
//! let params = net.start(Start::default(), 10, 0);
//! let labels = vec!["still".to_string(), "moving".to_string()];
//! let model = Model::new(net, params, Task::Classes { labels });
//! let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
//! assert_eq!(model, again);
//! ```

mod decision;
mod digest;
mod error;
mod file;
mod predict;
mod scorer;
mod sets;
mod size;
mod threshold;
mod token_loss;
mod usage;

pub use decision::{Cut, Decision, best_cut, threshold};
pub use digest::{check_digest, with_digest, without_digest};
pub use error::{ModelError, ModelProblem};
pub use file::{
    FLOAT_FORMAT, FORMAT_VERSION, Opened, Tensor, bytes, floats, load_file, write_file, write_tensors,
};
pub use predict::Predictions;
pub use scorer::Scorer;
pub use sets::SetPrediction;
pub(crate) use size::kept_bytes;
pub use size::{Sizes, bytes_as_in_paper};
pub use usage::{DataPart, PartError};

use crate::settings::ModelRecipe;
use fastgrnn_core::net::{EMBEDDING, InitialState, Loss, Network};
use fastgrnn_data::data::Normalizer;
use fastgrnn_data::features::Spec;
use fastgrnn_data::text::TextFormat;

/// What the outputs mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Scores of classes.
    Classes {
        /// Names of the classes, in order.
        labels: Vec<String>,
    },
    /// Scores of labels, several of which a sequence may have, or none.
    Sets {
        /// Names of the labels, in order.
        labels: Vec<String>,
        /// The probability of a label, as training understood it, above which the model decides for it; 0.5
        /// where nothing was chosen. It lies in the head already: the model's own probabilities are above
        /// one half where it decides for a label.
        threshold: f64,
    },
    /// Numbers. The network computes `(value − mean) / scale`, so that targets of any size train
    /// alike.
    Values {
        /// Mean of each target over the training part.
        mean: Vec<f32>,
        /// Deviation of each.
        scale: Vec<f32>,
    },
    /// Scores of the token after each step.
    NextToken,
}

/// A trained network and what is needed to use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The network.
    pub network: Network,
    /// Its parameters, in the network's layout.
    pub params: Vec<f32>,
    /// What the outputs mean.
    pub task: Task,
    /// What was minimised; decides how scores become probabilities.
    pub loss: Loss,
    /// The class to be found and the threshold that is in the head, of a model with one.
    pub decision: Option<Decision>,
    /// What is done to the input first.
    pub normalizer: Normalizer,
    /// The state before the first step.
    pub initial_state: InitialState,
    /// The seed it was trained with; random initial states are drawn from it.
    pub seed: u64,
    /// Names of the features, where the data had them.
    pub features: Option<Vec<String>>,
    /// How features are made from audio, where the model listens.
    pub audio: Option<Spec>,
    /// How tokens are made from texts, where the model reads.
    pub text: Option<TextFormat>,
    /// What the data set was called.
    pub dataset: String,
    /// Steps of the longest training sequence.
    pub steps: usize,
    /// The settings it was trained with, without paths.
    pub recipe: ModelRecipe,
}

impl Model {
    /// A model that takes its input as it is, starts from a zero state and has no history.
    pub fn new(network: Network, params: Vec<f32>, task: Task) -> Self {
        let loss = match task {
            Task::Classes { .. } | Task::NextToken => Loss::SoftmaxCrossEntropy,
            Task::Sets { .. } => Loss::BinaryCrossEntropy,
            Task::Values { .. } => Loss::SquaredError,
        };
        Self {
            network,
            params,
            task,
            loss,
            decision: None,
            normalizer: Normalizer { mode: fastgrnn_data::data::Normalize::None, ..Normalizer::default() },
            initial_state: InitialState::Zero,
            seed: 0,
            features: None,
            audio: None,
            text: None,
            dataset: String::new(),
            steps: 0,
            recipe: ModelRecipe::default(),
        }
    }

    /// The number of parameters, without the steps of matrices of 4 bits.
    pub fn parameter_count(&self) -> usize {
        self.network.layout().count()
    }

    /// Bytes of the parameters as f32.
    pub fn parameter_bytes(&self) -> usize {
        4 * self.parameter_count()
    }

    /// The vectors of the tokens, one after the other, where the model reads texts.
    pub fn vectors(&self) -> Option<&[f32]> {
        let layout = self.network.layout();
        layout.view(EMBEDDING).map(|view| &self.params[view.range()])
    }

    /// The states that sequences start from, layer by layer; empty for 0 and for random ones.
    pub fn start_states(&self) -> Vec<f32> {
        let units: usize = self.network.layers.iter().map(|c| c.hidden).sum();
        match &self.initial_state {
            InitialState::Given(values) if values.len() == 1 => vec![values[0]; units],
            InitialState::Given(values) => values.clone(),
            InitialState::Zero | InitialState::Random => Vec::new(),
        }
    }

    /// Names of the classes, or of the labels of which sequences have several; empty for regression.
    pub fn labels(&self) -> &[String] {
        match &self.task {
            Task::Classes { labels } | Task::Sets { labels, .. } => labels,
            Task::Values { .. } | Task::NextToken => &[],
        }
    }
}
