//! Classes that are rare or absent in a part.

use super::super::names::listed;
use super::super::{Dataset, Examples, Finding, FindingCode, Labels};
use fastgrnn_core::format::quantity;

/// A class with fewer sequences than this in a part is rare there.
const RARE: usize = 5;
/// A part with fewer sequences than this measures little.
const SMALL: usize = 30;
/// More classes than this that are all whole numbers look like values.
const MANY_NUMBERS: usize = 20;

/// Looks at the whole training part and the test part.
pub(super) fn examine(data: &Dataset) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Labels::Class { names, .. } = &data.train.y {
        let are_numbers = names.iter().all(|name| name.trim().parse::<i64>().is_ok());
        if names.len() > MANY_NUMBERS && are_numbers {
            findings.push(Finding::warning(
                FindingCode::NumbersAsClasses,
                format!("{} distinct whole numbers were taken as classes", names.len()),
                "`labels = value` takes them as numbers to predict, `labels = class` as classes",
            ));
        }
    }
    findings.extend(rare("training", &data.train, None));
    if let Some(test) = &data.test {
        findings.extend(part("test", test, None));
    }
    findings
}

/// Looks at a validation part of `data`, by its indices into the training examples, and at what is left
/// to train on.
pub fn examine_parts(data: &Dataset, train: &[u32], validation: &[u32]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A text is one sequence, however long it is.
    if data.train.y == Labels::Next {
        return findings;
    }
    // Of a class that is rare in all training data, the data was said to have few.
    if let Some(finding) = rare("training", &data.train, Some(train))
        && rare("training", &data.train, None).is_none()
    {
        findings.push(finding);
    }
    if !validation.is_empty() {
        findings.extend(part("validation", &data.train, Some(validation)));
    }
    findings
}

/// Looks at the folds of a cross-validation: indices into the training examples of `data`.
pub fn examine_folds(data: &Dataset, folds: &[Vec<u32>]) -> Vec<Finding> {
    let all = counts(&data.train, None);
    let lacks_class = |fold: &&Vec<u32>| {
        let own = counts(&data.train, Some(fold));
        own.iter().zip(&all).any(|((_, n), (_, all))| *n == 0 && *all > 0)
    };
    let lacking = folds.iter().filter(lacks_class).count();
    let n: usize = folds.iter().map(Vec::len).sum();
    if folds.is_empty() || (lacking == 0 && n >= SMALL) {
        return Vec::new();
    }
    let lack = match lacking {
        0 => String::new(),
        1 => ", and 1 fold lacks a class".into(),
        _ => format!(", and {lacking} of the folds lack a class"),
    };
    vec![Finding::warning(
        FindingCode::SmallFolds,
        format!(
            "cross-validation scores {} in {}{lack}: the scores say little",
            quantity(n as u64, "sequence"),
            quantity(folds.len() as u64, "fold")
        ),
        "collect more sequences of every class",
    )]
}

/// A part on which a model is measured.
fn part(name: &str, examples: &Examples, indices: Option<&[u32]>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let n = indices.map_or(examples.len(), <[u32]>::len);
    if n < SMALL {
        findings.push(Finding::warning(
            FindingCode::SmallPart,
            format!("the {name} part has {}: its scores say little", quantity(n as u64, "sequence")),
            "collect more data, or use cross-validation (`cv`)",
        ));
    }
    let absent: Vec<String> = counts(examples, indices)
        .into_iter()
        .filter(|(_, n)| *n == 0)
        .map(|(class, _)| format!("'{class}'"))
        .collect();
    if !absent.is_empty() {
        findings.push(Finding::warning(
            FindingCode::ClassAbsent,
            format!(
                "the {name} part has no sequence of {}: its scores say nothing about it",
                listed(&absent)
            ),
            "collect more data of it from other groups or recordings",
        ));
    }
    findings.extend(rare(name, examples, indices));
    findings
}

/// The classes of which a part has few sequences.
fn rare(name: &str, examples: &Examples, indices: Option<&[u32]>) -> Option<Finding> {
    let rare: Vec<String> = counts(examples, indices)
        .into_iter()
        .filter(|(_, n)| (1..RARE).contains(n))
        .map(|(class, n)| format!("'{class}' ({n})"))
        .collect();
    (!rare.is_empty()).then(|| {
        Finding::warning(
            FindingCode::ClassRare,
            format!("the {name} part has few sequences of {}", listed(&rare)),
            "collect more data of it",
        )
    })
}

fn counts<'a>(examples: &'a Examples, indices: Option<&[u32]>) -> Vec<(&'a str, usize)> {
    let Labels::Class { index, names } = &examples.y else { return Vec::new() };
    let mut counts: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    match indices {
        Some(indices) => indices.iter().for_each(|&i| counts[index[i as usize] as usize].1 += 1),
        None => index.iter().for_each(|&class| counts[class as usize].1 += 1),
    }
    counts
}
