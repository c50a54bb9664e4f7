//! Sequences that occur more than once.

use super::super::{Dataset, Examples, Finding, FindingCode, Severity};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Shorter sequences may be alike by chance.
const LEAST_VALUES: usize = 8;
/// Copies of training sequences above this share of a test part make its scores worthless.
const WORTHLESS: f64 = 0.01;

pub(super) fn examine(data: &Dataset) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
    let (mut copies, mut example) = (0usize, None);
    for i in (0..data.train.len()).filter(|&i| Content::of(&data.train, i).can_tell()) {
        let content = Content::of(&data.train, i);
        let same_hash = first.entry(content.hash()).or_default();
        match same_hash.iter().find(|&&other| Content::of(&data.train, other) == content) {
            Some(&other) => {
                copies += 1;
                example.get_or_insert((i, other));
            }
            None => same_hash.push(i),
        }
    }
    if let Some((i, other)) = example {
        let message = format!(
            "{copies} of {} training sequences are copies of others, such as {} of {}",
            data.train.len(),
            name(&data.train, i),
            name(&data.train, other)
        );
        let remedy = "remove them: copies on both sides of a validation split make its scores too good";
        findings.push(Finding::warning(FindingCode::Copies, message, remedy));
    }
    if let Some(test) = &data.test {
        let is_copy = |i: &usize| {
            let content = Content::of(test, *i);
            let same_hash = first.get(&content.hash()).into_iter().flatten();
            content.can_tell()
                && same_hash.into_iter().any(|&other| Content::of(&data.train, other) == content)
        };
        let copies: Vec<usize> = (0..test.len()).filter(is_copy).collect();
        if let Some(&i) = copies.first() {
            let is_worthless = copies.len() as f64 > WORTHLESS * test.len() as f64;
            findings.push(Finding::new(
                FindingCode::TrainInTest,
                if is_worthless { Severity::Error } else { Severity::Warning },
                format!(
                    "{} of {} test sequences are copies of training sequences, such as {}",
                    copies.len(),
                    test.len(),
                    name(test, i)
                ),
                "give a test part that the training part does not contain",
            ));
        }
    }
    findings
}

/// What a sequence holds.
#[derive(PartialEq)]
enum Content<'a> {
    Values(&'a [f32]),
    Tokens(&'a [u32]),
}

impl<'a> Content<'a> {
    fn of(examples: &'a Examples, i: usize) -> Self {
        match examples.x.has_tokens() {
            true => Self::Tokens(examples.x.tokens(i)),
            false => Self::Values(examples.x.get(i)),
        }
    }

    /// Whether a sequence is long enough and changes, so that an equal one is a copy of it.
    fn can_tell(&self) -> bool {
        match self {
            Self::Values(values) => values.len() >= LEAST_VALUES && values.iter().any(|&v| v != values[0]),
            Self::Tokens(tokens) => tokens.len() >= LEAST_VALUES && tokens.iter().any(|&t| t != tokens[0]),
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            // 0 and -0 are equal.
            Self::Values(values) => values.iter().for_each(|v| (v + 0.0).to_bits().hash(&mut hasher)),
            Self::Tokens(tokens) => tokens.hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// What the source calls a sequence, or its number.
fn name(examples: &Examples, i: usize) -> String {
    match &examples.ids {
        Some(ids) => format!("'{}'", ids[i]),
        None => format!("number {i}"),
    }
}
