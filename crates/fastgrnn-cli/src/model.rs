//! Loading models.

use crate::args::Engine;
use crate::flags::with_flags;
use crate::misuse::misuse;
use anyhow::Context;
use fastgrnn::model::{AnyModel, Model, Task};
use fastgrnn::quantize::{IntegerModel, QuantizeError};
use fastgrnn::train::MODEL_FILE;
use std::path::{Path, PathBuf};

/// The model file at a path: the path itself, or the model of a run folder.
pub fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(MODEL_FILE) } else { path.to_owned() }
}

/// The model in a file, or in the run folder that holds one.
pub fn load(path: &Path) -> anyhow::Result<AnyModel> {
    let file = file(path);
    AnyModel::load(&file).with_context(|| {
        let hint = if path.is_dir() { " (has the training finished?)" } else { "" };
        format!("cannot use the model {}{hint}", file.display())
    })
}

/// The model as `engine` computes it; by default what it is.
pub fn with_engine(model: AnyModel, engine: Option<Engine>, path: &Path) -> anyhow::Result<AnyModel> {
    match (engine, model) {
        (Some(Engine::Float), AnyModel::Integer(integer)) => Ok(AnyModel::Float(integer.model)),
        (Some(Engine::Integer), AnyModel::Float(model)) if matches!(model.task, Task::Sets { .. }) => {
            let path = path.display();
            Err(misuse(format!("{path} is a model of several labels, which has no integer form yet")))
        }
        (Some(Engine::Integer), AnyModel::Float(model)) => {
            Err(not_integer(&model, path, "which the integer engine cannot compute"))
        }
        (_, model) => Ok(model),
    }
}

/// The error for a float model where an integer one is needed, for this reason.
pub fn not_integer(model: &Model, path: &Path, why: &str) -> anyhow::Error {
    let path = path.display();
    if let Some(cell) = model.network.layers.iter().find(|cell| !cell.kind.declaration().has_integers()) {
        let problem = with_flags(&QuantizeError::Cell { cell: cell.kind }.to_string());
        return misuse(format!("{path} is a float model, {why}: {problem}"));
    }
    misuse(format!(
        "{path} is a float model, {why}; make an integer model first: \
         fastgrnn quantize {path} --calibrate DATASET -o integer.safetensors"
    ))
}

/// The model if it is an integer one, which listening and boards need.
pub fn integer(model: AnyModel, path: &Path) -> anyhow::Result<Box<IntegerModel>> {
    match with_engine(model, Some(Engine::Integer), path)? {
        AnyModel::Integer(integer) => Ok(integer),
        AnyModel::Float(_) => unreachable!("with_engine refused it"),
    }
}
