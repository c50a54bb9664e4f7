//! Each way to go wrong once: exit code, an empty stdout, and a message that helps.

use crate::command::{Trained, command, copy_of_trained, fails, json};
use std::path::Path;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).unwrap();
}

/// Two columns and a label, `n` rows.
fn rows(n: usize) -> String {
    (0..n).map(|i| format!("{}.5,{}.25,{}\n", i % 7, i % 3, if i % 2 == 0 { "up" } else { "down" })).collect()
}

#[test]
fn misuse_of_the_command_line_is_exit_code_2() {
    let t = trained().path();
    fails(t, &["frobnicate"], 2, &["frobnicate"]);
    fails(t, &["train", "--hiden", "3"], 2, &["--hiden", "--hidden"]);
    fails(t, &["train", "--dataset", "digits", "--cell", "gruu"], 2, &["gruu", "'gru'"]);
    fails(t, &["train"], 2, &["nothing to train on", "--dataset"]);
    fails(t, &["train", "--resume"], 2, &["--resume", "--out"]);
    fails(t, &["train", "--dataset", "digits", "--threads", "0"], 2, &["--threads"]);
    fails(t, &["eval", "run"], 2, &["--dataset"]);
    fails(t, &["train", "--sparsity-u", "0.5"], 2, &["--sparsity-u", "--keep-u"]);
    fails(t, &["train", "--hidden", "0", "--dataset", "digits"], 2, &["hidden = 0", "between 1 and"]);
    fails(t, &["bench", "train", "--python", "python3"], 2, &["--against"]);
    fails(t, &["bench", "train", "--device", "gpu"], 2, &["gpu", "cuda:N"]);
    fails(t, &["bench", "train", "--networks", "4"], 2, &["--networks", "--device cuda"]);
    fails(t, &["bench", "train", "--device", "cuda", "--threads", "2"], 2, &["--threads"]);
}

#[test]
fn wrong_settings_are_misuse_however_they_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let t = folder.path();
    let digits = |more: &[&str], parts: &[&str]| {
        fails(t, &[&["train", "--dataset", "digits"], more].concat(), 2, parts);
    };
    digits(&["--lr", "0"], &["lr = 0"]);
    digits(&["--lr", "abc"], &["abc"]);
    digits(&["--rank-w", "12"], &["at most 8"]);
    digits(&["--class-share", "11=0.5"], &["11"]);
    digits(&["--loss", "squared-error"], &["squared-error"]);
    digits(&["--label-col", "x"], &["--label-col"]);
    write(t, "r.toml", "dataset = \"digits\"\nlr = 0.0\n");
    fails(t, &["train", "r.toml"], 2, &["lr = 0"]);
    write(t, "w.csv", rows(20));
    fails(t, &["train", "--dataset", "w.csv", "--label-col", "9"], 2, &["no column '9'"]);
    fails(t, &["export", "x.safetensors", "--target", "c", "-o", "out"], 1, &["x.safetensors"]);
}

/// The error that a command with `--json` prints.
fn error_of(folder: &Path, args: &[&str]) -> serde_json::Value {
    let output = crate::command::run(folder, args);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{args:?} does not print one document: {e}\n{}", String::from_utf8_lossy(&output.stdout))
    });
    assert!(!output.stderr.is_empty(), "stderr stays for people");
    let keys: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["error", "program"], "{document}");
    let error = document["error"].clone();
    assert_eq!(error["exit_code"], output.status.code().unwrap(), "{error}");
    error
}

#[test]
fn an_error_is_a_json_document_with_json() {
    let t = trained().path();
    let error = error_of(t, &["info", "nothing-here", "--json"]);
    let keys: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["exit_code", "kind", "message", "resume"]);
    assert_eq!((error["kind"].as_str(), error["exit_code"].as_u64()), (Some("failed"), Some(1)));
    assert!(error["message"].as_str().unwrap().contains("nothing-here") && error["resume"].is_null());
    for (args, part) in [
        (&["train", "--dataset", "digits", "--lr", "0", "--json"][..], "lr = 0"),
        (&["--json", "train", "--hiden", "3"], "'--hiden'"),
        (&["frobnicate", "--json"], "'frobnicate'"),
        (&["train", "--sparsity-u", "0.5", "--json"], "--keep-u"),
        (&["--json"], "subcommand"),
    ] {
        let error = error_of(t, args);
        assert_eq!((error["kind"].as_str(), error["exit_code"].as_u64()), (Some("misuse"), Some(2)));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(part) && !message.contains("Usage"), "{message}");
    }
}

#[test]
fn an_unknown_data_set_names_the_known_ones() {
    fails(trained().path(), &["train", "--dataset", "digts"], 2, &["digts", "digits", "mnist"]);
}

#[test]
fn a_known_set_that_is_missing_says_what_to_download() {
    let empty = tempfile::tempdir().unwrap();
    fails(
        empty.path(),
        &["data", "inspect", "har2"],
        1,
        &["har2", "UCI", "FASTGRNN_DATA", "--data-dir", "docs/data-sets.md"],
    );
}

#[test]
fn an_unknown_recipe_key_names_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "r.toml", "dataset = \"digits\"\nhiden = 8\n");
    fails(folder.path(), &["train", "r.toml"], 2, &["r.toml", "line 2", "hiden", "hidden"]);
    write(folder.path(), "v.toml", "dataset = \"digits\"\nlr = \"fast\"\n");
    fails(folder.path(), &["train", "v.toml"], 2, &["v.toml", "line 2"]);
    fails(folder.path(), &["train", "missing.toml"], 1, &["missing.toml"]);
}

#[test]
fn a_data_set_in_the_place_of_a_recipe_is_answered_with_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "w.csv", rows(20));
    for name in ["digits", "w.csv", "."] {
        fails(folder.path(), &["train", name], 2, &[&format!("did you mean --dataset {name}?")]);
    }
}

#[test]
fn a_split_that_cannot_be_leaves_nothing_behind_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let recording = |level: f64| -> String {
        "x\n".to_owned() + &(0..60).map(|i| format!("{}\n", level + f64::from(i % 5))).collect::<String>()
    };
    for (class, level) in [("still", 0.0), ("moving", 9.0)] {
        std::fs::create_dir_all(folder.path().join("set").join(class)).unwrap();
        write(folder.path(), &format!("set/{class}/a.csv"), recording(level));
    }
    // Two windows of a recording are too few for blocks of time.
    let args = ["train", "--dataset", "set", "--window", "30", "--hidden", "4", "--epochs", "1"];
    fails(folder.path(), &args, 1, &["--val-split 0"]);
    assert!(!folder.path().join("runs").exists(), "nothing is left behind");
    json(folder.path(), &[&args[..], &["--val-split", "0"]].concat());
}

#[test]
fn a_rank_larger_than_the_matrix_says_what_fits() {
    let args = ["train", "--dataset", "digits", "--rank-w", "12", "--out", "rank"];
    fails(trained().path(), &args, 2, &["rank-w 12", "at most 8"]);
    assert!(!trained().path().join("rank").exists(), "nothing is left behind");
}

#[test]
fn broken_csv_files_are_named_with_line_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let train = |name: &str, content: &str, parts: &[&str]| {
        write(folder.path(), name, content);
        let args = ["train", "--dataset", name, "--label-col", "2", "--out", "run"];
        fails(folder.path(), &args, 1, &[&[name], parts].concat());
    };
    train("ragged.csv", &(rows(20) + "1,2,3,4,up\n"), &["line 21"]);
    train("nan.csv", &(rows(20) + "nan,0.5,up\n"), &["line 21", "nan is not finite"]);
    train("word.csv", &(rows(20) + "oops,0.5,up\n"), &["line 21", "oops"]);
    train("one.csv", &rows(40).replace("down", "up"), &["up", "at least two"]);
    train("empty.csv", "", &["no data"]);
    fails(folder.path(), &["train", "--dataset", "missing.csv"], 2, &["missing.csv"]);
}

#[test]
fn truncated_and_corrupt_archives_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    json(folder.path(), &["data", "convert", "digits", "d.npz"]);
    let whole = std::fs::read(folder.path().join("d.npz")).unwrap();
    write(folder.path(), "cut.npz", &whole[..whole.len() / 2]);
    fails(folder.path(), &["data", "inspect", "cut.npz"], 1, &["cut.npz"]);
    write(folder.path(), "junk.gz", b"not gzip at all");
    fails(folder.path(), &["data", "inspect", "junk.gz"], 1, &["junk"]);
}

#[test]
fn data_with_other_features_than_the_model_is_named() {
    let t = trained();
    let args = ["eval", "run", "--dataset", "digits", "--timesteps", "64"];
    fails(t.path(), &args, 1, &["1 features a step", "reads 8"]);
    json(t.path(), &["data", "convert", "digits", "pixels.npz", "--timesteps", "64"]);
    fails(t.path(), &["predict", "run", "pixels.npz"], 1, &["1 features a step", "reads 8"]);
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let t = trained();
    write(t.path(), "junk.safetensors", b"junk");
    fails(t.path(), &["info", "junk.safetensors"], 1, &["junk.safetensors", "not a safetensors file"]);
    let foreign = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut bytes = (foreign.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(foreign);
    bytes.extend_from_slice(&[0; 4]);
    write(t.path(), "foreign.safetensors", bytes);
    fails(t.path(), &["info", "foreign.safetensors"], 1, &["not one of fastgrnn's"]);
    let model = std::fs::read(t.model()).unwrap();
    write(t.path(), "cut.safetensors", &model[..model.len() - 10]);
    fails(t.path(), &["info", "cut.safetensors"], 1, &["cut.safetensors"]);
    std::fs::create_dir_all(t.path().join("not-a-run")).unwrap();
    fails(t.path(), &["info", "not-a-run"], 1, &["model.safetensors", "finished"]);
}

#[test]
fn a_run_is_never_overwritten() {
    let t = trained();
    let before = std::fs::read(t.model()).unwrap();
    let args = ["train", "--dataset", "digits", "--hidden", "4", "--epochs", "1", "--out", "run"];
    fails(t.path(), &args, 2, &["run", "--resume"]);
    fails(t.path(), &["demo", "--out", "run"], 2, &["run", "--out"]);
    assert!(std::fs::read(t.model()).unwrap() == before);
}

#[test]
fn a_run_resumes_only_with_its_own_settings() {
    let t = trained();
    let s = json(t.path(), &["train", "--resume", "--out", "run"]);
    assert_eq!(s["test"], t.summary["test"], "a finished run answers as it did");
    fails(
        t.path(),
        &["train", "--resume", "--out", "run", "--hidden", "5"],
        2,
        &["hidden", "other settings"],
    );
    fails(t.path(), &["train", "--resume", "--out", "nowhere"], 2, &["nowhere", "no run to resume"]);
}

#[test]
fn the_command_that_is_printed_after_a_divergence_works() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), "w.csv", rows(40));
    let args = "train --dataset w.csv --hidden 4 --epochs 3 --out run --optimizer sgd --clip 0 --lr";
    let args: Vec<&str> = args.split(' ').chain(["1e37"]).collect();
    let output = crate::command::run(folder.path(), &args);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let printed = stderr.lines().find_map(|line| line.trim().strip_prefix("try: fastgrnn ")).unwrap();
    assert!(printed.contains("--lr 0.1 ") && printed.ends_with("--force"), "{printed}");
    let words: Vec<&str> = printed.split(' ').collect();
    let summary = json(elsewhere.path(), &words);
    assert_eq!(Path::new(summary["run"].as_str().unwrap()), folder.path().join("run"));
}

#[test]
fn force_replaces_a_run_and_only_a_run() {
    let t = copy_of_trained();
    let small = ["train", "--dataset", "digits", "--hidden", "4", "--epochs", "1"];
    fails(t.path(), &[&small[..], &["--force"]].concat(), 2, &["--out"]);
    fails(t.path(), &[&small[..], &["--out", "run"]].concat(), 2, &["--force"]);
    write(&t.run(), "notes.txt", "mine");
    fails(t.path(), &[&small[..], &["--out", "run", "--force"]].concat(), 1, &["notes.txt", "nothing was"]);
    assert!(t.run().join("model.safetensors").exists());
    std::fs::remove_file(t.run().join("notes.txt")).unwrap();
    let summary = json(t.path(), &[&small[..], &["--out", "run", "--force"]].concat());
    assert_eq!(summary["epochs"], 1);
}

#[test]
fn a_run_is_resumed_from_any_folder() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), "w.csv", rows(40));
    let args = ["train", "--dataset", "w.csv", "--hidden", "4", "--epochs", "1", "--out", "my run"];
    let summary = json(folder.path(), &args);
    let run = summary["run"].as_str().unwrap();
    assert_eq!(json(elsewhere.path(), &["train", "--resume", "--out", run]), summary);
    assert_eq!(json(elsewhere.path(), &["train", "--resume", run]), summary);
    // The run may move, and the data with a flag.
    std::fs::rename(folder.path().join("w.csv"), elsewhere.path().join("moved.csv")).unwrap();
    fails(elsewhere.path(), &["train", "--resume", run], 2, &["w.csv"]);
    assert_eq!(json(elsewhere.path(), &["train", "--resume", run, "--dataset", "moved.csv"]), summary);
}

#[test]
fn an_edited_configuration_is_not_resumed() {
    let t = copy_of_trained();
    let path = t.run().join("config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("lr = 0.003", "lr = 0.05")).unwrap();
    fails(t.path(), &["train", "--resume", "run"], 2, &["lr was 0.003, is now 0.05"]);
}

#[test]
fn wrong_numbers_and_names_of_flags_are_explained() {
    let t = trained().path();
    let digits = |more: &[&str], parts: &[&str]| {
        fails(t, &[&["train", "--dataset", "digits"], more].concat(), 2, parts);
    };
    digits(&["--lr", "-1"], &["lr = -1: it must be a number above 0"]);
    digits(&["--lr", "1e-300"], &["lr = 1e-300:"]);
    digits(&["--hidden", "-1"], &["`-1` is not a whole number from 0"]);
    digits(&["--learning-rate", "0.1"], &["did you mean --lr?"]);
    digits(&["--batch-size=3"], &["did you mean --batch?"]);
    fails(t, &["info", "run", "--learning-rate", "0.1"], 2, &["unexpected argument"]);
}

#[test]
fn files_are_not_overwritten_by_convert() {
    let t = trained();
    write(t.path(), "there.npz", b"precious");
    fails(t.path(), &["data", "convert", "digits", "there.npz"], 2, &["there.npz", "--force"]);
    json(t.path(), &["data", "convert", "digits", "both.csv"]);
    fails(t.path(), &["data", "convert", "digits", "both.csv"], 2, &["both_TRAIN.csv", "--force"]);
    json(t.path(), &["data", "convert", "digits", "both.csv", "--force"]);
    fails(t.path(), &["data", "convert", "digits", "there.doc"], 1, &["there.doc"]);
}

#[test]
fn a_split_that_is_not_there_is_misuse() {
    let t = trained();
    write(t.path(), "flat.csv", rows(20));
    json(t.path(), &["train", "--dataset", "flat.csv", "--hidden", "4", "--epochs", "1", "--out", "flat"]);
    fails(
        t.path(),
        &["eval", "flat", "--dataset", "flat.csv", "--split", "test"],
        2,
        &["--test", "--split all"],
    );
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut child = command(trained().path(), &["completions", "bash"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
