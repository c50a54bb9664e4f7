//! Runs the command as a user does.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The command, not yet started, in `folder` and without the user's data.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fastgrnn"));
    command.args(args).current_dir(folder).env_remove("FASTGRNN_DATA");
    command
}

/// Runs it to the end.
pub fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the command starts")
}

/// Its text on stdout, after exit code 0.
pub fn text(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The one JSON document that it prints.
pub fn json(folder: &Path, args: &[&str]) -> Value {
    let out = text(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?} does not print one document: {e}\n{out}"))
}

/// Asserts the exit code, an empty stdout, and that stderr has every part.
pub fn fails(folder: &Path, args: &[&str], code: i32, parts: &[&str]) {
    let output = run(folder, args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{args:?} does not say '{part}':\n{stderr}");
    }
}

/// Asserts that `value` has every key.
pub fn has_keys(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "no key '{key}' in {value}");
    }
}

/// A small trained run on the digits.
pub struct Trained {
    pub folder: tempfile::TempDir,
    pub summary: Value,
}

impl Trained {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn run(&self) -> PathBuf {
        self.path().join("run")
    }

    pub fn model(&self) -> String {
        self.run().join("model.safetensors").display().to_string()
    }
}

/// A copy of the trained run in a folder of its own, so that tests may write beside it.
pub fn copy_of_trained() -> Trained {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&original().run(), &folder.path().join("run"));
    Trained { folder, summary: original().summary.clone() }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Trained once for all tests.
fn original() -> &'static Trained {
    static SHARED: OnceLock<Trained> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let args = "train --dataset digits --hidden 12 --epochs 4 --seed 3 --seeds 2 --out run"
            .split(' ')
            .collect::<Vec<_>>();
        let summary = json(folder.path(), &args);
        Trained { folder, summary }
    })
}
