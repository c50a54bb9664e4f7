//! A detector as people read it.

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
