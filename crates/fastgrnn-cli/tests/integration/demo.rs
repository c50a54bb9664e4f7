//! The demo as a newcomer sees it.

use crate::command::{has_keys, json, run};

#[test]
fn the_demo_goes_from_floats_to_integers_and_says_where_everything_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["demo"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let parts = [
        "accuracy 9",
        "Confusion matrix of the test set",
        "recall",
        "float, full rank",
        "+ low rank",
        "+ sparse",
        "+ integers only",
        "small and dense",
        "Try next:",
        "fastgrnn eval",
    ];
    for part in parts {
        assert!(text.contains(part), "the demo does not print '{part}':\n{text}");
    }
    let made = folder.path().join("runs/digits-fastgrnn-1");
    assert!(made.join("report.html").is_file() && made.join("model.safetensors").is_file());
    assert!(text.contains("digits-fastgrnn-1"), "{text}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("epoch") && stderr.lines().count() < 60, "progress is a few lines:\n{stderr}");

    let e = json(folder.path(), &["eval", "runs/digits-fastgrnn-1", "--dataset", "digits"]);
    assert_eq!(e["engine"], "integer");
    assert!(e["accuracy"].as_f64().unwrap() >= 0.94, "{e}");
    let i = json(folder.path(), &["info", "runs/digits-fastgrnn-1"]);
    assert!(i["bytes"]["total"].as_u64().unwrap() <= 2_048, "{}", i["bytes"]);
}

#[test]
fn the_document_of_the_demo_has_a_row_for_each_component() {
    let folder = tempfile::tempdir().unwrap();
    let d = json(folder.path(), &["demo", "--out", "d"]);
    has_keys(&d, &["run", "model", "model_float", "test", "bytes", "components"]);
    let components = d["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().map(|s| s["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["full-rank", "low-rank", "sparse", "integer", "tiny"]);
    for component in components {
        has_keys(component, &["stage", "params", "nnz", "bytes", "val", "test", "test_sd", "model", "run"]);
        assert!(std::path::Path::new(component["model"].as_str().unwrap()).is_file(), "{component}");
    }
    let bytes: Vec<u64> = components.iter().map(|s| s["bytes"].as_u64().unwrap()).collect();
    assert!(bytes.windows(2).all(|pair| pair[1] < pair[0]), "each component is smaller: {bytes:?}");
    assert_eq!((&components[4]["model"], &components[4]["bytes"]), (&d["model"], &d["bytes"]["total"]));
}
