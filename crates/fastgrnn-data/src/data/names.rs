//! Lists of names in messages.

/// The first names of a list, for a message.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        n if n > SHOWN => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}
