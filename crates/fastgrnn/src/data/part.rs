//! What a reader hands over, and how training and test parts become a [`Dataset`].
//!
//! A reader knows its format and nothing else: labels stay as they stand in the file. Here they
//! become classes or values, by one rule for all formats, and the test part is held to the training
//! part's features and classes.

use std::collections::{BTreeMap, HashMap};

use super::{DataError, Dataset, Examples, LabelKind, Labels, Request, Sequences, Suggestions};

/// Integer labels are classes up to this many distinct ones, however few the sequences.
const FEW_CLASSES: usize = 10;

/// Integer labels with more distinct values than this are values.
const MANY_CLASSES: usize = 1000;

/// The content of a file or folder.
pub(crate) struct Part {
    /// Where it came from, for messages.
    pub file: String,
    pub x: Sequences,
    pub y: RawLabels,
    /// How the file itself says to understand its labels.
    pub kind: LabelKind,
    /// The classes the file declares, in its order.
    pub classes: Option<Vec<String>>,
    pub group: Option<Vec<String>>,
    pub recording: Option<Vec<u32>>,
    pub ids: Option<Vec<String>>,
    pub features: Option<Vec<String>>,
    pub image: Option<(usize, usize)>,
    pub notes: Vec<String>,
}

/// Labels as they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawLabels {
    Text(Vec<String>),
    Number { width: usize, values: Vec<f64> },
    None,
}

impl Part {
    pub fn new(file: impl Into<String>, x: Sequences, y: RawLabels) -> Self {
        Self {
            file: file.into(),
            x,
            y,
            kind: LabelKind::Auto,
            classes: None,
            group: None,
            recording: None,
            ids: None,
            features: None,
            image: None,
            notes: Vec::new(),
        }
    }

    /// Cuts windows and re-blocks as asked.
    pub fn shaped(mut self, request: &Request) -> Result<Self, DataError> {
        if let Some(i) = (0..self.x.len()).find(|&i| self.x.steps(i) == 0) {
            let hint = format!("sequence {i} has no time steps");
            return Err(DataError::Empty { file: self.file, hint });
        }
        if self.x.is_empty() {
            let hint = match request.window {
                Some(window) => no_window(window),
                None => "no sequences found".into(),
            };
            return Err(DataError::Empty { file: self.file, hint });
        }
        if let Some(window) = request.window
            && self.recording.is_none()
        {
            self = self.windows(window, request.stride.unwrap_or(window))?;
        }
        if let Some(timesteps) = request.timesteps {
            let dim = self.x.dim();
            self.x = self.x.reblocked(timesteps)?;
            if self.x.dim() != dim {
                self.features = None;
            }
        }
        Ok(self)
    }

    fn windows(mut self, window: usize, stride: usize) -> Result<Self, DataError> {
        check_window(window, stride)?;
        let dim = self.x.dim();
        let (mut x, mut from) = (Sequences::new(dim), Vec::new());
        for i in 0..self.x.len() {
            let sequence = self.x.get(i);
            for start in starts(self.x.steps(i), window, stride) {
                x.push(&sequence[start * dim..(start + window) * dim]);
                from.push(i as u32);
            }
        }
        if x.is_empty() {
            return Err(DataError::Empty { file: self.file, hint: no_window(window) });
        }
        let of = |i: &u32| *i as usize;
        match &mut self.y {
            RawLabels::Text(text) => *text = from.iter().map(|i| text[of(i)].clone()).collect(),
            RawLabels::Number { width, values } => {
                let row = |i| values[of(i) * *width..(of(i) + 1) * *width].iter().copied();
                *values = from.iter().flat_map(row).collect();
            }
            RawLabels::None => {}
        }
        for names in [&mut self.group, &mut self.ids].into_iter().flatten() {
            *names = from.iter().map(|i| names[of(i)].clone()).collect();
        }
        self.x = x;
        self.image = None;
        self.recording = Some(from);
        Ok(self)
    }
}

/// Where the windows of a recording start; what is left at the end is not used.
pub(crate) fn starts(steps: usize, window: usize, stride: usize) -> impl Iterator<Item = usize> {
    (0..(steps + 1).saturating_sub(window)).step_by(stride)
}

pub(crate) fn check_window(window: usize, stride: usize) -> Result<(), DataError> {
    let zero = |option: &str| DataError::Option {
        option: option.into(),
        problem: "0 steps make no window; use 1 or more".into(),
    };
    match (window, stride) {
        (0, _) => Err(zero("--window")),
        (_, 0) => Err(zero("--stride")),
        _ => Ok(()),
    }
}

fn no_window(window: usize) -> String {
    format!("no recording has the {window} steps of a window; use a smaller --window")
}

/// Joins a training part and, if there is one, a test part. Both must be shaped.
pub(crate) fn assemble(
    name: String,
    train: Part,
    test: Option<Part>,
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
        });
    }
    let mut notes = train.notes;
    for note in test.iter().flat_map(|test| &test.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let kind = match request.labels {
        LabelKind::Auto => train.kind,
        asked => asked,
    };
    let y = labels(&train.file, &train.y, train.classes.as_deref(), kind, &mut notes)?;
    let test_y = match &test {
        Some(test) => Some(labels_like(test, &y, &train.file)?),
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
    });
    Ok(Dataset {
        name,
        train: Examples { x: train.x, y, group, recording: train.recording },
        test,
        notes,
        features: train.features,
        image: train.image,
        suggested: Suggestions::default(),
    })
}

/// Understands the labels of a training part.
fn labels(
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
    if let Some((_, values)) = &numbers
        && let Some(i) = values.iter().position(|v| !(*v as f32).is_finite())
    {
        return Err(DataError::NotFinite {
            file: file.into(),
            place: format!("label {i}"),
            value: values[i].to_string(),
        });
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

/// Understands the labels of a test part as those of the training part were.
fn labels_like(test: &Part, like: &Labels, train_file: &str) -> Result<Labels, DataError> {
    match (like, &test.y) {
        (Labels::None, _) | (_, RawLabels::None) => Err(DataError::NoLabels {
            file: test.file.clone(),
            hint: "a test set needs a label for every sequence".into(),
        }),
        (Labels::Class { names, .. }, raw) => {
            let text = class_text(&test.file, raw)?;
            let index = indices(&text, names).map_err(|i| DataError::UnseenLabel {
                file: test.file.clone(),
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
            let values = values.into_iter().map(|v| v as f32).collect();
            Ok(Labels::Value { width: *width, values })
        }
    }
}

fn not_numbers(file: &str, raw: &RawLabels) -> DataError {
    let bad = match raw {
        RawLabels::Text(text) => text.iter().find(|t| t.trim().parse::<f64>().is_err()),
        _ => None,
    };
    DataError::Unsupported {
        file: file.into(),
        problem: format!("label '{}' is not a number, and values were asked for", bad.map_or("", |b| b)),
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
    let few = distinct.len() <= FEW_CLASSES
        || (distinct.len() <= MANY_CLASSES && distinct.len() * 2 <= values.len());
    if !few {
        notes.push(format!(
            "{file}: {} distinct whole numbers as labels were taken as values to regress; --labels class takes them as classes",
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

/// The first names of a list, for a message.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        n if n > SHOWN => format!("{shown}, … ({n} in all)"),
        _ => shown,
    }
}
