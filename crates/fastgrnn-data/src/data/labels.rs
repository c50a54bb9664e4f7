//! Understanding labels: which are classes, which are values, and what the classes are called.
//!
//! One rule serves all formats. Text is a class; so are whole numbers if few are distinct; other
//! numbers are values. A class is called what stands in the file: `007` and `7` are two classes.
//! Classes are in numeric order if all are numbers, else in the order of text. A test part's labels
//! are held to the training part's.

use std::collections::HashMap;

use super::names::{listed, number_text, sorted_names};
use super::part::{Part, RawLabels};
use super::{DataError, LabelKind, Labels};
use fastgrnn_core::format::quantity;

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
pub(crate) fn labels(part: &Part, kind: LabelKind, notes: &mut Vec<String>) -> Result<Labels, DataError> {
    let (file, raw, declared) = (part.labels_in(), &part.y, part.classes.as_deref());
    let numbers = match raw {
        RawLabels::None => {
            return Err(DataError::NoLabels {
                file: file.into(),
                hint: "training needs a label for every sequence".into(),
            });
        }
        RawLabels::Next => return Ok(Labels::Next),
        RawLabels::Sets(_) => return super::label_sets::sets(part, notes),
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
            limit: match names.len() > MOST_CLASSES {
                true => format!("{MOST_CLASSES} at most"),
                false => format!("{FEW_CLASSES}, or half as many as sequences"),
            },
            column: part.label_column.clone(),
        });
    }
    let (index, respelled) = indices(&text, &names).map_err(|i| DataError::LabelOutOfRange {
        file: file.into(),
        place: format!("sequence {i}"),
        label: text[i].clone(),
        known: listed(&names),
    })?;
    notes.extend(respelled.map(|(label, class)| {
        format!("{file}: label '{label}' was taken for the class '{class}', the same number")
    }));
    if declared.is_none() {
        notes.extend(equal_numbers(&names).map(|(a, b)| {
            format!("{file}: the labels '{a}' and '{b}' are the same number, but two classes, because they are written differently")
        }));
    }
    let mut members = vec![0usize; names.len()];
    index.iter().for_each(|&c| members[c as usize] += 1);
    match members.iter().position(|&n| n == 0) {
        _ if members.iter().filter(|&&n| n > 0).count() == 1 => Err(DataError::OneClass {
            file: file.into(),
            class: text[0].clone(),
            column: part.label_column.clone(),
        }),
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
pub(crate) fn labels_like(
    test: &Part,
    like: &Labels,
    train_file: &str,
    notes: &mut Vec<String>,
) -> Result<Labels, DataError> {
    match (like, &test.y) {
        (Labels::Class { names, .. }, RawLabels::None) if test.x.is_empty() => {
            Ok(Labels::Class { index: Vec::new(), names: names.clone() })
        }
        (Labels::Value { width, .. }, RawLabels::None) if test.x.is_empty() => {
            Ok(Labels::Value { width: *width, values: Vec::new() })
        }
        (Labels::Next, RawLabels::Next) => Ok(Labels::Next),
        (Labels::Next, RawLabels::None) if test.x.is_empty() => Ok(Labels::Next),
        (Labels::Sets { names, .. }, _) => super::label_sets::sets_like(test, names, train_file, notes),
        (Labels::None | Labels::Next, _) | (_, RawLabels::None | RawLabels::Next) => {
            Err(DataError::NoLabels {
                file: test.file.clone(),
                hint: "a test set needs a label for every sequence".into(),
            })
        }
        (_, RawLabels::Sets(_)) => Err(DataError::Unsupported {
            file: test.labels_in().into(),
            problem: format!("sets of labels, but those of {train_file} are one label a sequence"),
        }),
        (Labels::Class { names, .. }, raw) => {
            let text = class_text(test.labels_in(), raw)?;
            let (index, respelled) = indices(&text, names).map_err(|i| DataError::UnseenLabel {
                file: test.file.clone(),
                place: match &test.ids {
                    Some(ids) => format!("sequence {i} ('{}')", ids[i]),
                    None => format!("sequence {i}"),
                },
                label: text[i].clone(),
                known: listed(names),
            })?;
            notes.extend(respelled.map(|(label, class)| {
                format!(
                    "{}: label '{label}' was taken for the class '{class}' of {train_file}, the same number",
                    test.file
                )
            }));
            Ok(Labels::Class { index, names: names.clone() })
        }
        (Labels::Value { width, .. }, raw) => {
            let (found, values) = match raw {
                RawLabels::Number { width, values } => (*width, values.clone()),
                RawLabels::Text(text) => {
                    (1, parse_all(text).ok_or_else(|| not_numbers(test.labels_in(), raw))?)
                }
                RawLabels::None | RawLabels::Next | RawLabels::Sets(_) => (0, Vec::new()),
            };
            if found != *width {
                return Err(DataError::Unsupported {
                    file: test.file.clone(),
                    problem: format!(
                        "{} a sequence, but {width} in {train_file}",
                        quantity(found as u64, "target value")
                    ),
                });
            }
            check_finite(test.labels_in(), &values)?;
            let values = values.into_iter().map(|v| v as f32).collect();
            Ok(Labels::Value { width: *width, values })
        }
    }
}

/// The error about a label that a model does not know, in place of one that the training data does not have.
pub(crate) fn unknown_to_model(part: &Part, error: DataError) -> DataError {
    match error {
        DataError::UnseenLabel { file, place, label, known } => {
            let names = class_text(part.labels_in(), &part.y).map(|text| sorted_names(&text));
            let found = listed(&names.unwrap_or_else(|_| vec![label.clone()]));
            DataError::OtherClasses { file, place, label, found, known }
        }
        other => other,
    }
}

fn check_finite(file: &str, values: &[f64]) -> Result<(), DataError> {
    match values.iter().position(|v| !(*v as f32).is_finite()) {
        Some(i) => Err(DataError::NotFinite {
            file: file.into(),
            place: format!("label {i}"),
            value: values[i].to_string(),
            advice: "correct it, or leave the sequence out",
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

/// Labels as class names: text as it stands in the file, numbers without needless digits.
fn class_text(file: &str, raw: &RawLabels) -> Result<Vec<String>, DataError> {
    match raw {
        RawLabels::Text(text) => Ok(text.iter().map(|t| t.trim().to_string()).collect()),
        RawLabels::Number { width: 1, values } => Ok(values.iter().copied().map(number_text).collect()),
        RawLabels::Number { width, .. } => Err(DataError::Unsupported {
            file: file.into(),
            problem: format!("{width} labels a sequence are not one class"),
        }),
        RawLabels::None | RawLabels::Next | RawLabels::Sets(_) => Ok(Vec::new()),
    }
}

/// The class called `label`; if there is none, the only one that is the same number.
pub(crate) fn find_class(label: &str, classes: &[String]) -> Option<usize> {
    classes.iter().position(|name| name == label).or_else(|| same_number(label, classes))
}

/// The only class that is the same number as `label`.
fn same_number(label: &str, classes: &[String]) -> Option<usize> {
    let value: f64 = label.parse().ok()?;
    let mut same = (0..classes.len()).filter(|&i| classes[i].parse() == Ok(value));
    same.next().filter(|_| same.next().is_none())
}

/// Two classes that are the same number; `names` are sorted.
fn equal_numbers(names: &[String]) -> Option<(&str, &str)> {
    let mut numbers: Vec<(f64, &str)> =
        names.iter().filter_map(|name| Some((name.parse().ok()?, name.as_str()))).collect();
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    numbers.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1))
}

/// The index of each label among `names`, and the first that was found as the same number written
/// differently, with its class; or the position of the first label that is not there.
#[expect(clippy::type_complexity, reason = "used in this module only")]
fn indices(text: &[String], names: &[String]) -> Result<(Vec<u32>, Option<(String, String)>), usize> {
    let mut known: HashMap<&str, u32> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), i as u32)).collect();
    let (mut index, mut respelled) = (Vec::with_capacity(text.len()), None);
    for (i, label) in text.iter().enumerate() {
        let class = match known.get(label.as_str()) {
            Some(&class) => class,
            None => {
                let class = same_number(label, names).ok_or(i)?;
                respelled.get_or_insert_with(|| (label.clone(), names[class].clone()));
                known.insert(label, class as u32);
                class as u32
            }
        };
        index.push(class);
    }
    Ok((index, respelled))
}
