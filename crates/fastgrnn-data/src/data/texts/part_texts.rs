//! The texts of a part, what is known about each, and the tokens that they become.

use super::super::label_sets;
use super::super::part::{Part, RawLabels};
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences, TaskKind, Unlabelled};
use super::columns::refuse_other_settings;
use super::format::format;
use crate::text::{Counts, TextFormat, Tokenizer};
use fastgrnn_core::format::quantity;
use fastgrnn_core::rng::{Rng, stream};
use std::collections::BTreeMap;

/// The texts of a part.
#[derive(Default)]
pub(crate) struct Texts {
    /// The first file.
    file: String,
    /// Files that were appended.
    more_files: u64,
    pub(super) texts: Vec<String>,
    /// What is known about each text.
    labels: TextLabels,
    pub(super) ids: Option<Vec<String>>,
    pub(super) notes: Vec<String>,
}

/// What is known about each text.
#[derive(Default)]
enum TextLabels {
    /// Nothing: labels are not wanted.
    #[default]
    None,
    /// Its class.
    Class(Vec<String>),
    /// The names of its labels.
    Sets(Vec<Vec<String>>),
}

impl Texts {
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// No texts of `file` yet, with these notes about it.
    pub(super) fn with_notes(file: &str, notes: Vec<String>) -> Self {
        Self { notes, ..Self::new(file) }
    }

    /// Appends a text with the names of its labels.
    pub(crate) fn push_with_set(&mut self, text: String, names: Vec<String>) {
        self.texts.push(text);
        self.push_set(names);
    }

    pub(super) fn push_class(&mut self, label: String) {
        match &mut self.labels {
            TextLabels::Class(all) => all.push(label),
            other => *other = TextLabels::Class(vec![label]),
        }
    }

    pub(super) fn push_set(&mut self, names: Vec<String>) {
        match &mut self.labels {
            TextLabels::Sets(all) => all.push(names),
            other => *other = TextLabels::Sets(vec![names]),
        }
    }

    /// The label of the next text as it stands in the file: names of a set, or a class.
    pub(super) fn push_label(&mut self, place: &str, text: &str, request: &Request) -> Result<(), DataError> {
        match request.text.task {
            Some(TaskKind::MultiLabel) => {
                self.push_set(label_sets::names_in(text, label_sets::separator(request)));
            }
            _ => self.push_class(label(&self.file, place, text)?),
        }
        Ok(())
    }

    /// Calls each text by its number in the file, from 1, in whichever part it will be.
    pub(crate) fn number(&mut self) {
        self.ids = Some((1..=self.texts.len()).map(|number| number.to_string()).collect());
    }

    /// Takes out about a `share` of the texts of each class, or of all texts with sets of labels, which the
    /// seed decides.
    pub(crate) fn split_off(&mut self, share: f64, seed: u64) -> Self {
        let mut of_label: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for i in 0..self.texts.len() {
            let label = match &self.labels {
                TextLabels::Class(all) => all.get(i).map_or("", String::as_str),
                _ => "",
            };
            of_label.entry(label).or_default().push(i);
        }
        let mut is_taken = vec![false; self.texts.len()];
        let sizes: Vec<usize> = of_label.values().map(Vec::len).collect();
        let counts = proportional_counts(&sizes, share);
        for (number, (mut order, count)) in of_label.into_values().zip(counts).enumerate() {
            Rng::keyed(seed, &[stream::TEST_SPLIT, number as u64]).shuffle(&mut order);
            order[..count].iter().for_each(|&i| is_taken[i] = true);
        }
        self.take(&is_taken)
    }

    /// Takes out the last texts: this share of all.
    pub(super) fn split_end(&mut self, share: f64) -> Self {
        let n = self.texts.len();
        let kept = n - (n as f64 * share).round() as usize;
        let is_taken: Vec<bool> = (0..n).map(|i| i >= kept).collect();
        self.take(&is_taken)
    }

    /// Takes out the texts that are chosen.
    fn take(&mut self, is_taken: &[bool]) -> Self {
        let mut taken = Self::new(&self.file);
        taken.texts = take_out(&mut self.texts, is_taken);
        taken.labels = match &mut self.labels {
            TextLabels::None => TextLabels::None,
            TextLabels::Class(all) => TextLabels::Class(take_out(all, is_taken)),
            TextLabels::Sets(all) => TextLabels::Sets(take_out(all, is_taken)),
        };
        taken.ids = self.ids.as_mut().map(|ids| take_out(ids, is_taken));
        taken
    }

    /// The names of the texts; where they have none, the file and their numbers in it.
    fn take_ids(&mut self) -> Vec<String> {
        let number = |i: usize| format!("{}:{}", self.file, i + 1);
        self.ids.take().unwrap_or_else(|| (0..self.texts.len()).map(number).collect())
    }

    pub(super) fn append(&mut self, mut more: Self) {
        if self.ids.is_some() || more.ids.is_some() {
            let mut ids = self.take_ids();
            ids.extend(more.take_ids());
            self.ids = Some(ids);
        }
        self.texts.append(&mut more.texts);
        match (&mut self.labels, more.labels) {
            (TextLabels::Class(all), TextLabels::Class(more)) => all.extend(more),
            (TextLabels::Sets(all), TextLabels::Sets(more)) => all.extend(more),
            (all @ TextLabels::None, more) => *all = more,
            _ => {}
        }
        self.notes.append(&mut more.notes);
        self.more_files += 1 + more.more_files;
    }

    /// The files, for a note about all of them.
    fn files(&self) -> String {
        match self.more_files {
            0 => self.file.clone(),
            more => format!("{} and {}", self.file, quantity(more, "more file")),
        }
    }
}

/// Takes the values out that are chosen.
fn take_out<T: Default>(all: &mut Vec<T>, is_taken: &[bool]) -> Vec<T> {
    let (mut taken, mut i) = (Vec::new(), 0);
    all.retain_mut(|value| {
        i += 1;
        if is_taken[i - 1] {
            taken.push(std::mem::take(value));
        }
        !is_taken[i - 1]
    });
    taken
}

/// Tokens of the texts, with the vocabulary of the training part. Without a test part, `test_split` takes
/// one out of the training part.
pub(crate) fn to_parts(
    mut train: Option<Texts>,
    validation: Option<Texts>,
    mut test: Option<Texts>,
    request: &Request,
) -> Result<Parts, DataError> {
    if let Some(texts) = train.as_ref().or(test.as_ref()) {
        refuse_other_settings(&texts.file, request)?;
    }
    // A model finds the test part of its training data again; a test part has its own file.
    let is_split = request.text_format.is_none() || (request.expect.is_some() && request.test.is_none());
    let share = request.data.test_split.filter(|share| *share > 0.0 && is_split);
    let has_labels = |texts: &Texts| !matches!(texts.labels, TextLabels::None);
    if let (Some(share), Some(all), None) = (share, train.as_mut().filter(|all| has_labels(all)), &test) {
        test = Some(all.split_off(share, request.split_seed));
    }
    let format = format(request, Tokenizer::default(), &[], |tokenizer| {
        let mut counts = Counts::default();
        for text in train.iter().flat_map(|part| &part.texts) {
            tokenizer.for_each(text, |token| counts.add(token));
        }
        counts
    });
    let part = |texts: Option<Texts>| texts.map(|texts| encode(texts, &format, request));
    Ok(Parts { train: part(train), validation: part(validation), test: part(test) })
}

fn encode(mut texts: Texts, format: &TextFormat, request: &Request) -> Part {
    let (mut x, mut tokens) = (Sequences::of_tokens(), Vec::new());
    let (mut empty, mut cut) = (0, 0);
    let most = request.text.max_tokens;
    for text in &texts.texts {
        tokens.clear();
        format.encode(text, &mut tokens);
        if tokens.is_empty() {
            tokens.push(0);
            empty += 1;
        }
        cut += usize::from(tokens.len() > most);
        tokens.truncate(most);
        x.push_tokens(&tokens);
    }
    let file = texts.files();
    if empty > 0 {
        let many = quantity(empty, "text");
        texts.notes.push(format!("{file}: {many} without any token became a single <unk>"));
    }
    if cut > 0 {
        let many = quantity(cut as u64, "text");
        texts
            .notes
            .push(format!("{file}: {many} of more than {most} tokens lost their end; see `max-tokens`"));
    }
    let y = match texts.labels {
        TextLabels::None => RawLabels::None,
        TextLabels::Class(labels) => RawLabels::Text(labels),
        TextLabels::Sets(sets) => RawLabels::Sets(sets),
    };
    let mut part = Part::new(texts.file, x, y);
    part.text = Some(format.clone());
    part.notes = texts.notes;
    part.ids = texts.ids;
    part
}

/// A single text to predict on, as a model reads it.
///
/// ```
/// use fastgrnn_data::data::{Request, text_input};
/// use fastgrnn_data::text::{TextFormat, Tokenizer, Vocabulary};
/// let vocabulary = Vocabulary::new(vec!["<unk>".into(), "good".into()]).unwrap();
/// let format = TextFormat { tokenizer: Tokenizer::default(), vocabulary };
/// let request = Request { text_format: Some(format), ..Request::default() };
/// assert_eq!(text_input("Good food", &request).x.tokens(0), [1, 0]);
/// ```
pub fn text_input(text: &str, request: &Request) -> Unlabelled {
    let format = format(request, Tokenizer::default(), &[], |_| Counts::default());
    let texts = Texts { texts: vec![text.to_string()], ..Texts::new("the text") };
    let part = encode(texts, &format, request);
    Unlabelled { x: part.x, ids: vec!["0".into()], features: None, notes: part.notes }
}

/// The label of a text, which must not be blank.
fn label(file: &str, place: &str, label: &str) -> Result<String, DataError> {
    match label.trim() {
        "" => Err(DataError::Corrupt {
            file: file.into(),
            place: place.into(),
            problem: "the text has no label; give it one, or leave it out".into(),
        }),
        label => Ok(label.to_string()),
    }
}

/// `share` of all, of which each of the groups with these sizes has its part: rounded down, and one more for
/// those that lose most by it.
fn proportional_counts(sizes: &[usize], share: f64) -> Vec<usize> {
    let exact: Vec<f64> = sizes.iter().map(|&n| n as f64 * share).collect();
    let mut counts: Vec<usize> = exact.iter().zip(sizes).map(|(e, &n)| (*e as usize).min(n)).collect();
    let wanted = (sizes.iter().sum::<usize>() as f64 * share).round() as usize;
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&i| counts[i] < sizes[i]).collect();
    order.sort_by(|&a, &b| (exact[b] - counts[b] as f64).total_cmp(&(exact[a] - counts[a] as f64)));
    let missing = wanted.saturating_sub(counts.iter().sum());
    order.into_iter().take(missing).for_each(|i| counts[i] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_their_parts_and_together_the_share_of_all() {
        assert_eq!(proportional_counts(&[749, 927, 1_461, 3_526, 3_337], 0.2), [150, 185, 292, 705, 668]);
        assert_eq!(proportional_counts(&[3, 3, 3], 0.5), [2, 2, 1]);
        assert_eq!(proportional_counts(&[1, 1], 0.999), [1, 1]);
        assert_eq!(proportional_counts(&[], 0.2), [0usize; 0]);
    }
}
