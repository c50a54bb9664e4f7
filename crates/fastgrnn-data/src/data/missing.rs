//! Values that are missing: empty cells, NA, NaN, null and `?`.
//!
//! By default they are errors. On request they are filled in within their sequence, never across
//! sequences, or their time steps are dropped.

use std::collections::BTreeMap;

use super::names::listed;
use fastgrnn_core::format::quantity;

fastgrnn_core::choice! {
    /// What to do with values that are missing.
    Missing {
        /// Refuse them.
        #[default]
        Error = "error",
        /// Leave out the time steps that have one.
        Drop = "drop",
        /// Repeat the value before.
        Hold = "hold",
        /// Draw a line between the values around.
        Interpolate = "interpolate",
    }
}

/// Whether a cell stands for a value that is missing.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"", b"?", b"na", b"n/a", b"nan", b"null"];
    WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// Fills in the values of one sequence that are NaN, or drops their steps from `rows`. The sequence
/// consists of the `rows` of `values`, of `width` features each.
///
/// Fails with the number of a feature that has no value at all.
pub(crate) fn fill(
    values: &mut [f32],
    width: usize,
    rows: &mut Vec<usize>,
    missing: Missing,
) -> Result<(), usize> {
    match missing {
        Missing::Error => {}
        Missing::Drop => {
            rows.retain(|row| values[row * width..(row + 1) * width].iter().all(|v| !v.is_nan()));
        }
        Missing::Hold | Missing::Interpolate => {
            for feature in 0..width {
                fill_feature(values, rows, |row| row * width + feature, missing).ok_or(feature)?;
            }
        }
    }
    Ok(())
}

/// Fills in one feature; `None` if it has no value at all.
fn fill_feature(
    values: &mut [f32],
    rows: &[usize],
    place: impl Fn(usize) -> usize,
    missing: Missing,
) -> Option<()> {
    let mut before: Option<usize> = None;
    let mut step = 0;
    while step < rows.len() {
        if !values[place(rows[step])].is_nan() {
            before = Some(step);
            step += 1;
            continue;
        }
        let after = (step..rows.len()).find(|&s| !values[place(rows[s])].is_nan());
        let end = after.unwrap_or(rows.len());
        let known = |at: usize| values[place(rows[at])];
        let (low, high) = match (before, after) {
            (Some(before), Some(after)) => (known(before), known(after)),
            (Some(before), None) => (known(before), known(before)),
            (None, Some(after)) => (known(after), known(after)),
            (None, None) => return None,
        };
        let first = before.unwrap_or(step);
        for s in step..end {
            let share = (s - first) as f32 / (end - first).max(1) as f32;
            values[place(rows[s])] = match missing {
                Missing::Interpolate => low * (1.0 - share) + high * share,
                _ => low,
            };
        }
        step = end;
    }
    Some(())
}

/// What to tell about missing values, counted by feature.
pub(crate) fn note(counts: &BTreeMap<String, usize>, missing: Missing) -> Option<String> {
    let all: usize = counts.values().sum();
    let each: Vec<String> = counts.iter().map(|(name, count)| format!("'{name}': {count}")).collect();
    let what = match missing {
        Missing::Error => return None,
        Missing::Drop => "missing; what has one was left out",
        Missing::Hold => "missing and filled with the value before",
        Missing::Interpolate => "missing and interpolated",
    };
    let were = if all == 1 { "was" } else { "were" };
    (all > 0).then(|| format!("{} {were} {what} ({})", quantity(all as u64, "value"), listed(&each)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONE: f32 = f32::NAN;

    fn filled(values: &[f32], width: usize, missing: Missing) -> Result<(Vec<f32>, Vec<usize>), usize> {
        let (mut values, mut rows) = (values.to_vec(), (0..values.len() / width).collect());
        fill(&mut values, width, &mut rows, missing)?;
        Ok((values, rows))
    }

    #[test]
    fn gaps_are_held_interpolated_or_dropped() {
        let values = [NONE, 1.0, NONE, NONE, 4.0, NONE];
        let of = |missing| filled(&values, 1, missing).unwrap();
        assert_eq!(of(Missing::Hold).0, [1.0, 1.0, 1.0, 1.0, 4.0, 4.0]);
        let interpolated = of(Missing::Interpolate).0;
        let expected = [1.0, 1.0, 2.0, 3.0, 4.0, 4.0];
        assert!(interpolated.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{interpolated:?}");
        assert_eq!(of(Missing::Drop).1, [1, 4]);
        let two = [1.0, NONE, 2.0, 5.0];
        assert_eq!(filled(&two, 2, Missing::Hold).unwrap().0, [1.0, 5.0, 2.0, 5.0]);
        assert_eq!(filled(&two, 2, Missing::Drop).unwrap().1, [1]);
        assert_eq!(filled(&[1.0, NONE, 2.0, NONE], 2, Missing::Hold), Err(1));
    }

    #[test]
    fn large_values_do_not_overflow_between() {
        let (values, _) = filled(&[f32::MIN, NONE, f32::MAX], 1, Missing::Interpolate).unwrap();
        assert!(values[1].is_finite(), "{values:?}");
    }

    proptest! {
        #[test]
        fn nothing_is_missing_afterwards_and_what_was_there_stays(
            cells in prop::collection::vec(prop::option::of(-1e30f32..1e30), 1..60),
            interpolate: bool,
        ) {
            let missing = if interpolate { Missing::Interpolate } else { Missing::Hold };
            let values: Vec<f32> = cells.iter().map(|cell| cell.unwrap_or(NONE)).collect();
            match filled(&values, 1, missing) {
                Ok((filled, _)) => for (cell, value) in cells.iter().zip(filled) {
                    prop_assert!(value.is_finite());
                    prop_assert!(cell.is_none_or(|cell| cell == value));
                },
                Err(_) => prop_assert!(cells.iter().all(Option::is_none)),
            }
        }
    }
}
