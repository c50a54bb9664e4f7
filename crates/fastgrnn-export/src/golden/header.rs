//! Golden vectors as a C header.

use super::Golden;
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
        ],
    )
}

fn lines(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    values.chunks(16).map(|line| format!("    {},\n", line.join(", "))).collect()
}
