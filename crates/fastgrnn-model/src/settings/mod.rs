//! The settings of a training run that decide its result, and what a model remembers of them.
//!
//! The keys are declared in `declaration` with [`settings!`](fastgrnn_core::settings!); those about
//! data are declared in [`fastgrnn_data`], limits of a board in [`device`](crate::device). Types whose
//! values are more than a number or a name have files of their own.

mod augment;
mod declaration;
mod gate_gain;
mod input_layer;
mod recipe;
mod share;
mod stage;
mod values;

pub use augment::AugmentSetting;
pub use declaration::{
    MAX_HIDDEN, MOMENTUM, PLATEAU_EPOCHS, PLATEAU_FACTOR, SEQUENCE_LENGTH, TEACHER_TEMPERATURE,
    TEACHER_WEIGHT, VAL_SPLIT,
};
pub use declaration::{
    NetworkConfig, NetworkRecipe, ParameterConfig, ParameterRecipe, PreparationConfig, PreparationRecipe,
    QuantizationConfig, QuantizationRecipe, SparsityConfig, SparsityRecipe, TrainingConfig, TrainingRecipe,
};
pub use gate_gain::GateGainConflict;
pub use input_layer::InputLayer;
pub use recipe::ModelRecipe;
pub use share::ClassShare;
pub use stage::{DEFAULT_PROJECTION_INTERVAL, Stage, StageKind, StageName, Stages};
pub use values::{
    Axes, ClassWeight, FormSetting, Numbers, Optimizer, Rank, ReadoutSetting, RecurrentForm, Refit,
    SPECTRAL_MARGIN, SPECTRAL_REFLECTIONS, ScalarSetting, Schedule,
};
