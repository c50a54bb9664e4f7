//! Understanding sets of labels: several names for each sequence, or none.
//!
//! A label of a table holds names with `|` between them (`label-separator`), without blanks around them; an
//! empty one is the empty set. Rows of zeros and ones, as arrays hold them, are sets of column numbers.
//! The labels that a model learns are those of the training sequences, in numeric order if all are
//! numbers, else in the order of text. What only a test part has gets numbers beyond them: nothing can find
//! these, and they count as missed.

use std::collections::{BTreeSet, HashMap};

use super::names::{listed, number_text, sorted_names};
use super::part::{Part, RawLabels};
use super::{DataError, Labels, Request, TaskKind};
use fastgrnn_core::batch::Sets;
use fastgrnn_core::format::quantity;

/// What separates the names of a set if nothing else is given.
const SEPARATOR: &str = "|";
/// What other files separate names by.
const OTHER_SEPARATORS: [&str; 3] = [";", ",", "|"];

/// What separates the names of a set.
pub(crate) fn separator(request: &Request) -> &str {
    request.data.label_separator.as_deref().filter(|given| !given.is_empty()).unwrap_or(SEPARATOR)
}

/// The names in `text`; empty ones are no names.
pub(crate) fn names_in(text: &str, separator: &str) -> Vec<String> {
    text.split(separator).map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
}

/// Whether the labels of a training part are sets; refuses another task for data that has sets.
pub(crate) fn are_wanted(train: &Part, request: &Request) -> Result<bool, DataError> {
    let has_sets = matches!(train.y, RawLabels::Sets(_));
    match request.text.task {
        Some(TaskKind::MultiLabel) => Ok(true),
        Some(task) if has_sets && request.expect.is_none() => Err(DataError::Setting {
            key: "task".into(),
            problem: format!(
                "{task} is for one label a sequence, and {} has sets of labels; use multilabel, or leave it out",
                train.labels_in()
            ),
        }),
        _ => Ok(has_sets),
    }
}

/// Turns the labels of a part, as they stand in its file, into sets of names.
pub(crate) fn from_raw(part: &mut Part, request: &Request) -> Result<(), DataError> {
    let sets = match &part.y {
        RawLabels::Sets(_) | RawLabels::None => return Ok(()),
        RawLabels::Next => {
            let hint = "it was read as the text of a language model".into();
            return Err(DataError::NoLabels { file: part.file.clone(), hint });
        }
        RawLabels::Text(text) => {
            let separator = separator(request);
            part.notes.extend(other_separator(part.labels_in(), text, separator));
            text.iter().map(|label| names_in(label, separator)).collect()
        }
        RawLabels::Number { width: 1, values } => {
            values.iter().map(|&value| vec![number_text(value)]).collect()
        }
        RawLabels::Number { width, values } => {
            if let Some(at) = values.iter().position(|&value| value != 0.0 && value != 1.0) {
                return Err(DataError::Unsupported {
                    file: part.labels_in().into(),
                    problem: format!(
                        "sequence {} has the label {} in column {}; columns of labels hold 0 and 1 for `task = multilabel`",
                        at / width,
                        values[at],
                        at % width
                    ),
                });
            }
            let columns =
                |row: &[f64]| (0..*width).filter(|&k| row[k] == 1.0).map(|k| k.to_string()).collect();
            values.chunks_exact(*width).map(columns).collect()
        }
    };
    part.y = RawLabels::Sets(sets);
    Ok(())
}

/// A note if no label holds the separator and some hold another one.
pub(crate) fn other_separator(file: &str, labels: &[String], separator: &str) -> Option<String> {
    if labels.iter().any(|label| label.contains(separator)) {
        return None;
    }
    let other =
        OTHER_SEPARATORS.into_iter().find(|other| labels.iter().any(|label| label.contains(other)))?;
    Some(format!(
        "{file}: no label holds '{separator}', so each is one name; `label-separator = \"{other}\"` would cut them at '{other}'"
    ))
}

/// Understands the sets of a training part.
pub(crate) fn sets(part: &Part, notes: &mut Vec<String>) -> Result<Labels, DataError> {
    let RawLabels::Sets(raw) = &part.y else {
        let hint = "training needs a set of labels for every sequence; it may be empty".into();
        return Err(DataError::NoLabels { file: part.labels_in().into(), hint });
    };
    let all: BTreeSet<&String> = raw.iter().flatten().collect();
    let names = sorted_names(&all.into_iter().cloned().collect::<Vec<_>>());
    if names.is_empty() {
        let hint = "no sequence has a label".into();
        return Err(DataError::NoLabels { file: part.labels_in().into(), hint });
    }
    let (sets, _) = numbered(part.labels_in(), raw, &names, notes);
    Ok(Labels::Sets { sets, names, unseen: Vec::new() })
}

/// Understands the sets of a test part with the labels `names` of `train_file`.
pub(crate) fn sets_like(
    test: &Part,
    names: &[String],
    train_file: &str,
    notes: &mut Vec<String>,
) -> Result<Labels, DataError> {
    let raw = match &test.y {
        RawLabels::Sets(raw) => raw.as_slice(),
        RawLabels::None if test.x.is_empty() => &[],
        _ => {
            let hint = "a test set needs a set of labels for every sequence; it may be empty".into();
            return Err(DataError::NoLabels { file: test.file.clone(), hint });
        }
    };
    let (sets, unseen) = numbered(test.labels_in(), raw, names, notes);
    if !unseen.is_empty() {
        let is_unseen = |set: &[u32]| set.iter().any(|&label| label as usize >= names.len());
        let sequences = sets.iter().filter(|set| is_unseen(set)).count() as u64;
        notes.push(format!(
            "{}: {} of {} are not among those of {train_file} and count as missed: {}",
            test.labels_in(),
            quantity(unseen.len() as u64, "label"),
            quantity(sequences, "sequence"),
            listed(&unseen)
        ));
    }
    Ok(Labels::Sets { sets, names: names.to_vec(), unseen })
}

/// The number of each name in `names`, and names that are not there, which have the numbers after them. A
/// note says if a name stands twice in a set.
fn numbered(
    file: &str,
    raw: &[Vec<String>],
    names: &[String],
    notes: &mut Vec<String>,
) -> (Sets, Vec<String>) {
    let mut number: HashMap<&str, u32> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), i as u32)).collect();
    let (mut sets, mut unseen, mut repeated) = (Sets::default(), Vec::new(), 0u64);
    for set in raw {
        let mut members: Vec<u32> = Vec::with_capacity(set.len());
        for name in set {
            let next = (names.len() + unseen.len()) as u32;
            members.push(*number.entry(name).or_insert_with(|| {
                unseen.push(name.clone());
                next
            }));
        }
        members.sort_unstable();
        members.dedup();
        repeated += u64::from(members.len() < set.len());
        sets.push(&members);
    }
    if repeated > 0 {
        let many = quantity(repeated, "sequence");
        notes.push(format!("{file}: {many} with a label that is named twice; it counts once"));
    }
    (sets, unseen)
}

#[cfg(test)]
mod tests {
    use super::super::Sequences;
    use super::*;

    fn part(y: RawLabels, n: usize) -> Part {
        let mut x = Sequences::new(1);
        (0..n).for_each(|_| x.push(&[0.0]));
        Part::new("a.csv", x, y)
    }

    fn text(labels: &[&str]) -> Part {
        part(RawLabels::Text(labels.iter().map(|l| (*l).to_string()).collect()), labels.len())
    }

    fn all(labels: &Labels) -> (Vec<Vec<u32>>, Vec<String>, Vec<String>) {
        let Labels::Sets { sets, names, unseen } = labels else { panic!("sets") };
        (sets.iter().map(<[u32]>::to_vec).collect(), names.clone(), unseen.clone())
    }

    #[test]
    fn names_are_cut_at_the_separator_and_sorted() {
        let mut part = text(&["b| a ", "", "a||b|a", "c"]);
        from_raw(&mut part, &Request::default()).unwrap();
        let mut notes = Vec::new();
        let (sets, names, unseen) = all(&sets(&part, &mut notes).unwrap());
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(sets, [vec![0, 1], vec![], vec![0, 1], vec![2]]);
        assert!(unseen.is_empty() && notes.len() == 1 && notes[0].contains("named twice"), "{notes:?}");
    }

    #[test]
    fn another_separator_can_be_given_and_is_suggested() {
        let mut part = text(&["a;b", "c"]);
        from_raw(&mut part, &Request::default()).unwrap();
        assert!(part.notes[0].contains("label-separator = \";\""), "{:?}", part.notes);
        let mut part = text(&["a;b", "c"]);
        let request = Request::default().with_data(|data| data.label_separator = Some(";".into()));
        from_raw(&mut part, &request).unwrap();
        assert_eq!(part.y, RawLabels::Sets(vec![vec!["a".into(), "b".into()], vec!["c".into()]]));
    }

    #[test]
    fn rows_of_zeros_and_ones_are_sets_of_columns() {
        let mut part = part(RawLabels::Number { width: 3, values: vec![0., 1., 1., 0., 0., 0.] }, 2);
        from_raw(&mut part, &Request::default()).unwrap();
        assert_eq!(part.y, RawLabels::Sets(vec![vec!["1".into(), "2".into()], vec![]]));
        let mut wrong = super::tests::part(RawLabels::Number { width: 2, values: vec![0., 0.5] }, 1);
        let error = from_raw(&mut wrong, &Request::default()).unwrap_err().to_string();
        assert!(error.contains("0.5 in column 1"), "{error}");
    }

    #[test]
    fn labels_that_only_the_test_part_has_get_numbers_beyond_and_a_note() {
        let mut test = text(&["a|z", "y", "a"]);
        from_raw(&mut test, &Request::default()).unwrap();
        let mut notes = Vec::new();
        let like = sets_like(&test, &["a".into(), "b".into()], "train.csv", &mut notes).unwrap();
        let (sets, names, unseen) = all(&like);
        assert_eq!((names.len(), unseen), (2, vec!["z".to_string(), "y".to_string()]));
        assert_eq!(sets, [vec![0, 2], vec![3], vec![0]]);
        assert!(notes[0].contains("2 labels of 2 sequences") && notes[0].contains("missed"), "{notes:?}");
    }

    #[test]
    fn a_part_without_any_label_is_refused() {
        let mut part = text(&["", " | "]);
        from_raw(&mut part, &Request::default()).unwrap();
        let error = sets(&part, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("no sequence has a label"), "{error}");
    }
}
