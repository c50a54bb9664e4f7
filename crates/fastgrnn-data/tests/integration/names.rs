//! What names of files, folders and columns tell.

use fastgrnn_data::data::{self, Expect, Request};

use crate::support::{at, classes, csv, has_note, write};

#[test]
fn labels_and_groups_come_from_the_names_of_files() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["walk.S01.csv", "walk.S02.csv", "run.S01.csv", "more/run.S02.csv"] {
        write(dir.path(), name, "x,y\n1,2\n3,4\n");
    }
    let request = at(dir.path()).with_data(|d| {
        d.label_from = Some(r"(\w+)\.S".into());
        d.group_from = Some(r"(?P<group>S\d+)\.".into());
    });
    let data = data::load(&request).unwrap();
    let ids = data.train.ids.as_ref().unwrap();
    for ((id, class), group) in ids.iter().zip(classes(&data.train)).zip(data.train.group.as_ref().unwrap()) {
        assert!(id.contains(class), "{id} {class}");
        let same = ids.iter().position(|other| other.contains("S01") == id.contains("S01")).unwrap();
        assert_eq!(data.train.group.as_ref().unwrap()[same], *group);
    }
    let request = at(dir.path()).with_data(|d| d.label_from = Some(r"(\d+)x".into()));
    let error = data::load(&request).unwrap_err().to_string();
    assert!(error.contains("`label-from`") && error.contains("finds nothing in"), "{error}");
}

#[test]
fn a_pattern_for_a_single_file_is_refused() {
    let request = Request::default().with_data(|d| d.group_from = Some("(a)".into()));
    let error = data::load_bytes("a.csv", b"x0,x1,label\n1,2,a\n3,4,b\n", &request).unwrap_err().to_string();
    assert!(error.contains("`group-from`") && error.contains("a folder of files"), "{error}");
}

#[test]
fn folders_of_subjects_and_classes_are_told_apart_in_either_order() {
    for order in [["S01", "S02", "running", "walking"], ["running", "walking", "S01", "S02"]] {
        let dir = tempfile::tempdir().unwrap();
        for outer in &order[..2] {
            for inner in &order[2..] {
                write(dir.path(), &format!("{outer}/{inner}/008.csv"), "x,y\n1,2\n3,4\n");
            }
        }
        let data = data::load(&at(dir.path())).unwrap();
        for (id, class) in data.train.ids.as_ref().unwrap().iter().zip(classes(&data.train)) {
            assert!(id.contains(class) && !class.contains('S'), "{id} {class}");
        }
        let mut groups = data.train.group.clone().unwrap();
        groups.sort_unstable();
        assert_eq!(groups, [0, 0, 1, 1]);
        assert!(has_note(&data.notes, "were taken as classes"), "{:?}", data.notes);
    }
    // Where no level counts, nobody can tell.
    let dir = tempfile::tempdir().unwrap();
    for name in ["anna/run/a.csv", "anna/walk/a.csv", "bert/run/a.csv", "bert/walk/a.csv"] {
        write(dir.path(), name, "x,y\n1,2\n3,4\n");
    }
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("`label-from`") && !error.contains("depths"), "{error}");
    let request = at(dir.path()).with_data(|d| d.label_from = Some("/([^/]+)/".into()));
    assert_eq!(classes(&data::load(&request).unwrap().train), ["run", "walk", "run", "walk"]);
}

#[test]
fn a_row_of_several_channels_is_read_as_channels_by_time() {
    let text = "x0,x1,x2,y0,y1,y2,label\n1,2,3,4,5,6,a\n7,8,9,10,11,12,b\n";
    let data = csv(text).unwrap();
    assert_eq!((data.train.x.dim(), data.train.x.get(0)), (2, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0][..]));
    assert_eq!(data.features.as_deref().unwrap(), ["x", "y"]);
    assert!(has_note(&data.notes, "3 steps of 2 channels (x, y)"), "{:?}", data.notes);
    // A model of these channels reads the same columns.
    let expect = Expect {
        dim: 2,
        steps: 3,
        features: Some(vec!["x".into(), "y".into()]),
        classes: vec!["a".into(), "b".into()],
        ..Expect::default()
    };
    let request = Request { expect: Some(expect), ..Request::default() };
    let again = data::load_bytes("a.csv", text.as_bytes(), &request).unwrap();
    assert_eq!(again.train.x, data.train.x);
    let chosen = Request::default().with_data(|d| d.columns = Some(vec!["0-5".into()]));
    assert_eq!(data::load_bytes("a.csv", text.as_bytes(), &chosen).unwrap().train.x.dim(), 1);
}
