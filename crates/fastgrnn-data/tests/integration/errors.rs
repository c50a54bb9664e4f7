//! Bad data: each kind gives its own error, which names the file, the place and the value.

use std::fs;
use std::path::Path;

use fastgrnn_data::data::{self, DataError, Request};

fn fails(name: &str, bytes: &[u8]) -> DataError {
    fails_with(name, bytes, &Request::default())
}

fn fails_with(name: &str, bytes: &[u8], request: &Request) -> DataError {
    let error = data::load_bytes(name, bytes, request).unwrap_err();
    assert!(error.to_string().contains(name.trim_end_matches(".gz")), "names the file: {error}");
    error
}

fn npy(descr: &str, shape: &str, cells: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(cells);
    bytes
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (key, bytes) in arrays {
        zip.start_file(format!("{key}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

const TS: &str = "@univariate true\n@equalLength true\n@seriesLength 2\n@classLabel true a b\n@data\n";

#[test]
fn missing_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gone.csv");
    let error = data::load(&Request::new(path.to_str().unwrap())).unwrap_err();
    assert!(matches!(error, DataError::UnknownSource { .. }) && error.to_string().contains("gone.csv"));
    let error = data::load(&Request { test: Some(path.clone()), ..Request::new("digits") }).unwrap_err();
    assert!(matches!(error, DataError::Io { .. }) && error.to_string().contains("gone.csv"), "{error}");
    assert!(matches!(data::load_unlabelled(&path, &Request::default()), Err(DataError::Io { .. })));
}

#[cfg(unix)]
#[test]
fn standard_input_and_pipes_are_refused_before_anything_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for source in ["-", "/dev/stdin", "/dev/fd/63", pipe.to_str().unwrap()] {
        let loaded = data::load(&Request::new(source)).unwrap_err();
        assert!(matches!(&loaded, DataError::NotAFile { file } if file == source), "{loaded}");
        assert!(loaded.to_string().contains("save the data to a file first"), "{loaded}");
        let unlabelled = data::load_unlabelled(Path::new(source), &Request::default()).unwrap_err();
        assert!(matches!(unlabelled, DataError::NotAFile { .. }), "{unlabelled}");
    }
}

#[test]
fn empty_files_of_every_format_are_called_empty() {
    for name in ["a.csv", "a.ts", "a.npz", "a.npy", "a-images-idx3-ubyte"] {
        let error = fails(name, b"");
        assert!(matches!(error, DataError::Empty { .. }), "{name}: {error}");
    }
    assert!(matches!(fails("a.csv", b"a,label\n"), DataError::Empty { .. }));
    assert!(matches!(fails("a.ts", TS.as_bytes()), DataError::Empty { .. }));
}

#[test]
fn truncated_arrays_say_how_many_bytes_are_missing() {
    let whole = npy("<f4", "(2, 3)", &floats(&[0.0; 6]));
    for cut in [3, 7, 9, 40, whole.len() - 1] {
        let bytes = npz(&[("x", whole[..cut].to_vec())]);
        let error = fails("a.npz", &bytes);
        assert!(matches!(error, DataError::Truncated { .. }), "{cut}: {error}");
    }
    let idx = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3];
    for cut in [3, 10, 19] {
        let error = fails("a-images-idx3-ubyte", &idx[..cut]);
        assert!(matches!(error, DataError::Truncated { .. }), "{cut}: {error}");
    }
}

#[test]
fn headers_that_promise_too_much_fail_before_memory_is_taken() {
    for shape in ["(1000000000000,)", "(18446744073709551615, 18446744073709551615)"] {
        let error = fails("a.npy", &npy("<f8", shape, &[0; 16]));
        assert!(matches!(error, DataError::Truncated { .. }), "{error}");
    }
    let huge_idx = [0, 0, 14, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255];
    assert!(matches!(fails("a-idx3-ubyte", &huge_idx), DataError::Truncated { .. }));
    let zero = npy("<f8", "(1000000000000, 0)", &[]);
    assert!(matches!(fails("a.npy", &zero), DataError::Empty { .. }));
}

#[test]
fn corrupt_files_of_every_format_are_refused() {
    let good = npy("<f4", "(2, 3)", &floats(&[0.0; 6]));
    for (name, bytes) in [
        ("a.npy", b"not an array at all".to_vec()),
        ("a.npy", npy("<f4", "(2, -3)", &[])),
        ("a.npy", b"\x93NUMPY\x09\x00\x00\x00".to_vec()),
        ("a.npy", b"\x93NUMPY\x01\x00\x02\x00{}".to_vec()),
        ("a.npy", [good.clone(), vec![0]].concat()),
        ("a.npz", b"PK\x03\x04 rubbish".to_vec()),
        ("a.zip", b"rubbish".to_vec()),
        ("a.csv.gz", b"\x1f\x8b\x08\x00rubbish".to_vec()),
        ("a.csv.xz", b"\xfd7zXZ\x00rubbish".to_vec()),
        ("a.tar", vec![7; 1024]),
        ("a-idx3-ubyte", b"rubbish".to_vec()),
        ("a-idx3-ubyte", vec![0, 0, 7, 1, 0, 0, 0, 1, 0]),
        ("a.ts", b"rubbish".to_vec()),
        ("a.ts", b"@univariate maybe\n@data\n1:a\n".to_vec()),
        ("a.ts", b"@classLabel true a b\n".to_vec()),
        ("a.ts", b"\xff\xfe".to_vec()),
        ("a.ts", format!("{TS}1,x:a\n").into_bytes()),
        ("a.ts", format!("{TS}1,2,3:a\n").into_bytes()),
        ("a.ts", format!("{TS}1,2\n").into_bytes()),
        ("a.ts", format!("{TS}1,2:3,4:a\n").into_bytes()),
        ("a.ts", b"@classLabel true a b\n@data\n1,2:3:a\n".to_vec()),
    ] {
        let error = fails(name, &bytes);
        assert!(matches!(error, DataError::Corrupt { .. }), "{name}: {error}");
    }
}

#[test]
fn time_stamps_and_python_objects_are_not_supported_and_say_so() {
    let error = fails("a.ts", b"@timeStamps true\n@data\n(0,1):a\n");
    assert!(error.to_string().contains("time stamps"), "{error}");
    let error = fails("a.npy", &npy("|O", "(2,)", &[]));
    assert!(matches!(&error, DataError::Unsupported { .. }) && error.to_string().contains("objects"));
    assert!(matches!(fails("a.npy", &npy("<c8", "(2,)", &[])), DataError::Unsupported { .. }));
    assert!(matches!(fails("a.parquet", b"PAR1"), DataError::NotRead { .. }));
    let flat = npy("<f4", "(4,)", &floats(&[0.0; 4]));
    assert!(matches!(fails("a.npz", &npz(&[("x", flat)])), DataError::Unsupported { .. }));
}

#[test]
fn a_ragged_row_names_its_line_and_both_counts() {
    let error = fails("a.csv", b"a,b,label\n1,2,u\n3,v\n");
    assert!(matches!(error, DataError::Ragged { line: 3, expected: 3, found: 2, .. }), "{error}");
}

#[test]
fn values_that_are_not_numbers_name_line_column_and_value() {
    let error = fails("a.csv", b"a,b,label\n1,2,u\n3,4,v\n5,oops,u\n");
    assert!(error.to_string().contains("line 4, column 'b': 'oops'"), "{error}");
    assert!(matches!(error, DataError::NotANumber { line: 4, .. }), "{error}");
}

#[test]
fn values_that_are_not_finite_name_their_place_in_every_format() {
    for (cell, shown) in
        [("nan", "nan"), ("inf", "inf"), ("-Infinity", "-Infinity"), ("1e39", "1e39"), ("", "(empty)")]
    {
        let error = fails("a.csv", format!("a,b,label\n1,2,u\n3,{cell},v\n").as_bytes());
        assert!(matches!(error, DataError::NotFinite { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("line 3, column 'b'") && message.contains(shown), "{message}");
    }
    for missing in ["?", "NaN"] {
        let error = fails("a.ts", format!("{TS}1,2:a\n3,{missing}:b\n").as_bytes());
        assert!(matches!(error, DataError::NotFinite { .. }), "{error}");
        assert!(error.to_string().contains("line 7, dimension 0, value 1"), "{error}");
    }
    let x = npy("<f4", "(1, 2, 2)", &floats(&[0.0, 1.0, 2.0, f32::NAN]));
    let error = fails("a.npz", &npz(&[("x", x)]));
    assert!(error.to_string().contains("sequence 0, step 1, feature 1"), "{error}");
    let mut idx = vec![0, 0, 13, 2, 0, 0, 0, 1, 0, 0, 0, 1];
    idx.extend(f32::INFINITY.to_be_bytes());
    assert!(matches!(fails("a-idx2-ubyte", &idx), DataError::NotFinite { .. }));
    let x = npy("<f4", "(2, 1)", &floats(&[0.0, 1.0]));
    let y = npy("<f4", "(2,)", &floats(&[0.5, f32::NAN]));
    let error = fails("a.npz", &npz(&[("x", x), ("y", y)]));
    assert!(error.to_string().contains("label 1"), "{error}");
}

#[test]
fn columns_that_are_not_there_are_named_with_those_that_are() {
    for request in [
        Request::default().with_data(|data| data.label_col = Some("lable".into())),
        Request::default().with_data(|data| data.group_col = Some("lable".into())),
        Request::default().with_data(|data| data.id_col = Some("lable".into())),
        Request::default().with_data(|data| data.columns = Some(vec!["lable".into()])),
        Request::default().with_data(|data| data.drop = Some(vec!["lable".into()])),
    ] {
        let error = fails_with("a.csv", b"a,label\n1,u\n2,v\n", &request);
        assert!(matches!(error, DataError::UnknownColumn { .. }), "{error}");
        assert!(error.to_string().contains("'lable'") && error.to_string().contains("a, label"));
    }
}

#[test]
fn no_labels_says_how_to_name_them() {
    let error = fails("a.csv", b"a,b\n1,2\n3,4\n");
    assert!(matches!(error, DataError::NoLabels { .. }), "{error}");
    assert!(error.to_string().contains("`label-col`"), "{error}");
    let x = npy("<f4", "(2, 1)", &floats(&[0.0, 1.0]));
    assert!(matches!(fails("a.npz", &npz(&[("x", x.clone())])), DataError::NoLabels { .. }));
    assert!(matches!(fails("x.npy", &x), DataError::NoLabels { .. }));
    let idx = [0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 1, 5];
    assert!(matches!(fails("a-images-idx2-ubyte", &idx), DataError::NoLabels { .. }));
    assert!(matches!(fails("a.ts", b"@classLabel false\n@data\n1,2\n"), DataError::NoLabels { .. }));
    let error = fails("a.csv", b"a,label\n1,u\n2,\n");
    assert!(error.to_string().contains("line 3") && error.to_string().contains("empty"), "{error}");
}

#[test]
fn labels_and_inputs_must_be_equally_many() {
    let x = npy("<f4", "(2, 1)", &floats(&[0.0, 1.0]));
    for (key, array) in [
        ("y", npy("|u1", "(3,)", &[0, 1, 0])),
        ("group", npy("|u1", "(3,)", &[0, 1, 0])),
        ("lengths", npy("|u1", "(2,)", &[1, 2])),
    ] {
        let arrays = npz(&[("x", x.clone()), (key, array), ("y_", npy("|u1", "(1,)", &[1]))]);
        let error = fails("a.npz", &arrays);
        assert!(matches!(error, DataError::Corrupt { .. }), "{error}");
    }
}

#[test]
fn one_class_only_is_refused() {
    let error = fails("a.csv", b"a,label\n1,u\n2,u\n");
    assert!(matches!(&error, DataError::OneClass { class, .. } if class == "u"), "{error}");
    assert!(error.to_string().contains("is 'label' the right column for labels?"), "{error}");
    let error = fails("a.ts", format!("{TS}1,2:a\n").as_bytes());
    assert!(matches!(error, DataError::OneClass { .. }), "{error}");
    assert!(!error.to_string().contains("column"), "{error}");
}

#[test]
fn a_class_without_members_is_refused() {
    let text = "@univariate true\n@classLabel true a b c\n@data\n1,2:a\n3,4:c\n";
    let error = fails("a.ts", text.as_bytes());
    assert!(matches!(&error, DataError::EmptyClass { class, .. } if class == "b"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    for class in ["walk", "run", "rest"] {
        fs::create_dir(dir.path().join(class)).unwrap();
    }
    fs::write(dir.path().join("walk/a.csv"), "1\n2\n").unwrap();
    fs::write(dir.path().join("run/a.csv"), "1\n2\n").unwrap();
    let error = data::load(&at(dir.path())).unwrap_err();
    assert!(matches!(&error, DataError::EmptyClass { class, .. } if class == "rest"), "{error}");
}

#[test]
fn a_label_outside_the_declared_ones_is_refused() {
    let error = fails("a.ts", format!("{TS}1,2:a\n3,4:z\n").as_bytes());
    assert!(matches!(&error, DataError::LabelOutOfRange { label, .. } if label == "z"), "{error}");
    assert!(error.to_string().contains("line 7") && error.to_string().contains("a, b"), "{error}");
}

fn at(path: &Path) -> Request {
    Request::new(path.to_str().unwrap())
}

/// Loads two CSV files as training and test data.
fn pair(train: &str, test: &str) -> Result<data::Dataset, DataError> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), train).unwrap();
    fs::write(dir.path().join("b.csv"), test).unwrap();
    data::load(&Request { test: Some(dir.path().join("b.csv")), ..at(&dir.path().join("a.csv")) })
}

#[test]
fn a_test_label_that_training_has_not_seen_is_refused() {
    let error = pair("a,label\n1,u\n2,v\n", "a,label\n1,w\n").unwrap_err();
    assert!(matches!(&error, DataError::UnseenLabel { label, .. } if label == "w"), "{error}");
    assert!(error.to_string().contains("b.csv") && error.to_string().contains("u, v"), "{error}");
}

#[test]
fn training_and_test_data_need_the_same_features() {
    let train = "id,a,b,label\n0,1,2,u\n0,1,2,u\n1,3,4,v\n1,3,4,v\n";
    let error = pair(train, "id,a,label\n0,1,u\n0,1,u\n").unwrap_err();
    assert!(error.to_string().contains("there is no column 'b'"), "{error}");
    let arrays = npz(&[
        ("x_train", npy("|u1", "(2, 1, 2)", &[1, 2, 3, 4])),
        ("y_train", npy("|u1", "(2,)", &[0, 1])),
        ("x_test", npy("|u1", "(1, 1, 3)", &[1, 2, 3])),
        ("y_test", npy("|u1", "(1,)", &[0])),
    ]);
    let error = fails("a.npz", &arrays);
    assert!(matches!(error, DataError::DimMismatch { found: 3, expected: 2, .. }), "{error}");
}

#[test]
fn a_sequence_whose_label_changes_needs_a_window() {
    let error = fails("a.csv", b"id,a,label\n0,1,u\n0,2,v\n1,3,u\n");
    assert!(error.to_string().contains("`window`") && error.to_string().contains("line 3"), "{error}");
}

#[test]
fn an_id_in_two_groups_is_refused() {
    let error = fails("a.csv", b"id,a,subject,label\n0,1,ann,u\n0,2,bob,u\n1,3,bob,v\n");
    assert!(error.to_string().contains("line 3") && error.to_string().contains("'bob'"), "{error}");
}

#[test]
fn windows_that_fit_nowhere_or_make_no_sense_are_refused() {
    let rows = b"a,label\n1,u\n2,v\n";
    let with = |window, stride| {
        Request::default().with_data(|data| {
            data.window = window;
            data.stride = stride;
        })
    };
    let error = fails_with("a.csv", rows, &with(Some(3), None));
    assert!(matches!(error, DataError::Empty { .. }) && error.to_string().contains("`window`"), "{error}");
    for (request, option) in [(with(Some(0), None), "`window`"), (with(Some(1), Some(0)), "`stride`")] {
        let error = data::load_bytes("a.csv", rows, &request).unwrap_err();
        assert!(error.to_string().contains(option), "{error}");
    }
}

#[test]
fn overlapping_windows_are_held_to_the_size_limit() {
    let rows: String = (0..1000).map(|i| format!("{i},{}\n", i % 2)).collect();
    let request = Request::default().with_data(|data| {
        data.window = Some(500);
        data.stride = Some(1);
        data.size_limit = 100_000;
    });
    let error = data::load_bytes("a.csv", format!("a,label\n{rows}").as_bytes(), &request).unwrap_err();
    assert!(error.to_string().contains("`stride") && error.to_string().contains("501"), "{error}");
    let series: String = (0..1000).map(|i| format!("{i},")).collect();
    let text = format!("@classLabel true a b\n@data\n{series}0:a\n{series}0:b\n");
    let error = data::load_bytes("a.ts", text.as_bytes(), &request).unwrap_err();
    assert!(error.to_string().contains("`stride"), "{error}");
}

#[test]
fn a_line_of_many_values_and_many_empty_dimensions_takes_no_more_memory_than_its_length() {
    let line = format!("{}:{}a\n", "1,".repeat(500_000) + "1", "1:".repeat(500_000));
    let error = fails("a.ts", format!("@classLabel true a b\n@data\n{line}").as_bytes());
    assert!(error.to_string().contains("dimension 1 has 1 value"), "{error}");
}

#[test]
fn more_than_the_size_limit_is_refused_in_every_packing() {
    let request = Request::default().with_data(|data| data.size_limit = 10);
    let big = npz(&[("x", npy("<f4", "(2, 3)", &floats(&[0.0; 6])))]);
    for (name, bytes) in [("a.csv", b"a,label\n1,u\n2,v\n".to_vec()), ("a.npz", big)] {
        let error = fails_with(name, &bytes, &request);
        assert!(matches!(error, DataError::TooLarge { limit: 10, .. }), "{name}: {error}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x_TRAIN.csv"), "a,label\n1,u\n2,v\n").unwrap();
    fs::write(dir.path().join("x_TEST.csv"), "a,label\n1,u\n2,v\n").unwrap();
    let error = data::load(&at(dir.path()).with_data(|data| data.size_limit = 20)).unwrap_err();
    assert!(matches!(error, DataError::TooLarge { limit: 20, .. }), "{error}");
}

#[test]
fn folders_that_cannot_be_understood_say_what_lies_in_them() {
    let dir = tempfile::tempdir().unwrap();
    let error = data::load(&at(dir.path())).unwrap_err();
    assert!(error.to_string().contains("no data file"), "{error}");
    fs::write(dir.path().join("a_TRAIN.ts"), TS).unwrap();
    fs::write(dir.path().join("b_TRAIN.ts"), TS).unwrap();
    let error = data::load(&at(dir.path())).unwrap_err();
    assert!(error.to_string().contains("a_TRAIN.ts, b_TRAIN.ts"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("walk")).unwrap();
    fs::write(dir.path().join("walk/a.csv"), "1\n").unwrap();
    fs::write(dir.path().join("b.csv"), "1\n").unwrap();
    let error = data::load(&at(dir.path())).unwrap_err();
    assert!(error.to_string().contains("different depths"), "{error}");
}
