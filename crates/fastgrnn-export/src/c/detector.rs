//! The detector in C, which takes a frame and returns a detection (section 9 of
//! `docs/integer-arithmetic.md`).

use super::text::ConstantTables;
use crate::fill::fill;
use fastgrnn::quantize::{Detector, IntegerNetwork, Reset};
use fastgrnn_runtime::int::Meaning;

/// The detector in C.
pub(super) struct DetectorCode {
    /// Types and declarations.
    pub(super) header: String,
    /// Functions, which call those of the network.
    pub(super) functions: String,
}

/// Writes the detector of the network `name`.
pub(super) fn code(
    name: &str,
    network: &IntegerNetwork,
    detector: &Detector,
    has_window: bool,
    tables: &mut ConstantTables,
) -> DetectorCode {
    let class = match detector.keywords.as_slice() {
        [only] => format!("{only}u"),
        several => {
            tables.unsigned_words("detector_classes", several);
            "FG_UWORD(detector_classes + j)".into()
        }
    };
    let (locals, before, posterior) = posterior(name, network);
    let number = |n: u16| n.to_string();
    let values = [
        ("name", name.to_owned()),
        ("NAME", name.to_ascii_uppercase()),
        ("keywords", detector.keywords.len().to_string()),
        ("threshold", number(detector.threshold)),
        ("smoothing", detector.smoothing.to_string()),
        ("warm_up", number(detector.warm_up)),
        ("refractory", number(detector.refractory)),
        ("reset", reset(name, network, detector, has_window)),
        ("step", step(name, has_window)),
        ("class", class),
        ("locals", locals),
        ("before", before),
        ("posterior", posterior),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(key, value)| (*key, value.as_str())).collect();
    DetectorCode {
        header: fill(include_str!("parts/detector.h"), &values),
        functions: fill(include_str!("parts/detector.c"), &values),
    }
}

/// Statements before the network's step: they reset the network where that is due.
fn reset(name: &str, network: &IntegerNetwork, detector: &Detector, has_window: bool) -> String {
    let statements = statements(name, network, detector);
    match has_window && !statements.is_empty() {
        // Only between two steps, so that steps keep their distance.
        true => format!("    if (state->since == 0) {{\n{statements}    }}\n"),
        false => statements,
    }
}

/// The network's step; in between two of them nothing is detected.
fn step(name: &str, has_window: bool) -> String {
    match has_window {
        true => format!("    if (!{name}_step(state, counts)) {{\n        return -1;\n    }}\n"),
        false => format!("    {name}_step(state, counts);\n"),
    }
}

fn statements(name: &str, network: &IntegerNetwork, detector: &Detector) -> String {
    let warm_up = detector.warm_up;
    let due = |frames: u16| {
        format!(
            "    if (detector->counted >= {frames}u) {{
        detector->counted = 0;
        detector->warming = {warm_up}u;
        {name}_reset(state);
    }}
"
        )
    };
    match detector.reset {
        Reset::Never => String::new(),
        Reset::Every(frames) => format!("    detector->counted++;\n{}", due(frames)),
        Reset::Quiet { frames, level } => {
            let features = network.input.factors.len();
            let limit = i64::from(level) * features as i64;
            format!(
                "    {{
        int32_t sum = 0;
        for (j = 0; j < {features}; j++) {{
            sum += counts[j];
        }}
        detector->counted = (uint16_t)(sum < ({limit}) ? detector->counted + 1u : 0u);
    }}
{}",
                due(frames)
            )
        }
    }
}

/// Declarations, statements that run once for all keywords, and statements that compute the posterior
/// of one keyword.
fn posterior(name: &str, network: &IntegerNetwork) -> (String, String, String) {
    const ONE_SIDED: &str = "            const uint32_t rest = falling(magnitude(@score@));
            p = ((@likelier@ ? (uint32_t)32768u : rest) * (1073741824u / (32768u + rest))) >> 15;\n";
    let sided = |score: &str, likelier: &str| fill(ONE_SIDED, &[("score", score), ("likelier", likelier)]);
    let classify = format!("{name}_classify(state, scores, 0)");
    match network.meaning {
        Meaning::Binary => (
            String::new(),
            format!("    (void){classify};"),
            sided("scores[0]", "(scores[0] >= 0) == (k == 1u)"),
        ),
        Meaning::OneAgainstAll => {
            (String::new(), format!("    (void){classify};"), sided("scores[k]", "scores[k] >= 0"))
        }
        Meaning::Classes | Meaning::Values => {
            let outputs = network.head_biases.len();
            (
                format!("    uint32_t worth[{outputs}], share;\n"),
                format!(
                    "    {{
        const uint16_t top = {classify};
        uint32_t all = 0;
        for (j = 0; j < {outputs}; j++) {{
            worth[j] = falling((uint32_t)scores[top] - (uint32_t)scores[j]);
            all += worth[j];
        }}
        share = 1073741824u / all;
    }}"
                ),
                "            p = (worth[k] * share) >> 15;\n".into(),
            )
        }
    }
}
