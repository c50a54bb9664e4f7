//! The residual weights that a network has learnt.

use fastgrnn_core::cells::{Cell, Nonlinearity, NonlinearityF64, Scalar};
use fastgrnn_model::model::Model;
use serde::Serialize;

/// α, β, ζ or ν of a layer, after the sigmoid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResidualWeight {
    /// The layer, from 0.
    pub layer: usize,
    /// `alpha`, `beta`, `zeta` or `nu`.
    pub name: &'static str,
    /// `learnt`, `fixed` or `tied`.
    pub mode: &'static str,
    /// Its value; the mean where each unit has its own.
    pub value: f64,
    /// The smallest and the largest of the units.
    pub range: [f64; 2],
    /// The value before the training, where that is known.
    pub start: Option<f64>,
}

/// How far β is from 1 − α.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tie {
    /// The layer, from 0.
    pub layer: usize,
    /// The difference as a share of 1 − α.
    pub relative_difference: f64,
}

const NAMES: [&str; 4] = ["alpha", "beta", "zeta", "nu"];

/// The residual weights of all layers. `start` are the parameters before the training, where they are known.
pub(super) fn residual_weights(model: &Model, start: Option<&[f32]>) -> Vec<ResidualWeight> {
    let mut found = Vec::new();
    for (layer, cell) in model.network.layers.iter().enumerate() {
        for name in NAMES {
            let Some((values, mode)) = values(model, &model.params, layer, cell, name) else { continue };
            let before = start.and_then(|params| values_of(model, params, layer, cell, name));
            let range = [min(&values), -min(&values.iter().map(|v| -v).collect::<Vec<_>>())];
            let start = before.as_deref().map(mean);
            found.push(ResidualWeight { layer, name, mode, value: mean(&values), range, start });
        }
    }
    found
}

/// How far β is from 1 − α, in layers that have both and do not tie them.
pub(super) fn ties(weights: &[ResidualWeight]) -> Vec<Tie> {
    let of_layer = |layer: usize, name: &str| weights.iter().find(|w| w.layer == layer && w.name == name);
    let of_alpha = |alpha: &ResidualWeight| {
        let beta = of_layer(alpha.layer, "beta").filter(|beta| beta.mode != "tied")?;
        let rest = 1.0 - alpha.value;
        let relative_difference = (beta.value - rest).abs() / rest;
        relative_difference.is_finite().then_some(Tie { layer: alpha.layer, relative_difference })
    };
    weights.iter().filter(|w| w.name == "alpha").filter_map(of_alpha).collect()
}

fn values_of(
    model: &Model,
    params: &[f32],
    layer: usize,
    cell: &Cell,
    name: &'static str,
) -> Option<Vec<f64>> {
    values(model, params, layer, cell, name).map(|(values, _)| values)
}

/// The values of a residual weight, one for all units or one for each, and its mode.
fn values(
    model: &Model,
    params: &[f32],
    layer: usize,
    cell: &Cell,
    name: &'static str,
) -> Option<(Vec<f64>, &'static str)> {
    if !cell.kind.declaration().pointwise.iter().any(|p| p.name == name) {
        return None;
    }
    match cell.scalars.mode(name) {
        Scalar::Fixed(value) => Some((vec![f64::from(value)], "fixed")),
        Scalar::Tied => {
            let (alpha, _) = values(model, params, layer, cell, "alpha")?;
            Some((alpha.into_iter().map(|alpha| 1.0 - alpha).collect(), "tied"))
        }
        Scalar::Learnt => {
            let layout = model.network.layout();
            let view = layout.view(&format!("layer{layer}.{name}"))?;
            let of_raw = |&raw: &f32| Nonlinearity::Sigmoid.value(f64::from(raw));
            Some((params.get(view.range())?.iter().map(of_raw).collect(), "learnt"))
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
