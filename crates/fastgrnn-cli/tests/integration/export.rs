//! `fastgrnn export` as a user calls it: every target, what it says, each documented error.

use crate::command::{Trained, copy_of_trained, fails, has_keys, json, text};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

const TARGETS: [&str; 7] = ["c", "arduino", "platformio", "zephyr", "esp-idf", "rust", "wasm"];

/// A folder with an integer model of the digits as `int.safetensors`.
fn folder() -> &'static Path {
    static SHARED: OnceLock<()> = OnceLock::new();
    SHARED.get_or_init(|| {
        json(trained().path(), &["quantize", "run", "--calibrate", "digits", "-o", "int.safetensors"]);
    });
    trained().path()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn every_target_is_written_and_described_key_by_key() {
    for target in TARGETS {
        if target == "wasm" && !(has("clang") && has("wasm-ld")) {
            fastgrnn_testing::skipped("no WebAssembly was exported: clang or wasm-ld is missing");
            continue;
        }
        let out = format!("all/{target}");
        let answer = json(folder(), &["export", "int.safetensors", "--target", target, "-o", &out]);
        let keys = [
            "folder",
            "moved_aside",
            "target",
            "name",
            "arithmetic",
            "cell",
            "features",
            "outputs",
            "labels",
        ];
        let more =
            ["score_bits", "data_bytes", "state_bytes", "scratch_bytes", "macs_per_step", "model_sha256"];
        has_keys(&answer, &[&keys[..], &more, &["golden", "files"]].concat());
        has_keys(&answer["golden"], &["windows", "steps", "bytes", "hash", "tolerance", "origin"]);
        assert_eq!(answer["target"], target);
        assert_eq!(answer["features"], 8);
        assert_eq!(answer["golden"]["origin"], "random counts, seed 1");
        let root = Path::new(answer["folder"].as_str().unwrap());
        assert!(root.is_absolute());
        for file in answer["files"].as_array().unwrap() {
            let path = root.join(file["path"].as_str().unwrap());
            assert_eq!(std::fs::metadata(&path).unwrap().len(), file["bytes"].as_u64().unwrap(), "{path:?}");
        }
    }
}

#[test]
fn the_plain_package_builds_and_its_self_test_passes_on_recorded_windows() {
    let args =
        ["export", "int.safetensors", "--target", "c", "-o", "built", "--dataset", "digits", "--golden", "3"];
    let answer = json(folder(), &[&args[..], &["--name", "digit", "--optimize", "speed"]].concat());
    assert_eq!(answer["golden"]["windows"], 3);
    assert!(answer["golden"]["origin"].as_str().unwrap().contains("digits"), "{answer}");
    let output = Command::new("make").arg("check").current_dir(folder().join("built")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("PASS"), "{said}");
    assert!(said.contains(answer["golden"]["hash"].as_str().unwrap()), "{said}");
}

#[test]
fn people_read_what_was_written_and_what_comes_next() {
    let said = text(folder(), &["export", "int.safetensors", "--target", "arduino", "-o", "people"]);
    for part in ["people", "derived", "multiplications", "golden", "README.md"] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
}

#[test]
fn floats_are_exported_for_comparison() {
    let args = ["export", "int.safetensors", "--target", "c", "-o", "float", "--float"];
    let answer = json(folder(), &args);
    assert_eq!(answer["arithmetic"], "float");
    assert!(answer["golden"]["tolerance"].as_u64().unwrap() > 0);
    let output = Command::new("make").arg("check").current_dir(folder().join("float")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_folder_with_something_in_it_is_kept_and_force_moves_it_aside() {
    let out = folder().join("taken");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("notes"), "mine").unwrap();
    let args = ["export", "int.safetensors", "--target", "c", "-o", "taken"];
    fails(folder(), &args, 1, &["taken is not empty", "--force", "-o"]);
    let answer = json(folder(), &[&args[..], &["--force"]].concat());
    let aside = Path::new(answer["moved_aside"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(aside.join("notes")).unwrap(), "mine");
    assert!(out.join("model.c").exists());
    fails(folder(), &["export", "int.safetensors", "--target", "c", "-o", "."], 1, &["current folder", "-o"]);
    fails(
        folder(),
        &["export", "int.safetensors", "--target", "c", "-o", "int.safetensors"],
        1,
        &["not a folder"],
    );
}

#[test]
fn each_mistake_is_answered_with_what_to_do() {
    let export = |more: &[&'static str]| -> Vec<&'static str> {
        [&["export", "int.safetensors", "--target", "c", "-o", "no"][..], more].concat()
    };
    fails(
        folder(),
        &["export", "run", "--target", "c", "-o", "no"],
        2,
        &["float model", "fastgrnn quantize"],
    );
    fails(folder(), &["export", "run", "--target", "c", "-o", "no", "--float"], 2, &["fastgrnn quantize"]);
    fails(folder(), &["export", "nothing", "--target", "c", "-o", "no"], 1, &["nothing"]);
    fails(
        folder(),
        &["export", "int.safetensors", "--target", "java", "-o", "no"],
        2,
        &["java", "arduino", "esp-idf"],
    );
    fails(folder(), &["export", "int.safetensors", "--target", "c"], 2, &["--output"]);
    fails(folder(), &export(&["--name", "My Model"]), 2, &["My Model", "--name"]);
    fails(folder(), &export(&["--name", "stdint"]), 2, &["stdint", "--name"]);
    fails(folder(), &export(&["--max-ram", "10"]), 1, &["max-ram is 10", "--max-ram"]);
    fails(folder(), &export(&["--golden", "0"]), 2, &["--golden"]);
    fails(folder(), &export(&["--dataset", "digts"]), 2, &["digts"]);
    fails(folder(), &export(&["--dataset", "digits", "--timesteps", "64"]), 1, &["1 features", "reads 8"]);
    fails(folder(), &export(&["--float", "--optimize", "speed"]), 2, &["--optimize", "--float"]);
    let rust = ["export", "int.safetensors", "--target", "rust", "-o", "no"];
    fails(folder(), &[&rust[..], &["--float"]].concat(), 2, &["rust", "no soft-float version", "--float"]);
    fails(folder(), &[&rust[..], &["--optimize", "size"]].concat(), 2, &["--optimize"]);
    assert!(!folder().join("no").exists() && !folder().join("no.tmp").exists(), "nothing is left behind");
}

#[test]
fn without_clang_the_wasm_target_says_what_to_install() {
    let args = ["export", "int.safetensors", "--target", "wasm", "-o", "no-clang"];
    let output = crate::command::command(folder(), &args).env("PATH", "").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("wasm-ld") && stderr.contains("scripts/setup-boards"), "{stderr}");
    assert!(!folder().join("no-clang").exists());
}

#[test]
fn a_cell_without_an_integer_form_is_refused_with_another_that_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = ["train", "--dataset", "digits", "--cell", "eurnn", "--hidden", "8", "--epochs", "1"];
    let summary = json(folder, &[&run[..], &["--out", "run"]].concat());
    let model = summary["model"].as_str().unwrap();
    let parts = ["eurnn", "no integer form", "form-u", "rotations"];
    fails(folder, &["export", model, "--target", "c", "-o", "c"], 2, &parts);
    fails(folder, &["board", model, "--board", "uno", "--dataset", "digits"], 2, &parts);
    fails(folder, &["eval", model, "--dataset", "digits", "--engine", "integer"], 2, &parts);
    fails(folder, &["quantize", model, "--calibrate", "digits", "-o", "q.safetensors"], 1, &parts);
    fails(folder, &[&run[..], &["--quantize", "--out", "q"]].concat(), 2, &parts);
    fails(folder, &[&run[..], &["--max-flash", "8000", "--out", "q"]].concat(), 2, &parts);
    let search = "search --dataset digits --cell eurnn --budget-bytes 600 --out q";
    fails(folder, &search.split(' ').collect::<Vec<_>>(), 2, &parts);
    let pareto = "pareto --dataset digits --cells eurnn --budget-bytes 600 --epochs 1 --out q";
    fails(folder, &pareto.split(' ').collect::<Vec<_>>(), 2, &parts);
    let new = "new --cell eurnn --input 3 --hidden 8 --classes 2 --steps 9 -o n.safetensors";
    fails(folder, &new.split(' ').collect::<Vec<_>>(), 1, &parts);
    assert!(!folder.join("q").exists() && !folder.join("c").exists());
    assert!(text(folder, &["info", model]).contains("EURNN"));
    let found = json(folder, &["eval", model, "--dataset", "digits"]);
    assert_eq!(found["accuracy"], summary["test"]["accuracy"], "{found}");
}
