//! What a callback is told while data is read.

use std::sync::{Arc, Mutex};

use fastgrnn_data::data::{self, ReadProgress, ReadUnit, Request, Watch};

use crate::support::{at, write};

/// What a callback is told while `request` is read.
fn told(request: Request) -> Vec<ReadProgress> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&told);
    let watch = Watch::new(move |progress| own.lock().unwrap().push(*progress));
    data::load(&Request { watch: Some(watch), ..request }).unwrap();
    let told = told.lock().unwrap().clone();
    for pair in told.windows(2) {
        assert!(pair[0].unit != pair[1].unit || pair[0].done <= pair[1].done, "{told:?}");
    }
    assert!(told.iter().all(|progress| progress.done <= progress.all), "{told:?}");
    told
}

/// The last that was told about each unit, and how often it was.
fn last(told: &[ReadProgress], unit: ReadUnit) -> (usize, Option<ReadProgress>) {
    let mut of_unit = told.iter().filter(|progress| progress.unit == unit);
    (of_unit.clone().count(), of_unit.next_back().copied())
}

#[test]
fn bytes_of_a_large_table_are_counted_as_they_are_read_and_parsed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "x,y,label\n".to_string() + &"0.123456,0.654321,up\n0.5,0.25,down\n".repeat(400_000);
    write(dir.path(), "a.csv", &text);
    let told = told(at(&dir.path().join("a.csv")));
    let all = text.len() as u64;
    for unit in [ReadUnit::BytesRead, ReadUnit::BytesParsed] {
        let (count, last) = last(&told, unit);
        assert_eq!(last, Some(ReadProgress { unit, done: all, all }));
        assert!((2..20).contains(&count), "{count} calls for {all} bytes");
    }
}

#[test]
fn files_of_a_folder_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..5 {
        write(dir.path(), &format!("up/{i}.csv"), format!("x,y\n1,2\n3,{i}\n"));
        write(dir.path(), &format!("down/{i}.csv"), format!("x,y\n1,{i}\n3,4\n"));
    }
    let told = told(at(dir.path()));
    let all = ReadProgress { unit: ReadUnit::Files, done: 10, all: 10 };
    assert_eq!(last(&told, ReadUnit::Files), (10, Some(all)));
    assert_eq!(last(&told, ReadUnit::BytesParsed), (0, None));
}
