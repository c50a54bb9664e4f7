//! Sums of buffers.

/// Adds each value of `from` to that of `to`; what either has more is left alone.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
