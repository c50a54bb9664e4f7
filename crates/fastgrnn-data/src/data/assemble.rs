//! How training and test parts become a [`Dataset`].
//!
//! Labels become classes or values by one rule for all formats, and the test part must have the
//! training part's features and classes.

use std::collections::{BTreeSet, HashMap};

use super::label_sets;
use super::labels::{from_one_hot, labels, labels_like, unknown_to_model};
use super::names::listed;
use super::part::Part;
use super::speech::NOISE;
use super::split::in_blocks;
use super::{DataError, Dataset, Examples, Finding, FindingCode, LabelKind, Labels, Request, SplitBy};

/// The share of a validation part that is tried to see whether blocks of time are possible.
const USUAL_SHARE: f64 = 0.2;

/// Joins a training part and, if there is one, a test part. Both must be shaped.
pub(crate) fn assemble(
    name: String,
    mut train: Part,
    mut test: Option<Part>,
    request: &Request,
) -> Result<Dataset, DataError> {
    if let Some(test) = &test
        && test.x.dim() != train.x.dim()
    {
        return Err(DataError::DimMismatch {
            file: test.file.clone(),
            found: test.x.dim(),
            expected: train.x.dim(),
            other: train.file.clone(),
            is_table: test.is_table && train.is_table,
        });
    }
    let are_sets = label_sets::are_wanted(&train, request)?;
    for part in std::iter::once(&mut train).chain(&mut test) {
        match are_sets {
            true => label_sets::from_raw(part, request)?,
            false => from_one_hot(part, request.data.labels),
        }
    }
    let mut notes = std::mem::take(&mut train.notes);
    for note in test.iter().flat_map(|test| &test.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let mut findings = std::mem::take(&mut train.findings);
    findings.extend(test.iter().flat_map(|test| test.findings.clone()));
    findings.extend(test.as_ref().and_then(|test| groups_in_both(&train, test)));
    let kind = match request.data.labels {
        LabelKind::Auto => train.kind,
        requested => requested,
    };
    let y = match &request.expect {
        Some(expect) if are_sets => label_sets::sets_like(&train, &expect.classes, "the model", &mut notes)?,
        None if are_sets => label_sets::sets(&train, &mut notes)?,
        // A model knows its classes: a part may lack some, or have one only.
        Some(expect) if !expect.classes.is_empty() && kind != LabelKind::Value => {
            let known = Labels::Class { index: Vec::new(), names: expect.classes.clone() };
            labels_like(&train, &known, "the model", &mut notes)
                .map_err(|error| unknown_to_model(&train, error))?
        }
        Some(_) if train.x.is_empty() && train.x.has_tokens() => Labels::Next,
        Some(_) if train.x.is_empty() => {
            let width = test.as_ref().map_or(1, |test| test.y.width());
            Labels::Value { width, values: Vec::new() }
        }
        _ => labels(&train, kind, &mut notes)?,
    };
    if request.expect.is_none() {
        refuse_classes_of_validation_only(&train, &y)?;
    }
    let test_y = match &test {
        Some(test) => {
            Some(labels_like(test, &y, &train.file, &mut notes).map_err(|error| match &request.expect {
                Some(expect) if !expect.classes.is_empty() => unknown_to_model(test, error),
                _ => error,
            })?)
        }
        None => None,
    };
    let mut groups = HashMap::new();
    let mut number = |names: Option<Vec<String>>| {
        names.map(|names| {
            let mut number_of = |name| {
                let next = groups.len() as u32;
                *groups.entry(name).or_insert(next)
            };
            names.into_iter().map(&mut number_of).collect::<Vec<u32>>()
        })
    };
    // Windows without a named group have their recording for one.
    let group = number(train.group).or_else(|| train.recording.clone());
    let test = test.zip(test_y).map(|(test, y)| Examples {
        group: number(test.group).or_else(|| test.recording.clone()),
        x: test.x,
        y,
        recording: test.recording,
        span: test.span,
        ids: test.ids,
    });
    let examples =
        Examples { x: train.x, y, group, recording: train.recording, span: train.span, ids: train.ids };
    if train.validation.is_none() && request.expect.is_none() && examples.is_one_recording() {
        notes.push(
            "all windows are cut from one recording: a validation part is made of blocks of time, and windows nearer to it than one window are left out".into(),
        );
    }
    let is_split_later = train.validation.is_none() && request.expect.is_none();
    if is_split_later && in_blocks(&examples, SplitBy::Group, USUAL_SHARE, 0).is_some() {
        notes.push(
            "a class is in one recording only: a validation part is made of blocks of time of each recording, and windows nearer to it than one window are left out".into(),
        );
    }
    Ok(Dataset {
        test,
        notes,
        findings,
        features: train.features,
        image: train.image,
        validation: train.validation,
        background: train.background,
        audio: train.audio,
        text: train.text,
        ..Dataset::new(name, examples)
    })
}

/// Whether groups that were told apart by name are both in training and in test.
fn groups_in_both(train: &Part, test: &Part) -> Option<Finding> {
    let (train, test) = (train.group.as_ref()?, test.group.as_ref()?);
    let known: BTreeSet<&String> = train.iter().collect();
    // Each part has stretches of the background recordings of its own.
    let is_shared = |group: &&String| known.contains(group) && *group != NOISE;
    let both: BTreeSet<&String> = test.iter().filter(is_shared).collect();
    let names: Vec<String> = both.into_iter().cloned().collect();
    (!names.is_empty()).then(|| {
        Finding::warning(
            FindingCode::GroupInBoth,
            format!("groups that are both in the training and in the test part: {}", listed(&names)),
            "test on groups that training does not have: scores on known ones are too good",
        )
    })
}

/// Refuses a class that only the validation part has: training would never see it.
fn refuse_classes_of_validation_only(train: &Part, y: &Labels) -> Result<(), DataError> {
    let (Some(validation), Labels::Class { index, names }) = (&train.validation, y) else { return Ok(()) };
    let mut is_trained = vec![false; names.len()];
    for (i, &class) in index.iter().enumerate() {
        if validation.binary_search(&(i as u32)).is_err() {
            is_trained[class as usize] = true;
        }
    }
    match validation.iter().map(|&i| index[i as usize] as usize).find(|&class| !is_trained[class]) {
        Some(class) => Err(DataError::UnseenLabel {
            file: train.file.clone(),
            place: "the validation part".into(),
            label: names[class].clone(),
            known: listed(
                &names
                    .iter()
                    .zip(&is_trained)
                    .filter(|(_, t)| **t)
                    .map(|(n, _)| n.clone())
                    .collect::<Vec<_>>(),
            ),
        }),
        None => Ok(()),
    }
}
