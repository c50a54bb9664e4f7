//! The figure by which networks are compared, as text.

use fastgrnn_core::format::{fraction, number};
use fastgrnn_core::metrics::{Metric, Scores};

/// The figure of these scores, or the loss where they lack it.
pub(super) fn score_text(metric: Metric, scores: &Scores, sd: Option<f64>) -> String {
    metric.of(scores).map_or_else(|| number(scores.loss), |share| fraction(share, sd))
}

/// The name of the figure in titles.
pub(super) fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Accuracy => "accuracy",
        Metric::F1Macro => "macro F1",
        Metric::F1 => "F1",
    }
}
