//! Values that are missing are refused, dropped, held or interpolated.

use fastgrnn_data::data::{self, DataError, Dataset, Missing, Request};

use crate::support::{at, csv, floats, has_note, load_npz, words, write};

const TABLE: &str = "id,x,y,label\n1,1,5,up\n1,NA,5,up\n1,3,?,up\n2,,6,down\n2,8,6,down\n2,null,NaN,down\n";

fn read(text: &str, missing: Missing) -> Result<Dataset, DataError> {
    let request = Request::default().with_data(|d| d.missing = missing);
    data::load_bytes("a.csv", text.as_bytes(), &request)
}

#[test]
fn missing_cells_are_an_error_that_names_the_key() {
    let error = csv(TABLE).unwrap_err().to_string();
    assert!(error.contains("line 3, column 'x'") && error.contains("`missing`"), "{error}");
}

#[test]
fn missing_cells_are_filled_in_within_their_sequence() {
    let data = read(TABLE, Missing::Hold).unwrap();
    assert_eq!(data.train.x.get(0), [1.0, 5.0, 1.0, 5.0, 3.0, 5.0]);
    assert_eq!(data.train.x.get(1), [8.0, 6.0, 8.0, 6.0, 8.0, 6.0]);
    assert!(has_note(&data.notes, "5 values were missing"), "{:?}", data.notes);
    assert!(has_note(&data.notes, "'x': 3, 'y': 2"), "{:?}", data.notes);
    let data = read(TABLE, Missing::Interpolate).unwrap();
    assert_eq!(data.train.x.get(0), [1.0, 5.0, 2.0, 5.0, 3.0, 5.0]);
    let data = read(TABLE, Missing::Drop).unwrap();
    assert_eq!((data.train.x.get(0), data.train.x.get(1)), (&[1.0, 5.0][..], &[8.0, 6.0][..]));
}

#[test]
fn a_sequence_without_any_value_of_a_column_is_named() {
    let text = TABLE.replace("2,8,6", "2,NA,6");
    for missing in [Missing::Hold, Missing::Interpolate] {
        let error = read(&text, missing).unwrap_err().to_string();
        assert!(error.contains("sequence '2'") && error.contains("column 'x'"), "{error}");
    }
    assert_eq!(
        read(&text.replace("1,3,?", "1,3,1"), Missing::Drop).unwrap_err().to_string(),
        "a.csv: every sequence has the class 'up'; a classifier needs at least two classes (is 'label' the right column for labels? `label-col` names another)"
    );
}

#[test]
fn a_row_that_is_a_sequence_is_filled_in_along_its_columns() {
    let text = "x0,x1,x2,label\n1,NA,3,up\n4,5,6,down\nNA,NA,9,up\n1,1,1,up\n";
    let data = read(text, Missing::Interpolate).unwrap();
    assert_eq!((data.train.x.get(0), data.train.x.get(2)), (&[1.0, 2.0, 3.0][..], &[9.0; 3][..]));
    assert_eq!(read(text, Missing::Drop).unwrap().train.len(), 2);
    let error = read(&text.replace("NA,9", "NA,NA"), Missing::Hold).unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
}

#[test]
fn text_is_not_missing_and_infinity_neither() {
    for cell in ["oops", "inf", "1e39"] {
        let error = read(&TABLE.replace("null", cell), Missing::Hold).unwrap_err().to_string();
        assert!(error.contains(cell), "{error}");
    }
    let error = csv("x0,x1,label\n1,3.7e38,up\n1,3.7e39,down\n").unwrap_err().to_string();
    assert!(error.contains("value 3.7e39 is larger than") || error.contains("3.7e38"), "{error}");
    assert!(error.contains("32-bit"), "{error}");
}

#[test]
fn missing_values_of_a_folder_are_counted_together() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["walk/a", "walk/b", "run/a"] {
        write(dir.path(), &format!("{name}.csv"), "x,y\n1,2\nNA,4\n");
    }
    let data = data::load(&at(dir.path()).with_data(|d| d.missing = Missing::Hold)).unwrap();
    assert_eq!(data.notes.iter().filter(|note| note.contains("missing")).count(), 1, "{:?}", data.notes);
    assert!(has_note(&data.notes, "'x': 3"), "{:?}", data.notes);
}

#[test]
fn arrays_with_nan_are_filled_in_or_refused_with_advice() {
    let nan = f32::NAN;
    let y = ("y", words(1, &["a", "b"]));
    let x = floats("(2, 3, 1)", &[1.0, nan, 3.0, 4.0, 5.0, nan]);
    let load = |x: &[u8], missing| {
        let arrays = [("x", x.to_vec()), y.clone()];
        load_npz(&arrays, &Request::default().with_data(|d| d.missing = missing))
    };
    let data = load(&x, Missing::Interpolate).unwrap();
    assert_eq!((data.train.x.get(0), data.train.x.get(1)), (&[1.0, 2.0, 3.0][..], &[4.0, 5.0, 5.0][..]));
    assert!(has_note(&data.notes, "2 values were missing"), "{:?}", data.notes);
    assert_eq!(load(&x, Missing::Drop).unwrap().train.x.get(1), [4.0, 5.0]);
    let error = load(&x, Missing::Error).unwrap_err().to_string();
    assert!(error.contains("sequence 0, step 1") && error.contains("`missing`"), "{error}");
    assert!(!error.contains("`drop`"), "{error}");
    let padded = floats("(2, 3, 1)", &[1.0, 2.0, 3.0, 4.0, nan, nan]);
    assert!(load(&padded, Missing::Error).unwrap_err().to_string().contains("`lengths`"));
    let none = floats("(2, 3, 1)", &[1.0, 2.0, 3.0, nan, nan, nan]);
    for missing in [Missing::Drop, Missing::Hold] {
        let error = load(&none, missing).unwrap_err().to_string();
        assert!(error.contains("sequence 1"), "{error}");
    }
    let infinite = floats("(2, 3, 1)", &[1.0, 2.0, 3.0, 4.0, 5.0, f32::INFINITY]);
    assert!(load(&infinite, Missing::Hold).is_err());
}

#[test]
fn missing_values_of_a_ts_file_are_filled_in() {
    let ts = "@classLabel true a b\n@data\n1,?,3:4,5,6:a\n1,2,3:4,5,6:b\n";
    let request = Request::default().with_data(|d| d.missing = Missing::Interpolate);
    let data = data::load_bytes("a.ts", ts.as_bytes(), &request).unwrap();
    assert_eq!(data.train.x.get(0), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert!(has_note(&data.notes, "1 value was missing"), "{:?}", data.notes);
    let error = data::load_bytes("a.ts", ts.as_bytes(), &Request::default()).unwrap_err().to_string();
    assert!(error.contains("`missing`") && !error.contains("`drop`"), "{error}");
}

#[test]
fn wrong_labels_are_placed_in_y() {
    let arrays = [("x", floats("(3, 1)", &[0.0; 3])), ("y", floats("(3,)", &[0.5, f32::NAN, 1.5]))];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.starts_with("a.npz: y, label 1"), "{error}");
}
