//! Texts: language models and classification, as a user runs them.

use crate::command::{fails, json, run, text};
use std::path::Path;

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_language_model_is_trained_evaluated_and_described() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [("train.txt", 200), ("valid.txt", 20), ("test.txt", 20)] {
        write(folder.path(), &format!("book/{name}"), &"One two, three!\n\n".repeat(lines));
    }
    write(folder.path(), "book/readme.md", "About this book.");
    let train = "train --task lm --dataset book --hidden 8 --batch 4 --sequence-length 20 --epochs 8 --lr 0.02 --json --out run";
    let output = run(folder.path(), &train.split(' ').collect::<Vec<_>>());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("1,200 tokens to train on, 120 to validate, 120 to test"), "{stderr}");
    assert!(stderr.contains("not read: readme.md") && stderr.contains("val perplexity"), "{stderr}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for part in ["val", "test"] {
        let scores = &summary[part];
        assert_eq!((&scores["tokens"], &scores["vocabulary"]), (&120.into(), &7.into()), "{scores}");
        assert_eq!(scores["unknown_rate"], 0.0);
        assert!(scores["perplexity"].as_f64().unwrap() < 2.0, "{scores}");
    }
    let model = "run/model.safetensors";
    let again = json(folder.path(), &["eval", model, "--dataset", "book"]);
    assert_eq!(again["perplexity"], summary["test"]["perplexity"]);
    write(folder.path(), "other.txt", "One two, four!\n");
    let other = json(folder.path(), &["eval", model, "--dataset", "other.txt"]);
    assert_eq!((&other["tokens"], other["unknown_rate"].as_f64().unwrap()), (&6.into(), 1.0 / 6.0));
    assert!(text(folder.path(), &["info", model]).contains("tokens (7 of them)"));
    fails(folder.path(), &["predict", model, "other.txt"], 1, &["`eval`"]);
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("perplexity") && report.contains("a vocabulary of 7"));
}

#[test]
fn texts_are_classified_and_a_sentence_is_an_argument() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..80)
        .map(|i| {
            format!("\"The stay was {}, no {i}\",{}\n", ["lovely", "awful"][i % 2], ["good", "bad"][i % 2])
        })
        .collect();
    write(folder.path(), "stays.csv", &format!("review,verdict\n{rows}"));
    let train = "train --dataset stays.csv --text-col review --label-col verdict --test-split 0.25 --val-split 0.2 \
                 --hidden 8 --epochs 40 --lr 0.02 --out run";
    let summary = json(folder.path(), &train.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&summary["test"]["accuracy"], &summary["test"]["n"]), (&1.0.into(), &20.into()));
    let model = "run/model.safetensors";
    assert!(text(folder.path(), &["predict", model, "What an awful stay!"]).contains("bad"));
    let found = json(folder.path(), &["predict", model, "Lovely."]);
    assert_eq!(found["predictions"][0]["label"], "good");
    fails(folder.path(), &["predict", model, "stayz.csv"], 1, &["stayz.csv"]);
    write(folder.path(), "new.jsonl", "{\"review\": \"awful\"}\n{\"review\": \"lovely\"}\n");
    let found = json(folder.path(), &["predict", model, "new.jsonl"]);
    assert_eq!(found["n"], 2);
    let wrong = "train --dataset stays.csv --text-col reviews --label-col verdict --out x";
    let wrong: Vec<&str> = wrong.split(' ').collect();
    fails(folder.path(), &wrong, 2, &["'reviews'", "review, verdict"]);
}
