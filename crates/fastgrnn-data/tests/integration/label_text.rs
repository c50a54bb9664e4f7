//! Labels that are classes keep the text that stands in the file.

use fastgrnn_data::data::{self, Expect, LabelKind, Request};

use crate::support::{at, classes, csv, floats, has_note, load_npz, names, words, write};

#[test]
fn labels_that_are_the_same_number_are_classes_of_their_own() {
    let data = csv("0.1,0.2,007\n0.3,0.4,7\n0.5,0.6,1E2\n0.7,0.8,100\n0.1,0.2,abc\n").unwrap();
    assert_eq!(classes(&data.train), ["007", "7", "1E2", "100", "abc"]);
    assert!(has_note(&data.notes, "'007' and '7' are the same number, but two classes"), "{:?}", data.notes);
    let request = Request::default().with_data(|d| {
        d.labels = LabelKind::Class;
        d.label_col = Some("2".into());
    });
    let data = data::load_bytes("a.csv", b"0.1,0.2,01\n0.3,0.4,1\n0.5,0.6,01\n", &request).unwrap();
    assert_eq!(classes(&data.train), ["01", "1", "01"]);
    let arrays = [("x", floats("(2, 2)", &[0.0; 4])), ("y", words(3, &["007", "7"]))];
    let data = load_npz(&arrays, &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["007", "7"]);
}

#[test]
fn numbers_in_arrays_are_classes_without_needless_digits() {
    let arrays = [("x", floats("(3, 2)", &[0.0; 6])), ("y", floats("(3,)", &[1.0, 0.0, -0.0]))];
    let data = load_npz(&arrays, &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["1", "0", "0"]);
}

#[test]
fn classes_that_are_numbers_are_in_numeric_order() {
    let request = Request::default().with_data(|d| d.label_col = Some("1".into()));
    let data = data::load_bytes(
        "a.csv",
        b"0.1,10\n0.3,9\n0.5,-2\n0.2,010.5\n",
        &request.clone().with_data(|d| d.labels = LabelKind::Class),
    );
    assert_eq!(names(&data.unwrap().train), ["-2", "9", "10", "010.5"]);
}

#[test]
fn a_test_part_that_writes_the_same_numbers_differently_fits_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a_TRAIN.csv", "x0,x1,label\n1,2,1\n3,4,2\n");
    write(dir.path(), "a_TEST.csv", "x0,x1,label\n1,2,2.0\n3,4,1.0\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(classes(data.test.as_ref().unwrap()), ["2", "1"]);
    assert!(has_note(&data.notes, "label '2.0' was taken for the class '2'"), "{:?}", data.notes);
    // Of two classes that are the number, neither is meant.
    write(dir.path(), "a_TRAIN.csv", "x0,x1,label\n1,2,1\n3,4,01\n");
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("label '2.0' does not occur"), "{error}");
    write(dir.path(), "a_TEST.csv", "x0,x1,label\n1,2,01\n3,4,1.0\n");
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("label '1.0' does not occur"), "{error}");
}

#[test]
fn a_models_classes_are_found_by_text_and_then_by_number() {
    let expect = Expect { dim: 1, steps: 2, classes: vec!["7".into(), "x".into()], ..Expect::default() };
    let request = Request { expect: Some(expect), ..Request::default() };
    let data = data::load_bytes("a.csv", b"x0,x1,label\n1,2,007\n3,4,x\n", &request).unwrap();
    assert_eq!(classes(&data.train), ["7", "x"]);
    assert!(has_note(&data.notes, "'007' was taken for the class '7' of the model"), "{:?}", data.notes);
}

#[test]
fn the_classes_of_a_ts_file_are_as_its_header_writes_them() {
    let ts = "@classLabel true 01 02\n@data\n1,2:01\n3,4:2.0\n";
    let data = data::load_bytes("a.ts", ts.as_bytes(), &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["01", "02"]);
}
