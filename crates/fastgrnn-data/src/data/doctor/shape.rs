//! Steps and features that seem exchanged.

use super::super::{Dataset, Finding, FindingCode};

/// More steps than this are no list of channels.
const MOST_CHANNELS: usize = 16;
/// Sequences that are looked at.
const SAMPLE: usize = 64;
/// How much smoother values must be along the features than along the steps.
const SMOOTHER: f64 = 4.0;

/// Signals change little from one step to the next. If the values change much less from one feature to
/// the next, and there are few steps of many features, the axes are exchanged.
pub(super) fn examine(data: &Dataset) -> Option<Finding> {
    let (x, dim) = (&data.train.x, data.train.x.dim());
    let steps = x.max_steps();
    let is_possible = data.image.is_none()
        && data.audio.is_none()
        && data.features.is_none()
        && x.min_steps() == steps
        && (2..=MOST_CHANNELS).contains(&steps)
        && dim >= 4 * steps;
    if !is_possible {
        return None;
    }
    let (mut along_steps, mut along_features) = (0.0, 0.0);
    for i in 0..x.len().min(SAMPLE) {
        let values = x.get(i);
        let square = |a: f32, b: f32| f64::from(a - b).powi(2);
        along_steps += values.iter().zip(&values[dim..]).map(|(&a, &b)| square(a, b)).sum::<f64>()
            / ((steps - 1) * dim) as f64;
        let rows = values.chunks_exact(dim);
        along_features +=
            rows.flat_map(|row| row.windows(2)).map(|pair| square(pair[0], pair[1])).sum::<f64>()
                / (steps * (dim - 1)) as f64;
    }
    (along_features * SMOOTHER < along_steps).then(|| {
        Finding::warning(
            FindingCode::ChannelsFirst,
            format!(
                "sequences of {steps} steps with {dim} features each look like {steps} channels of {dim} steps"
            ),
            "store x as [sequences, steps, features], in Python x.transpose(0, 2, 1)",
        )
    })
}
