//! What a model remembers of its training.

use super::{
    NetworkRecipe, ParameterRecipe, PreparationRecipe, QuantizationRecipe, SparsityRecipe, TrainingRecipe,
};
use fastgrnn_core::settings_groups;
use fastgrnn_data::data::{AudioRecipe, DataRecipe, SourceRecipe, TextRecipe};

settings_groups! {
    /// The settings that a model was trained with, without those that name places or limits.
    ///
    /// A trained model has the final value of every other key; a random model only those of its
    /// network.
    ModelRecipe {
        /// Which data was used.
        source: SourceRecipe,
        /// How the data was read.
        data: DataRecipe,
        /// How recordings became features.
        audio: AudioRecipe,
        /// How texts became tokens.
        text: TextRecipe,
        /// How sequences were prepared.
        preparation: PreparationRecipe,
        /// The shape of the network.
        network: NetworkRecipe,
        /// Which parameters were learnt.
        parameters: ParameterRecipe,
        /// How many entries of the matrices were kept.
        sparsity: SparsityRecipe,
        /// Whether and how the model became an integer model.
        quantization: QuantizationRecipe,
        /// How the network was trained.
        training: TrainingRecipe,
    }
}
