//! Training, validation and test parts of every format, and what is not read.

use fastgrnn_data::data::{self, Request, SplitBy};

use crate::support::{at, classes, floats, has_note, load_npz, words, write};

fn x(n: usize, first: f32) -> Vec<u8> {
    floats(&format!("({n}, 4)"), &(0..n * 4).map(|i| first + i as f32).collect::<Vec<_>>())
}

#[test]
fn an_npz_brings_its_validation_part() {
    for suffix in ["val", "valid", "validation"] {
        let (x_val, y_val) = (format!("x_{suffix}"), format!("y_{suffix}"));
        let arrays = [
            ("x_train", x(3, 0.0)),
            ("y_train", words(1, &["a", "b", "a"])),
            (x_val.as_str(), x(2, 100.0)),
            (y_val.as_str(), words(1, &["b", "a"])),
            ("x_test", x(1, 200.0)),
            ("y_test", words(1, &["b"])),
        ];
        let data = load_npz(&arrays, &Request::default()).unwrap();
        assert_eq!((data.train.len(), data.validation.clone()), (5, Some(vec![3, 4])));
        assert_eq!(classes(&data.train), ["a", "b", "a", "b", "a"]);
        assert_eq!(data.train.x.get(3)[0], 100.0);
        assert_eq!(data.split(SplitBy::Stratified, 0.2, 0).unwrap(), (vec![0, 1, 2], vec![3, 4]));
        assert!(data.notes.is_empty(), "{:?}", data.notes);
        // Windows that are cut later belong to the same part.
        let data = load_npz(&arrays, &Request::default().with_data(|d| d.window = Some(2))).unwrap();
        assert_eq!((data.train.len(), data.validation), (10, Some(vec![6, 7, 8, 9])));
    }
}

#[test]
fn a_class_of_the_validation_part_alone_is_refused() {
    let arrays = [
        ("x_train", x(2, 0.0)),
        ("y_train", words(1, &["a", "b"])),
        ("x_val", x(1, 9.0)),
        ("y_val", words(1, &["c"])),
    ];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("validation part") && error.contains("'c'") && error.contains("a, b"), "{error}");
}

#[test]
fn arrays_that_are_not_read_are_named_and_subjects_are_groups() {
    for name in ["subject", "subjects", "subject_id", "group", "groups"] {
        let arrays = [
            ("X", x(2, 0.0)),
            ("y", words(1, &["a", "b"])),
            (name, words(2, &["s1", "s2"])),
            ("fold", words(1, &["1", "2"])),
        ];
        let data = load_npz(&arrays, &Request::default()).unwrap();
        assert_eq!(data.train.group, Some(vec![0, 1]), "{name}");
        assert!(has_note(&data.notes, "not read: fold"), "{:?}", data.notes);
        assert_eq!(has_note(&data.notes, "as the group"), !name.starts_with("group"), "{:?}", data.notes);
    }
}

#[test]
fn files_beside_those_that_are_read_are_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "x.npy", x(2, 0.0));
    write(dir.path(), "y.npy", words(1, &["a", "b"]));
    write(dir.path(), "x_val.npy", x(2, 50.0));
    write(dir.path(), "y_val.npy", words(1, &["a", "b"]));
    write(dir.path(), "extra.csv", "1,2\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!((data.train.len(), data.validation), (4, Some(vec![2, 3])));
    assert!(has_note(&data.notes, "not read: extra.csv"), "{:?}", data.notes);

    let dir = tempfile::tempdir().unwrap();
    for (part, n) in [("TRAIN", 3), ("VAL", 2), ("TEST", 1)] {
        write(
            dir.path(),
            &format!("walk_{part}.csv"),
            "x0,x1,label\n".to_string() + &"1,2,a\n3,4,b\n".repeat(n),
        );
    }
    write(dir.path(), "other.csv", "1,2\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (10, 2));
    assert_eq!(data.validation, Some(vec![6, 7, 8, 9]));
    assert!(has_note(&data.notes, "not read: other.csv"), "{:?}", data.notes);
}

#[test]
fn folders_of_tables_have_validation_folders() {
    for folder in ["val", "valid", "validation"] {
        let dir = tempfile::tempdir().unwrap();
        for part in ["train", folder, "test"] {
            write(dir.path(), &format!("{part}/walk/a.csv"), "x,y\n1,2\n3,4\n5,6\n7,8\n");
            write(dir.path(), &format!("{part}/run/a.csv"), "y,x\n1,2\n3,4\n5,6\n7,8\n");
        }
        let data = data::load(&at(dir.path())).unwrap();
        assert_eq!((data.train.len(), data.validation, data.test.unwrap().len()), (4, Some(vec![2, 3]), 2));
        let data = data::load(&at(dir.path()).with_data(|d| d.window = Some(2))).unwrap();
        assert_eq!((data.train.len(), data.validation), (8, Some(vec![4, 5, 6, 7])));
    }
}

#[test]
fn both_parts_for_training_are_predicted_on() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "x_train.npy", x(2, 0.0));
    write(dir.path(), "x_val.npy", x(3, 0.0));
    let input = data::load_unlabelled(dir.path(), &Request::default()).unwrap();
    assert_eq!(input.x.len(), 5);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for class in ["walk", "run"] {
        write(dir.path(), &format!("{class}/a.csv"), "x,y\n1,2\n");
    }
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("walk/pipe.csv")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let data = data::load(&at(dir.path())).unwrap();
    assert!(has_note(&data.notes, "not read: walk/pipe.csv"), "{:?}", data.notes);
}
