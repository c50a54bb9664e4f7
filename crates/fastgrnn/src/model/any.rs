//! A model of either kind.

use super::file::read_file;
use super::{Model, ModelError, ModelProblem, Opened};
use crate::quantize::IntegerModel;
use std::path::Path;

/// What a model file holds.
#[derive(Clone, Debug, PartialEq)]
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
        match file.scales() {
            Some(_) => IntegerModel::read(file).map(|model| Self::Integer(Box::new(model))),
            None => Model::read(file).map(Self::Float),
        }
    }

    /// Reads a model file, which may be anything.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let bytes = read_file(path)?;
        Self::from_bytes(&bytes).map_err(|problem| ModelError::Invalid { path: path.to_owned(), problem })
    }

    /// The model as the float engine uses it; an integer one with what its integers stand for.
    pub fn float(&self) -> &Model {
        match self {
            Self::Float(model) => model,
            Self::Integer(integer) => &integer.model,
        }
    }
}
