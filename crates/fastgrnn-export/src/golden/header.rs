//! Golden vectors as a C header.

use super::{Golden, GoldenText};
use crate::fill::fill;

/// `NAME_golden.h`
pub(crate) fn header(name: &str, golden: &Golden) -> String {
    let windows = &golden.windows;
    let frames = windows.iter().map(|w| (w.counts.len() / golden.features.max(1)).to_string());
    let counts = windows.iter().flat_map(|w| &w.counts).map(ToString::to_string);
    let scores = windows.iter().flat_map(|w| &w.scores).map(|&s| match s {
        // C has no negative constants: this one would be the negation of a number that is too large.
        i32::MIN => "-2147483647L - 1".to_owned(),
        s => format!("{s}L"),
    });
    fill(
        include_str!("../templates/c/golden.h"),
        &[
            ("name", name),
            ("NAME", &name.to_uppercase()),
            ("origin", &crate::escape::comment(&golden.origin)),
            ("windows", &windows.len().to_string()),
            ("hash", &format!("0x{:08x}UL", golden.hash)),
            ("tolerance", &golden.tolerance.to_string()),
            ("steps", &lines(frames)),
            ("counts", &lines(counts)),
            ("scores", &lines(scores)),
            ("classes", &lines(windows.iter().map(|w| w.class.to_string()))),
            ("confidences", &lines(windows.iter().map(|w| w.confidence.to_string()))),
            ("text", &golden.text.as_ref().map_or(String::new(), |text| drawn(name, text))),
        ],
    )
}

/// The tokens that a language model draws.
fn drawn(name: &str, text: &GoldenText) -> String {
    let GoldenText { seed, sharpness, most, tokens } = text;
    let upper = name.to_uppercase();
    format!(
        "
/* What the sampler draws from a reset state, after the end of a line. */
#define {upper}_GOLDEN_SEED {seed}
#define {upper}_GOLDEN_SHARPNESS {sharpness}
#define {upper}_GOLDEN_MOST {most}
#define {upper}_GOLDEN_TOKENS {}
static const uint16_t {name}_golden_tokens[] {upper}_GOLDEN_FLASH = {{
{}}};
",
        tokens.len(),
        lines(tokens.iter().map(ToString::to_string))
    )
}

fn lines(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    values.chunks(16).map(|line| format!("    {},\n", line.join(", "))).collect()
}
