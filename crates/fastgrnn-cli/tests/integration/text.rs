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
    let train = "train --task lm --dataset book --hidden 8 --batch 4 --sequence-length 20 --epochs 8 --lr 0.02 --input-dropout 0 \
                 --output-dropout 0 --weight-drop 0 --json --out run";
    let output = run(folder.path(), &train.split_whitespace().collect::<Vec<_>>());
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
    let settings = &summary["settings"];
    assert_eq!((&settings["embedding"], &settings["tied"]), (&8.into(), &true.into()), "{settings}");
    assert_eq!((&settings["tokens"], &settings["lowercase"]), (&"words".into(), &true.into()));
    let model = "run/model.safetensors";
    let again = json(folder.path(), &["eval", model, "--dataset", "book"]);
    assert_eq!(again["perplexity"], summary["test"]["perplexity"]);
    write(folder.path(), "other.txt", "One two, four!\n");
    let other = json(folder.path(), &["eval", model, "--dataset", "other.txt"]);
    assert_eq!((&other["tokens"], other["unknown_rate"].as_f64().unwrap()), (&6.into(), 1.0 / 6.0));
    assert!(text(folder.path(), &["info", model]).contains("tokens (7 of them)"));
    fails(folder.path(), &["predict", model, "other.txt"], 1, &["`eval`"]);
    fails(
        folder.path(),
        &["eval", model, "--dataset", "book", "--predictions", "p.csv"],
        2,
        &["--predictions"],
    );
    let state = "train --task lm --dataset book --initial-state 0.5 --out x";
    fails(folder.path(), &state.split(' ').collect::<Vec<_>>(), 2, &["initial-state", "carried"]);
    let column = "train --task lm --dataset book --label-col x --out x";
    fails(folder.path(), &column.split(' ').collect::<Vec<_>>(), 2, &["label-col", "language model"]);
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(
        report.contains("<th scope=\"col\">test perplexity</th>") && report.contains("a vocabulary of 7")
    );
}

/// The recipes for Penn Treebank, on a text of a page, for an epoch.
#[test]
fn every_recipe_of_a_language_model_trains_and_names_its_cell() {
    const OTHER_CELLS: [&str; 5] = ["rnn", "ugrnn", "fastrnn", "fastrnn-vector", "lstm"];
    let folder = tempfile::tempdir().unwrap();
    let lines = |first: usize, n: usize| -> String {
        (first..first + n).map(|i| format!("line {} of a page , word {}\n", i % 7, i * 5 % 11)).collect()
    };
    for (name, first, n) in [("train.txt", 0, 700), ("valid.txt", 3, 40), ("test.txt", 5, 40)] {
        write(folder.path(), &format!("page/{name}"), &lines(first, n));
    }
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    let mut found = 0;
    for entry in std::fs::read_dir(recipes).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        if name != "ptb" && !name.starts_with("ptb-") {
            continue;
        }
        found += 1;
        let recipe = path.to_str().unwrap();
        let train = ["train", recipe, "--dataset", "page", "--epochs", "1", "--batch", "2", "--out", &name];
        let summary = json(folder.path(), &train);
        let cell = name.strip_prefix("ptb-").filter(|name| OTHER_CELLS.contains(name)).unwrap_or("fastgrnn");
        assert_eq!(summary["cell"], cell, "{summary}");
        // Guessing among the 20 tokens has a perplexity of 20.
        let perplexity = summary["test"]["perplexity"].as_f64().unwrap();
        assert!(perplexity < 20.0, "{name}: {perplexity}");
    }
    assert_eq!(found, 11);
}

/// Trains a small language model of characters into `run`.
fn train_letters(folder: &Path, more: &str) -> serde_json::Value {
    write(folder, "abc.txt", &"abcabcabc\n".repeat(300));
    let train = format!(
        "train --task lm --tokens characters --dataset abc.txt --test-split 0.1 --hidden 8 --nu 0 --batch 4 \
         --sequence-length 20 --epochs 8 --lr 0.02 --optimizer adam --weight-decay 0.0001 --clip 1 --input-dropout 0 \
         --output-dropout 0 --weight-drop 0 --activation-penalty 0 --temporal-penalty 0 --out run {more}"
    );
    json(folder, &train.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_language_model_continues_a_text_in_floats_and_in_integers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    train_letters(folder, "");
    let made = json(folder, &["quantize", "run", "--calibrate", "abc.txt", "-o", "int.safetensors"]);
    assert_eq!(made["bytes"]["embedding"], 5 * 8);
    let (float, integer) = (&made["test"]["float"]["perplexity"], &made["test"]["integer"]["perplexity"]);
    assert!((float.as_f64().unwrap() - integer.as_f64().unwrap()).abs() < 0.01, "{made}");
    let again = json(folder, &["eval", "int.safetensors", "--dataset", "abc.txt"]);
    assert_eq!((&again["perplexity"], &again["engine"]), (integer, &"integer".into()));
    assert_eq!(
        text(folder, &["generate", "run", "--prompt", "abcab", "--length", "5", "--temperature", "0"]),
        "abcabcabc\n\n"
    );
    for model in ["run", "int.safetensors"] {
        let of = |flags: &str| {
            let flags = ["generate", model].into_iter().chain(flags.split_whitespace());
            json(folder, &flags.collect::<Vec<_>>())
        };
        let found = of("--prompt ab --length 30 --seed 7 --top-k 3");
        assert_eq!(found["text"].as_str().unwrap().len(), 30, "{found}");
        assert_eq!((&found["prompt"], &found["prompt_tokens"]), (&"ab".into(), &2.into()));
        assert_eq!(found["tokens"].as_array().unwrap().len(), 30);
        assert_eq!(found["engine"], if model == "run" { "float" } else { "integer" });
        assert_eq!(found, of("--prompt ab --length 30 --seed 7 --top-k 3"));
        assert_ne!(found["tokens"], of("--prompt ab --length 30 --seed 8 --temperature 4")["tokens"]);
        assert_eq!(of("--prompt axbx --length 1")["prompt_unknown"], 2);
    }
    let info = text(folder, &["info", "int.safetensors"]);
    assert!(info.contains("vectors of tokens") && !info.contains("One count"), "{info}");
    let compared = json(folder, &["compare", "run", "int.safetensors", "--dataset", "abc.txt"]);
    assert!(compared["drift"][0]["relative"].as_f64().unwrap() < 0.1, "{compared}");
    assert_eq!(compared["agreement"], serde_json::Value::Null);
}

#[test]
fn a_language_model_is_trained_for_integers() {
    let folder = tempfile::tempdir().unwrap();
    let summary = train_letters(folder.path(), "--quantize --rank-u 4 --keep-head 0.8");
    let bytes = &summary["bytes"];
    let parts = ["cells", "embedding"].map(|key| bytes[key].as_u64().unwrap());
    assert!(parts.iter().sum::<u64>() < bytes["total"].as_u64().unwrap(), "{bytes}");
    assert!(summary["test"]["perplexity"].as_f64().unwrap() < 2.0, "{summary}");
    fails(
        folder.path(),
        &["train", "run/config.toml", "--input-lsb", "1", "--out", "b"],
        2,
        &["input-lsb", "texts"],
    );
}

#[test]
fn what_cannot_be_generated_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    train_letters(folder, "");
    fails(folder, &["generate", "run", "--temperature", "99"], 2, &["--temperature 99", "0.0625"]);
    fails(folder, &["generate", "run", "--top-k", "0"], 2, &["--top-k"]);
    fails(folder, &["generate", "run", "--length", "0"], 2, &["--length"]);
    fails(folder, &["generate", "run", "--seed", "x"], 2, &["--seed"]);
    fails(folder, &["generate", "run", "--engine", "integer"], 2, &["fastgrnn quantize"]);
    fails(folder, &["generate", "nothing.safetensors"], 1, &["nothing.safetensors"]);
    text(
        folder,
        &[
            "new",
            "--cell",
            "gru",
            "--input",
            "2",
            "--hidden",
            "4",
            "--classes",
            "2",
            "--steps",
            "5",
            "-o",
            "n.safetensors",
        ],
    );
    fails(folder, &["generate", "n.safetensors"], 1, &["predicts classes", "--task lm"]);
    fails(folder, &["predict", "run", "abc.txt"], 1, &["generate"]);
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
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("An example of each class") && report.contains("<p class=\"text\">the stay was"));
    let model = "run/model.safetensors";
    assert!(text(folder.path(), &["predict", model, "What an awful stay!"]).contains("bad"));
    let found = json(folder.path(), &["predict", model, "Lovely."]);
    assert_eq!(found["predictions"][0]["label"], "good");
    let made = json(folder.path(), &["quantize", model, "--calibrate", "stays.csv", "-o", "int.safetensors"]);
    assert!(made["bytes"]["embedding"].as_u64().unwrap() > 0, "{made}");
    let scored = json(folder.path(), &["eval", "int.safetensors", "--dataset", "stays.csv"]);
    assert_eq!((&scored["accuracy"], &scored["engine"]), (&1.0.into(), &"integer".into()));
    assert!(text(folder.path(), &["predict", "int.safetensors", "What an awful stay!"]).contains("bad"));
    fails(folder.path(), &["predict", model, "stayz.csv"], 1, &["stayz.csv"]);
    write(folder.path(), "new.jsonl", "{\"review\": \"awful\"}\n{\"review\": \"lovely\"}\n");
    let found = json(folder.path(), &["predict", model, "new.jsonl"]);
    assert_eq!(found["n"], 2);
    let inspected = "data inspect stays.csv --text-col review --label-col verdict";
    let shown = text(folder.path(), &inspected.split(' ').collect::<Vec<_>>());
    assert!(shown.contains("tokens") && !shown.contains("smallest"), "{shown}");
    let output = run(folder.path(), &["predict", model, "some words"]);
    let note = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(note.contains("there is no file 'some words'; it is read as a text"), "{note}");
    fails(folder.path(), &["predict", model, "my stays.csv"], 1, &["my stays.csv"]);
    let wrong = "train --dataset stays.csv --text-col reviews --label-col verdict --out x";
    let wrong: Vec<&str> = wrong.split(' ').collect();
    fails(folder.path(), &wrong, 2, &["'reviews'", "review, verdict"]);
}

#[test]
fn several_labels_are_trained_evaluated_predicted_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..120)
        .map(|i| {
            let crops: Vec<&str> = ["wheat", "corn", "rice"]
                .into_iter()
                .enumerate()
                .filter(|(k, _)| i >> k & 1 == 1)
                .map(|(_, c)| c)
                .collect();
            format!("\"News about {} today, no {i}\",{}\n", crops.join(" and "), crops.join("|"))
        })
        .collect();
    write(folder.path(), "news.csv", &format!("story,topics\n{rows}"));
    let train = "train --task multilabel --dataset news.csv --text-col story --label-col topics --test-split 0.25 \
                 --val-split 0.2 --hidden 12 --epochs 60 --lr 0.02 --readout max --out run";
    let summary = json(folder.path(), &train.split_whitespace().collect::<Vec<_>>());
    for part in ["val", "test"] {
        let scores = &summary[part];
        for key in [
            "precision_at_1",
            "precision_at_2",
            "precision_at_4",
            "precision_at_3",
            "precision_at_5",
            "ndcg_at_1",
            "ndcg_at_3",
            "ndcg_at_5",
        ] {
            assert!(scores[key].is_f64(), "{key}: {scores}");
        }
        assert!(scores["micro_f1"].as_f64().unwrap() > 0.9, "{scores}");
        assert!(scores["macro_f1"].is_f64() && scores["loss"].is_f64() && scores["n"].is_u64(), "{scores}");
        assert!(scores.get("accuracy").is_none(), "{scores}");
    }
    let model = "run/model.safetensors";
    let again = json(folder.path(), &["eval", model, "--dataset", "news.csv", "--predictions", "p.csv"]);
    assert_eq!(
        (&again["micro_f1"], &again["n"]),
        (&summary["test"]["micro_f1"], &30.into()),
        "the test part again"
    );
    let table = std::fs::read_to_string(folder.path().join("p.csv")).unwrap();
    assert!(table.starts_with("id,labels,predictions,ranked\n") && table.lines().count() == 31, "{table}");
    let found = json(folder.path(), &["predict", model, "News about wheat and corn today"]);
    let labels: Vec<&str> =
        found["predictions"][0]["labels"].as_array().unwrap().iter().filter_map(|l| l.as_str()).collect();
    assert!(labels.contains(&"wheat") && labels.contains(&"corn"), "{found}");
    assert_eq!(found["predictions"][0]["top"].as_array().unwrap().len(), 3);
    assert!(text(folder.path(), &["predict", model, "rice"]).contains("rice"));
    assert!(text(folder.path(), &["info", model]).contains("any of 3 labels at threshold"));
    let compared = json(folder.path(), &["compare", model, model, "--dataset", "news.csv"]);
    assert_eq!(compared["agreement"], 1.0, "{compared}");
    write(folder.path(), "other.csv", "story,topics\nwheat,wheat|cocoa\ncorn,corn\n");
    let other = run(folder.path(), &["eval", model, "--dataset", "other.csv", "--json"]);
    let stderr = String::from_utf8_lossy(&other.stderr);
    assert!(other.status.success() && stderr.contains("count as missed: cocoa"), "{stderr}");
    let quantize = ["quantize", model, "--calibrate", "news.csv", "--output", "q.safetensors"];
    fails(folder.path(), &quantize, 1, &["no integer form"]);
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("test micro F1") && report.contains("precision@3"), "{report}");
    assert!(text(folder.path(), &["runs", "."]).contains("micro F1"));
    let wrong = "train --task multilabel --dataset news.csv --text-col story --label-col topics --positive corn --out x";
    fails(folder.path(), &wrong.split(' ').collect::<Vec<_>>(), 2, &["positive = corn"]);
    let quantized =
        "train --task multilabel --dataset news.csv --text-col story --label-col topics --quantize --out x";
    fails(folder.path(), &quantized.split(' ').collect::<Vec<_>>(), 2, &["no integer form"]);
}

#[test]
fn several_labels_of_measurements_are_learnt() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60)
        .flat_map(|i| {
            let (hot, wet) = (i % 2, i / 2 % 2);
            let label = [["", "wet"], ["hot", "hot|wet"]][hot][wet];
            (0..4).map(move |t| format!("{i},{},{},{label}\n", hot as f64 + 0.01 * f64::from(t % 2), wet))
        })
        .collect();
    write(folder.path(), "weather.csv", &format!("id,heat,rain,label\n{rows}"));
    let train = "train --task multilabel --dataset weather.csv --id-col id --label-col label --val-split 0.3 \
                 --hidden 8 --epochs 40 --lr 0.02 --out run";
    let summary = json(folder.path(), &train.split_whitespace().collect::<Vec<_>>());
    assert!(summary["val"]["micro_f1"].as_f64().unwrap() > 0.95, "{}", summary["val"]);
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("hot, wet") && !report.contains("No mistakes"), "examples with their labels");
}
