//! Several labels a sequence: tables, JSON lines, label files, and the data set `reuters`.

use fastgrnn_data::data::{Dataset, Examples, Labels, Request, TaskKind, load, load_bytes, load_unlabelled};
use proptest::prelude::*;
use std::path::Path;

fn request() -> Request {
    let mut request = Request::default();
    request.text.task = Some(TaskKind::MultiLabel);
    request
}

fn columns(text: &str, label: &str) -> Request {
    let mut request = request().with_data(|data| data.label_col = Some(label.into()));
    request.text.text_col = Some(text.into());
    request
}

/// The names of the labels of each sequence.
fn names(part: &Examples) -> Vec<Vec<String>> {
    let Labels::Sets { sets, names, unseen } = &part.y else { panic!("sets, not {:?}", part.y) };
    let name = |&i: &u32| names.iter().chain(unseen).nth(i as usize).unwrap().clone();
    sets.iter().map(|set| set.iter().map(name).collect()).collect()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn loaded(files: &[(&str, &str)]) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let request = Request { source: folder.path().to_str().unwrap().into(), ..request() };
    load(&request).map_err(|error| error.to_string())
}

#[test]
fn a_table_of_texts_has_names_between_bars() {
    let csv = "text,topics\nwheat and corn,grain|corn\nnothing,\noil,crude\n";
    let data = load_bytes("news.csv", csv.as_bytes(), &columns("text", "topics")).unwrap();
    assert_eq!(names(&data.train), [vec!["corn", "grain"], vec![], vec!["crude"]]);
    let other = csv.replace('|', ";");
    let data = load_bytes("news.csv", other.as_bytes(), &columns("text", "topics")).unwrap();
    assert!(data.notes.iter().any(|note| note.contains("label-separator = \";\"")), "{:?}", data.notes);
    let by_sign = columns("text", "topics").with_data(|data| data.label_separator = Some(";".into()));
    let data = load_bytes("news.csv", other.as_bytes(), &by_sign).unwrap();
    assert_eq!(names(&data.train)[0], ["corn", "grain"]);
}

#[test]
fn json_lines_have_lists_of_labels() {
    let lines = "{\"text\": \"a\", \"tags\": [\"x\", 2, 3.0]}\n{\"text\": \"b\", \"tags\": []}\n{\"text\": \"c\", \"tags\": \"x|y\"}\n";
    let data = load_bytes("a.jsonl", lines.as_bytes(), &columns("text", "tags")).unwrap();
    assert_eq!(names(&data.train), [vec!["2", "3", "x"], vec![], vec!["x", "y"]]);
    for (lines, part) in [
        ("{\"text\": \"a\", \"tags\": [[1]]}\n", "line 1: the list 'tags' holds something other"),
        ("{\"text\": \"a\", \"tags\": {}}\n", "neither text nor a number"),
        ("{\"text\": \"a\"}\n", "no field 'tags'"),
    ] {
        let error = load_bytes("a.jsonl", lines.as_bytes(), &columns("text", "tags")).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let mut classify = columns("text", "tags");
    classify.text.task = Some(TaskKind::Classify);
    let error = load_bytes("a.jsonl", lines.as_bytes(), &classify).unwrap_err().to_string();
    assert!(error.contains("task = multilabel"), "{error}");
}

#[test]
fn sequences_of_numbers_have_sets_too() {
    let csv = "id,x,label\n1,0.1,hot|wet\n1,0.2,hot|wet\n2,0.3,cold\n2,0.4,cold\n3,0.5,wet\n3,0.1,wet\n";
    let request = request().with_data(|data| data.label_col = Some("label".into()));
    let data = load_bytes("weather.csv", csv.as_bytes(), &request).unwrap();
    assert_eq!((data.train.len(), data.train.x.dim()), (3, 1));
    assert_eq!(names(&data.train), [vec!["hot", "wet"], vec!["cold"], vec!["wet"]]);
    let none = csv.replace(",cold", ",");
    let data = load_bytes("weather.csv", none.as_bytes(), &request).unwrap();
    assert_eq!(names(&data.train), [vec!["hot", "wet"], vec![], vec!["wet"]]);
    let mut classify = request;
    classify.text.task = None;
    assert!(load_bytes("weather.csv", none.as_bytes(), &classify).unwrap_err().to_string().contains("empty"));
}

#[test]
fn windows_of_a_recording_have_the_labels_of_their_recording() {
    let csv = "id,x,label\n".to_string() + &"1,0.1,a|b\n".repeat(6) + &"2,0.2,c\n".repeat(6);
    let request = request().with_data(|data| {
        (data.label_col, data.window) = (Some("label".into()), Some(3));
    });
    let data = load_bytes("w.csv", csv.as_bytes(), &request).unwrap();
    assert_eq!(names(&data.train), [vec!["a", "b"], vec!["a", "b"], vec!["c"], vec!["c"]]);
}

const LAYOUT: [(&str, &str); 5] = [
    ("trn_X.txt", "wheat price\n\noil\n"),
    ("trn_X_Y.txt", "3 4\n0:1 2:1\n\n1:1.0\n"),
    ("tst_X.txt", "corn\n"),
    ("tst_X_Y.txt", "1 4\n3:1 0:0\n"),
    ("Y.txt", "grain\ncrude\nwheat\ncorn\n"),
];

#[test]
fn label_files_of_the_extreme_classification_repository_are_read() {
    let data = loaded(&LAYOUT).unwrap();
    assert_eq!(names(&data.train), [vec!["grain", "wheat"], vec![], vec!["crude"]]);
    // `corn` is in the test part only, and 0:0 is no label.
    assert_eq!(names(data.test.as_ref().unwrap()), [["corn"]]);
    let missed = |note: &String| note.contains("count as missed: corn");
    assert!(data.notes.iter().any(missed), "{:?}", data.notes);
    let without_names = loaded(&LAYOUT[..4]).unwrap();
    assert_eq!(names(&without_names.train), [vec!["0", "2"], vec![], vec!["1"]]);
    let features = [("trn_X_Xf.txt", "3 9\n1:0.5\n2:1\n\n"), LAYOUT[0], LAYOUT[1]];
    assert_eq!(loaded(&features).unwrap().train.len(), 3);
}

#[test]
fn names_of_files_decide_before_their_first_lines() {
    let mut files = LAYOUT;
    files[0].1 = "1984 2001\n\noil\n";
    assert_eq!(loaded(&files).unwrap().train.len(), 3, "a title of two numbers is no header");
    files[1].1 = "no header\n";
    let error = loaded(&files).unwrap_err();
    assert!(error.contains("trn_X_Y.txt: line 1: it must be the numbers"), "{error}");
}

#[test]
fn texts_of_a_label_file_are_predicted_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("tst_X.txt", "corn\nwheat price\n")]);
    let input = load_unlabelled(&folder.path().join("tst_X.txt"), &columns("text", "labels")).unwrap();
    assert_eq!((0..input.x.len()).map(|i| input.x.steps(i)).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_file_with_features_is_a_label_file() {
    let data = loaded(&[
        ("train.txt", "3 9 4\n0,2 1:0.5 3:1\n 1:0.25\n1 2:1\n"),
        ("train_texts.txt", "one two\nthree\nfour\n"),
    ]);
    assert_eq!(names(&data.unwrap().train), [vec!["0", "2"], vec![], vec!["1"]]);
}

#[test]
fn label_files_that_do_not_fit_are_refused_with_the_place() {
    let with = |file: &str, text: &'static str| {
        let mut files = LAYOUT.to_vec();
        files.iter_mut().filter(|(name, _)| *name == file).for_each(|(_, content)| *content = text);
        loaded(&files).unwrap_err()
    };
    for (file, text, part) in [
        ("trn_X_Y.txt", "3 4\n0:1\n\n4:1\n", "trn_X_Y.txt: line 4: '4' is no label from 0 to 3"),
        ("trn_X_Y.txt", "3 4\n0:1\n\nx:1\n", "'x' is no label"),
        ("trn_X_Y.txt", "3 4\n0:a\n\n1:1\n", "'a' is no number, in '0:a'"),
        ("trn_X_Y.txt", "3 4\n0:nan\n\n1:1\n", "'nan' is neither 0 nor more, in '0:nan'"),
        ("trn_X_Y.txt", "3 4\n0:-1\n\n1:1\n", "'-1' is neither 0 nor more"),
        ("trn_X_Y.txt", "3 4\n0:1\n", "it says 3 sequences, but there are 1"),
        ("trn_X_Y.txt", "1 4\n0:1\n1:1\n", "says 1 sequences, but there are more"),
        ("trn_X_Y.txt", "3 5\n0:1\n\n1:1\n", "says 5 labels, but Y.txt names 4"),
        ("trn_X.txt", "a\nb\n", "2 texts, but trn_X_Y.txt has labels for 3"),
        ("Y.txt", "grain\n\nwheat\ncorn\n", "line 2: the label 1 has no name"),
    ] {
        let error = with(file, text);
        assert!(error.contains(part), "{error}");
    }
    let no_labels = loaded(&[LAYOUT[0], LAYOUT[2], LAYOUT[3]]).unwrap_err();
    assert!(no_labels.contains("trn_X_Y.txt") && no_labels.contains("missing"), "{no_labels}");
    let no_texts = loaded(&[LAYOUT[0], LAYOUT[1], LAYOUT[3]]).unwrap_err();
    assert!(no_texts.contains("tst_X_Y.txt") && no_texts.contains("trn_X.txt"), "{no_texts}");
}

#[test]
fn labels_with_one_name_stay_apart() {
    let mut files = LAYOUT.to_vec();
    files[4].1 = "grain\ngrain\nwheat\ncorn\n";
    let data = loaded(&files).unwrap();
    assert_eq!(names(&data.train), [vec!["grain (0)", "wheat"], vec![], vec!["grain (1)"]]);
}

#[test]
fn raw_texts_of_the_extreme_classification_repository_are_read() {
    let trn = "{\"uid\": \"1\", \"title\": \"A lamp\", \"content\": \"It glows.\", \"target_ind\": [0, 1], \"target_rel\": [1.0, 0.0]}\n\
               {\"uid\": \"2\", \"title\": \"A book\", \"content\": \"\", \"target_ind\": [1]}\n";
    let tst = "{\"uid\": \"3\", \"title\": \"A lamp\", \"content\": \"\", \"target_ind\": [0]}\n";
    let lbl = "{\"uid\": \"a\", \"title\": \"home\"}\n{\"uid\": \"b\", \"title\": \"books\"}\n";
    let data = loaded(&[("trn.json", trn), ("tst.json", tst), ("lbl.json", lbl)]).unwrap();
    assert_eq!(names(&data.train), [["home"], ["books"]]);
    assert_eq!(names(&data.test.unwrap()), [["home"]]);
    assert_eq!(data.train.x.steps(0), 5, "title and content: a lamp it glows .");
    let wrong = trn.replace("[1]", "[2]");
    let error = loaded(&[("trn.json", &wrong), ("lbl.json", lbl)]).unwrap_err();
    assert!(error.contains("trn.json: line 2: label 2, but lbl.json names labels 0 to 1"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("new.json", "{\"title\": \"A lamp\", \"content\": \"\"}\n")]);
    let input = load_unlabelled(&folder.path().join("new.json"), &request()).unwrap();
    assert_eq!(input.x.len(), 1);
}

#[test]
fn reviews_of_the_yelp_data_set_need_no_settings() {
    let lines = "{\"review_id\": \"a\", \"stars\": 5.0, \"text\": \"Good\"}\n{\"review_id\": \"b\", \"stars\": 1.0, \"text\": \"Bad\"}\n";
    let name = "yelp_academic_dataset_review.json";
    let data = load_bytes(name, lines.as_bytes(), &Request::default()).unwrap();
    let Labels::Class { index, names } = &data.train.y else { panic!("classes") };
    assert_eq!((index, names), (&vec![1, 0], &vec!["1".to_string(), "5".to_string()]));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[(name, lines), ("yelp_academic_dataset_user.json", "{\"user_id\": 1}\n")]);
    let data = load(&Request::new(folder.path().to_str().unwrap())).unwrap();
    assert_eq!(data.train.len(), 2);
    assert!(data.notes.iter().any(|note| note.contains("not read: yelp_academic_dataset_user")));
    let csv = "review_id,stars,text\na,5,Good\nb,1,Bad\n";
    let data = load_bytes("yelp_academic_dataset_review.csv", csv.as_bytes(), &Request::default()).unwrap();
    assert_eq!(data.train.classes(), 2);
}

#[test]
fn sets_are_written_and_read_again() {
    let csv = "id,x,label\n1,0.5,a|b\n1,0.25,a|b\n2,0.5,c\n2,0.75,c\n";
    let request = request().with_data(|data| data.label_col = Some("label".into()));
    let data = load_bytes("w.csv", csv.as_bytes(), &request).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for ending in ["npz", "csv"] {
        let path = folder.path().join(format!("again.{ending}"));
        fastgrnn_data::data::write(&data, &path).unwrap();
        let mut again = self::request();
        again.source = path.to_str().unwrap().into();
        assert_eq!(names(&load(&again).unwrap().train), names(&data.train), "{ending}");
    }
    let error = fastgrnn_data::data::write(&data, &folder.path().join("a.ts")).unwrap_err().to_string();
    assert!(error.contains("sets of labels"), "{error}");
}

#[test]
fn another_task_is_refused_for_sets() {
    let story = "<REUTERS TOPICS=\"YES\" LEWISSPLIT=\"TRAIN\"><TOPICS><D>a</D></TOPICS><TEXT><BODY>x</BODY></TEXT></REUTERS>";
    let data = load_bytes("a.sgm", story.as_bytes(), &request()).unwrap();
    assert_eq!(names(&data.train), [["a"]]);
    assert!(load_bytes("a.sgm", story.as_bytes(), &Request::default()).is_err());
}

#[test]
fn the_modapte_split_of_reuters_has_the_published_counts() {
    let Some(_) = fastgrnn_testing::data::folder("reuters") else { return };
    let data = load(&Request::new("reuters")).unwrap();
    let test = data.test.as_ref().unwrap();
    assert_eq!((data.train.len(), test.len()), (7_775, 3_019));
    let latest: Vec<u32> = (6_997..7_775).collect();
    assert_eq!(data.validation.as_deref(), Some(&latest[..]));
    let Labels::Sets { sets, names: topics, .. } = &data.train.y else { panic!("sets") };
    assert_eq!(topics.len(), 115);
    let Labels::Sets { unseen, .. } = &test.y else { panic!("sets") };
    assert_eq!(unseen.len(), 3);
    let earn = topics.iter().position(|topic| topic == "earn").unwrap() as u32;
    assert_eq!(sets.iter().filter(|set| set.contains(&earn)).count(), 2_877);
    assert_eq!(
        (data.train.id(0), names(&data.train)[0].as_slice()),
        ("1".into(), &["cocoa".to_string()][..])
    );
    let mut classify = Request::new("reuters");
    classify.text.task = Some(TaskKind::Classify);
    let error = load(&classify).unwrap_err().to_string();
    assert!(error.contains("multilabel"), "{error}");
}

proptest! {
    #[test]
    fn any_label_file_is_read_or_refused(
        labels in proptest::collection::vec(any::<u8>(), 0..200),
        header in 0..3usize,
    ) {
        let header = ["", "2 3\n", "2 5 3\n"][header];
        let labels = format!("{header}{}", String::from_utf8_lossy(&labels));
        let _ = loaded(&[("trn_X.txt", "one\ntwo\n"), ("trn_X_Y.txt", &labels)]);
    }

    #[test]
    fn sets_come_back_from_a_label_file(sets in proptest::collection::vec(
        proptest::collection::btree_set(0..5u32, 0..5), 1..8)
    ) {
        prop_assume!(sets.iter().any(|set| !set.is_empty()));
        let line = |set: &std::collections::BTreeSet<u32>| {
            set.iter().map(|label| format!("{label}:1")).collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = sets.iter().map(line).collect();
        let labels = format!("{} 5\n{}\n", sets.len(), lines.join("\n"));
        let texts = "word\n".repeat(sets.len());
        let data = loaded(&[("trn_X.txt", &texts), ("trn_X_Y.txt", &labels)]).unwrap();
        let expected: Vec<Vec<String>> =
            sets.iter().map(|set| set.iter().map(u32::to_string).collect()).collect();
        prop_assert_eq!(names(&data.train), expected);
    }
}
