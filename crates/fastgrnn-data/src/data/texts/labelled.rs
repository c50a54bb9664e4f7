//! Texts with a label each: a table with a text column, JSON lines, or a folder of `.txt` files.

use std::collections::BTreeMap;

use csv::ReaderBuilder;

use super::super::archive::Tree;
use super::super::dialect::delimiter;
use super::super::label_sets;
use super::super::names::listed;
use super::super::parts::Parts;
use super::super::{DataError, Request, TaskKind};
use super::class_folders::ClassFolders;
use super::columns::{TableColumns, columns, is_yelp_reviews};
use super::extreme::{self, LabelNames};
use super::json_lines;
use super::named_text::NamedText;
use super::part_name::{PartName, part_of};
use super::part_texts::{Texts, to_parts};

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
    let folders = ClassFolders::of(&names);
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
            "txt" if extreme::is_unlabelled(name, request, labelled) => {
                extreme::lines(name, &tree.read(i)?, request)?
            }
            "txt" => single(name, &tree.read(i)?, &folders, request, labelled)?,
            _ => {
                skipped.push(name.clone());
                continue;
            }
        };
        let part = match ending.as_str() {
            // The only file is the data, whatever its name.
            _ if names.len() == 1 => PartName::Train,
            "txt" => folders.part(name),
            _ => part_of(name).unwrap_or(PartName::Train),
        };
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
    let (mut train, validation, test) = (of(0), of(1), of(2));
    if let (Some(train), false) = (&mut train, skipped.is_empty()) {
        train.notes.push(format!("not read: {}", listed(&skipped)));
    }
    to_parts(train, validation, test, request)
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

/// Reads a table with a header.
pub(crate) fn read_table(
    file: &str,
    bytes: &[u8],
    columns: &TableColumns,
    request: &Request,
) -> Result<Texts, DataError> {
    let NamedText { text, notes, .. } = NamedText::decode(file, bytes, request)?;
    let separator = match &request.data.delimiter {
        Some(given) => delimiter(given)?,
        None => separator(&text, &columns.text),
    };
    let first = text.lines().next().unwrap_or_default();
    let is_name = |column: &str| first.split(char::from(separator)).any(|name| name_in(name) == column);
    let is_number = |column: &str| column.parse::<usize>().is_ok() && !is_name(column);
    // Columns are called by names in the first line, or by numbers if there is no such line.
    let has_header = !std::iter::once(&columns.text).chain(&columns.label).all(|column| is_number(column));
    let mut reader =
        ReaderBuilder::new().delimiter(separator).has_headers(has_header).from_reader(text.as_bytes());
    let corrupt = |error: csv::Error| {
        let line = error.position().map_or(1, |position| position.line());
        DataError::Corrupt { file: file.into(), place: format!("line {line}"), problem: error.to_string() }
    };
    let header: Vec<String> =
        reader.headers().map_err(corrupt)?.iter().map(|name| name_in(name).to_string()).collect();
    let find = |name: &str| -> Result<usize, DataError> {
        let number = || name.parse().ok().filter(|&i: &usize| i < header.len());
        let mut called = header.iter().enumerate().filter(|(_, column)| has_header && *column == name);
        match (called.next(), called.next()) {
            (Some((first, _)), Some((second, _))) => {
                let (file, name) = (file.into(), name.into());
                Err(DataError::DuplicateColumn { file, name, first, second })
            }
            (Some((at, _)), None) => Ok(at),
            (None, _) => number().ok_or_else(|| {
                let known =
                    if has_header { listed(&header) } else { format!("numbers below {}", header.len()) };
                DataError::UnknownColumn { file: file.into(), column: name.into(), known }
            }),
        }
    };
    let text_at = find(&columns.text)?;
    let label_at = columns.label.as_deref().map(find).transpose()?;
    if label_at == Some(text_at) {
        let problem = format!("'{}' is also the column of the texts in {file}", columns.text);
        return Err(DataError::Setting { key: "label-col".into(), problem });
    }
    let mut texts = Texts::with_notes(file, notes);
    if !has_header {
        texts.notes.push(format!(
            "{file}: columns are called by numbers, so its first line is taken for a text, not for names"
        ));
    }
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

/// A name in the first line of a table, without blanks and quotation marks around it.
fn name_in(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

/// What separates the columns: the sign that makes the text column one of the header; a comma if none does.
fn separator(table: &str, column: &str) -> u8 {
    let header = table.lines().next().unwrap_or_default();
    let has_column = |sign: &u8| header.split(char::from(*sign)).any(|name| name_in(name) == column);
    *b",;\t|".iter().find(|sign| has_column(sign)).unwrap_or(&b',')
}

/// A file that is one text. Its label is the folder that it is in.
fn single(
    file: &str,
    bytes: &[u8],
    folders: &ClassFolders,
    request: &Request,
    labelled: bool,
) -> Result<Texts, DataError> {
    let NamedText { text, notes, .. } = NamedText::decode(file, bytes, request)?;
    let ids = Some(vec![file.to_string()]);
    let mut texts = Texts::with_notes(file, notes);
    texts.texts.push(text);
    texts.ids = ids;
    if labelled {
        match folders.class(file) {
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
    use super::super::super::{Expect, FindingCode, Labels, TaskKind, load, load_bytes};
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
    fn a_table_without_names_is_read_by_numbers_and_loses_no_row() {
        let mut request = request("1");
        request.text.text_col = Some("0".into());
        let data = load_bytes("dev.csv", b"good food,yes\nbad food,no\n", &request).unwrap();
        assert_eq!(data.train.len(), 2, "the only file is the data, whatever its name");
        assert!(data.notes.iter().any(|note| note.contains("first line is taken for a text")));
    }

    #[test]
    fn columns_that_cannot_be_told_apart_are_refused() {
        for (header, label, message) in [
            ("text,label,text", "label", "columns 0 and 2 are both called 'text'"),
            ("text,label", "text", "'text' is also the column of the texts"),
            ("text, stars", "label", "label"),
        ] {
            let table = format!("{header}\na,b,c\n");
            let error = load_bytes("a.csv", table.as_bytes(), &request(label)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let data = load_bytes("a.csv", b"text, label\na,b\nc,d\n", &request("label")).unwrap();
        assert_eq!(data.train.len(), 2, "blanks around a name do not matter");
    }

    #[test]
    fn files_and_tables_in_one_folder_all_have_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("good/1.txt", "a"), ("bad/2.txt", "b"), ("more.csv", "text,label\nc,good\n")] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut request = request("label");
        request.text.task = Some(TaskKind::Classify);
        let data = load(&Request { source: folder.path().display().to_string(), ..request }).unwrap();
        let ids: Vec<String> = (0..3).map(|i| data.train.id(i)).collect();
        assert_eq!(ids, ["bad/2.txt", "good/1.txt", "more.csv:1"]);
    }

    #[test]
    fn a_model_finds_the_same_test_part_again() {
        let rows: Vec<String> = (0..40).map(|i| format!("word{i},{}\n", i % 2)).collect();
        let csv = format!("text,label\n{}", rows.concat());
        let request = request("label").with_data(|data| data.test_split = Some(0.25));
        let data = load_bytes("a.csv", csv.as_bytes(), &request).unwrap();
        let classes = vec!["0".to_string(), "1".to_string()];
        let expect = Some(Expect { classes, ..Expect::default() });
        let again = Request { text_format: data.text.clone(), expect, ..request };
        let again = load_bytes("a.csv", csv.as_bytes(), &again).unwrap();
        assert_eq!(
            (again.train.x, again.test.map(|test| test.y)),
            (data.train.x, data.test.map(|test| test.y))
        );
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
    fn a_note_about_the_texts_of_several_files_does_not_name_one_of_them_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("train.csv", "text,label\na b c d,x\n"), ("more.csv", "text,label\ne f g,y\n")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut request = Request { source: folder.path().to_str().unwrap().into(), ..request("label") };
        request.text.max_tokens = 2;
        let data = load(&request).unwrap();
        let cut = data.notes.iter().find(|note| note.contains("max-tokens")).unwrap();
        assert!(cut.starts_with("more.csv and 1 more file: 2 texts"), "{cut}");
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
