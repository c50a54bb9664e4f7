//! Training on a GPU as a user asks for it, on the emulator.

use crate::command::{command, fails};
use fastgrnn_testing::emulator;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Runs the command with an emulated GPU, or with a driver that is not there.
fn run(folder: &Path, library: &Path, args: &str) -> Output {
    let args: Vec<&str> = args.split(' ').collect();
    command(folder, &args).env("FASTGRNN_CUDA_LIBRARY", library).output().expect("the command starts")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Few short recordings of two classes.
fn write_recordings(folder: &Path) {
    let rows = (0..24).flat_map(|id| {
        (0..5).map(move |t| {
            let x = if id % 2 == 0 { 1.0 } else { -1.0 } + 0.01 * f64::from((id * 3 + t) * 7 % 11);
            format!(
                "walk{id},{x},{},{}\n",
                f64::from((id + 2 * t) % 5),
                if id % 2 == 0 { "up" } else { "down" }
            )
        })
    });
    let table: String = std::iter::once("id,x,y,label\n".to_owned()).chain(rows).collect();
    std::fs::write(folder.join("walks.csv"), table).unwrap();
}

const SETTINGS: &str = "--dataset walks.csv --epochs 2 --cv off --val-split 0.25 --json";

#[test]
fn seeds_are_trained_at_once_and_the_json_names_the_gpu() {
    if !emulator::is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_recordings(folder.path());
    let args = format!("train {SETTINGS} --hidden 6 --seeds 2 --device cuda --out run");
    let output = run(folder.path(), emulator::library(), &args);
    let summary = json(&output);
    let devices: Vec<&str> =
        summary["seeds"].as_array().unwrap().iter().map(|seed| seed["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["emulator"; 2]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("training on the GPU emulator"), "{said}");
    assert!(folder.path().join("run/report.html").exists());
}

#[test]
fn points_of_a_sweep_are_trained_at_once() {
    if !emulator::is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_recordings(folder.path());
    let args = format!("pareto {SETTINGS} --budget-bytes 300 --kept 1 --device cuda --out p");
    let sweep = json(&run(folder.path(), emulator::library(), &args));
    let points = sweep["points"].as_array().unwrap();
    assert!(points.len() >= 2, "{sweep}");
    for point in points {
        let result = Path::new(point["run"].as_str().unwrap()).join("seed-0/result.json");
        assert!(std::fs::read_to_string(result).unwrap().contains("\"device\": \"emulator\""), "{point}");
    }
}

#[test]
fn without_a_gpu_cuda_is_an_error_and_auto_is_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    write_recordings(folder.path());
    let nowhere = folder.path().join("libcuda.so.1");
    let wanted = run(folder.path(), &nowhere, &format!("train {SETTINGS} --device cuda --out a"));
    let said = String::from_utf8_lossy(&wanted.stderr).into_owned();
    assert_eq!(wanted.status.code(), Some(1), "{said}");
    assert!(said.contains("libcuda.so.1") && said.contains("install the driver"), "{said}");
    assert!(!folder.path().join("a").exists(), "nothing is written");
    let in_runs = run(folder.path(), &nowhere, &format!("train {SETTINGS} --device cuda"));
    assert_eq!(in_runs.status.code(), Some(1));
    assert!(!folder.path().join("runs").exists(), "no empty run is left");
    let auto = run(folder.path(), &nowhere, &format!("train {SETTINGS} --device auto --out b"));
    assert_eq!(json(&auto)["seeds"][0]["device"], "cpu");
    let said = String::from_utf8_lossy(&auto.stderr).into_owned();
    assert!(said.contains("training on the CPU: there is no driver of an NVIDIA GPU"), "{said}");
    fails(folder.path(), &["train", "--device", "gpu"], 2, &["gpu", "cuda:N"]);
}

#[test]
fn what_a_gpu_cannot_train_is_named_and_auto_trains_it_on_the_cpu() {
    if !emulator::is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_recordings(folder.path());
    let mut n = 0;
    let mut try_with = |device: &str, more: &str| {
        n += 1;
        run(
            folder.path(),
            emulator::library(),
            &format!("train {SETTINGS} --device {device} --out r{n} {more}"),
        )
    };
    for (more, part) in [
        ("--output-dropout 0.2", "--output-dropout 0.2"),
        ("--cell eurnn --hidden 8", "--cell eurnn"),
        ("--hidden 300", "--hidden 300"),
        ("--initial-state random", "--initial-state"),
    ] {
        let output = try_with("cuda", more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(part) && said.contains("cpu"), "{said}");
    }
    assert_eq!(json(&try_with("auto", "--hidden 6 --output-dropout 0.2"))["seeds"][0]["device"], "cpu");
}
