//! Manifests: tables that list the files of a folder with their labels.

use fastgrnn_data::data::{self, Dataset, Request};

use crate::sound::{Wav, sine};
use crate::support::{at, classes, has_note, write};

/// A folder with three tables in `rec` and this manifest.
fn listed(manifest: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["rec/a.csv", "rec/b.csv", "rec/c.csv"] {
        write(dir.path(), name, "x,y\n1,2\n3,4\n");
    }
    write(dir.path(), "labels.csv", manifest);
    dir
}

fn named(dir: &tempfile::TempDir) -> Request {
    at(dir.path()).with_data(|data| data.manifest = Some("labels.csv".into()))
}

fn read(manifest: &str) -> Dataset {
    let dir = listed(manifest);
    data::load(&named(&dir)).unwrap()
}

fn problem(manifest: &str) -> String {
    let dir = listed(manifest);
    data::load(&named(&dir)).expect_err("it cannot be read").to_string()
}

#[test]
fn a_manifest_gives_labels_groups_and_parts() {
    let data = read("file,label,subject\nrec/a.csv,up,S1\nrec/b.csv,down,S2\nrec/c.csv,up,S1\n");
    assert_eq!(classes(&data.train), ["up", "down", "up"]);
    assert_eq!(data.train.group.as_deref(), Some(&[0, 1, 0][..]));
    assert_eq!(data.train.x.dim(), 2);
    assert!(has_note(&data.notes, "column 'subject' their group"), "{:?}", data.notes);
    let data = read("Path;Class;Split\nrec/a.csv;up;train\nrec/b.csv;down;Training\nrec/c.csv;up;test\n");
    assert_eq!((data.train.len(), data.test.unwrap().len()), (2, 1));
    // Without folders, without endings, and as Windows writes paths.
    assert_eq!(
        classes(&read("filename,activity\nb,up\na.csv,down\nrec\\c.csv,up\n").train),
        ["down", "up", "up"]
    );
    // The only other column is the label.
    assert_eq!(classes(&read("recording,what\na,up\nb,down\nc,up\n").train), ["up", "down", "up"]);
}

#[test]
fn keys_name_the_columns_of_a_manifest() {
    let dir = listed("wav,emotion,who,when\na,glad,S1,1\nb,sad,S2,2\nc,glad,S2,3\n");
    let request = named(&dir).with_data(|data| {
        data.id_col = Some("wav".into());
        data.label_col = Some("emotion".into());
        data.group_col = Some("2".into());
    });
    let data = data::load(&request).unwrap();
    assert_eq!(classes(&data.train), ["glad", "sad", "glad"]);
    assert_eq!(data.train.group.as_deref(), Some(&[0, 1, 1][..]));
    let wrong = request.with_data(|data| data.label_col = Some("mood".into()));
    let error = data::load(&wrong).unwrap_err().to_string();
    assert!(error.contains("labels.csv: there is no column 'mood'"), "{error}");
}

#[test]
fn numbers_in_a_manifest_are_values() {
    let data = read("file,label\na,1.5\nb,2.5\nc,3.25\n");
    let fastgrnn_data::data::Labels::Value { values, .. } = &data.train.y else {
        panic!("{:?}", data.train.y)
    };
    assert_eq!(values[..], [1.5, 2.5, 3.25]);
}

#[test]
fn a_manifest_may_lie_elsewhere_or_be_named_by_its_whole_path() {
    let dir = listed("file,label\nrec/a.csv,up\nrec/b.csv,down\nrec/c.csv,up\n");
    let whole = at(dir.path()).with_data(|data| data.manifest = Some(dir.path().join("labels.csv")));
    assert_eq!(data::load(&whole).unwrap().train.len(), 3);
    let other = tempfile::tempdir().unwrap();
    write(other.path(), "list.tsv", "file\tlabel\na\tup\nb\tdown\n");
    std::fs::remove_file(dir.path().join("labels.csv")).unwrap();
    let elsewhere = at(dir.path()).with_data(|data| data.manifest = Some(other.path().join("list.tsv")));
    let data = data::load(&elsewhere).unwrap();
    assert_eq!(data.train.len(), 2);
    assert!(has_note(&data.notes, "list.tsv does not list them: rec/c.csv"), "{:?}", data.notes);
    let error = data::load(&named(&dir)).unwrap_err().to_string();
    assert!(error.contains("`manifest`") && error.contains("no file 'labels.csv'"), "{error}");
}

#[test]
fn files_that_are_not_listed_are_named_and_counted() {
    let dir = listed("file,label\nrec/a.csv,up\nrec/b.csv,down\n");
    (0..40).for_each(|i| write(dir.path(), &format!("more/{i}.csv"), "x,y\n1,2\n"));
    let data = data::load(&named(&dir)).unwrap();
    assert_eq!(data.train.len(), 2);
    assert!(has_note(&data.notes, "labels.csv does not list them: more/0.csv"), "{:?}", data.notes);
    assert!(has_note(&data.notes, "(41 in all)"), "{:?}", data.notes);
}

#[test]
fn wrong_lines_of_a_manifest_are_named() {
    for (manifest, parts) in [
        ("file,label\nrec/a.csv,up\nrec/d.csv,down\n", &["labels.csv: line 3", "no file 'rec/d.csv'"][..]),
        ("file,label\nrec/a.csv,up\na,down\n", &["line 3", "'a' was listed in line 2 already"]),
        ("file,label\nrec/a.csv,up\nrec/b.csv,\n", &["line 3", "label (column 'label') is empty"]),
        ("file,label\n,up\n", &["line 2", "file (column 'file') is empty"]),
        ("file,label\n../a.csv,up\n", &["line 2", "'../a.csv' leads out of"]),
        ("file,label\n/tmp/a.csv,up\n", &["line 2", "'/tmp/a.csv' leads out of"]),
        ("file,label,split\nrec/a.csv,up,fold1\n", &["line 2", "'fold1' is no part", "train, val or test"]),
        ("file,label,group\nrec/a.csv,up,\n", &["line 2", "group (column 'group') is empty"]),
        ("file,label\nrec/a.csv,up,1\n", &["line 2", "expected 2 columns, found 3"]),
        ("file,label\nlabels.csv,up\n", &["line 2", "no file 'labels.csv'"]),
        ("file,label\n", &["labels.csv", "file,label"]),
        ("name,label\nrec/a.csv,up\n", &["no column of this manifest", "`id-col`"]),
        ("file,a,b\nrec/a.csv,up,1\n", &["`label-col`", "file, a, b"]),
    ] {
        let problem = problem(manifest);
        assert!(parts.iter().all(|part| problem.contains(part)), "{manifest}: {problem}");
    }
    let dir = listed("file,label\na.csv,up\nrec/b.csv,down\n");
    write(dir.path(), "more/a.csv", "x,y\n1,2\n");
    let error = data::load(&named(&dir)).unwrap_err().to_string();
    assert!(error.contains("may mean several files") && error.contains("more/a.csv, rec/a.csv"), "{error}");
    let error = data::load(&Request::new("digits").with_data(|data| data.manifest = Some("a.csv".into())));
    assert!(error.unwrap_err().to_string().contains("`manifest`"));
    let request = Request::default().with_data(|data| data.manifest = Some("m.csv".into()));
    let error = data::load_bytes("a.csv", b"x0,x1,label\n1,2,a\n3,4,b\n", &request).unwrap_err().to_string();
    assert!(error.contains("`manifest`") && error.contains("a folder of files"), "{error}");
}

#[test]
fn a_manifest_that_nobody_named_is_recognised() {
    let dir = listed("file,label\nrec/a.csv,up\nrec/b.csv,down\n");
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("`manifest = labels.csv` takes the labels"), "{error}");
    // It is no recording to predict on, and none where names give the labels.
    let input = data::load_unlabelled(dir.path(), &Request::default()).unwrap();
    assert_eq!(input.ids, ["rec/a.csv", "rec/b.csv", "rec/c.csv"]);
    assert!(has_note(&input.notes, "not read: labels.csv"), "{:?}", input.notes);
    let by_name = at(dir.path()).with_data(|data| data.label_from = Some(r"/(\w)\.".into()));
    assert_eq!(data::load(&by_name).unwrap().train.len(), 3);
    // A table of that name that lists nothing is data.
    let dir = tempfile::tempdir().unwrap();
    for name in ["labels.csv", "more.csv"] {
        write(dir.path(), name, "file,x,label\n1,2,up\n3,4,up\n");
    }
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(!error.contains("manifest"), "{error}");
}

#[test]
fn a_model_reads_data_with_or_without_its_manifest() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["up/a.csv", "down/b.csv"] {
        write(dir.path(), name, "x,y\n1,2\n3,4\n");
    }
    let mut request = named(&dir);
    request.inherited.manifest = true;
    assert_eq!(classes(&data::load(&request).unwrap().train), ["down", "up"]);
}

/// A folder of twelve recordings, `rec/0.wav` to `rec/11.wav`.
fn sounds() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for k in 0..12 {
        let samples = sine(16_000, 300.0 + 100.0 * f64::from(k), 8_000.0, 16_000);
        write(dir.path(), &format!("rec/{k}.wav"), Wav::pcm16(16_000, 1, &samples).bytes());
    }
    dir
}

#[test]
fn a_manifest_lists_recordings_of_sound() {
    let dir = sounds();
    let row = |k: usize| {
        let (word, part) = (["no", "yes"][k % 2], ["train", "train", "val", "test"][k / 3]);
        format!("{k}.wav,{word},S{},{part}\n", k % 3)
    };
    let rows: String = (0..11).map(row).collect();
    write(dir.path(), "metadata.csv", format!("filename,word,speaker,split\n{rows}"));
    let request = at(dir.path()).with_data(|data| data.manifest = Some("metadata.csv".into()));
    let data = data::load(&request).unwrap();
    let ids = data.train.ids.as_ref().unwrap();
    for (id, class) in ids.iter().zip(classes(&data.train)) {
        let k: usize = id.trim_start_matches("rec/").trim_end_matches(".wav").parse().unwrap();
        assert_eq!(class, ["no", "yes"][k % 2], "{id}");
    }
    assert_eq!((ids.len(), data.validation.unwrap().len(), data.test.unwrap().len()), (9, 3, 2));
    let mut groups = data.train.group.unwrap();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), 3);
    assert!(has_note(&data.notes, "metadata.csv does not list them: rec/11.wav"), "{:?}", data.notes);
    assert!(!has_note(&data.notes, "not read: metadata.csv"), "{:?}", data.notes);
    // Without the key, the error names it.
    let error = data::load(&at(dir.path())).unwrap_err().to_string();
    assert!(error.contains("`manifest = metadata.csv`"), "{error}");
    // Classes of recordings are folders in lists, so they have no slash.
    write(dir.path(), "metadata.csv", "filename,word\n0,on/off\n1,no\n");
    let error = data::load(&request).unwrap_err().to_string();
    assert!(error.contains("'on/off'") && error.contains("0.wav"), "{error}");
    write(dir.path(), "rec/t.csv", "x\n1\n");
    write(dir.path(), "metadata.csv", "filename,word\n0,on\nt,no\n");
    let error = data::load(&request).unwrap_err().to_string();
    assert!(error.contains("'rec/0.wav' is listed and is no CSV file"), "{error}");
}

#[test]
fn class_folders_of_sound_beside_a_manifest_are_read_and_the_manifest_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (w, word) in ["no", "yes"].iter().enumerate() {
        for k in 0..4 {
            let samples = sine(16_000, 300.0 + 100.0 * (4 * w + k) as f64, 8_000.0, 16_000);
            write(dir.path(), &format!("{word}/{k}.wav"), Wav::pcm16(16_000, 1, &samples).bytes());
        }
    }
    write(dir.path(), "metadata.csv", "filename,label\nyes/0.wav,a\n");
    let data = data::load(&at(dir.path())).unwrap();
    assert!(has_note(&data.notes, "not read: metadata.csv"), "{:?}", data.notes);
}
