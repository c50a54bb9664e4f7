//! What commands that use a model share.

use anyhow::Context;
use fastgrnn::data::{LabelKind, Request};
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

/// How the model's training data were read: what a flag leaves out is done as it was then.
pub fn request_of(model: &Model) -> Request {
    let recipe: Option<Recipe> = serde_json::from_value(serde_json::Value::Object(model.recipe.clone())).ok();
    let labels = if model.labels().is_empty() { LabelKind::Value } else { LabelKind::Class };
    let request = recipe.map(|r| r.request()).unwrap_or_default();
    Request { expect_dim: Some(model.network.input()), labels, ..request }
}
