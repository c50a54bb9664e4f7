//! Texts with label files, as in the Extreme Classification repository.
//!
//! A part has a file of texts, one a line (`trn_X.txt`), and a label file (`trn_X_Y.txt`). The first line of
//! a label file is `sequences labels`, and every other one has `label:1` for each label of a text. The first
//! line of a file with features for other programs is `sequences features labels`; its lines begin with
//! labels, with commas between them, and what follows is not read. Labels are numbered from 0; a file of
//! names (`Y.txt`, `lbl.txt` or `lbl.json`) has a line for each.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::super::archive::Tree;
use super::super::names::listed;
use super::super::parts::Parts;
use super::super::{DataError, Request, TaskKind};
use super::named_text::NamedText;
use super::part_name::{PartName, part_of};
use super::part_texts::{Texts, to_parts};

/// Names of labels by number, if a file has them.
#[derive(Default)]
pub(crate) struct LabelNames {
    file: String,
    /// Empty if labels are called by their numbers.
    names: Vec<String>,
}

impl LabelNames {
    /// Takes the file of names out of `tree`, if there is one. Also returns the names of files that hold
    /// features for other programs, which are taken out too.
    pub(super) fn find(tree: &mut Tree, request: &Request) -> Result<(Self, Vec<String>), DataError> {
        if request.text.task != Some(TaskKind::MultiLabel) || tree.files.len() < 2 {
            return Ok((Self::default(), Vec::new()));
        }
        let is_features = |name: &str| base(name).trim_end_matches(".txt").ends_with("xf");
        let features: Vec<String> =
            tree.files.iter().map(|file| file.name.clone()).filter(|name| is_features(name)).collect();
        tree.files.retain(|file| !is_features(&file.name));
        let found: Vec<usize> =
            (0..tree.files.len()).filter(|&i| is_names(base(&tree.files[i].name).as_str())).collect();
        let index = match found[..] {
            [] => return Ok((Self::default(), features)),
            [index] => index,
            _ => {
                let names: Vec<String> = found.iter().map(|&i| tree.files[i].name.clone()).collect();
                let what = "files with names of labels";
                return Err(DataError::SeveralFiles { file: tree.name.clone(), what, names: listed(&names) });
            }
        };
        let file = tree.files[index].name.clone();
        let bytes = tree.read(index)?;
        tree.files.remove(index);
        Ok((Self::parse(&file, &bytes, request)?, features))
    }

    fn parse(file: &str, bytes: &[u8], request: &Request) -> Result<Self, DataError> {
        let NamedText { text, .. } = NamedText::decode(file, bytes, request)?;
        let is_json = file.to_ascii_lowercase().ends_with(".json");
        let mut names = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let corrupt = |problem: String| DataError::Corrupt {
                file: file.into(),
                place: format!("line {}", i + 1),
                problem,
            };
            let name = match is_json {
                true => {
                    let object: Map<String, Value> = serde_json::from_str(line)
                        .map_err(|error| corrupt(format!("no JSON object: {error}")))?;
                    let title = object.get("title").or_else(|| object.get("uid")).and_then(Value::as_str);
                    title.ok_or_else(|| corrupt("there is no text in the field 'title'".into()))?.to_string()
                }
                false => line.to_string(),
            };
            match name.trim() {
                "" => return Err(corrupt(format!("the label {i} has no name"))),
                name => names.push(name.to_string()),
            }
        }
        // Two labels with one name would become one. A name with a number may be there already.
        loop {
            let mut count: HashMap<String, usize> = HashMap::new();
            names.iter().for_each(|name| *count.entry(name.clone()).or_default() += 1);
            if count.len() == names.len() {
                break;
            }
            for (i, name) in names.iter_mut().enumerate() {
                if count[name.as_str()] > 1 {
                    *name = format!("{name} ({i})");
                }
            }
        }
        Ok(Self { file: file.into(), names })
    }

    /// The name of label `number`.
    pub(super) fn name(&self, number: u64) -> Result<String, String> {
        if self.names.is_empty() {
            return Ok(number.to_string());
        }
        let found = usize::try_from(number).ok().and_then(|number| self.names.get(number));
        found.cloned().ok_or_else(|| {
            format!("label {number}, but {} names labels 0 to {}", self.file, self.names.len() - 1)
        })
    }
}

fn base(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase()
}

/// Whether a file has the names of labels.
fn is_names(base: &str) -> bool {
    ["y.txt", "lbl.txt", "lbl.raw.txt", "lbl.json"].contains(&base)
}

/// The numbers of the first line, if it is that of a label file.
fn header(line: &str) -> Option<Vec<u64>> {
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() == 2 || numbers.len() == 3)
}

/// Whether a file of `tree` is a label file: by its name, or because it begins as one does.
fn is_label_file(tree: &Tree, index: usize) -> bool {
    let name = base(&tree.files[index].name);
    let Some(stem) = name.strip_suffix(".txt") else { return false };
    if stem.ends_with("_y") || is_texts(&name) {
        return stem.ends_with("_y");
    }
    let head = tree.head(index);
    let line = head.split(|&b| b == b'\n').next().unwrap_or_default();
    header(&String::from_utf8_lossy(line)).is_some()
}

/// Whether the name of a file says that it has a text in each line, as `tst_X.txt` does.
fn is_texts(name: &str) -> bool {
    base(name).ends_with("_x.txt")
}

/// Whether `name` is a file with a text in each line, read without labels.
pub(super) fn is_unlabelled(name: &str, request: &Request, labelled: bool) -> bool {
    !labelled && request.text.task == Some(TaskKind::MultiLabel) && is_texts(name)
}

fn is_text(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".txt")
}

/// Whether `tree` holds texts with label files.
pub(super) fn is_layout(tree: &Tree, request: &Request) -> bool {
    request.text.task == Some(TaskKind::MultiLabel)
        && (0..tree.files.len()).any(|i| is_label_file(tree, i))
        && (0..tree.files.len()).any(|i| is_text(&tree.files[i].name) && !is_label_file(tree, i))
}

/// The files of a part: those of texts, and label files.
#[derive(Default)]
struct PartFiles {
    texts: Vec<usize>,
    labels: Vec<usize>,
}

/// Reads texts with label files.
pub(super) fn read(
    tree: &mut Tree,
    label_names: &LabelNames,
    request: &Request,
    labelled: bool,
) -> Result<Parts, DataError> {
    let mut parts: BTreeMap<u8, PartFiles> = BTreeMap::new();
    let mut skipped = Vec::new();
    for i in 0..tree.files.len() {
        let name = &tree.files[i].name;
        let part = match part_of(name) {
            Some(PartName::Train) => 0,
            Some(PartName::Validation) => 1,
            Some(PartName::Test) => 2,
            None => 3,
        };
        match is_text(name) && part < 3 {
            true if is_label_file(tree, i) => parts.entry(part).or_default().labels.push(i),
            true => parts.entry(part).or_default().texts.push(i),
            false => skipped.push(name.clone()),
        }
    }
    if parts.is_empty() {
        let found = listed(&skipped);
        return Err(DataError::NoDataFile { file: tree.name.clone(), found });
    }
    let mut read =
        |key: u8| parts.remove(&key).map(|files| part(tree, files, label_names, request, labelled));
    let (train, validation, test) = (read(0).transpose()?, read(1).transpose()?, read(2).transpose()?);
    let mut read = to_parts(train, validation, test, request)?;
    if !skipped.is_empty() {
        read.note(format!("not read: {}", listed(&skipped)));
    }
    Ok(read)
}

fn part(
    tree: &mut Tree,
    files: PartFiles,
    label_names: &LabelNames,
    request: &Request,
    labelled: bool,
) -> Result<Texts, DataError> {
    let names = |all: &[usize], tree: &Tree| -> Vec<String> {
        all.iter().map(|&i| tree.files[i].name.clone()).collect()
    };
    let several = |what, all: &[usize], tree: &Tree| {
        let names = listed(&names(all, tree));
        Err(DataError::SeveralFiles { file: tree.name.clone(), what, names })
    };
    let texts_at = match files.texts[..] {
        [one] => one,
        [] => {
            let hint = "its texts, one a line, belong into a file of the same part, such as trn_X.txt".into();
            return Err(DataError::Empty { file: names(&files.labels, tree).join(", "), hint });
        }
        _ => return several("files of texts for one part", &files.texts, tree),
    };
    let name = tree.files[texts_at].name.clone();
    let mut texts = lines(&name, &tree.read(texts_at)?, request)?;
    if !labelled {
        return Ok(texts);
    }
    let labels_at = match files.labels[..] {
        [one] => one,
        [] => {
            let hint = "a label file of the same part, such as trn_X_Y.txt, is missing".into();
            return Err(DataError::NoLabels { file: name, hint });
        }
        _ => return several("label files for one part", &files.labels, tree),
    };
    let labels_name = tree.files[labels_at].name.clone();
    let bytes = tree.read(labels_at)?;
    let NamedText { text: labels, .. } = NamedText::decode(&labels_name, &bytes, request)?;
    let sets = label_sets(&labels_name, &labels, label_names)?;
    let count = texts.texts.len();
    if count != sets.len() {
        let problem = format!("{count} texts, but {labels_name} has labels for {}", sets.len());
        return Err(DataError::Unsupported { file: name, problem });
    }
    sets.into_iter().for_each(|set| texts.push_set(set));
    Ok(texts)
}

/// The texts of a file that has one in each line.
pub(super) fn lines(name: &str, bytes: &[u8], request: &Request) -> Result<Texts, DataError> {
    let NamedText { text, notes, .. } = NamedText::decode(name, bytes, request)?;
    let mut texts = Texts::with_notes(name, notes);
    texts.texts = text.lines().map(String::from).collect();
    Ok(texts)
}

/// The names of the labels of each text.
pub(crate) fn label_sets(
    file: &str,
    text: &str,
    label_names: &LabelNames,
) -> Result<Vec<Vec<String>>, DataError> {
    let corrupt = |line: usize, problem: String| DataError::Corrupt {
        file: file.into(),
        place: format!("line {}", line + 1),
        problem,
    };
    let mut lines = text.lines().enumerate();
    let (first, numbers) = match lines.next().and_then(|(_, line)| Some((line, header(line)?))) {
        Some(found) => found,
        None => {
            let problem =
                "it must be the numbers of sequences and labels, or of sequences, features and labels";
            return Err(corrupt(0, problem.into()));
        }
    };
    let (count, labels) = (numbers[0], numbers[numbers.len() - 1]);
    if !label_names.names.is_empty() && label_names.names.len() as u64 != labels {
        let problem = format!(
            "'{first}' says {labels} labels, but {} names {}",
            label_names.file,
            label_names.names.len()
        );
        return Err(corrupt(0, problem));
    }
    let mut sets = Vec::new();
    for (i, line) in lines {
        if sets.len() as u64 == count {
            match line.trim().is_empty() {
                true => continue,
                false => {
                    return Err(corrupt(i, format!("'{first}' says {count} sequences, but there are more")));
                }
            }
        }
        let words: Vec<&str> = match numbers.len() {
            2 => line.split_whitespace().collect(),
            // A line that begins with a blank has features only.
            _ => line.split([' ', '\t']).next().unwrap_or_default().split(',').collect(),
        };
        let mut set = Vec::new();
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            let (number, value) = match numbers.len() {
                2 => word.split_once(':').unwrap_or((word, "1")),
                // The features of a line without labels.
                _ if word.contains(':') => continue,
                _ => (word, "1"),
            };
            let label = number.parse::<u64>().ok().filter(|&label| label < labels).ok_or_else(|| {
                corrupt(i, format!("'{number}' is no label from 0 to {}", labels.saturating_sub(1)))
            })?;
            let number: f64 =
                value.parse().map_err(|_| corrupt(i, format!("'{value}' is no number, in '{word}'")))?;
            if !number.is_finite() || number < 0.0 {
                return Err(corrupt(i, format!("'{value}' is neither 0 nor more, in '{word}'")));
            }
            if number != 0.0 {
                set.push(label_names.name(label).map_err(|problem| corrupt(i, problem))?);
            }
        }
        sets.push(set);
    }
    if (sets.len() as u64) < count {
        let problem = format!("it says {count} sequences, but there are {}", sets.len());
        return Err(corrupt(0, problem));
    }
    Ok(sets)
}
