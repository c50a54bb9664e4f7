//! Every format and layout that a user's data may come in.

use std::fs;
use std::io::Write;
use std::path::Path;

use fastgrnn_data::data::{self, Dataset, Examples, Expect, LabelKind, Labels, Request, Sequences};

fn csv(text: &str, request: &Request) -> Dataset {
    data::load_bytes("data.csv", text.as_bytes(), request).unwrap()
}

fn classes(examples: &Examples) -> Vec<&str> {
    let Labels::Class { index, names } = &examples.y else { panic!("{:?}", examples.y) };
    index.iter().map(|&i| names[i as usize].as_str()).collect()
}

fn values(examples: &Examples) -> &[f32] {
    let Labels::Value { values, .. } = &examples.y else { panic!("{:?}", examples.y) };
    values
}

fn at(path: &Path) -> Request {
    Request::new(path.to_str().unwrap())
}

fn text(s: &str) -> Option<String> {
    Some(s.into())
}

// ---- CSV

#[test]
fn a_row_is_a_sequence_unless_something_says_otherwise() {
    let data = csv("0.5,1,2,up\n3,4,5,down\n6,7,8,up\n", &Request::default());
    assert_eq!((data.train.x.max_steps(), data.train.x.dim()), (3, 1));
    assert_eq!(data.train.x.get(1), [3.0, 4.0, 5.0]);
    assert_eq!(classes(&data.train), ["up", "down", "up"]);
    assert_eq!(data.name, "data.csv");
    assert!(data.test.is_none() && data.features.is_none());
}

#[test]
fn a_row_of_several_features_is_reblocked_by_timesteps() {
    let request = Request::default().with_data(|data| data.timesteps = Some(2));
    let data = csv("1,2,3,4,a\n5,6,7,8,b\n", &request);
    assert_eq!((data.train.x.max_steps(), data.train.x.dim()), (2, 2));
}

#[test]
fn an_id_column_makes_rows_time_steps_even_out_of_order() {
    let request = Request::default().with_data(|data| {
        data.id_col = text("walk");
        data.label_col = text("who");
    });
    let rows = "walk,who,x,y,z\n7,ann,1,2,3\n9,bob,10,20,30\n7,ann,4,5,6\n9,bob,40,50,60\n9,bob,7,8,9\n";
    let data = csv(rows, &request);
    assert_eq!(data.train.x.get(0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!((data.train.x.steps(0), data.train.x.steps(1)), (2, 3));
    assert_eq!(classes(&data.train), ["ann", "bob"]);
    assert_eq!(data.features.unwrap(), ["x", "y", "z"]);
}

#[test]
fn a_column_called_id_that_repeats_is_taken_as_the_id_with_a_note() {
    let data = csv("id,label,a\n0,u,1\n0,u,2\n1,v,3\n1,v,4\n", &Request::default());
    assert_eq!((data.train.len(), data.train.x.max_steps()), (2, 2));
    assert!(data.notes[0].contains("'id'") && data.notes[0].contains("`id-col`"));
}

#[test]
fn a_column_called_id_that_never_repeats_is_left_out_with_a_note() {
    let data = csv("id,t0,t1,label\n0,1,2,u\n1,3,4,v\n", &Request::default());
    assert_eq!(data.train.x.get(1), [3.0, 4.0]);
    assert!(data.notes[0].contains("differs in every row"), "{:?}", data.notes);
}

#[test]
fn time_columns_are_left_out_with_a_note() {
    for (name, cells) in [
        ("timestamp", ["0.1", "0.2"]),
        ("Time (s)", ["1", "2"]),
        ("t", ["1", "2"]),
        ("ms", ["5", "10"]),
        ("recorded", ["2024-01-31T10:00:00Z", "2024-01-31T10:00:01Z"]),
    ] {
        let rows =
            format!("id,{name},a,label\n0,{0},5,u\n0,{1},6,u\n1,{0},7,v\n1,{1},8,v\n", cells[0], cells[1]);
        let data = csv(&rows, &Request::default());
        assert_eq!(data.features.unwrap(), ["a"], "{name}");
        let note = data.notes.iter().find(|n| n.contains("looks like time")).unwrap();
        assert!(note.contains(name) && note.contains("`columns`"), "{note}");
    }
}

#[test]
fn a_time_column_is_kept_when_it_is_asked_for() {
    let columns = vec!["a".to_string(), "time".to_string()];
    let request = Request::default().with_data(|data| data.columns = Some(columns));
    let data = csv("id,time,a,label\n0,1,5,u\n0,2,6,u\n1,1,7,v\n1,2,8,v\n", &request);
    assert_eq!(data.features.unwrap(), ["a", "time"]);
    assert_eq!(data.train.x.get(0), [5.0, 1.0, 6.0, 2.0]);
    assert!(data.notes.iter().all(|n| !n.contains("looks like time")));
}

#[test]
fn names_that_only_contain_time_are_features() {
    let data = csv("id,t1,runtime,label\n0,1,5,u\n0,2,6,u\n1,1,7,v\n1,2,8,v\n", &Request::default());
    assert_eq!(data.features.unwrap(), ["t1", "runtime"]);
}

#[test]
fn columns_can_be_dropped_by_name_and_number() {
    let drop = vec!["b".to_string(), "0".to_string()];
    let request = Request::default().with_data(|data| {
        data.drop = Some(drop);
        data.label_col = text("label");
    });
    let data = csv("a,b,c,label\n1,x,3,u\n4,y,6,v\n", &request);
    assert_eq!(data.train.x.get(1), [6.0]);
}

#[test]
fn a_file_without_a_header_takes_numbers_for_columns() {
    let request = Request::default().with_data(|data| {
        data.label_col = text("0");
        data.columns = Some(vec!["2-3".into()]);
    });
    let data = csv("1,9,2,3\n2,9,4,5\n1,9,6,7\n", &request);
    assert_eq!(classes(&data.train), ["1", "2", "1"]);
    assert_eq!(data.train.x.get(2), [6.0, 7.0]);
}

#[test]
fn semicolons_tabs_quotes_blanks_and_byte_order_marks_are_understood() {
    let expected = csv("a,b,label\n1,2,u\n3,4,v\n", &Request::default());
    for text in [
        "a;b;label\n1;2;u\n3;4;v\n",
        "a\tb\tlabel\r\n1\t2\tu\r\n3\t4\tv\r\n",
        "\u{feff}a,b,label\n1,2,u\n\n3,4,v",
        "\"a\", b ,\"label\"\n\"1\",2 ,u\n3, 4,\"v\"\n",
    ] {
        assert_eq!(csv(text, &Request::default()).train, expected.train, "{text}");
    }
}

#[test]
fn a_pandas_index_column_is_left_out() {
    let data = csv(",a,b,label\n0,1,2,u\n1,3,4,v\n", &Request::default());
    assert_eq!(data.train.x.get(0), [1.0, 2.0]);
    assert!(data.notes[0].contains("counts the rows"));
}

#[test]
fn y_is_a_label_beside_x_but_an_axis_beside_z() {
    let data = csv("x0,x1,y\n1,2,0\n3,4,1\n", &Request::default());
    assert_eq!(classes(&data.train), ["0", "1"]);
    let data = csv("id,x,y,z,what\n0,1,2,3,u\n0,1,2,3,u\n1,4,5,6,v\n1,4,5,6,v\n", &Request::default());
    assert_eq!(data.features.unwrap(), ["x", "y", "z"]);
}

#[test]
fn whole_numbers_are_classes_in_numeric_order_and_fractions_are_values() {
    let data = csv("a,label\n1,10\n2,9\n3,10\n", &Request::default());
    let Labels::Class { names, index } = &data.train.y else { panic!() };
    assert_eq!((names.as_slice(), index.as_slice()), (&["9".to_string(), "10".into()][..], &[1, 0, 1][..]));
    let data = csv("a,label\n1,0.5\n2,2\n3,1.25\n", &Request::default());
    assert_eq!(values(&data.train), [0.5, 2.0, 1.25]);
    let request = Request::default().with_data(|data| data.labels = LabelKind::Value);
    assert_eq!(values(&csv("a,label\n1,0\n2,1\n", &request).train), [0.0, 1.0]);
    let request = Request::default().with_data(|data| data.labels = LabelKind::Class);
    assert_eq!(classes(&csv("a,label\n1,0.5\n2,1\n", &request).train), ["0.5", "1"]);
}

#[test]
fn many_distinct_whole_numbers_are_values_with_a_note() {
    let rows: String = (0..40).map(|i| format!("{i},{}\n", i * 3)).collect();
    let data = csv(&format!("a,label\n{rows}"), &Request::default());
    assert_eq!(values(&data.train)[2], 6.0);
    assert!(data.notes.iter().any(|n| n.contains("`labels = class`")), "{:?}", data.notes);
}

#[test]
fn a_long_recording_is_cut_into_windows_with_majority_labels() {
    let labels = ["a", "a", "a", "b", "b", "b", "b", "a"];
    let rows: String = labels.iter().enumerate().map(|(i, l)| format!("{i},{l}\n")).collect();
    let request = Request::default().with_data(|data| {
        data.window = Some(3);
        data.stride = Some(2);
    });
    let data = csv(&format!("v,label\n{rows}"), &request);
    assert_eq!(data.train.x.get(1), [2.0, 3.0, 4.0]);
    assert_eq!(classes(&data.train), ["a", "b", "b"]);
    assert_eq!(data.train.recording, Some(vec![0, 0, 0]));
    assert_eq!(data.train.group, Some(vec![0, 0, 0]));
}

#[test]
fn a_tie_within_a_window_goes_to_the_label_that_comes_first() {
    let request = Request::default().with_data(|data| data.window = Some(4));
    let data = csv("v,label\n1,b\n2,a\n3,a\n4,b\n5,a\n6,a\n7,a\n8,b\n", &request);
    assert_eq!(classes(&data.train), ["b", "a"]);
}

#[test]
fn windows_of_values_take_their_mean() {
    let request = Request::default().with_data(|data| data.window = Some(2));
    let data = csv("v,label\n1,0.5\n2,1.5\n3,2\n4,4\n", &request);
    assert_eq!(values(&data.train), [1.0, 3.0]);
}

#[test]
fn windows_never_cross_ids_or_groups() {
    let request = Request::default().with_data(|data| {
        data.window = Some(2);
        data.stride = Some(1);
    });
    let data = csv("v,subject,label\n1,ann,u\n2,ann,u\n3,bob,v\n4,bob,v\n5,ann,u\n6,ann,v\n", &request);
    let cut: Vec<&[f32]> = (0..3).map(|i| data.train.x.get(i)).collect();
    assert_eq!(cut, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(data.train.group, Some(vec![0, 1, 0]));
    assert_eq!(data.train.recording, Some(vec![0, 1, 2]));
}

#[test]
fn recordings_shorter_than_the_window_are_left_out_with_a_note() {
    let request = Request::default().with_data(|data| data.window = Some(2));
    let data = csv("id,v,label\n0,1,u\n0,2,u\n1,3,v\n2,4,v\n2,5,v\n", &request);
    assert_eq!(data.train.len(), 2);
    assert!(data.notes.iter().any(|n| n.contains("1 of 3 recordings")), "{:?}", data.notes);
}

// ---- folders

fn write(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn a_folder_of_class_folders_holds_one_sequence_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for (name, rows) in
        [("walk/a.csv", "x,y\n1,2\n3,4\n"), ("walk/b.csv", "x,y\n5,6\n"), ("run/c.csv", "y,x\n8,7\n")]
    {
        write(dir.path(), name, rows.as_bytes());
    }
    write(dir.path(), "README.txt", b"about this");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(classes(&data.train), ["run", "walk", "walk"]);
    assert_eq!(data.train.x.get(1), [2.0, 1.0, 4.0, 3.0], "columns follow the first file's names");
    assert_eq!(data.features.unwrap(), ["y", "x"]);
    assert!(data.train.recording.is_none());
}

#[test]
fn train_and_test_folders_of_class_folders_are_two_parts() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["set/train/walk/a.csv", "set/train/run/b.csv", "set/TEST/run/c.csv"] {
        write(dir.path(), name, b"1,2\n3,4\n");
    }
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(classes(&data.train), ["run", "walk"]);
    assert_eq!(classes(data.test.as_ref().unwrap()), ["run"]);
}

#[test]
fn windows_of_a_file_in_a_class_folder_share_its_recording() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "walk/a.csv", b"1\n2\n3\n4\n");
    write(dir.path(), "walk/short.csv", b"1\n");
    write(dir.path(), "run/b.csv", b"5\n6\n7\n8\n");
    let data = data::load(&at(dir.path()).with_data(|data| data.window = Some(2))).unwrap();
    assert_eq!(data.train.recording, Some(vec![0, 0, 1, 1]));
    assert_eq!(classes(&data.train), ["run", "run", "walk", "walk"]);
    assert!(data.notes[0].contains("short.csv"), "{:?}", data.notes);
}

#[test]
fn recordings_side_by_side_take_their_label_from_a_column() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "monday.csv", b"a,label\n1,u\n2,u\n");
    write(dir.path(), "friday.csv", b"a,label\n3,v\n4,v\n5,v\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!((data.train.x.steps(0), data.train.x.steps(1)), (3, 2));
    assert_eq!(classes(&data.train), ["v", "u"]);
}

#[test]
fn train_and_test_files_are_found_by_name_in_any_case() {
    for (train, test) in
        [("X_TRAIN.csv", "X_TEST.csv"), ("x_train.csv", "x_test.csv"), ("train.csv", "test.csv")]
    {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), train, b"a,label\n1,u\n2,v\n");
        write(dir.path(), test, b"a,label\n3,v\n");
        write(dir.path(), "notes.txt", b"about this");
        let data = data::load(&at(dir.path())).unwrap();
        assert_eq!((data.train.len(), data.test.unwrap().len()), (2, 1));
    }
}

#[test]
fn a_test_file_apart_may_have_its_columns_in_another_order() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.csv", b"id,a,b,label\n0,1,2,u\n0,1,2,u\n1,3,4,v\n1,3,4,v\n");
    write(dir.path(), "b.csv", b"b,id,label,a\n20,5,v,10\n20,5,v,10\n");
    let request = Request { test: Some(dir.path().join("b.csv")), ..at(&dir.path().join("a.csv")) };
    let test = data::load(&request).unwrap().test.unwrap();
    assert_eq!(test.x.get(0), [10.0, 20.0, 10.0, 20.0]);
    assert_eq!(classes(&test), ["v"]);
}

#[test]
fn archives_read_like_folders() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in [("set/S_TRAIN.ts", TS), ("set/S_TEST.ts", TS), ("set/S_TRAIN.txt", "x")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let data = data::load_bytes("S.zip", &bytes, &Request::default()).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (2, 2));
}

#[test]
fn an_xz_file_is_read_as_its_content() {
    // Made by `printf 'a,label\n1,u\n2,v\n' | xz`.
    const XZ: &[u8] = include_bytes!("../fixtures/tiny.csv.xz");
    let data = data::load_bytes("tiny.csv.xz", XZ, &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["u", "v"]);
}

// ---- .ts

const TS: &str = "#comment\n@problemName S\n@timeStamps false\n@missing false\n@univariate false\n\
    @dimensions 2\n@equalLength false\n@classLabel true no yes\n\n@data\n\
    1,2,3:10,20,30:yes\n4,5:40,50:no\n";

#[test]
fn ts_sequences_interleave_their_dimensions_and_keep_the_declared_classes() {
    let data = data::load_bytes("S.ts", TS.as_bytes(), &Request::default()).unwrap();
    assert_eq!(data.train.x.get(0), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    assert_eq!(data.train.x.steps(1), 2);
    assert_eq!(classes(&data.train), ["yes", "no"]);
}

#[test]
fn ts_regression_targets_are_values_even_if_whole() {
    let text =
        "@univariate true\n@equalLength true\n@seriesLength 2\n@targetlabel true\n@data\n1,2:3\n4,5:6\n";
    let data = data::load_bytes("S.ts", text.as_bytes(), &Request::default()).unwrap();
    assert_eq!(values(&data.train), [3.0, 6.0]);
}

#[test]
fn ts_class_labels_are_classes_even_if_fractions() {
    let text = "@univariate true\n@classLabel true 1.0 2.5\n@data\n1,2:1\n4,5:2.5\n";
    let data = data::load_bytes("S.ts", text.as_bytes(), &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["1.0", "2.5"]);
}

// ---- NPY, NPZ, IDX (arrays written by NumPy: see fixtures/arrays/make_arrays.py)

#[test]
fn numpy_types_orders_and_layouts_all_read_alike() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/arrays");
    let mut read = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "npz") {
            continue;
        }
        read += 1;
        let data = data::load(&at(&path)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((data.train.len(), data.train.x.max_steps(), data.train.x.dim()), (2, 3, 2));
        let first: Vec<f32> = (0..6).map(|v| v as f32).collect();
        assert_eq!(data.train.x.get(0), first, "{}", path.display());
        assert_eq!(data.train.x.get(1)[5], 11.0, "{}", path.display());
        let Labels::Class { index, names } = &data.train.y else { panic!("{}", path.display()) };
        assert_eq!((index.as_slice(), names.len()), (&[1, 0][..], 2), "{}", path.display());
    }
    assert_eq!(read, 17, "fixtures");
}

#[test]
fn a_folder_of_npy_files_reads_like_an_npz() {
    let dir = tempfile::tempdir().unwrap();
    let array = |descr: &str, shape: &str, cells: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(cells);
        bytes
    };
    write(dir.path(), "X_train.npy", &array("|u1", "(2, 3)", &[1, 2, 3, 4, 5, 6]));
    write(dir.path(), "y_train.npy", &array("|i1", "(2,)", &[1, 0]));
    write(dir.path(), "X_test.npy", &array("|u1", "(1, 3)", &[7, 8, 9]));
    write(dir.path(), "y_test.npy", &array("|b1", "(1,)", &[1]));
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(classes(&data.train), ["1", "0"]);
    assert_eq!(data.test.unwrap().x.get(0), [7.0, 8.0, 9.0]);
}

fn idx_files() -> [(&'static str, Vec<u8>); 4] {
    let images = |n: u8| {
        let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 2, 0, 0, 0, 2];
        bytes.extend((0..4 * n).map(|v| v + 1));
        bytes
    };
    let labels = |values: &[u8]| [&[0, 0, 8, 1, 0, 0, 0, values.len() as u8], values].concat();
    [
        ("train-images-idx3-ubyte", images(2)),
        ("train-labels-idx1-ubyte", labels(&[7, 4])),
        ("t10k-images-idx3-ubyte", images(1)),
        ("t10k-labels-idx1-ubyte", labels(&[4])),
    ]
}

#[test]
fn idx_images_find_their_labels_by_name() {
    let dir = tempfile::tempdir().unwrap();
    idx_files().iter().for_each(|(name, bytes)| write(dir.path(), name, bytes));
    let whole = data::load(&at(dir.path())).unwrap();
    assert_eq!(whole.test.as_ref().unwrap().len(), 1);
    let alone = data::load(&at(&dir.path().join("train-images-idx3-ubyte"))).unwrap();
    for data in [whole, alone] {
        assert_eq!((data.train.x.max_steps(), data.train.x.dim()), (2, 2));
        assert_eq!(data.train.x.get(1), [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(classes(&data.train), ["7", "4"]);
        assert_eq!(data.image, Some((2, 2)));
    }
}

#[test]
fn any_format_can_be_cut_into_windows() {
    let request = Request::default().with_data(|data| data.window = Some(1));
    let data = data::load_bytes("S.ts", TS.as_bytes(), &request).unwrap();
    assert_eq!(data.train.recording, Some(vec![0, 0, 0, 1, 1]));
    assert_eq!(classes(&data.train), ["yes", "yes", "yes", "no", "no"]);
    assert_eq!(data.train.x.get(1), [2.0, 20.0]);
}

// ---- input to predict on

#[test]
fn unlabelled_rows_are_sequences_or_steps_as_the_model_expects() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.csv");
    fs::write(&path, "1,2,3\n4,5,6\n").unwrap();
    let read = |dim| {
        let request = Request { expect: Some(Expect { dim, ..Expect::default() }), ..Request::default() };
        data::load_unlabelled(&path, &request).unwrap().x
    };
    assert_eq!((read(3).len(), read(3).dim(), read(3).max_steps()), (1, 3, 2));
    assert_eq!((read(1).len(), read(1).dim(), read(1).max_steps()), (2, 1, 3));
}

#[test]
fn labels_in_unlabelled_input_are_ignored_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.csv");
    fs::write(&path, "id,a,label\nfirst,1,u\nfirst,2,u\nsecond,3,v\n").unwrap();
    let input = data::load_unlabelled(&path, &Request::default()).unwrap();
    assert_eq!(input.ids, ["first", "second"]);
    assert_eq!(input.features.unwrap(), ["a"]);
    assert!(input.notes.iter().any(|n| n.contains("'label'")), "{:?}", input.notes);
}

#[test]
fn unlabelled_ts_and_npy_files_need_no_labels() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "new.ts", b"@univariate true\n@classLabel true a b\n@data\n1,2:?\n3,4:?\n");
    let input = data::load_unlabelled(&dir.path().join("new.ts"), &Request::default()).unwrap();
    assert_eq!((input.x.len(), input.ids.join(",")), (2, "0,1".into()));
}

// ---- writing

fn small(lengths: [usize; 3], test: bool) -> Dataset {
    let examples = || {
        let mut x = Sequences::new(2);
        lengths.iter().for_each(|&n| x.push(&vec![0.1 + n as f32; 2 * n]));
        let names = vec!["no".to_string(), "yes".to_string()];
        let mut examples = Examples::new(x, Labels::Class { index: vec![1, 0, 1], names });
        examples.group = Some(vec![0, 0, 1]);
        examples
    };
    let features = Some(vec!["left".into(), "right, far".into()]);
    Dataset { test: test.then(examples), ..Dataset::new("small", examples()).with_features(features) }
}

#[test]
fn every_written_format_reads_back_the_same() {
    for lengths in [[2, 2, 2], [2, 5, 3]] {
        for (ending, test) in
            [("npz", true), ("npz", false), ("csv", true), ("csv", false), ("ts", true), ("ts", false)]
        {
            let dir = tempfile::tempdir().unwrap();
            let mut original = small(lengths, test);
            let written = data::write(&original, &dir.path().join(format!("s.{ending}"))).unwrap();
            assert_eq!(written.len(), if test && ending != "npz" { 2 } else { 1 });
            assert!(written.iter().all(|path| path.is_file()));
            let mut again = data::load(&at(dir.path())).unwrap();
            again.train.ids = None;
            again.test.iter_mut().for_each(|test| test.ids = None);
            if ending == "ts" {
                original.train.group = None;
                original.test.iter_mut().for_each(|test| test.group = None);
            } else {
                assert_eq!(again.features, original.features);
            }
            assert_eq!(again.train, original.train, "{ending}");
            assert_eq!(again.test, original.test, "{ending}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), written.len(), "no leftovers");
        }
    }
}

#[test]
fn windows_written_to_npz_still_know_their_recording() {
    let dir = tempfile::tempdir().unwrap();
    let request = Request::default().with_data(|data| data.window = Some(1));
    let data = data::load_bytes("S.ts", TS.as_bytes(), &request).unwrap();
    data::write(&data, &dir.path().join("s.npz")).unwrap();
    assert_eq!(data::load(&at(dir.path())).unwrap().train.recording, data.train.recording);
}

#[test]
fn a_failed_write_leaves_the_old_file_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.ts");
    fs::write(&path, "old").unwrap();
    let mut data = small([2, 2, 2], false);
    data.train.y = Labels::Value { width: 2, values: vec![0.0; 6] };
    assert!(data::write(&data, &path).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(data::write(&data, &dir.path().join("s.xls")).unwrap_err().to_string().contains(".npz"));
}
