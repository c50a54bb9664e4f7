//! A detector as people read it, and as flags change it.

use crate::args::{DetectorArgs, ResetArg};
use crate::misuse::misuse;
use fastgrnn::quantize::{Detector, IntegerModel, Reset};
use fastgrnn::report::number;
use serde_json::{Value, json};

/// The detector as JSON, with keywords by name and the threshold as a number.
pub fn json(model: &IntegerModel, detector: &Detector) -> Value {
    json!({
        "keywords": detector.names(model.model.labels()),
        "threshold": share(detector.threshold),
        "smoothing": detector.smoothing,
        "refractory": detector.refractory,
        "warm_up": detector.warm_up,
        "reset": reset(model, detector.reset),
    })
}

/// The detector in words.
pub fn describe(model: &IntegerModel, detector: &Detector) -> String {
    let mut text = format!(
        "reports {} at {:.4} of an average over {} frames, then rests {} frames; reset: {}",
        detector.names(model.model.labels()).join(", "),
        share(detector.threshold),
        1_u32 << detector.smoothing,
        detector.refractory,
        reset(model, detector.reset)
    );
    if detector.warm_up > 0 {
        text.push_str(&format!("; warm-up {} frames", detector.warm_up));
    }
    text
}

/// A posterior or threshold as a number up to 1.
pub fn share(value: u16) -> f64 {
    f64::from(value) / f64::from(Detector::ONE)
}

fn reset(model: &IntegerModel, reset: Reset) -> String {
    match reset {
        Reset::Never => "never".to_owned(),
        Reset::Every(frames) => format!("every {frames} frames"),
        Reset::Quiet { frames, level } => {
            let lsb = &model.network.input.lsb;
            let level = match lsb.iter().all(|v| v == &lsb[0]) {
                true => number(f64::from(level) * f64::from(lsb[0])),
                false => format!("{level} counts"),
            };
            format!("after {frames} frames whose mean is below {level}")
        }
    }
}

impl DetectorArgs {
    /// The model's detector, or a default one, with what the flags change.
    pub fn apply(&self, model: &IntegerModel) -> anyhow::Result<Detector> {
        let labels = model.model.labels();
        let mut detector = match (&self.keywords, model.detector()) {
            (_, Some(own)) => own.clone(),
            (None, None) => Detector::of(labels)?,
            // Classes that are no keywords by name can be by request.
            (Some(_), None) => Detector::of(labels).unwrap_or_else(|_| Detector::default()),
        };
        if let Some(names) = &self.keywords {
            detector = detector.with_keywords(names, labels)?;
        }
        if let Some(p) = self.threshold {
            let threshold = (p * f64::from(Detector::ONE)).round();
            if !(threshold >= 1.0 && p <= 1.0) {
                return Err(misuse(format!("--threshold {p}: use a number above 0 and at most 1")));
            }
            detector.threshold = threshold as u16;
        }
        detector.smoothing = self.smoothing.unwrap_or(detector.smoothing);
        detector.refractory = self.refractory.unwrap_or(detector.refractory);
        detector.warm_up = self.warm_up.unwrap_or(detector.warm_up);
        detector.reset = self.reset(model, detector.reset)?;
        let view = model.view();
        detector.view().check(view.meaning(), view.outputs()).map_err(|e| misuse(e.to_string()))?;
        Ok(detector)
    }

    fn reset(&self, model: &IntegerModel, own: Reset) -> anyhow::Result<Reset> {
        let level = self.quiet_level.map(|level| counts(model, level)).transpose()?;
        let stored = match own {
            Reset::Quiet { level, .. } => Some(level),
            _ => None,
        };
        Ok(match (self.reset, level) {
            (Some(ResetArg::Never), _) => Reset::Never,
            (Some(ResetArg::Every(frames)), _) => Reset::Every(frames),
            (Some(ResetArg::Quiet(frames)), level) => {
                let Some(level) = level.or(stored) else {
                    return Err(misuse(
                        "--reset quiet:N needs --quiet-level: below which mean a frame is quiet",
                    ));
                };
                Reset::Quiet { frames, level }
            }
            (None, Some(level)) => match own {
                Reset::Quiet { frames, .. } => Reset::Quiet { frames, level },
                _ => return Err(misuse("--quiet-level does nothing without --reset quiet:N")),
            },
            (None, None) => own,
        })
    }
}

/// A mean of features in counts.
fn counts(model: &IntegerModel, level: f64) -> anyhow::Result<i16> {
    let lsb = &model.network.input.lsb;
    if lsb.iter().any(|v| v != &lsb[0]) {
        return Err(misuse(
            "--quiet-level needs features whose counts are all worth the same, as those of a front end are; \
             use --reset every:N",
        ));
    }
    let counts = (level / f64::from(lsb[0])).round();
    match counts {
        -32_768.0..=32_767.0 => Ok(counts as i16),
        _ => Err(misuse(format!("--quiet-level {level} is {counts} counts, beyond 16 bits"))),
    }
}
