//! One frame: the window, and what follows from it.

use super::{Tables, fft, mel};
use crate::int::arithmetic::{rounded, saturated};

/// The features of the window in `samples`, of which the first `valid` samples are there. `spectrum`
/// is room to compute in; the features lie in `row`.
pub(super) fn frame_of<'s>(
    tables: &Tables,
    samples: &[i16],
    valid: usize,
    spectrum: &mut [i32],
    row: &'s mut [i16],
) -> &'s [i16] {
    windowed(tables, samples, valid, spectrum);
    fft::transform(spectrum, tables.turns);
    fft::powers(spectrum, tables.turns, tables.drop);
    let (logs, coefficients) = row.split_at_mut(tables.filters());
    mel::logs(tables, spectrum, logs);
    if coefficients.is_empty() {
        return logs;
    }
    for (out, cosines) in coefficients.iter_mut().zip(tables.cosines.chunks_exact(logs.len())) {
        let sum = cosines.iter().zip(&*logs).map(|(&c, &log)| i32::from(c) * i32::from(log)).sum();
        (*out, _) = saturated(rounded(sum, u32::from(tables.cosine_bits)));
    }
    coefficients
}

/// Pre-emphasis and window in one; two samples make a complex number, at the place that the
/// transform wants it.
fn windowed(tables: &Tables, samples: &[i16], valid: usize, out: &mut [i32]) {
    let last = usize::from(tables.len) - 1;
    let shift = 15 - u32::from(tables.fraction);
    out.fill(0);
    let points = out.len() / 2;
    for (n, pair) in samples[..=valid].windows(2).enumerate() {
        let mirrored = n.min(last - n);
        let now = i32::from(tables.window[mirrored]) * i32::from(pair[1]);
        let before = i32::from(tables.before[mirrored]) * i32::from(pair[0]);
        out[2 * fft::input_position(n / 2, points) + n % 2] = rounded(now - before, shift);
    }
}
