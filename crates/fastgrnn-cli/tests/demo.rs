//! The demo as a newcomer sees it.

mod common;

use common::{json, run};

#[test]
fn the_demo_learns_the_digits_and_says_where_everything_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["demo"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in
        ["accuracy 9", "Confusion matrix of the test set", "recall", "KiB", "Try next:", "fastgrnn eval"]
    {
        assert!(text.contains(part), "the demo does not print '{part}':\n{text}");
    }
    let made = folder.path().join("runs/digits-fastgrnn-1");
    assert!(made.join("report.html").is_file() && made.join("model.safetensors").is_file());
    assert!(text.contains("digits-fastgrnn-1"), "{text}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("epoch") && stderr.lines().count() < 40, "progress is a few lines:\n{stderr}");

    let e = json(folder.path(), &["eval", "runs/digits-fastgrnn-1", "--dataset", "digits"]);
    assert!(e["accuracy"].as_f64().unwrap() >= 0.94, "{e}");
}
