//! Understanding labels: which are classes, which are values, and what the classes are called.
//!
//! One rule serves all formats. Text is a class; so are whole numbers if few are distinct; other
//! numbers are values. Classes are in numeric order if all are numbers, else in the order of text.
//! A test part's labels are held to the training part's.

use std::collections::BTreeMap;

use super::names::listed;
use super::part::{Part, RawLabels};
use super::{DataError, LabelKind, Labels};

/// Integer labels are classes up to this many distinct ones, however few the sequences.
const FEW_CLASSES: usize = 10;

/// Integer labels with more distinct values than this are values.
const MANY_CLASSES: usize = 1000;

/// More classes than this are not meant: counting who is taken for whom needs their square.
const MOST_CLASSES: usize = 2048;

/// Whether this many distinct whole numbers are few enough, among `n` of them, to be classes.
pub(crate) fn are_few(distinct: usize, n: usize) -> bool {
    distinct <= FEW_CLASSES || (distinct <= MANY_CLASSES && distinct * 2 <= n)
}

/// Understands the labels of a training part.
pub(crate) fn labels(
    file: &str,
    raw: &RawLabels,
    declared: Option<&[String]>,
    kind: LabelKind,
    notes: &mut Vec<String>,
) -> Result<Labels, DataError> {
    let numbers = match raw {
        RawLabels::None => {
            return Err(DataError::NoLabels {
                file: file.into(),
                hint: "training needs a label for every sequence".into(),
            });
        }
        RawLabels::Number { width, values } => Some((*width, values.clone())),
        RawLabels::Text(text) => parse_all(text).map(|values| (1, values)),
    };
    if let Some((_, values)) = &numbers {
        check_finite(file, values)?;
    }
    let is_class = match (kind, &numbers, declared) {
        (LabelKind::Class, ..) | (LabelKind::Auto, _, Some(_)) | (LabelKind::Auto, None, _) => true,
        (LabelKind::Value, Some(_), _) => false,
        (LabelKind::Value, None, _) => return Err(not_numbers(file, raw)),
        (LabelKind::Auto, Some((width, values)), None) => *width == 1 && few_integers(file, values, notes),
    };
    if !is_class {
        let (width, values) = numbers.unwrap_or_default();
        let values = values.into_iter().map(|v| v as f32).collect();
        return Ok(Labels::Value { width, values });
    }
    let text = class_text(file, raw)?;
    let names = match declared {
        Some(declared) => declared.to_vec(),
        None => sorted_names(&text),
    };
    let is_guess = declared.is_none() && names.len() > FEW_CLASSES && names.len() * 2 > text.len();
    if is_guess || names.len() > MOST_CLASSES {
        return Err(DataError::TooManyClasses {
            file: file.into(),
            classes: names.len(),
            n: text.len(),
            example: names[0].clone(),
        });
    }
    let index = indices(&text, &names).map_err(|i| DataError::LabelOutOfRange {
        file: file.into(),
        place: format!("sequence {i}"),
        label: text[i].clone(),
        known: listed(&names),
    })?;
    let mut members = vec![0usize; names.len()];
    index.iter().for_each(|&c| members[c as usize] += 1);
    match members.iter().position(|&n| n == 0) {
        _ if members.iter().filter(|&&n| n > 0).count() == 1 => {
            Err(DataError::OneClass { file: file.into(), class: text[0].clone() })
        }
        Some(empty) => Err(DataError::EmptyClass { file: file.into(), class: names[empty].clone() }),
        None => Ok(Labels::Class { index, names }),
    }
}

/// Turns rows of zeros and a single one into class numbers, unless the request is for values.
pub(crate) fn from_one_hot(part: &mut Part, kind: LabelKind) {
    let RawLabels::Number { width, values } = &part.y else { return };
    let one_hot = |row: &[f64]| {
        row.iter().all(|&v| v == 0.0 || v == 1.0) && row.iter().filter(|&&v| v == 1.0).count() == 1
    };
    if kind == LabelKind::Value || *width < 2 || !values.chunks_exact(*width).all(one_hot) {
        return;
    }
    let hot = |row: &[f64]| row.iter().position(|&v| v == 1.0).unwrap_or(0) as f64;
    let classes = values.chunks_exact(*width).map(hot).collect();
    part.notes.push(format!(
        "{}: labels of {width} columns with a single 1 were taken as classes; `labels = value` takes them as numbers",
        part.file
    ));
    part.y = RawLabels::Number { width: 1, values: classes };
    part.kind = LabelKind::Class;
}

/// Understands the labels of a test part as those of the training part were.
pub(crate) fn labels_like(test: &Part, like: &Labels, train_file: &str) -> Result<Labels, DataError> {
    match (like, &test.y) {
        (Labels::Class { names, .. }, RawLabels::None) if test.x.is_empty() => {
            Ok(Labels::Class { index: Vec::new(), names: names.clone() })
        }
        (Labels::Value { width, .. }, RawLabels::None) if test.x.is_empty() => {
            Ok(Labels::Value { width: *width, values: Vec::new() })
        }
        (Labels::None, _) | (_, RawLabels::None) => Err(DataError::NoLabels {
            file: test.file.clone(),
            hint: "a test set needs a label for every sequence".into(),
        }),
        (Labels::Class { names, .. }, raw) => {
            let text = class_text(&test.file, raw)?;
            let index = indices(&text, names).map_err(|i| DataError::UnseenLabel {
                file: test.file.clone(),
                place: match &test.ids {
                    Some(ids) => format!("sequence {i} ('{}')", ids[i]),
                    None => format!("sequence {i}"),
                },
                label: text[i].clone(),
                known: listed(names),
            })?;
            Ok(Labels::Class { index, names: names.clone() })
        }
        (Labels::Value { width, .. }, raw) => {
            let (found, values) = match raw {
                RawLabels::Number { width, values } => (*width, values.clone()),
                RawLabels::Text(text) => (1, parse_all(text).ok_or_else(|| not_numbers(&test.file, raw))?),
                RawLabels::None => (0, Vec::new()),
            };
            if found != *width {
                return Err(DataError::Unsupported {
                    file: test.file.clone(),
                    problem: format!("{found} target values a sequence, but {width} in {train_file}"),
                });
            }
            check_finite(&test.file, &values)?;
            let values = values.into_iter().map(|v| v as f32).collect();
            Ok(Labels::Value { width: *width, values })
        }
    }
}

fn check_finite(file: &str, values: &[f64]) -> Result<(), DataError> {
    match values.iter().position(|v| !(*v as f32).is_finite()) {
        Some(i) => Err(DataError::NotFinite {
            file: file.into(),
            place: format!("label {i}"),
            value: values[i].to_string(),
        }),
        None => Ok(()),
    }
}

fn not_numbers(file: &str, raw: &RawLabels) -> DataError {
    let bad = match raw {
        RawLabels::Text(text) => text.iter().find(|t| t.trim().parse::<f64>().is_err()),
        _ => None,
    };
    DataError::Unsupported {
        file: file.into(),
        problem: format!("label '{}' is not a number, as `labels = value` requires", bad.map_or("", |b| b)),
    }
}

fn parse_all(text: &[String]) -> Option<Vec<f64>> {
    text.iter().map(|t| t.trim().parse().ok()).collect()
}

fn few_integers(file: &str, values: &[f64], notes: &mut Vec<String>) -> bool {
    if values.iter().any(|v| v.fract() != 0.0) {
        return false;
    }
    let mut distinct: Vec<i64> = values.iter().map(|&v| v as i64).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let few = are_few(distinct.len(), values.len());
    if !few {
        notes.push(format!(
            "{file}: {} distinct whole numbers as labels were taken as values to regress; `labels = class` takes them as classes",
            distinct.len()
        ));
    }
    few
}

/// Labels as class names; a whole number has one spelling, so that `1.0` and `1` are one class.
fn class_text(file: &str, raw: &RawLabels) -> Result<Vec<String>, DataError> {
    match raw {
        RawLabels::Text(text) => Ok(text.iter().map(|t| canonical(t.trim())).collect()),
        RawLabels::Number { width: 1, values } => {
            Ok(values.iter().map(|v| canonical(&v.to_string())).collect())
        }
        RawLabels::Number { width, .. } => Err(DataError::Unsupported {
            file: file.into(),
            problem: format!("{width} labels a sequence are not one class"),
        }),
        RawLabels::None => Ok(Vec::new()),
    }
}

/// One spelling of a label.
pub(crate) fn canonical(label: &str) -> String {
    match label.parse::<f64>() {
        Ok(v) if v.fract() == 0.0 && v.abs() < 1e15 => format!("{}", v as i64),
        _ => label.into(),
    }
}

fn sorted_names(text: &[String]) -> Vec<String> {
    let mut names: Vec<String> = text.to_vec();
    names.sort_unstable();
    names.dedup();
    if let Some(mut numbers) = parse_all(&names).map(|n| n.into_iter().zip(&names).collect::<Vec<_>>()) {
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        return numbers.into_iter().map(|(_, name)| name.clone()).collect();
    }
    names
}

/// The index of each label among `names`, or the position of the first that is not there.
fn indices(text: &[String], names: &[String]) -> Result<Vec<u32>, usize> {
    let known: BTreeMap<&str, u32> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), i as u32)).collect();
    text.iter().enumerate().map(|(i, label)| known.get(label.as_str()).copied().ok_or(i)).collect()
}
