//! What commands that use a model share.

use crate::args::{Engine, ReadArgs};
use crate::misuse::misuse;
use anyhow::Context;
use fastgrnn::data::{Inherited, LabelKind, Request};
use fastgrnn::model::{AnyModel, Model};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::train::Recipe;
use std::path::{Path, PathBuf};

/// The model file that a person means: the path itself, or the model of a run folder.
pub fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("model.safetensors") } else { path.to_owned() }
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
        (Some(Engine::Integer), AnyModel::Float(_)) => Err(misuse(format!(
            "{0} is a float model, which the integer engine cannot compute; make an integer model first: \
             fastgrnn quantize {0} --calibrate DATASET -o integer.safetensors",
            path.display()
        ))),
        (_, model) => Ok(model),
    }
}

/// The model if it is an integer one, which listening and boards need.
pub fn integer(model: AnyModel, path: &Path) -> anyhow::Result<Box<IntegerModel>> {
    match with_engine(model, Some(Engine::Integer), path)? {
        AnyModel::Integer(integer) => Ok(integer),
        AnyModel::Float(_) => unreachable!("with_engine refused it"),
    }
}

/// How to read data for the model: what a flag of `read` leaves out is done as it was in training.
pub fn request_of(model: &Model, read: &ReadArgs) -> anyhow::Result<Request> {
    let recipe: Recipe = serde_json::from_value(serde_json::Value::Object(model.recipe.clone()))
        .context("cannot understand the recipe in the model file; was it written by a newer version?")?;
    let labels = if model.labels().is_empty() { LabelKind::Value } else { LabelKind::Class };
    let inherited = Inherited {
        id_col: read.id_col.is_none(),
        label_col: read.label_col.is_none(),
        group_col: read.group_col.is_none(),
        columns: read.columns.is_none(),
        drop: read.drop.is_none(),
    };
    let mut request = Request { expect: Some(model.expects()), inherited, labels, ..recipe.request() };
    if read.window.is_some() {
        // Another window does not go with the stride of the old one.
        request.stride = None;
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_that_cannot_be_understood_is_an_error_and_not_the_defaults() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fastgrnn/tests/fixtures");
        let model = load(&fixtures.join("model-v1.safetensors")).unwrap();
        let mut model = model.float().clone();
        assert!(request_of(&model, &ReadArgs::default()).is_ok());
        model.recipe.insert("window".into(), "wide".into());
        let error = request_of(&model, &ReadArgs::default()).unwrap_err();
        assert!(error.to_string().contains("recipe"), "{error}");
    }
}
