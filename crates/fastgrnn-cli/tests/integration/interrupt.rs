//! Runs that are stopped and continued end in the same bytes.

use crate::command::{command, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SETTINGS: &str = "train --dataset digits --hidden 16 --epochs 40";

/// The command with signals as a terminal has them: the tests may run where some are ignored, as in a
/// background job, and the command would rightly ignore them, too.
fn attached(folder: &Path, args: &[&str]) -> Command {
    let fastgrnn = command(folder, args);
    let mut attached = Command::new("env");
    attached.arg("--default-signal=HUP,INT,TERM").arg(fastgrnn.get_program()).args(fastgrnn.get_args());
    attached.current_dir(folder).env_remove("FASTGRNN_DATA");
    attached
}

fn start(folder: &Path, more: &[&str]) -> Child {
    let args: Vec<&str> = SETTINGS.split(' ').chain(more.iter().copied()).collect();
    attached(folder, &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the run has written `lines` epochs.
fn wait_for_epochs(run: &Path, lines: usize) {
    let deadline = Instant::now() + Duration::from_secs(600);
    let written = || std::fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |t| t.lines().count());
    while written() < lines {
        assert!(Instant::now() < deadline, "no progress");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn model(run: &Path) -> Vec<u8> {
    std::fs::read(run.join("model.safetensors")).unwrap()
}

#[test]
fn ctrl_c_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole: Vec<&str> = SETTINGS.split(' ').chain(["--out", "whole"]).collect();
    json(folder.path(), &whole);

    // On a busy machine a run may end before the signal reaches it: try another.
    for attempt in 0..5 {
        let name = format!("stopped-{attempt}");
        let child = start(folder.path(), &["--out", &name]);
        wait_for_epochs(&at(&name), 3);
        signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            continue;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("--resume --out"), "it says how to continue:\n{stderr}");
        assert!(!at(&name).join("model.safetensors").exists(), "it was stopped before its end");
        json(folder.path(), &["train", "--resume", "--out", &name]);
        assert!(model(&at(&name)) == model(&at("whole")), "Ctrl-C changed the model");
        return;
    }
    panic!("no run was stopped before its end");
}

/// So long that a signal always comes before the end.
const LONG: &str = "train --dataset digits --hidden 16 --epochs 100000 --json --out";

#[test]
fn the_exit_code_and_the_json_tell_which_signal_stopped_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let args: Vec<&str> = LONG.split(' ').chain([name.trim_start_matches('-')]).collect();
        let mut started = attached(folder.path(), &args);
        let child = started.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let run = folder.path().join(name.trim_start_matches('-'));
        wait_for_epochs(&run, 2);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = &document["error"];
        assert_eq!(error["kind"], "interrupted", "{error}");
        assert_eq!(error["exit_code"], code, "{error}");
        let resume = error["resume"].as_str().unwrap();
        assert_eq!(resume, format!("fastgrnn train --resume --out {}", run.display()));
        assert!(run.join("seed-0/checkpoint.safetensors").exists(), "it can be resumed");
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let args: Vec<&str> = LONG.split(' ').chain(["run"]).collect();
    let fastgrnn = command(folder.path(), &args);
    let words = std::iter::once(fastgrnn.get_program()).chain(fastgrnn.get_args());
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP INT TERM; exec \"$@\"", "sh"])
        .args(words)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let run = folder.path().join("run");
    for (i, name) in ["-HUP", "-INT", "-TERM"].into_iter().enumerate() {
        wait_for_epochs(&run, 3 * (i + 1));
        signal(&child, name);
    }
    wait_for_epochs(&run, 40);
    assert!(child.try_wait().unwrap().is_none(), "a signal that was ignored ended the run");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn kill_at_any_moment_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole: Vec<&str> = SETTINGS.split(' ').chain(["--out", "whole"]).collect();
    let started = Instant::now();
    json(folder.path(), &whole);
    let length = started.elapsed();

    // Moments spread over a run, as long as this machine takes; a run that ends earlier than its
    // kill still has to be whole, but most must have been cut.
    let mut cut = 0;
    for (i, share) in [0.05, 0.2, 0.37, 0.61, 0.8].into_iter().enumerate() {
        let name = format!("killed-{i}");
        let every = if i % 2 == 0 { "0" } else { "1e-9" };
        let mut child = start(folder.path(), &["--out", &name, "--checkpoint-every", every]);
        std::thread::sleep(length.mul_f64(share));
        child.kill().unwrap();
        child.wait().unwrap();
        cut += usize::from(!at(&name).join("summary.json").exists());
        let dataset = ["train", "--dataset", "digits", "--hidden", "16", "--epochs", "40"];
        json(folder.path(), &[&dataset[..], &["--resume", "--out", &name, "--threads", "1"]].concat());
        assert!(
            model(&at(&name)) == model(&at("whole")),
            "kill -9 after {share} of the run changed the model"
        );
    }
    assert!(cut >= 3, "only {cut} of 5 runs were cut");
}

#[test]
fn a_stopped_pareto_says_how_to_continue_and_keeps_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let grid = "pareto --dataset digits --budget-bytes 700 --rank-shares 1 --epochs 60";
    let args = |out: &'static str| grid.split(' ').chain(["--out", out]).collect::<Vec<_>>();
    let whole = json(folder.path(), &args("whole"));
    for out in ["a", "b", "c", "d", "e"] {
        let mut started = attached(folder.path(), &args(out));
        let child = started.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let first = whole["points"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap());
        let first = first.max_by_key(|name| !name.contains("-k")).unwrap();
        wait_for_epochs(&folder.path().join(out).join("points").join(first), 3);
        signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        // On a busy machine it may end before the signal reaches it: try another.
        if output.status.success() {
            continue;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("fastgrnn pareto") && stderr.contains("--resume"), "{stderr}");
        let resumed = json(folder.path(), &[&args(out)[..], &["--resume"]].concat());
        let scores = |p: &serde_json::Value| {
            let points = p["points"].as_array().unwrap();
            points.iter().map(|p| (p["name"].clone(), p["val"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(scores(&resumed), scores(&whole), "Ctrl-C changed a model");
        return;
    }
    panic!("no run was stopped before its end");
}
