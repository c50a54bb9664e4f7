//! A model of either kind.

use crate::model::{
    FLOAT_FORMAT, FORMAT_VERSION, Model, ModelError, ModelProblem, Opened, Predictions, Sizes, load_file,
};
use crate::quantize::{IntegerModel, Saturations};
use fastgrnn_core::metrics::Evaluation;
use fastgrnn_data::data::{Examples, Sequences};
use std::path::Path;

/// What a model file holds.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a command holds one or two of them")]
pub enum AnyModel {
    /// A float model.
    Float(Model),
    /// An integer model.
    Integer(Box<IntegerModel>),
}

impl AnyModel {
    /// Reads the bytes of a model file, which may be anything.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelProblem> {
        let file = Opened::new(bytes)?;
        match file.is_integer() {
            true => IntegerModel::read(file).map(|model| Self::Integer(Box::new(model))),
            false => Model::read(file).map(Self::Float),
        }
    }

    /// Reads a model file, which may be anything.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        load_file(path.as_ref(), Self::from_bytes)
    }

    /// The model as the float engine uses it; an integer one with what its integers stand for.
    pub fn float(&self) -> &Model {
        match self {
            Self::Float(model) => model,
            Self::Integer(integer) => &integer.model,
        }
    }

    /// Which engine predicts with it: `float` or `integer`.
    pub fn engine(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Integer(_) => "integer",
        }
    }

    /// The format of its file.
    pub fn format(&self) -> u64 {
        match self {
            Self::Float(_) => FLOAT_FORMAT,
            Self::Integer(_) => FORMAT_VERSION,
        }
    }

    /// Predicts every sequence with the model's own engine; an integer one also says what
    /// saturated.
    pub fn predict(
        &self,
        x: &Sequences,
        threads: usize,
    ) -> Result<(Predictions, Option<Saturations>), ModelError> {
        match self {
            Self::Float(model) => Ok((model.predict(x, threads)?, None)),
            Self::Integer(integer) => integer.predict(x, threads).map(|(p, s)| (p, Some(s))),
        }
    }

    /// Predicts every example and compares with its label, matching classes by name; an integer
    /// model also says what saturated.
    pub fn evaluate(
        &self,
        examples: &Examples,
        threads: usize,
    ) -> Result<(Evaluation, Predictions, Option<Saturations>), ModelError> {
        match self {
            Self::Float(model) => model.evaluate(examples, threads).map(|(e, p)| (e, p, None)),
            Self::Integer(integer) => integer.evaluate(examples, threads).map(|(e, p, s)| (e, p, Some(s))),
        }
    }
}

impl AnyModel {
    /// Where the bytes go: of the device image, or of the f32 parameters.
    pub fn sizes(&self) -> Sizes {
        match self {
            Self::Float(model) => model.sizes(),
            Self::Integer(integer) => integer.sizes(),
        }
    }

    /// RAM that inference needs.
    pub fn ram_bytes(&self) -> usize {
        match self {
            Self::Float(model) => model.ram_bytes(),
            Self::Integer(integer) => integer.ram_bytes(),
        }
    }

    /// Weights that are not 0, the head's included.
    pub fn nonzero(&self) -> usize {
        match self {
            Self::Float(model) => model.nonzero(),
            Self::Integer(integer) => integer.nonzero(),
        }
    }

    /// Multiplications with weights in a step of all layers, without the head's.
    pub fn macs_per_step(&self) -> usize {
        match self {
            Self::Float(model) => model.macs_per_step(),
            Self::Integer(integer) => integer.macs_per_step(),
        }
    }
}
