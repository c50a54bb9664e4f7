//! Runs that are stopped and continued end in the same bytes.
#![cfg(unix)]

mod common;

use common::{command, json};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const SETTINGS: &str = "train --dataset digits --hidden 16 --epochs 40 --checkpoint-every 0";

fn start(folder: &Path, more: &[&str]) -> Child {
    let args: Vec<&str> = SETTINGS.split(' ').chain(more.iter().copied()).collect();
    command(folder, &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the run has written `lines` epochs.
fn wait_for_epochs(run: &Path, lines: usize) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let written = || std::fs::read_to_string(run.join("metrics.jsonl")).map_or(0, |t| t.lines().count());
    while written() < lines {
        assert!(Instant::now() < deadline, "no progress");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn model(run: &Path) -> Vec<u8> {
    std::fs::read(run.join("model.safetensors")).unwrap()
}

#[test]
fn ctrl_c_and_kill_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole: Vec<&str> = SETTINGS.split(' ').chain(["--out", "whole"]).collect();
    json(folder.path(), &whole);

    let child = start(folder.path(), &["--out", "stopped"]);
    wait_for_epochs(&at("stopped"), 3);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("--resume --out"), "it says how to continue:\n{stderr}");
    assert!(!at("stopped").join("model.safetensors").exists(), "it was stopped before its end");

    json(folder.path(), &["train", "--resume", "--out", "stopped"]);
    assert!(model(&at("stopped")) == model(&at("whole")), "Ctrl-C changed the model");

    let mut child = start(folder.path(), &["--out", "killed"]);
    wait_for_epochs(&at("killed"), 5);
    child.kill().unwrap();
    child.wait().unwrap();
    json(folder.path(), &["train", "--resume", "--out", "killed", "--threads", "1"]);
    assert!(model(&at("killed")) == model(&at("whole")), "kill -9 changed the model");
}
