//! What was found, as data.

use super::choose::Choice;
use super::count::Counts;
use super::count::Latency;
use super::schedule::Schedule;
use super::settings::EvalSettings;
use fastgrnn_model::quantize::Detector;
use fastgrnn_report::{Dot, Scatter, Series};
use serde::Serialize;

/// A stream and what was heard in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamResult {
    /// Its length.
    pub minutes: f64,
    /// Words that are no targets.
    pub others: usize,
    /// Hits and misses.
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of the targets that were missed.
    pub false_reject_rate: f64,
    /// False positives by the stream's time.
    pub false_positives_per_hour: f64,
    /// From the word's end to its detection, in frames; none without a hit.
    pub latency: Option<Latency>,
    /// What it was heard with.
    #[serde(skip)]
    pub threshold: u16,
    /// See there.
    #[serde(skip)]
    pub smoothing: u8,
}

impl StreamResult {
    pub(super) fn new(schedule: &Schedule, choice: Choice, settings: &EvalSettings) -> Self {
        let Choice { threshold, smoothing, counts } = choice;
        let minutes = schedule.frames as f64 / settings.rate / 60.0;
        Self {
            minutes,
            others: schedule.items.len() - counts.targets,
            false_reject_rate: counts.reject_rate(),
            false_positives_per_hour: counts.false_positives as f64 * 60.0 / minutes,
            latency: Latency::of(&counts.latencies),
            counts,
            threshold,
            smoothing,
        }
    }
}

/// Every clip that is no target, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Negatives {
    /// How many.
    pub clips: usize,
    /// How long they last.
    pub hours: f64,
    /// Detections.
    pub false_accepts: usize,
    /// Detections an hour.
    pub per_hour: f64,
}

/// What a threshold does, with the chosen smoothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetPoint {
    /// The threshold.
    pub threshold: f64,
    /// Share of the test part's targets that are missed in noise.
    pub false_reject_rate: f64,
    /// Detections an hour in the clips that are no targets.
    pub false_accepts_per_hour: f64,
}

/// Everything about a model on streams.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalReport {
    /// The detector, its operating point chosen on validation.
    pub detector: Detector,
    /// The validation stream at that point.
    pub validation: StreamResult,
    /// The test stream.
    pub stream: StreamResult,
    /// The test clips that are no targets.
    pub negatives: Negatives,
    /// Targets that the curve's rejects are measured on.
    pub det_targets: usize,
    /// The curve, by rising threshold.
    pub det: Vec<DetPoint>,
}

impl EvalReport {
    /// The curve as a picture: rejects over accepts.
    pub fn svg(&self) -> Option<String> {
        let dot = |p: &DetPoint, front: bool| Dot {
            x: p.false_accepts_per_hour,
            y: p.false_reject_rate,
            title: format!(
                "threshold {:.4}: {:.1} % rejected, {:.2} accepts an hour",
                p.threshold,
                100.0 * p.false_reject_rate,
                p.false_accepts_per_hour
            ),
            front,
        };
        let chosen = DetPoint {
            threshold: f64::from(self.detector.threshold) / f64::from(Detector::ONE),
            false_reject_rate: self.stream.false_reject_rate,
            false_accepts_per_hour: self.negatives.per_hour,
        };
        let series = vec![
            Series {
                name: format!("{} targets in noise", self.det_targets),
                dots: self.det.iter().map(|p| dot(p, true)).collect(),
            },
            Series { name: "chosen on validation, test stream".into(), dots: vec![dot(&chosen, false)] },
        ];
        let plot = Scatter {
            title: "Targets rejected".into(),
            x_label: "false accepts an hour".into(),
            fraction: true,
            series,
        };
        plot.svg()
    }
}
