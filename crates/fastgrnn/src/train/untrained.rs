//! A network with the parameters from which a training starts.

use super::epoch::Pass;
use super::pass_data::PassData;
use super::start_parameters::StartParameters;
use super::{Config, Recipe, TrainError};
use fastgrnn_data::data::Dataset;
use fastgrnn_engine::materialised;
use fastgrnn_model::model::Model;

/// The network of `config` before its training, with the normalisation of all training data.
///
/// ```
/// use fastgrnn::data::{self, Request};
/// use fastgrnn::train::{Recipe, starting_model};
/// let data = data::load(&Request::new("digits"))?;
/// let model = starting_model(&Recipe::default().resolve(&data)?, &data, 7)?;
/// assert_eq!((model.network.outputs, model.seed), (10, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn starting_model(config: &Config, data: &Dataset, seed: u64) -> Result<Model, TrainError> {
    let all = (0..data.train.len() as u32).collect();
    let model = PassData::new(config, data, seed, Pass::Refit, all)?.model;
    let params = StartParameters::new(config, data)?.of_seed(config, data, seed);
    let (network, params) = materialised(&model.network, &params);
    Ok(Model { network, params, ..model })
}

impl Recipe {
    /// The settings that a model remembers of its training, with its own seed.
    pub fn of_model(model: &Model) -> Self {
        let remembered = model.recipe.clone();
        let recipe = Self {
            source: remembered.source,
            data: remembered.data,
            audio: remembered.audio,
            text: remembered.text,
            preparation: remembered.preparation,
            network: remembered.network,
            parameters: remembered.parameters,
            sparsity: remembered.sparsity,
            quantization: remembered.quantization,
            training: remembered.training,
            ..Self::default()
        };
        recipe.with(|r| (r.training.seed, r.training.seeds) = (Some(model.seed), Some(1)))
    }
}
