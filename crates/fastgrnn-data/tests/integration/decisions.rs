//! What readers decide by themselves: nothing is lost, guessed or changed without a word.

use std::fs;
use std::path::Path;

use fastgrnn_data::data::{
    self, DataError, Dataset, Examples, Expect, Inherited, Labels, Request, Sequences,
};

fn csv(text: &str) -> Result<Dataset, DataError> {
    data::load_bytes("a.csv", text.as_bytes(), &Request::default())
}

fn at(path: &Path) -> Request {
    Request::new(path.to_str().unwrap())
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn classes(examples: &Examples) -> Vec<&str> {
    let Labels::Class { index, names } = &examples.y else { panic!("{:?}", examples.y) };
    index.iter().map(|&c| names[c as usize].as_str()).collect()
}

fn has_note(notes: &[String], part: &str) -> bool {
    notes.iter().any(|note| note.contains(part))
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_string()).collect()
}

/// A request for a model that reads these features, everything else taken over from its training.
fn for_model(features: &[&str]) -> Request {
    let expect = Expect {
        dim: features.len(),
        features: Some(strings(features)),
        steps: 2,
        classes: strings(&["u", "v"]),
        ..Expect::default()
    };
    let inherited = Inherited {
        id_col: true,
        label_col: true,
        group_col: true,
        columns: true,
        drop: true,
        manifest: true,
    };
    Request { expect: Some(expect), inherited, ..Request::default() }
}

fn unlabelled(text: &str, request: &Request) -> Result<data::Unlabelled, DataError> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "new.csv", text);
    data::load_unlabelled(&dir.path().join("new.csv"), request)
}

fn npy(descr: &str, shape: &str, cells: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), cells].concat()
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

fn load_npz(arrays: &[(&str, Vec<u8>)], request: &Request) -> Result<Dataset, DataError> {
    data::load_bytes("a.npz", &npz(arrays), request)
}

// ---- the model's features

#[test]
fn columns_are_taken_by_the_models_names_in_the_models_order() {
    let input = unlabelled("extra,y,x\n9,2,1\n9,4,3\n", &for_model(&["x", "y"])).unwrap();
    assert_eq!(input.x.get(0), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(input.features.unwrap(), ["x", "y"]);
    let rows = "id,y,x,label\n0,2,1,u\n0,4,3,u\n";
    let data = data::load_bytes("a.csv", rows.as_bytes(), &for_model(&["x", "y"])).unwrap();
    assert_eq!(data.train.x.get(0), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn other_features_than_the_models_fail_with_both_lists() {
    let error = unlabelled("x,z\n1,2\n", &for_model(&["x", "y"])).unwrap_err();
    assert!(matches!(error, DataError::Features { .. }), "{error}");
    assert!(error.to_string().contains("x, z") && error.to_string().contains("x, y"), "{error}");
    let arrays = [
        ("x", npy("|u1", "(1, 1, 2)", &[1, 2])),
        ("y", npy("|S1", "(1,)", b"u")),
        ("features", npy("|S1", "(2,)", b"yx")),
    ];
    let error = load_npz(&arrays, &for_model(&["x", "y"])).unwrap_err();
    assert!(matches!(error, DataError::Features { .. }), "{error}");
}

#[test]
fn columns_chosen_by_hand_may_have_other_names_than_the_models() {
    let mut request = for_model(&["x", "y"]);
    (request.data.columns, request.inherited.columns) = (Some(strings(&["b", "a"])), false);
    let input = unlabelled("a,b\n1,2\n3,4\n", &request).unwrap();
    assert_eq!(input.x.get(0), [2.0, 1.0, 4.0, 3.0]);
    assert!(has_note(&input.notes, "taken for the model's"), "{:?}", input.notes);
    request.data.columns = Some(strings(&["y", "x"]));
    let error = unlabelled("x,y\n1,2\n", &request).unwrap_err();
    assert!(matches!(error, DataError::Features { .. }), "{error}");
}

#[test]
fn a_sensor_with_axes_x_and_y_can_be_predicted_on() {
    let input = unlabelled("id,x,y\n0,1,2\n0,3,4\n", &for_model(&["x", "y"])).unwrap();
    assert_eq!(input.x.get(0), [1.0, 2.0, 3.0, 4.0]);
    let nameless = Request { expect: Some(Expect { dim: 2, ..Expect::default() }), ..for_model(&["x", "y"]) };
    assert_eq!(unlabelled("id,x,y\n0,1,2\n0,3,4\n", &nameless).unwrap().x.dim(), 2);
}

#[test]
fn columns_of_the_training_data_may_be_missing_but_not_those_asked_for_now() {
    let mut request = for_model(&["x", "y"]).with_data(|data| {
        data.id_col = Some("walk".into());
        data.label_col = Some("activity".into());
        data.group_col = Some("who".into());
        data.drop = Some(strings(&["battery"]));
    });
    let input = unlabelled("x,y\n1,2\n3,4\n", &request).unwrap();
    assert_eq!((input.x.len(), input.x.max_steps()), (1, 2));
    assert!(has_note(&input.notes, "no column 'walk'"), "{:?}", input.notes);
    request.inherited.drop = false;
    let error = unlabelled("x,y\n1,2\n", &request).unwrap_err();
    assert!(matches!(&error, DataError::UnknownColumn { column, .. } if column == "battery"), "{error}");
}

#[test]
fn unlabelled_rows_without_the_label_in_front_keep_their_first_step() {
    let expect = Expect { dim: 1, steps: 3, classes: strings(&["1", "2"]), ..Expect::default() };
    let inherited = Inherited { label_col: true, ..Inherited::default() };
    let request = Request { expect: Some(expect), inherited, ..Request::default() }
        .with_data(|data| data.label_col = Some("0".into()));
    let input = unlabelled("5,6,7\n8,9,10\n", &request).unwrap();
    assert_eq!(input.x.get(0), [5.0, 6.0, 7.0]);
    assert!(has_note(&input.notes, "no label"), "{:?}", input.notes);
    let input = unlabelled("1,5,6,7\n2,8,9,10\n", &request).unwrap();
    assert_eq!(input.x.get(0), [5.0, 6.0, 7.0]);
    assert!(has_note(&input.notes, "column '0' was taken as a label"), "{:?}", input.notes);
    let input = unlabelled("1,5,6,7,8\n", &request).unwrap();
    assert!(has_note(&input.notes, "up to 3 values, here are 4"), "{:?}", input.notes);
}

#[test]
fn a_model_is_evaluated_on_one_class_or_on_a_test_part_alone() {
    let request = Request { expect: Some(for_model(&[]).expect.unwrap()), ..Request::default() };
    let data = data::load_bytes("a.csv", b"a,label\n1,v\n2,v\n", &request).unwrap();
    assert_eq!(classes(&data.train), ["v", "v"]);
    assert_eq!(data.train.classes(), 2);
    let arrays = [("x_test", npy("|u1", "(1, 2)", &[1, 2])), ("y_test", npy("|S1", "(1,)", b"v"))];
    let data = load_npz(&arrays, &request).unwrap();
    assert!(data.train.is_empty());
    assert_eq!(classes(data.test.as_ref().unwrap()), ["v"]);
    let error = data::load_bytes("a.csv", b"a,label\n1,v\n2,w\n", &request).unwrap_err();
    assert!(matches!(&error, DataError::OtherClasses { place, .. } if place == "sequence 1"), "{error}");
    for part in
        ["'w' is not a class of the model", "of the data set are v, w", "of the model u, v", "use data"]
    {
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn both_parts_of_an_archive_are_predicted_on() {
    let dir = tempfile::tempdir().unwrap();
    let arrays = [("x_train", npy("|u1", "(2, 1)", &[1, 2])), ("x_test", npy("|u1", "(1, 1)", &[3]))];
    write(dir.path(), "a.npz", npz(&arrays));
    let input = data::load_unlabelled(&dir.path().join("a.npz"), &Request::default()).unwrap();
    assert_eq!(input.ids, ["train:0", "train:1", "test:0"]);
    assert_eq!(input.x.get(2), [3.0]);
}

// ---- folders

#[test]
fn a_label_column_inside_a_class_folder_is_no_feature() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "walk/a.csv", "x,label\n1,0\n2,0\n");
    write(dir.path(), "run/a.csv", "x,label\n3,1\n4,1\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(data.features.unwrap(), ["x"]);
    assert!(has_note(&data.notes, "'label'"), "{:?}", data.notes);
}

#[test]
fn a_class_folder_without_a_readable_table_is_an_error() {
    for other in ["rest/a.wav", "rest/a.txt"] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "walk/a.csv", "1\n2\n");
        write(dir.path(), "run/a.csv", "3\n4\n");
        write(dir.path(), other, "5\n6\n");
        let error = data::load(&at(dir.path())).unwrap_err().to_string();
        assert!(error.contains("'rest'") && error.contains(other), "{error}");
    }
}

#[test]
fn files_that_are_not_read_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "walk/a.csv", "1\n2\n");
    write(dir.path(), "walk/b.wav", "x");
    write(dir.path(), "run/a.csv", "3\n4\n");
    write(dir.path(), "README.md", "about");
    let data = data::load(&at(dir.path())).unwrap();
    assert!(data.notes.contains(&"not read: walk/b.wav".to_string()), "{:?}", data.notes);
}

#[cfg(unix)]
#[test]
fn class_folders_that_are_links_are_followed_and_circles_are_refused() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(dir.path(), "walk/a.csv", "1\n2\n");
    write(elsewhere.path(), "b.csv", "3\n4\n");
    std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("run")).unwrap();
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(classes(&data.train), ["run", "walk"]);
    std::os::unix::fs::symlink(dir.path(), elsewhere.path().join("round")).unwrap();
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("8 folders deep"), "{error}");
}

#[test]
fn a_folder_beside_train_val_and_test_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for part in ["train", "val", "other", "test"] {
        write(dir.path(), &format!("{part}/walk/a.csv"), "1\n2\n");
        write(dir.path(), &format!("{part}/run/a.csv"), "3\n4\n");
    }
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("'other'") && !error.contains("depths"), "{error}");
}

#[test]
fn a_file_beside_its_packed_copy_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "walk/a.csv", "1\n2\n");
    write(dir.path(), "walk/a.csv.gz", "");
    write(dir.path(), "run/a.csv", "3\n4\n");
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("'walk/a.csv' is there twice"), "{error}");
}

#[test]
fn images_without_labels_can_be_predicted_on_in_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let idx = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 5, 6];
    write(dir.path(), "train-images-idx3-ubyte", idx);
    write(dir.path(), "t10k-images-idx3-ubyte", idx);
    let input = data::load_unlabelled(dir.path(), &Request::default()).unwrap();
    assert_eq!((input.x.len(), input.x.get(0)), (2, &[5.0, 6.0][..]));
}

#[test]
fn a_colon_in_the_name_of_an_archive_entry_is_no_danger() {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in [("up/12:30.csv", "1\n2\n"), ("down/12:31.csv", "3\n4\n")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let data = data::load_bytes("a.zip", &bytes, &Request::default()).unwrap();
    assert_eq!(data.train.len(), 2);
}

// ---- headers and columns

#[test]
fn the_first_row_is_data_when_its_label_looks_like_a_name() {
    let data = csv("1,2,target\n3,4,other\n5,6,target\n").unwrap();
    assert_eq!(classes(&data.train), ["target", "other", "target"]);
}

#[test]
fn a_bad_cell_in_the_first_row_is_an_error_and_no_header() {
    let error = csv("1.0,abc,up\n2.0,3.0,down\n4.0,5.0,up\n").unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
    let request = Request::default().with_data(|data| data.label_col = Some("2".into()));
    let error = data::load_bytes("a.csv", b"1.0,abc,up\n2.0,3.0,down\n", &request).unwrap_err();
    assert!(matches!(error, DataError::NotANumber { line: 1, .. }), "{error}");
}

#[test]
fn a_header_that_counts_the_columns_is_recognised_with_a_note() {
    for text in ["0,1,2,label\n5,6,7,u\n8,9,1,v\n", "0,1,2,3\n5.5,6,7,0\n8,9,1,1\n"] {
        let request = Request::default().with_data(|data| data.label_col = Some("3".into()));
        let data = data::load_bytes("a.csv", text.as_bytes(), &request).unwrap();
        assert_eq!((data.train.len(), data.train.x.max_steps()), (2, 3), "{text}");
        assert!(has_note(&data.notes, "first row was taken as the header"), "{:?}", data.notes);
    }
}

#[test]
fn a_guessed_label_column_leaves_a_note() {
    let data = csv("a,what\n1,u\n2,v\n").unwrap();
    assert!(has_note(&data.notes, "'what' was taken as the label"), "{:?}", data.notes);
}

#[test]
fn nearly_as_many_classes_as_sequences_are_refused() {
    let rows: String = (0..30).map(|i| format!("{i},name{i}\n")).collect();
    let error = csv(&format!("a,what\n{rows}")).unwrap_err();
    assert!(matches!(error, DataError::TooManyClasses { classes: 30, n: 30, .. }), "{error}");
    let rows: String = (0..9000).map(|i| format!("{i},{}\n", i % 3000)).collect();
    let request = Request::default().with_data(|data| data.labels = data::LabelKind::Class);
    let error = data::load_bytes("a.csv", format!("a,label\n{rows}").as_bytes(), &request).unwrap_err();
    assert!(matches!(error, DataError::TooManyClasses { classes: 3000, .. }), "{error}");
    let error = error.to_string();
    assert!(error.contains("2048 at most") && error.contains("is 'label' the right column"), "{error}");
}

#[test]
fn rows_as_sequences_leave_a_note_and_a_time_column_beside_them_is_an_error() {
    let data = csv("a,b,label\n1,2,u\n3,4,v\n").unwrap();
    assert!(has_note(&data.notes, "each row is one sequence of 2 steps"), "{:?}", data.notes);
    let error = csv("time,a,label\n0,2,u\n1,4,v\n").unwrap_err().to_string();
    assert!(error.contains("`id-col`") && error.contains("`drop = time`"), "{error}");
    let request = Request::default().with_data(|data| data.drop = Some(strings(&["time"])));
    assert!(data::load_bytes("a.csv", b"time,a,label\n0,2,u\n1,4,v\n", &request).is_ok());
}

#[test]
fn two_columns_of_one_name_are_refused_unless_one_is_dropped() {
    let text = b"a,b,a,label\n1,2,3,u\n4,5,6,v\n";
    let error = data::load_bytes("a.csv", text, &Request::default()).unwrap_err();
    assert!(matches!(error, DataError::DuplicateColumn { first: 0, second: 2, .. }), "{error}");
    let request = Request::default().with_data(|data| data.drop = Some(strings(&["2"])));
    assert_eq!(data::load_bytes("a.csv", text, &request).unwrap().train.x.get(0), [1.0, 2.0]);
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let some = || Some("x".to_string());
    for request in [
        Request::new("digits").with_data(|data| data.columns = Some(strings(&["x"]))),
        Request::new("digits").with_data(|data| data.drop = Some(strings(&["x"]))),
        Request::new("digits").with_data(|data| data.id_col = some()),
        Request::new("digits").with_data(|data| data.label_col = some()),
        Request::new("digits").with_data(|data| data.group_col = some()),
        Request::new("digits").with_data(|data| data.stride = Some(2)),
    ] {
        let error = data::load(&request).unwrap_err();
        assert!(matches!(error, DataError::NotATable { .. } | DataError::Needs { .. }), "{error}");
    }
    let arrays = [("x", npy("|u1", "(1, 1)", &[1])), ("y", npy("|u1", "(1,)", &[1]))];
    let request = Request::default().with_data(|data| data.label_col = some());
    assert!(matches!(load_npz(&arrays, &request), Err(DataError::NotATable { .. })));
    let request = Request::default().with_data(|data| data.label_col = Some("0-1".into()));
    let error = data::load_bytes("a.csv", b"1,2,3\n4,5,6\n", &request).unwrap_err();
    assert!(error.to_string().contains("several columns"), "{error}");
}

// ---- labels

#[test]
fn whole_numbers_in_windows_are_averaged_when_they_are_values() {
    let rows: String = (0..60).map(|i| format!("{i},{}\n", 100 + i)).collect();
    let request = Request::default().with_data(|data| data.window = Some(2));
    let data = data::load_bytes("a.csv", format!("a,label\n{rows}").as_bytes(), &request).unwrap();
    let Labels::Value { values, .. } = &data.train.y else { panic!("{:?}", data.train.y) };
    assert_eq!(values[0], 100.5);
    assert!(has_note(&data.notes, "mean"), "{:?}", data.notes);
}

#[test]
fn labels_in_windows_are_of_one_kind_in_all_files_of_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.csv", "x,label\n1,1\n2,2\n3,1\n4,4\n");
    write(dir.path(), "b.csv", "x,label\n1,0.5\n2,1.5\n");
    let data = data::load(&at(dir.path()).with_data(|data| data.window = Some(2))).unwrap();
    let Labels::Value { values, .. } = &data.train.y else { panic!("{:?}", data.train.y) };
    assert_eq!(values, &[1.5, 2.5, 1.0]);
}

#[test]
fn one_hot_labels_are_classes_with_a_note() {
    let y = npy("|u1", "(3, 3)", &[0, 1, 0, 1, 0, 0, 0, 0, 1]);
    let arrays = [("x", npy("|u1", "(3, 1)", &[1, 2, 3])), ("y", y)];
    let data = load_npz(&arrays, &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["1", "0", "2"]);
    assert!(has_note(&data.notes, "single 1"), "{:?}", data.notes);
    let request = Request::default().with_data(|data| data.labels = data::LabelKind::Value);
    assert!(matches!(load_npz(&arrays, &request).unwrap().train.y, Labels::Value { width: 3, .. }));
}

#[test]
fn npz_classes_name_indices_and_recordings_keep_their_identity() {
    let arrays = [
        ("x", npy("|u1", "(3, 2)", &[1, 2, 3, 4, 5, 6])),
        ("y", npy("|u1", "(3,)", &[1, 0, 1])),
        ("classes", npy("|S2", "(2,)", b"noup")),
        ("recording", npy("<f8", "(3,)", &[-1.0f64, -2.0, -1.0].map(f64::to_le_bytes).concat())),
    ];
    let data = load_npz(&arrays, &Request::default()).unwrap();
    assert_eq!(classes(&data.train), ["up", "no", "up"]);
    assert_eq!(data.train.recording, Some(vec![0, 1, 0]));
    let data = load_npz(&arrays, &Request::default().with_data(|data| data.window = Some(1))).unwrap();
    assert_eq!((data.train.len(), data.train.recording), (6, Some(vec![0, 0, 1, 1, 0, 0])));
    let spelt = [arrays[0].clone(), arrays[1].clone(), ("classes", npy("|S3", "(2,)", b"1.00.0"))];
    assert_eq!(classes(&load_npz(&spelt, &Request::default()).unwrap().train), ["1.0", "0.0", "1.0"]);
}

#[test]
fn wrong_values_in_unequal_sequences_and_test_targets_name_their_place() {
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let arrays = [
        ("x", npy("<f4", "(3, 2)", &floats(&[0.0, 0.0, 1.0, 1.0, 2.0, f32::NAN]))),
        ("lengths", npy("|u1", "(2,)", &[1, 2])),
    ];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("sequence 1, step 1, feature 1"), "{error}");
    let arrays = [
        ("x_train", npy("|u1", "(2, 1)", &[1, 2])),
        ("y_train", npy("<f4", "(2,)", &floats(&[0.5, 1.5]))),
        ("x_test", npy("|u1", "(1, 1)", &[1])),
        ("y_test", npy("<f4", "(1,)", &floats(&[f32::NAN]))),
    ];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("label 0") && error.contains("NaN"), "{error}");
}

// ---- writing

fn steps_of_one() -> Dataset {
    let mut data = csv("id,a,label\n0,1,a b\n0,2,a b\n1,3,c\n1,4,c\n").unwrap();
    let mut x = Sequences::new(1);
    [[1.0], [2.0]].iter().for_each(|step| x.push(step));
    data.train.x = x;
    data.train.ids = None;
    data
}

#[test]
fn sequences_of_one_step_come_back_from_csv_as_the_note_says() {
    let (dir, data) = (tempfile::tempdir().unwrap(), steps_of_one());
    let path = dir.path().join("s.csv");
    assert!(has_note(&data::losses(&data, &path).unwrap(), "`id-col = id`"));
    data::write(&data, &path).unwrap();
    let again = data::load(&at(&path).with_data(|data| data.id_col = Some("id".into()))).unwrap();
    assert_eq!((&again.train.x, &again.train.y), (&data.train.x, &data.train.y));
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let mut data = steps_of_one();
    data.train.group = Some(vec![0, 1]);
    data.train.recording = Some(vec![0, 1]);
    let lost = data::losses(&data, Path::new("s.ts")).unwrap();
    for part in ["groups", "names of features", "'a b' is 'a_b'", "recording"] {
        assert!(has_note(&lost, part), "{part}: {lost:?}");
    }
    assert!(data::losses(&data, Path::new("s.npz")).unwrap().is_empty());
}

#[test]
fn the_files_that_will_be_written_are_known_before_in_any_case_of_the_ending() {
    let (dir, mut data) = (tempfile::tempdir().unwrap(), steps_of_one());
    data.test = Some(data.train.clone());
    let path = dir.path().join("E.CSV");
    let expected = data::outputs(&data, &path).unwrap();
    assert_eq!(data::write(&data, &path).unwrap(), expected);
    assert!(expected.iter().all(|path| path.is_file()));
}

#[test]
fn a_failed_test_part_leaves_the_old_pair_alone() {
    let (dir, mut data) = (tempfile::tempdir().unwrap(), steps_of_one());
    let mut test = data.train.clone();
    test.y = Labels::Value { width: 2, values: vec![0.0; 4] };
    data.test = Some(test);
    write(dir.path(), "s_TRAIN.csv", "old");
    assert!(data::write(&data, &dir.path().join("s.csv")).is_err());
    assert_eq!(fs::read_to_string(dir.path().join("s_TRAIN.csv")).unwrap(), "old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
