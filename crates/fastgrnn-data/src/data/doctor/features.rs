//! Features that say nothing, or the same as another.

use super::super::names::listed;
use super::super::{Dataset, Examples, Finding, FindingCode, Severity};

pub(super) fn examine(data: &Dataset) -> Vec<Finding> {
    let dim = data.train.x.dim();
    let constants = constants(&data.train);
    let mut findings = Vec::new();
    if dim > 0 && constants.len() == dim {
        findings.push(Finding::new(
            FindingCode::NoSignal,
            Severity::Error,
            match constants.iter().all(|(_, value)| *value == 0.0) {
                true => "every value of every feature is 0".to_owned(),
                false => "no feature ever changes".to_owned(),
            },
            "check how the data was exported",
        ));
        return findings;
    }
    if !constants.is_empty() {
        let names: Vec<String> = constants
            .iter()
            .map(|&(feature, value)| format!("{} (always {value})", feature_name(data, feature)))
            .collect();
        findings.push(Finding::warning(
            FindingCode::ConstantFeature,
            format!("constant features: {}", listed(&names)),
            "leave them out with `drop`; they cost memory and tell nothing",
        ));
    }
    let is_constant = |feature: usize| constants.iter().any(|&(constant, _)| constant == feature);
    for feature in 0..dim {
        let same = (0..feature).find(|&other| !is_constant(feature) && are_same(&data.train, other, feature));
        if let Some(other) = same {
            findings.push(Finding::warning(
                FindingCode::DuplicateFeature,
                format!("feature {} is a copy of {}", feature_name(data, feature), feature_name(data, other)),
                "leave one of them out with `drop`",
            ));
        }
    }
    findings
}

/// The features that have one value everywhere, and the value.
fn constants(examples: &Examples) -> Vec<(usize, f32)> {
    let dim = examples.x.dim();
    let Some(first) = (0..examples.len()).map(|i| examples.x.get(i)).find(|values| !values.is_empty()) else {
        return Vec::new();
    };
    let mut is_constant = vec![true; dim];
    for i in 0..examples.len() {
        for row in examples.x.get(i).chunks_exact(dim.max(1)) {
            for ((constant, value), expected) in is_constant.iter_mut().zip(row).zip(first) {
                *constant &= value == expected;
            }
        }
        if !is_constant.contains(&true) {
            break;
        }
    }
    (0..dim).filter(|&feature| is_constant[feature]).map(|feature| (feature, first[feature])).collect()
}

fn are_same(examples: &Examples, a: usize, b: usize) -> bool {
    let dim = examples.x.dim().max(1);
    (0..examples.len()).all(|i| examples.x.get(i).chunks_exact(dim).all(|row| row[a] == row[b]))
}

/// The name of a feature, or its number.
fn feature_name(data: &Dataset, index: usize) -> String {
    match data.features.as_ref().and_then(|names| names.get(index)) {
        Some(name) => format!("'{name}'"),
        None => index.to_string(),
    }
}
