//! `fastgrnn analyze`: what it prints, the page, and its errors.

use crate::command::{Trained, copy_of_trained, fails, has_keys, json, run, text};
use serde_json::Value;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

#[test]
fn networks_before_training_are_measured_beside_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let args = "analyze --cell rnn,fastrnn,gru --hidden 6 --seed 2 --examples 4 --steps 2,8 --out page.html";
    let args: Vec<&str> = args.split(' ').collect();
    let found = json(folder.path(), &args);
    assert_eq!(found, json(folder.path(), &[&args[..], &["--threads", "1"]].concat()));
    has_keys(&found, &["networks", "report", "program"]);
    let networks = found["networks"].as_array().unwrap();
    assert_eq!(
        networks.iter().map(|n| n["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["rnn", "fastrnn", "gru"]
    );
    for network in networks {
        has_keys(
            network,
            &[
                "model",
                "cell",
                "layers",
                "units",
                "trained",
                "nonlinearity",
                "dataset",
                "training_part",
                "training_sequences",
                "held_out",
                "sequences",
                "steps",
                "products",
                "gradients",
                "residual_weights",
                "ties",
                "initial_state",
                "theory",
            ],
        );
        assert_eq!((&network["trained"], &network["model"]), (&Value::Bool(false), &Value::Null));
        let points = network["products"][0]["points"].as_array().unwrap();
        assert_eq!(points.iter().map(|p| p["steps"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 8]);
        for point in points {
            has_keys(
                point,
                &[
                    "sequences",
                    "singular",
                    "log10_condition",
                    "log10_largest",
                    "log10_smallest",
                    "log10_bound",
                    "bounded",
                ],
            );
            has_keys(&point["log10_condition"], &["mean", "median", "min", "max"]);
        }
        has_keys(&network["gradients"][0]["points"][0], &["before_end", "sequences", "zero", "log10_norm"]);
        has_keys(
            &network["theory"],
            &["why_not", "quantities", "conditions", "generalization", "convergence"],
        );
    }
    let fastrnn = &networks[1];
    assert!(fastrnn["theory"]["why_not"].is_null() && networks[2]["theory"]["why_not"].is_string());
    has_keys(&fastrnn["theory"]["quantities"][0], &["symbol", "meaning", "value", "kind"]);
    has_keys(&fastrnn["theory"]["conditions"][0], &["assumption", "holds", "because"]);
    has_keys(
        &fastrnn["theory"]["generalization"],
        &["empirical_loss", "log10_theorem_term", "log10_recursion_term", "confidence_term", "log10_bound"],
    );
    has_keys(
        &fastrnn["theory"]["convergence"][0],
        &["steps", "log10_step_size", "log10_theorem_bound", "log10_sum_bound"],
    );
    assert_eq!(fastrnn["residual_weights"][0]["name"], "alpha");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in [
        "Condition number of the gradient",
        "Gradient of the loss by the state",
        "fastrnn bound",
        "R_U",
        "<svg",
    ] {
        assert!(page.contains(part), "the page does not show '{part}'");
    }
    for outside in ["<script", "href=\"http", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_trained_model_is_measured_on_its_own_data_and_from_random_states() {
    let t = trained();
    let found = json(t.path(), &["analyze", "run", "--examples", "3"]);
    let network = &found["networks"][0];
    assert_eq!((&network["trained"], &network["dataset"]), (&Value::Bool(true), &"digits".into()));
    let (n, held_out) = (network["training_sequences"].as_u64(), network["held_out"].as_u64());
    assert!(network["training_part"] == "train" && n > held_out && held_out > Some(0), "{network}");
    let states = &network["initial_state"];
    has_keys(states, &["part", "zero", "random"]);
    assert_eq!((&states["part"], states["random"].as_array().unwrap().len()), (&"test".into(), 3));
    let weights = network["residual_weights"].as_array().unwrap();
    assert!(weights.iter().all(|w| w["start"].is_number() && w["start"] != w["value"]), "{weights:?}");
    assert!(network["theory"]["why_not"].as_str().unwrap().contains("fastgrnn"));
    let said = text(t.path(), &["analyze", &t.model(), "--examples", "2", "--steps", "4"]);
    for part in [
        "Measured: κ",
        "Influence of the initial state",
        "ζ",
        "accuracy",
        "κ, geometric mean",
        "that the network was trained on; the other",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn tables_of_a_reproduction_are_shown_without_networks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("made")).unwrap();
    std::fs::write(folder.path().join("made/jobs.jsonl"), "").unwrap();
    let found = json(folder.path(), &["analyze", "--reproduction", "made", "--out", "page.html"]);
    assert!(found["networks"].as_array().unwrap().is_empty());
    assert!(found["reproduction"].as_array().unwrap().iter().any(|cell| cell["metric"] == "alpha"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("α and β against the number of time steps") && page.contains("not trained yet"));
    fails(
        folder.path(),
        &["analyze", "--reproduction", "none"],
        1,
        &["none", "fastgrnn reproduce alpha-beta"],
    );
}

#[test]
fn mistakes_are_named_with_what_to_try() {
    let t = trained();
    let analyze = |more: &[&str], code: i32, parts: &[&str]| {
        fails(t.path(), &[&["analyze"], more].concat(), code, parts)
    };
    analyze(&["--cell", "gruu"], 2, &["gruu", "'gru'"]);
    analyze(&["run", "--cell", "rnn"], 2, &["--cell", "models are given"]);
    analyze(&["run", "--alpha", "0.1"], 2, &["--alpha", "models are given"]);
    analyze(&["--steps", "500"], 2, &["500 steps", "use at most 8"]);
    analyze(&["--steps", "0"], 2, &["--steps"]);
    analyze(&["--hidden", "0"], 2, &["--hidden"]);
    analyze(&["--cell", "rnn", "--alpha", "0.1"], 2, &["alpha"]);
    analyze(&["--dataset", "no-such-file.csv"], 2, &["no-such-file.csv"]);
    analyze(&["no-model.safetensors"], 1, &["no-model.safetensors"]);
    analyze(&["--out", "run"], 2, &["run is a folder"]);
    std::fs::write(t.path().join("other.csv"), "1,2,a\n3,4,b\n1,2,a\n3,4,b\n").unwrap();
    // Its features are not those of the model.
    analyze(&["run", "--dataset", "other.csv"], 1, &["other.csv"]);
    let rows: String = (0..8).map(|i| format!("{}{}\n", "1,".repeat(64), ["cat", "dog"][i % 2])).collect();
    std::fs::write(t.path().join("animals.csv"), rows).unwrap();
    let parts =
        ["animals.csv", "'cat'", "of the data set are cat, dog", "of the model 0, 1, 2", "use data with"];
    analyze(&["run", "--dataset", "animals.csv"], 1, &parts);
    fails(t.path(), &["eval", "run", "--dataset", "animals.csv"], 1, &parts);
}

#[test]
fn an_integer_model_is_analysed_by_the_values_of_its_integers() {
    let t = trained();
    let quantize = ["quantize", "run", "--calibrate", "digits", "-o", "integer.safetensors"];
    text(t.path(), &quantize);
    let output = run(t.path(), &["analyze", "integer.safetensors", "--examples", "2", "--json"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("integer.safetensors is an integer model"), "{said}");
}
