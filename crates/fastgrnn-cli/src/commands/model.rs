//! What commands that use a model share.

use crate::args::ReadArgs;
use anyhow::Context;
use fastgrnn::data::{Inherited, LabelKind, Request};
use fastgrnn::model::Model;
use fastgrnn::train::Recipe;
use std::path::Path;

/// The model in a file, or in the run folder that holds one.
pub fn load(path: &Path) -> anyhow::Result<Model> {
    let inside = path.join("model.safetensors");
    let file = if path.is_dir() { &inside } else { path };
    Model::load(file).with_context(|| {
        let hint = if path.is_dir() { " (has the training finished?)" } else { "" };
        format!("cannot use the model {}{hint}", file.display())
    })
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
        let mut model = load(&fixtures.join("model-v1.safetensors")).unwrap();
        assert!(request_of(&model, &ReadArgs::default()).is_ok());
        model.recipe.insert("window".into(), "wide".into());
        let error = request_of(&model, &ReadArgs::default()).unwrap_err();
        assert!(error.to_string().contains("recipe"), "{error}");
    }
}
