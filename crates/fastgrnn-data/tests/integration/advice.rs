//! What people are told about files that do not fit, and that cannot be read.

use fastgrnn_data::data::{self, Request};

use crate::support::{at, csv, floats, has_note, load_npz, npy, words, write};

#[test]
fn a_folders_features_are_those_that_all_files_share() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a/0first.csv", "t,acc_x\n0,1\n1,2\n");
    write(dir.path(), "a/1.csv", "t,acc_y,acc_x\n0,1,7\n1,2,8\n");
    write(dir.path(), "b/2.csv", "t,acc_x,acc_y,device\n0,1,2,phone\n1,3,4,phone\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(data.features.as_deref().unwrap(), ["acc_x"]);
    assert_eq!(data.train.x.get(1), [7.0, 8.0]);
    assert!(has_note(&data.notes, "'acc_y' (not in 1), 'device' (not in 2)"), "{:?}", data.notes);
    // Columns that are asked for are not negotiable.
    let asked = at(dir.path()).with_data(|d| d.columns = Some(vec!["acc_x".into(), "acc_y".into()]));
    assert!(data::load(&asked).unwrap_err().to_string().contains("no column 'acc_y'"));
    write(dir.path(), "b/3.csv", "t,gyro\n0,1\n1,2\n");
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("no feature column that all of them share"), "{error}");
}

#[test]
fn files_with_the_same_features_leave_no_note_about_them() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a/1.csv", "x,y\n1,2\n");
    write(dir.path(), "b/2.csv", "y,x\n3,4\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert_eq!(data.train.x.get(1), [4.0, 3.0]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

#[test]
fn a_format_that_is_not_read_comes_with_the_line_that_converts_it() {
    for (name, line) in [
        ("a.xlsx", "pandas.read_excel('a.xlsx').to_csv('a.csv', index=False)"),
        ("a.parquet", "pandas.read_parquet('a.parquet')"),
        ("a.feather", "read_feather"),
        ("a.h5", "read_hdf"),
        ("a.hdf5", "read_hdf"),
        ("a.mat", "scipy.io.loadmat('a.mat')"),
        ("a.json", "read_json('a.json').to_csv"),
        ("a.jsonl", "lines=True"),
        ("a.pkl", "read_pickle"),
        ("a.arff", "loadarff('a.arff')"),
        ("walk.3f2a.json", "['payload']"),
        ("walk.3f2a.cbor", "cbor2"),
    ] {
        let error = data::load_bytes(name, b"?", &Request::default()).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains(line), "{error}");
        assert!(error.contains("are not read; convert it with Python: import"), "{error}");
    }
    let error = data::load_bytes("a.xyz", b"?", &Request::default()).unwrap_err().to_string();
    assert!(error.contains("tells no format") && !error.contains("in it"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.xyz", "?");
    assert!(data::load(&at(dir.path())).unwrap_err().to_string().contains("no data file in it"));
}

#[test]
fn objects_in_arrays_come_with_advice() {
    let arrays = [("x", floats("(2, 1)", &[0.0; 2])), ("y", npy("|O", "(2,)", b"??"))];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("a.npz: y") && error.contains("y.astype(str)"), "{error}");
}

#[test]
fn all_columns_of_text_are_named_at_once() {
    let error =
        csv("id,x,device,on,label\n1,2,phone,True,a\n1,3,phone,False,a\n2,4,watch,True,b\n").unwrap_err();
    assert!(error.to_string().contains("the columns 'device', 'on' hold text"), "{error}");
}

#[test]
fn a_zip_that_declares_too_much_is_refused_before_it_is_unpacked() {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("a.csv", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&vec![b'0'; 100_000]).unwrap();
    let mut bytes = writer.finish().unwrap().into_inner();
    // Unpacking would fail, but is not begun.
    bytes[60..64].copy_from_slice(b"????");
    let load = |limit| {
        let request = Request::default().with_data(|d| d.size_limit = limit);
        data::load_bytes("a.zip", &bytes, &request).unwrap_err().to_string()
    };
    assert!(load(99_999).contains("more than 99999 bytes"), "{}", load(99_999));
    assert!(load(100_000).contains("unpacking"), "{}", load(100_000));
}

#[test]
fn arrays_of_other_names_come_with_the_line_that_renames_them() {
    let arrays = [
        ("data", floats("(2, 3, 1)", &[0.0; 6])),
        ("labels", words(1, &["a", "b"])),
        ("rate", floats("(1,)", &[50.0])),
    ];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("found: data, labels, rate"), "{error}");
    assert!(error.contains(r#"x=a["data"], y=a["labels"]"#), "{error}");
}

#[test]
fn features_that_do_not_fit_come_with_advice_that_the_format_understands() {
    let arrays = [
        ("x_train", floats("(2, 1, 2)", &[0.0, 1.0, 2.0, 3.0])),
        ("y_train", words(1, &["a", "b"])),
        ("x_test", floats("(1, 1, 1)", &[0.0])),
        ("y_test", words(1, &["a"])),
    ];
    let error = load_npz(&arrays, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("1 feature a step, but 2") && !error.contains("`drop`"), "{error}");
}
