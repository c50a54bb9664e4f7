//! Names in messages, and numbers as names.

/// The first names of a list, for a message.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        n if n > SHOWN => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}

/// A number as a name: 1.0 is `1`, and -0.0 is `0`.
pub(crate) fn number_text(value: f64) -> String {
    (value + 0.0).to_string()
}
