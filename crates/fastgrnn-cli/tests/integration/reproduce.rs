//! `reproduce`: its tables, and that no training is lost or done twice.

use crate::command::{command, fails, has_keys, json, run, text};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Short trainings of every method on one data set.
const REPRODUCE: &str = "reproduce main --dataset DSA-19 --quick --threads 1 --data-dir data --quiet --out";

fn words<'a>(args: &'a str, folder: &'a str) -> Vec<&'a str> {
    args.split(' ').chain([folder]).collect()
}

/// A data folder with a small set in the form of DSA-19: a sine for each activity.
fn write_data(folder: &Path) {
    for activity in 1..=19 {
        for person in [1, 2, 5] {
            let value = |step: i32, column: i32| {
                let phase = f64::from(activity * step + 3 * column + person);
                format!("{:.4}", (0.05 * phase).sin() + 0.1 * f64::from(activity * column % 7))
            };
            let row = |step| (0..45).map(|column| value(step, column)).collect::<Vec<_>>().join(",");
            let rows: Vec<String> = (0..125).map(row).collect();
            let place = folder.join(format!("data/dsa/data/a{activity:02}/p{person}"));
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("s01.txt"), rows.join("\n")).unwrap();
        }
    }
}

/// The lines of a store without what depends on the machine.
fn records(folder: &Path) -> Vec<Value> {
    let store = std::fs::read_to_string(folder.join("jobs.jsonl")).unwrap_or_default();
    let record = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["seconds"] = Value::Null;
        record
    };
    store.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(record).collect()
}

#[test]
fn a_reproduction_that_was_killed_goes_on_without_losing_or_repeating_a_training() {
    let folder = tempfile::tempdir().unwrap();
    write_data(folder.path());
    let answer = json(folder.path(), &words(REPRODUCE, "whole"));
    has_keys(&answer, &["run", "cells", "trained", "report", "markdown"]);
    let cells = answer["cells"].as_array().unwrap();
    assert!(cells.len() >= 11 && answer["trained"].as_u64() == Some(cells.len() as u64), "{answer}");
    for cell in cells {
        has_keys(
            cell,
            &["table", "method", "dataset", "ran", "seconds", "seed", "metric", "value", "paper", "quick"],
        );
        assert_eq!((&cell["table"], &cell["dataset"]), (&"main".into(), &"DSA-19".into()));
        assert!(cell["ran"] == true && cell["quick"] == true && cell["stored"] == false, "{cell}");
        let value = cell["value"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&value), "accuracies are fractions: {cell}");
    }
    let rnn = cells.iter().find(|cell| cell["method"] == "RNN").unwrap();
    assert!((rnn["paper"].as_f64().unwrap() - 0.7168).abs() < 1e-9, "{rnn}");
    let whole = records(&folder.path().join("whole"));
    assert_eq!(whole.len(), cells.len());

    let cut = folder.path().join("cut");
    let mut kills = 0;
    for wait in [40, 250, 120, 350, 180, 90, 300, 150] {
        let before = records(&cut);
        let mut child = command(folder.path(), &words(REPRODUCE, "cut"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        kills += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        // What was finished stays as it is, and is not trained again.
        assert_eq!(records(&cut)[..before.len()], before[..]);
    }
    assert!(kills >= 3, "only {kills} reproductions were killed before they ended");
    json(folder.path(), &words(REPRODUCE, "cut"));
    assert_eq!(records(&cut), whole);
    assert!(!cut.join("runs").exists(), "the folders of finished trainings are removed");

    // Once more, nothing is left to do, and the tables are the same.
    let again = json(folder.path(), &words(REPRODUCE, "cut"));
    assert_eq!(again["trained"], 0);
    assert!(again["cells"].as_array().unwrap().iter().all(|cell| cell["stored"] == true));
    assert_eq!(records(&cut), whole);

    // Another folder takes over what is stored.
    let joined = json(folder.path(), &words(&format!("{REPRODUCE} joined --join"), "cut/jobs.jsonl"));
    assert_eq!(joined["trained"], 0);
    let page = |run: &str| std::fs::read_to_string(folder.path().join(run).join("results.md")).unwrap();
    assert!(page("joined") == page("cut"));
    for part in ["FastGRNN-LSQ", "71.68 %", "quick", "Spearman", "reproduce main --dataset DSA-19 --quick"] {
        assert!(page("cut").contains(part), "{part} is not in {}", page("cut"));
    }

    // Seeds that diverged are told, and do not count as values.
    let store = folder.path().join("diverged.jsonl");
    let lines = std::fs::read_to_string(cut.join("jobs.jsonl")).unwrap();
    let diverge = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["title"].as_str().unwrap().starts_with("GRU") {
            record["test"] = Value::Null;
            record["failed"] = "training diverged: the loss is NaN".into();
        }
        record.to_string() + "\n"
    };
    std::fs::write(&store, lines.lines().map(diverge).collect::<String>()).unwrap();
    let args = format!("{REPRODUCE} with-failure --stored --join");
    let failed = json(folder.path(), &words(&args, "diverged.jsonl"));
    let gru = failed["cells"].as_array().unwrap().iter().find(|cell| cell["method"] == "GRU").unwrap();
    assert!(gru["value"].is_null() && gru["why"].as_str().unwrap().contains("diverged"), "{gru}");
    assert!(page("with-failure").contains("0 of 1; 1 diverged"), "{}", page("with-failure"));

    // Another data set under the same name is trained anew.
    let one = folder.path().join("data/dsa/data/a01/p1/s01.txt");
    std::fs::write(&one, std::fs::read_to_string(&one).unwrap().replacen("0.", "1.", 1)).unwrap();
    let anew = json(folder.path(), &words(&format!("{REPRODUCE} cut --dataset"), "DSA-19"));
    assert_eq!(anew["trained"].as_u64(), Some(cells.len() as u64));
}

#[test]
fn tables_without_their_data_say_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["reproduce", "main", "--quick", "--out", "q"];
    fails(folder.path(), &args, 1, &["har2", "FASTGRNN_DATA", "none of the tables has a value"]);
    let known = "reproduce main --dataset HAR-3";
    fails(folder.path(), &words(known, "--quick"), 2, &["HAR-3", "HAR-2, Google-12"]);
    fails(folder.path(), &words("reproduce table-9", "--quick"), 2, &["table-9", "alpha-beta"]);
    fails(folder.path(), &words("reproduce --quick --seeds", "3"), 2, &["--quick trains one seed"]);
    std::fs::write(folder.path().join("jobs.jsonl"), "{}\n").unwrap();
    for nothing in ["main --row NOSUCH", "ptb --dataset HAR-2"] {
        let args = format!("reproduce {nothing} --stored --out");
        fails(folder.path(), &words(&args, "."), 2, &["no such row"]);
    }
    let stored = ["reproduce", "--stored", "--out", "missing"];
    fails(folder.path(), &stored, 2, &["missing", "holds no store"]);
    assert!(!folder.path().join("missing").exists());
    let join = ["reproduce", "vector", "--stored", "--out", "r", "--join", "."];
    fails(folder.path(), &join, 1, &["is a folder", "jobs.jsonl"]);
    let damaged = ["reproduce", "vector", "--stored", "--out", "."];
    fails(folder.path(), &damaged, 1, &["jobs.jsonl, line 1"]);
    let join = ["reproduce", "vector", "--stored", "--out", "r", "--join", "none.jsonl"];
    fails(folder.path(), &join, 1, &["none.jsonl"]);
}

#[test]
fn what_is_not_trained_has_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("r")).unwrap();
    std::fs::write(folder.path().join("r/jobs.jsonl"), "").unwrap();
    let answer = json(folder.path(), &["reproduce", "--stored", "--out", "r"]);
    let cells = answer["cells"].as_array().unwrap();
    assert!(cells.len() > 300, "{}", cells.len());
    for cell in cells {
        assert!(cell["ran"] == false && cell["value"].is_null() && cell["seed"].is_null(), "{cell}");
        assert!(cell["why"].as_str().is_some_and(|why| !why.is_empty()), "{cell}");
    }
    let out = text(folder.path(), &["reproduce", "boards", "--stored", "--out", "r"]);
    assert!(out.contains("Time on boards") && out.contains("not measured yet"), "{out}");
    let rows = "reproduce main --dataset HAR-2 --row gru rnn --stored --out r";
    let rows = json(folder.path(), &rows.split(' ').collect::<Vec<_>>());
    let methods: Vec<&str> =
        rows["cells"].as_array().unwrap().iter().map(|cell| cell["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["RNN", "RNN", "GRU", "GRU"]);
    let help = run(folder.path(), &["reproduce", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("equal-bytes"));
}

#[test]
fn the_pages_of_results_are_made_from_the_stored_jobs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let store = root.join("results/jobs.jsonl").display().to_string();
    text(folder.path(), &["reproduce", "--stored", "--quiet", "--out", "r", "--join", &store]);
    for name in ["results.md", "results.html"] {
        let (made, page) = (folder.path().join("r").join(name), root.join("docs").join(name));
        if std::env::var_os("FASTGRNN_UPDATE").is_some() {
            std::fs::copy(&made, &page).unwrap();
        }
        let [made, page] = [made, page].map(|path| std::fs::read_to_string(path).unwrap_or_default());
        assert!(
            made == page,
            "docs/{name} is not what results/jobs.jsonl says; FASTGRNN_UPDATE=1 writes it anew"
        );
    }
}
