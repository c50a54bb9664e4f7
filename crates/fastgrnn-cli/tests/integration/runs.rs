//! The list of runs, and the short help.

use crate::command::{command, copy_of_trained, fails, has_keys, json, text};
use serde_json::Value;

#[test]
fn runs_are_listed_with_their_state_and_what_differs() {
    let t = copy_of_trained();
    let path = t.path();
    json(path, &["train", "--dataset", "digits", "--hidden", "4", "--epochs", "1", "--out", "deep/er/small"]);
    // A run that was stopped, one whose files are broken, and something else.
    let stopped = path.join("stopped");
    std::fs::create_dir_all(stopped.join("seed-3")).unwrap();
    let copy = |name: &str| std::fs::copy(t.run().join(name), stopped.join(name)).unwrap();
    copy("config.toml");
    copy("metrics.jsonl");
    std::fs::create_dir(path.join("broken")).unwrap();
    std::fs::write(path.join("broken/config.toml"), "hidden = \n").unwrap();
    std::fs::create_dir(path.join("empty")).unwrap();
    let args = "train --dataset digits --hidden 4 --epochs 2 --optimizer sgd --clip 0 --lr 1e37 --out wild";
    fails(path, &args.split(' ').collect::<Vec<_>>(), 1, &["diverged"]);

    let listed = json(path, &["runs", "."]);
    has_keys(&listed, &["folder", "runs"]);
    let runs = listed["runs"].as_array().unwrap();
    let find = |name: &str| runs.iter().find(|run| run["name"] == name).unwrap_or(&Value::Null);
    assert_eq!(runs.len(), 5, "{listed}");
    for run in runs {
        has_keys(
            run,
            &[
                "name", "run", "state", "epoch", "epochs", "dataset", "settings", "val", "test", "bytes",
                "date", "problem",
            ],
        );
    }
    let (run, small) = (find("run"), find("deep/er/small"));
    assert_eq!((&run["state"], &run["dataset"]), (&"finished".into(), &"digits".into()));
    assert_eq!((&run["test"], &run["bytes"]), (&t.summary["test"], &t.summary["bytes"]["total"]));
    assert_eq!((&run["settings"]["hidden"], &small["settings"]["hidden"]), (&"12".into(), &"4".into()));
    assert!(run["settings"].get("cell").is_none() && run["settings"].get("dataset").is_none(), "{run}");
    let stopped = find("stopped");
    assert_eq!(
        (&stopped["state"], &stopped["epoch"], &stopped["epochs"]),
        (&"stopped".into(), &4.into(), &4.into())
    );
    let broken = find("broken");
    assert!(
        broken["state"] == "broken" && broken["problem"].as_str().unwrap().contains("config.toml"),
        "{broken}"
    );
    let wild = find("wild");
    assert!(wild["state"] == "failed" && wild["problem"].as_str().unwrap().contains("diverged"), "{wild}");
    assert_eq!(runs.last().unwrap()["name"], "wild", "the newest is last");

    let table = text(path, &["runs", "."]);
    for part in ["stopped at epoch 4 of 4", "finished", "broken", "hidden=12", "epochs=1"] {
        assert!(table.contains(part), "no '{part}' in\n{table}");
    }
    fails(path, &["runs"], 2, &["runs"]);
    assert!(text(path, &["runs", "empty"]).contains("no runs"));
}

#[test]
fn the_short_help_is_short_and_names_the_long_one() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["train", "pareto"] {
        let short = text(folder.path(), &[command, "-h"]);
        let long = text(folder.path(), &[command, "--help"]);
        let flags = |help: &str| help.lines().filter(|line| line.trim_start().starts_with("--")).count();
        assert!(short.lines().count() < 60 && (8..=20).contains(&flags(&short)), "{short}");
        assert!(
            short.contains("--dataset") && short.contains(&format!("fastgrnn {command} --help")),
            "{short}"
        );
        assert!(flags(&long) > 60 && long.contains("--teacher-temperature"), "{long}");
    }
}

#[test]
fn a_run_that_a_process_trains_is_running_and_stops_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let args = "train --dataset digits --hidden 16 --epochs 100000 --out long --quiet";
    let mut child = command(folder.path(), &args.split(' ').collect::<Vec<_>>())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let metrics = folder.path().join("long/metrics.jsonl");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(300);
    while std::fs::read_to_string(&metrics).map_or(0, |text| text.lines().count()) < 2 {
        assert!(std::time::Instant::now() < deadline, "no progress");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let state = || json(folder.path(), &["runs", "."])["runs"][0].clone();
    let running = state();
    let table = text(folder.path(), &["runs", "."]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(running["state"], "running", "{running}");
    assert_eq!(running["epochs"], 100_000, "{running}");
    assert!(running["epoch"].as_u64().unwrap() >= 1, "{running}");
    assert!(table.contains("running at epoch"), "{table}");
    assert_eq!(state()["state"], "stopped");
}
