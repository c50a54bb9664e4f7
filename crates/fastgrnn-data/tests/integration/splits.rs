//! Splits for validation and for testing of one recording, of groups and of single sequences.

use std::collections::BTreeSet;

use fastgrnn_data::data::{self, Request, SplitBy, TestSplitBy};

use crate::support::{classes, csv, floats, has_note, load_npz, words, write};

/// One recording of 30 segments of 60 rows with two labels.
fn recording() -> String {
    let row = |i: usize| format!("{},{},{}\n", i as f32 * 0.01, i % 7, ["walk", "run"][i / 60 % 2]);
    "x,y,activity\n".to_string() + &(0..1800).map(row).collect::<String>()
}

fn windows(change: impl FnOnce(&mut data::DataConfig)) -> Request {
    Request::default().with_data(|d| {
        (d.window, d.stride) = (Some(10), Some(5));
        change(d);
    })
}

#[test]
fn one_recording_is_split_into_blocks_of_time() {
    let data = data::load_bytes("a.csv", recording().as_bytes(), &windows(|_| ())).unwrap();
    assert!(has_note(&data.notes, "blocks of time"), "{:?}", data.notes);
    for by in [SplitBy::Group, SplitBy::Stratified] {
        let (train, validation) = data.split(by, 0.2, 3).unwrap();
        let span = |i: &u32| data.train.span.as_ref().unwrap()[*i as usize];
        for t in &train {
            for v in &validation {
                assert!(span(t)[0].abs_diff(span(v)[0]) >= 20, "{:?} {:?}", span(t), span(v));
            }
        }
        for part in [&train, &validation] {
            let names: BTreeSet<&str> = part.iter().map(|&i| classes(&data.train)[i as usize]).collect();
            assert_eq!(names.len(), 2);
        }
        assert!(validation.len() > 40 && train.len() > 180, "{} {}", validation.len(), train.len());
    }
}

#[test]
fn a_test_part_of_one_recording_is_blocks_of_time() {
    let request = windows(|d| d.test_split = Some(0.2));
    let data = data::load_bytes("a.csv", recording().as_bytes(), &request).unwrap();
    let again = data::load_bytes("a.csv", recording().as_bytes(), &request).unwrap();
    let test = data.test.as_ref().unwrap();
    assert_eq!((&data.train, test), (&again.train, again.test.as_ref().unwrap()));
    assert!(has_note(&data.notes, "split off by time"), "{:?}", data.notes);
    let ids: BTreeSet<&String> = test.ids.as_ref().unwrap().iter().collect();
    assert!(data.train.ids.as_ref().unwrap().iter().all(|id| !ids.contains(id)));
    // What is left can be split again for validation.
    assert!(!data.split(SplitBy::Group, 0.2, 0).unwrap().1.is_empty());
    let other = Request { split_seed: 1, ..request };
    let other = data::load_bytes("a.csv", recording().as_bytes(), &other).unwrap();
    assert_ne!(other.test.unwrap().ids, test.ids);
}

#[test]
fn a_test_part_keeps_groups_whole_or_the_proportions_of_classes() {
    let mut text = "subject,x0,x1,label\n".to_string();
    (0..80).for_each(|i| text += &format!("s{},{i},1,{}\n", i / 8, ["a", "b"][i % 2]));
    let with = |by| {
        let request = Request::default().with_data(|d| (d.test_split, d.test_split_by) = (Some(0.25), by));
        data::load_bytes("a.csv", text.as_bytes(), &request).unwrap()
    };
    for by in [None, Some(TestSplitBy::Group)] {
        let data = with(by);
        let groups = |of: &data::Examples| of.group.clone().unwrap().into_iter().collect::<BTreeSet<u32>>();
        assert!(groups(&data.train).is_disjoint(&groups(data.test.as_ref().unwrap())));
        assert!(has_note(&data.notes, "by group"), "{:?}", data.notes);
    }
    let data = with(Some(TestSplitBy::Stratified));
    let test = data.test.unwrap();
    assert_eq!((data.train.len(), test.len()), (60, 20));
    assert_eq!(classes(&test).iter().filter(|class| **class == "a").count(), 10);
    let data = with(Some(TestSplitBy::Time));
    assert!(data.test.unwrap().len() >= 15);
}

#[test]
fn a_test_part_leaves_the_validation_part_as_it_is() {
    let x = |n: usize| floats(&format!("({n}, 1)"), &(0..n).map(|i| i as f32).collect::<Vec<_>>());
    let y = |n: usize| words(1, &["a", "b"].repeat(n / 2));
    let arrays = [("x", x(20)), ("y", y(20)), ("x_val", x(4)), ("y_val", y(4))];
    let data = load_npz(&arrays, &Request::default().with_data(|d| d.test_split = Some(0.2))).unwrap();
    assert_eq!((data.train.len(), data.test.unwrap().len()), (20, 4));
    assert_eq!(data.validation, Some(vec![16, 17, 18, 19]));
    assert_eq!(data.train.x.get(16), [0.0]);
}

#[test]
fn a_test_part_that_cannot_be_split_off_says_why() {
    let split = |text: &str, by| {
        let request = Request::default().with_data(|d| (d.test_split, d.test_split_by) = (Some(0.2), by));
        data::load_bytes("a.csv", text.as_bytes(), &request).unwrap_err().to_string()
    };
    let error = split("x0,x1,label\n1,2,a\n3,4,b\n5,6,a\n", Some(TestSplitBy::Group));
    assert!(error.contains("cannot split off a test part: no groups"), "{error}");
    let arrays = [("x_train", floats("(2, 1)", &[0.0; 2])), ("y_train", words(1, &["a", "b"]))];
    let test = [("x_test", floats("(1, 1)", &[0.0])), ("y_test", words(1, &["a"]))];
    let arrays = [arrays, [test[0].clone(), test[1].clone()]].concat();
    let request = Request::default().with_data(|d| d.test_split = Some(0.2));
    let error = load_npz(&arrays, &request).unwrap_err().to_string();
    assert!(error.contains("`test-split`") && error.contains("test part of its own"), "{error}");
    let request = Request::default().with_data(|d| d.test_split_by = Some(TestSplitBy::Time));
    let error = data::load_bytes("a.csv", b"1\n", &request).unwrap_err().to_string();
    assert!(error.contains("needs `test-split`"), "{error}");
    assert!(csv("x0,x1,label\n1,2,a\n3,4,b\n").unwrap().test.is_none());
}

/// A folder with one long recording of each of three classes.
fn one_file_a_class(change: impl FnOnce(&mut data::DataConfig)) -> data::Dataset {
    let dir = tempfile::tempdir().unwrap();
    for (k, class) in ["idle", "run", "walk"].iter().enumerate() {
        let row = |i: usize| format!("{},{}\n", (i as f32 * 0.1).sin(), i % (k + 3));
        let rows: String = (0..600).map(row).collect();
        write(dir.path(), &format!("{class}/long.csv"), format!("x,y\n{rows}"));
    }
    let request = windows(change);
    data::load(&Request { source: dir.path().to_str().unwrap().into(), ..request }).unwrap()
}

#[test]
fn one_long_file_a_class_is_split_into_blocks_of_time() {
    let data = one_file_a_class(|_| ());
    assert!(has_note(&data.notes, "a class is in one recording only"), "{:?}", data.notes);
    for by in [SplitBy::Group, SplitBy::Stratified] {
        let (train, validation) = data.split(by, 0.2, 3).unwrap();
        let (span, recording) = (data.train.span.as_ref().unwrap(), data.train.recording.as_ref().unwrap());
        for &t in &train {
            for &v in validation.iter().filter(|&&v| recording[v as usize] == recording[t as usize]) {
                assert!(span[t as usize][0].abs_diff(span[v as usize][0]) >= 20, "{t} {v}");
            }
        }
        for part in [&train, &validation] {
            let names: BTreeSet<&str> = part.iter().map(|&i| classes(&data.train)[i as usize]).collect();
            assert_eq!(names.len(), 3);
        }
    }
    let data = one_file_a_class(|d| d.test_split = Some(0.2));
    assert!(has_note(&data.notes, "split off by time"), "{:?}", data.notes);
    let names: BTreeSet<&str> = classes(data.test.as_ref().unwrap()).into_iter().collect();
    assert_eq!(names.len(), 3);
    assert!(!data.split(SplitBy::Group, 0.2, 0).unwrap().1.is_empty());
}

#[test]
fn recordings_stay_whole_where_every_class_has_two_and_so_do_named_groups() {
    let rows = |group: &str, label: &str, from: usize| -> String {
        (from..from + 200).map(|i| format!("{group},{},{label}\n", (i * i % 17) as f32)).collect()
    };
    // A class of one recording, beside one of two.
    let text = |groups: [&str; 3]| {
        let [a, b, c] = groups;
        format!("subject,x,label\n{}{}{}", rows(a, "u", 0), rows(b, "v", 7), rows(c, "u", 3))
    };
    let data = data::load_bytes("a.csv", text(["S1", "S2", "S3"]).as_bytes(), &windows(|_| ())).unwrap();
    assert!(has_note(&data.notes, "a class is in one recording only"), "{:?}", data.notes);
    // Each person has several recordings, and nobody is divided.
    let text = text(["S1", "S2", "S1"]);
    let data = data::load_bytes("a.csv", text.as_bytes(), &windows(|_| ())).unwrap();
    assert!(!has_note(&data.notes, "a class is in one recording only"), "{:?}", data.notes);
    assert!(data.split(SplitBy::Group, 0.3, 0).unwrap_err().to_string().contains("lose a class"));
}
