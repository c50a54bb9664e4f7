//! Texts with a label each: a table with a text column, JSON lines, or a folder of `.txt` files.

use std::collections::BTreeMap;

use csv::ReaderBuilder;

use super::super::archive::Tree;
use super::super::dialect::delimiter;
use super::super::label_sets;
use super::super::names::listed;
use super::super::part::{Part, RawLabels};
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences, TaskKind, Unlabelled};
use super::extreme::{self, LabelNames};
use super::format::format;
use super::json_lines;
use super::named_text::NamedText;
use super::part_name::{PartName, part_of};
use crate::text::{Counts, TextFormat, Tokenizer};
use fastgrnn_core::format::quantity;
use fastgrnn_core::rng::{Rng, stream};

/// The texts of a part.
#[derive(Default)]
pub(crate) struct Texts {
    file: String,
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

    fn push_class(&mut self, label: String) {
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
        for (number, members) in of_label.into_values().enumerate() {
            let mut order = members;
            Rng::keyed(seed, &[stream::TEST_SPLIT, number as u64]).shuffle(&mut order);
            let count = (order.len() as f64 * share).round() as usize;
            order[..count].iter().for_each(|&i| is_taken[i] = true);
        }
        let mut taken = Self::new(&self.file);
        taken.texts = take_out(&mut self.texts, &is_taken);
        taken.labels = match &mut self.labels {
            TextLabels::None => TextLabels::None,
            TextLabels::Class(all) => TextLabels::Class(take_out(all, &is_taken)),
            TextLabels::Sets(all) => TextLabels::Sets(take_out(all, &is_taken)),
        };
        taken.ids = self.ids.as_mut().map(|ids| take_out(ids, &is_taken));
        taken
    }

    fn append(&mut self, mut more: Self) {
        self.texts.append(&mut more.texts);
        match (&mut self.labels, more.labels) {
            (TextLabels::Class(all), TextLabels::Class(more)) => all.extend(more),
            (TextLabels::Sets(all), TextLabels::Sets(more)) => all.extend(more),
            (all @ TextLabels::None, more) => *all = more,
            _ => {}
        }
        self.notes.append(&mut more.notes);
        if let (Some(all), Some(ids)) = (&mut self.ids, more.ids) {
            all.extend(ids);
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

/// The columns of a table, or the fields of JSON lines, that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumns {
    pub text: String,
    /// Nothing if labels are not wanted.
    pub label: Option<String>,
}

/// Reads the texts of a folder, an archive or a file.
pub(super) fn read(tree: &mut Tree, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    let (label_names, mut extra) = LabelNames::find(tree, request)?;
    if extreme::is_layout(tree, request) {
        return extreme::read(tree, &label_names, request, labelled);
    }
    extra.extend(keep_yelp_reviews(tree));
    let names: Vec<String> = tree.files.iter().map(|file| file.name.clone()).collect();
    let mut parts: BTreeMap<u8, Texts> = BTreeMap::new();
    let mut skipped = extra;
    for (i, name) in names.iter().enumerate() {
        let lower = name.to_ascii_lowercase();
        let ending = lower.rsplit('.').next().unwrap_or_default().to_string();
        let texts = match ending.as_str() {
            "csv" | "tsv" => {
                let columns = columns(name, request, labelled)?;
                read_table(name, &tree.read(i)?, &columns, request)?
            }
            "jsonl" | "ndjson" | "json" => {
                json_lines::read(name, &tree.read(i)?, &label_names, request, labelled)?
            }
            "txt" => single(name, &tree.read(i)?, request, labelled)?,
            _ => {
                skipped.push(name.clone());
                continue;
            }
        };
        let part = part_of(name).unwrap_or(PartName::Train);
        let key = match part {
            PartName::Train => 0,
            PartName::Validation => 1,
            PartName::Test => 2,
        };
        match parts.get_mut(&key) {
            Some(all) => all.append(texts),
            None => drop(parts.insert(key, texts)),
        }
    }
    if parts.is_empty() {
        let found = if names.is_empty() { "nothing".into() } else { listed(&names) };
        return Err(DataError::NoDataFile { file: tree.name.clone(), found });
    }
    let mut of = |key: u8| parts.remove(&key);
    let (mut train, validation, mut test) = (of(0), of(1), of(2));
    let share = request.data.test_split.filter(|share| *share > 0.0 && request.text_format.is_none());
    if let (Some(share), Some(all), None, true) = (share, &mut train, &test, labelled) {
        test = Some(all.split_off(share, request.split_seed));
    }
    if let (Some(train), false) = (&mut train, skipped.is_empty()) {
        train.notes.push(format!("not read: {}", listed(&skipped)));
    }
    to_parts(train, validation, test, request)
}

/// Tokens of the texts, with the vocabulary of the training part.
pub(crate) fn to_parts(
    train: Option<Texts>,
    validation: Option<Texts>,
    test: Option<Texts>,
    request: &Request,
) -> Result<Parts, DataError> {
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
    let file = &texts.file;
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

/// The name of the file of reviews in the Yelp data set, without its ending.
const YELP_REVIEWS: &str = "yelp_academic_dataset_review";

/// Whether a file is that of the reviews in the Yelp data set.
pub(super) fn is_yelp_reviews(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().starts_with(YELP_REVIEWS)
}

/// Keeps only the reviews, if `tree` is the Yelp data set; returns the names of the other files.
fn keep_yelp_reviews(tree: &mut Tree) -> Vec<String> {
    if !tree.files.iter().any(|file| is_yelp_reviews(&file.name)) {
        return Vec::new();
    }
    let others = tree.files.iter().filter(|file| !is_yelp_reviews(&file.name));
    let others = others.map(|file| file.name.clone()).collect();
    tree.files.retain(|file| is_yelp_reviews(&file.name));
    others
}

/// The columns that a request names. The text is in `text` unless it says otherwise.
pub(super) fn columns(file: &str, request: &Request, labelled: bool) -> Result<TableColumns, DataError> {
    let text = request.text.text_col.clone().unwrap_or_else(|| "text".into());
    let stars = is_yelp_reviews(file).then(|| "stars".to_string());
    match (&request.data.label_col.clone().or(stars), labelled) {
        (Some(label), true) => Ok(TableColumns { text, label: Some(label.clone()) }),
        (None, true) => Err(DataError::NoLabels {
            file: file.into(),
            hint: "name the column or field that holds the label with `label-col`".into(),
        }),
        (_, false) => Ok(TableColumns { text, label: None }),
    }
}

/// Reads a table with a header.
pub(crate) fn read_table(
    file: &str,
    bytes: &[u8],
    columns: &TableColumns,
    request: &Request,
) -> Result<Texts, DataError> {
    refuse_other_settings(file, request)?;
    let NamedText { text, notes, .. } = NamedText::decode(file, bytes, request)?;
    let separator = match &request.data.delimiter {
        Some(given) => delimiter(given)?,
        None => separator(&text, &columns.text),
    };
    let mut reader = ReaderBuilder::new().delimiter(separator).from_reader(text.as_bytes());
    let corrupt = |error: csv::Error| {
        let line = error.position().map_or(1, |position| position.line());
        DataError::Corrupt { file: file.into(), place: format!("line {line}"), problem: error.to_string() }
    };
    let header: Vec<String> = reader.headers().map_err(corrupt)?.iter().map(String::from).collect();
    let find = |name: &str| -> Result<usize, DataError> {
        let number = || name.parse().ok().filter(|&i: &usize| i < header.len());
        header.iter().position(|column| column == name).or_else(number).ok_or_else(|| {
            DataError::UnknownColumn { file: file.into(), column: name.into(), known: listed(&header) }
        })
    };
    let text_at = find(&columns.text)?;
    let label_at = columns.label.as_deref().map(find).transpose()?;
    let mut texts = Texts { notes, ..Texts::new(file) };
    let mut cells = Vec::new();
    for record in reader.records() {
        let record = record.map_err(corrupt)?;
        texts.texts.push(record.get(text_at).unwrap_or_default().to_string());
        if let Some(at) = label_at {
            let line = record.position().map_or(0, |position| position.line());
            let cell = record.get(at).unwrap_or_default();
            texts.push_label(&format!("line {line}"), cell, request)?;
            cells.push(cell.to_string());
        }
    }
    if request.text.task == Some(TaskKind::MultiLabel) {
        texts.notes.extend(label_sets::other_separator(file, &cells, label_sets::separator(request)));
    }
    Ok(texts)
}

/// Refuses settings of tables that those of texts do not have.
pub(super) fn refuse_other_settings(file: &str, request: &Request) -> Result<(), DataError> {
    let data = &request.data;
    let given = [
        ("skip-rows", data.skip_rows.map(|rows| rows.to_string())),
        ("columns", data.chosen_columns().first().cloned()),
        ("drop", data.dropped_columns().first().cloned()),
        ("id-col", data.id_col.clone()),
        ("group-col", data.group_col.clone()),
    ];
    match given.into_iter().find_map(|(key, value)| Some((key, value?))) {
        Some((key, value)) if request.expect.is_none() => {
            let problem =
                format!("'{value}' is for tables of numbers, and {file} is read as texts; leave it out");
            Err(DataError::Setting { key: key.into(), problem })
        }
        _ => Ok(()),
    }
}

/// What separates the columns: the sign that makes the text column one of the header; a comma if none does.
fn separator(table: &str, column: &str) -> u8 {
    let header = table.lines().next().unwrap_or_default();
    let has_column = |sign: &u8| header.split(char::from(*sign)).any(|name| name.trim_matches('"') == column);
    *b",;\t|".iter().find(|sign| has_column(sign)).unwrap_or(&b',')
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

/// A file that is one text. Its label is the folder that it is in.
fn single(file: &str, bytes: &[u8], request: &Request, labelled: bool) -> Result<Texts, DataError> {
    let NamedText { text, notes, .. } = NamedText::decode(file, bytes, request)?;
    let ids = Some(vec![file.to_string()]);
    let mut texts = Texts { texts: vec![text], ids, notes, ..Texts::new(file) };
    if labelled {
        let folder = file.rsplit_once('/').map(|(folder, _)| folder.rsplit('/').next().unwrap_or(folder));
        match folder.filter(|folder| part_of(folder).is_none()) {
            Some(_) if request.text.task == Some(TaskKind::MultiLabel) => {
                let hint = "the folder of a text is one label; give several in a table with a text column, in JSON lines, or in a label file";
                return Err(DataError::NoLabels { file: file.into(), hint: hint.into() });
            }
            Some(folder) => texts.push_class(folder.to_string()),
            None => {
                let hint = "a folder of texts has a folder for each class, as in train/good/1.txt".into();
                return Err(DataError::NoLabels { file: file.into(), hint });
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::super::super::{FindingCode, Labels, TaskKind, load, load_bytes};
    use super::*;

    fn request(label: &str) -> Request {
        let mut request = Request::default().with_data(|data| data.label_col = Some(label.into()));
        request.text.text_col = Some("text".into());
        request
    }

    #[test]
    fn a_table_with_a_text_column_becomes_tokens_and_classes() {
        let csv = "id,text,stars\n1,\"Good, very good\",5\n2,Bad,1\n3,\" \",1\n4,good bad,5\n";
        let data = load_bytes("reviews.csv", csv.as_bytes(), &request("stars")).unwrap();
        let vocabulary = &data.text.as_ref().unwrap().vocabulary;
        assert_eq!(vocabulary.tokens(), ["<unk>", "good", "bad", ",", "very"]);
        let tokens: Vec<&[u32]> = (0..4).map(|i| data.train.x.tokens(i)).collect();
        assert_eq!(tokens, [&[1, 3, 4, 1][..], &[2], &[0], &[1, 2]]);
        assert_eq!(
            data.train.y,
            Labels::Class { index: vec![1, 0, 0, 1], names: vec!["1".into(), "5".into()] }
        );
        assert!(data.notes.iter().any(|note| note.contains("1 text without any token")), "{:?}", data.notes);
    }

    #[test]
    fn semicolons_are_recognised_and_settings_of_number_tables_refused() {
        let table = "text;label\n\"a; b\";x\nc, d;y\n".as_bytes();
        let data = load_bytes("a.csv", table, &request("label")).unwrap();
        assert_eq!((data.train.x.steps(0), data.train.x.steps(1)), (3, 3));
        let skipping = request("label").with_data(|data| data.skip_rows = Some(1));
        let error = load_bytes("a.csv", table, &skipping).unwrap_err().to_string();
        assert!(error.contains("skip-rows"), "{error}");
    }

    #[test]
    fn json_lines_are_read_by_their_fields() {
        let lines = "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"label\": 2}\n".as_bytes();
        let mut by_task = Request::default().with_data(|data| data.label_col = Some("label".into()));
        assert!(load_bytes("a.jsonl", lines, &by_task).is_err(), "these might be measurements");
        by_task.text.task = Some(TaskKind::Classify);
        assert_eq!(load_bytes("a.jsonl", lines, &by_task).unwrap().train.len(), 2);
        let lines =
            "{\"text\": \"a b\", \"stars\": 4.0, \"more\": []}\n\n{\"text\": \"c\", \"stars\": 2.0}\n";
        let data = load_bytes("reviews.jsonl", lines.as_bytes(), &request("stars")).unwrap();
        assert_eq!((data.train.len(), data.train.classes()), (2, 2));
        for (lines, part) in [
            ("{\"text\": 1, \"stars\": 2}\n[1]\n", "line 2: no JSON object"),
            ("{\"stars\": 2}\n", "no field 'text'; fields: stars"),
            ("{\"text\": [], \"stars\": 2}\n", "neither text nor a number"),
            ("{\"text\": \"a\", \"stars\": \" \"}\n", "the text has no label"),
        ] {
            let error = load_bytes("a.jsonl", lines.as_bytes(), &request("stars")).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_folder_of_texts_has_a_folder_for_each_class() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("train/good/1.txt", "fine work"),
            ("train/bad/2.txt", "poor work"),
            ("test/bad/3.txt", "poor thing"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut request = Request::new(folder.path().to_str().unwrap());
        request.text.task = Some(TaskKind::Classify);
        let data = load(&request).unwrap();
        let test = data.test.unwrap();
        assert_eq!((data.train.len(), test.len()), (2, 1));
        assert_eq!(test.x.tokens(0)[1], 0, "`thing` is not in the training part");
        assert_eq!(test.y, Labels::Class { index: vec![0], names: vec!["bad".into(), "good".into()] });
    }

    #[test]
    fn a_test_part_is_split_off_before_the_vocabulary_is_made() {
        let rows: Vec<String> = (0..40).map(|i| format!("word{i},{}\n", i % 2)).collect();
        let csv = format!("text,label\n{}", rows.concat());
        let request = request("label").with_data(|data| data.test_split = Some(0.25));
        let data = load_bytes("a.csv", csv.as_bytes(), &request).unwrap();
        let test = data.test.unwrap();
        assert_eq!((data.train.len(), test.len()), (30, 10));
        assert_eq!(data.text.unwrap().vocabulary.len(), 31);
        assert!((0..10).all(|i| test.x.tokens(i) == [0]), "no word of the test part is known");
        let Labels::Class { index, .. } = &test.y else { panic!("classes") };
        assert_eq!(index.iter().sum::<u32>(), 5);
    }

    #[test]
    fn a_text_that_is_in_both_parts_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let long = "one two three four five six seven eight nine";
        std::fs::write(folder.path().join("train.csv"), format!("text,label\n{long},a\nother words,b\n"))
            .unwrap();
        std::fs::write(folder.path().join("test.csv"), format!("text,label\n{long},a\nmore words,b\n"))
            .unwrap();
        let data =
            load(&Request { source: folder.path().to_str().unwrap().into(), ..request("label") }).unwrap();
        assert!(data.findings.iter().any(|f| f.code == FindingCode::TrainInTest), "{:?}", data.findings);
    }

    #[test]
    fn long_texts_are_cut_and_missing_columns_are_named() {
        let mut short = request("label");
        short.text.max_tokens = 2;
        let data = load_bytes("a.csv", b"text,label\na b c,x\nd,y\n", &short).unwrap();
        assert_eq!(data.train.x.max_steps(), 2);
        assert!(data.notes.iter().any(|note| note.contains("max-tokens")), "{:?}", data.notes);
        let error = load_bytes("a.csv", b"words,label\na,x\n", &short).unwrap_err().to_string();
        assert!(error.contains("'text'") && error.contains("words, label"), "{error}");
    }
}
