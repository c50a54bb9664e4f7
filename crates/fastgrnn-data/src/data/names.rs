//! Names in messages, and numbers as names.

use std::collections::BTreeMap;

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

/// Numbers 0, 1, … in place of the items, in order of first appearance.
pub(crate) fn numbered<T: Ord>(items: &[T]) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let mut number_of = |item| {
        let next = numbers.len() as u32;
        *numbers.entry(item).or_insert(next)
    };
    items.iter().map(&mut number_of).collect()
}

/// The different names, by their numbers if all are numbers, else by their text.
pub(crate) fn sorted_names(text: &[String]) -> Vec<String> {
    let mut names: Vec<String> = text.to_vec();
    names.sort_unstable();
    names.dedup();
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.trim().parse().ok()).collect();
    if let Some(mut numbers) = numbers.map(|n| n.into_iter().zip(&names).collect::<Vec<_>>()) {
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        return numbers.into_iter().map(|(_, name)| name.clone()).collect();
    }
    names
}
