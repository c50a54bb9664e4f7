//! The JSON that commands print, key by key, and the files they write.

use crate::command::{Trained, copy_of_trained, has_keys, json, text};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

fn fraction(value: &Value) -> f64 {
    let value = value.as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&value), "{value} is no fraction");
    value
}

#[test]
fn train_prints_its_summary() {
    let s = &trained().summary;
    has_keys(
        s,
        &["run", "model", "cell", "params", "bytes", "epochs", "seconds", "val", "test", "test_sd", "seeds"],
    );
    assert_eq!(s["cell"], "fastgrnn");
    assert_eq!(s["epochs"], 4);
    assert_eq!(s["bytes"]["total"].as_u64(), s["params"].as_u64().map(|p| 4 * p));
    for part in ["val", "test", "test_sd"] {
        has_keys(&s[part], &["accuracy", "f1_macro", "loss", "n"]);
        fraction(&s[part]["accuracy"]);
        fraction(&s[part]["f1_macro"]);
    }
    let seeds = s["seeds"].as_array().unwrap();
    assert_eq!(seeds.iter().map(|s| s["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 4]);
    let mean = seeds.iter().map(|s| fraction(&s["test"]["accuracy"])).sum::<f64>() / 2.0;
    assert!((mean - fraction(&s["test"]["accuracy"])).abs() < 1e-12, "test holds means over the seeds");
}

#[test]
fn train_names_absolute_paths_that_exist() {
    let s = &trained().summary;
    for key in ["run", "model"] {
        let path = Path::new(s[key].as_str().unwrap());
        assert!(path.is_absolute() && path.exists(), "{key}: {}", path.display());
    }
}

#[test]
fn a_run_folder_holds_everything() {
    let run = trained().run();
    for name in [
        "config.toml",
        "model.safetensors",
        "summary.json",
        "report.html",
        "plots/loss.svg",
        "plots/accuracy.svg",
        "plots/confusion.svg",
        "seed-3/model.safetensors",
        "seed-4/result.json",
    ] {
        assert!(run.join(name).is_file(), "{name} is missing");
    }
    let metrics = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let lines: Vec<Value> = metrics.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 8, "a line an epoch of each seed");
    has_keys(&lines[0], &["seed", "pass", "stage", "epoch", "train_loss", "val_loss", "val_accuracy"]);
    assert_eq!((&lines[0]["pass"], &lines[0]["stage"]), (&"choose".into(), &"dense".into()));
    let leftovers: Vec<_> = std::fs::read_dir(&run)
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with(".writing-"))
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[test]
fn the_report_shows_the_run() {
    let page = std::fs::read_to_string(trained().run().join("report.html")).unwrap();
    for part in [
        "digits · fastgrnn",
        "test accuracy",
        "Confusion matrix (test, seed",
        "Worst mistakes (test, seed",
        "An example of each class",
        "layer0.",
        "hidden = 12",
        "measured",
    ] {
        assert!(page.contains(part), "the report does not show '{part}'");
    }
}

#[test]
fn the_config_of_a_run_trains_the_same_model_again() {
    let t = trained();
    let config = t.run().join("config.toml").display().to_string();
    json(t.path(), &["train", &config, "--out", "again", "--threads", "1"]);
    let bytes = |run: &str| std::fs::read(t.path().join(run).join("model.safetensors")).unwrap();
    assert!(bytes("run") == bytes("again"), "the model files differ");
}

#[test]
fn eval_agrees_with_train() {
    let t = trained();
    let e = json(t.path(), &["eval", &t.model(), "--dataset", "digits"]);
    has_keys(&e, &["accuracy", "f1_macro", "confusion", "n", "loss", "labels", "split", "dataset"]);
    assert_eq!(e["split"], "test");
    let best = &t.summary["best_seed"];
    let seed = t.summary["seeds"].as_array().unwrap().iter().find(|s| &s["seed"] == best).unwrap();
    assert_eq!(e["accuracy"], seed["test"]["accuracy"]);
    let counts = e["confusion"].as_array().unwrap();
    let total: u64 = counts.iter().flat_map(|r| r.as_array().unwrap()).map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(Some(total), e["n"].as_u64());
}

#[test]
fn eval_splits_cover_the_training_data() {
    let t = trained();
    let n = |split: &str| {
        let e = json(t.path(), &["eval", &t.model(), "--dataset", "digits", "--split", split]);
        assert_eq!(e["split"], split);
        e["n"].as_u64().unwrap()
    };
    let (train, val, test, all) = (n("train"), n("val"), n("test"), n("all"));
    assert_eq!(train + val + test, all);
    assert_eq!(Some(val), t.summary["val"]["n"].as_u64());
}

#[test]
fn eval_on_the_validation_part_agrees_with_train() {
    let t = trained();
    let e = json(t.path(), &["eval", &t.model(), "--dataset", "digits", "--split", "val"]);
    let best = &t.summary["best_seed"];
    let seed = t.summary["seeds"].as_array().unwrap().iter().find(|s| &s["seed"] == best).unwrap();
    assert_eq!(e["accuracy"], seed["val"]["accuracy"]);
}

#[test]
fn eval_writes_predictions_with_a_score_a_class() {
    let t = trained();
    let e = json(t.path(), &["eval", &t.model(), "--dataset", "digits", "--predictions", "predictions.csv"]);
    let mut reader = csv::Reader::from_path(t.path().join("predictions.csv")).unwrap();
    let heading: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(heading[..3], ["id", "label", "prediction"]);
    assert_eq!(heading.len(), 13);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(Some(rows.len() as u64), e["n"].as_u64());
    let right = rows.iter().filter(|r| r[1] == r[2]).count() as f64 / rows.len() as f64;
    assert!((right - fraction(&e["accuracy"])).abs() < 1e-12);
    let sum: f64 = rows[0].iter().skip(3).map(|s| s.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-4, "scores are probabilities: {sum}");
}

#[test]
fn a_run_folder_stands_for_its_model() {
    let t = trained();
    let file = json(t.path(), &["info", &t.model()]);
    assert_eq!(file, json(t.path(), &["info", "run"]));
}

#[test]
fn info_describes_the_model() {
    let t = trained();
    let i = json(t.path(), &["info", &t.model()]);
    has_keys(
        &i,
        &[
            "cell",
            "params",
            "bytes",
            "network",
            "equation",
            "tensors",
            "labels",
            "normalize",
            "recipe",
            "seed",
        ],
    );
    assert_eq!(i["params"], t.summary["params"]);
    assert_eq!(i["labels"].as_array().unwrap().len(), 10);
    let bytes: u64 = i["tensors"].as_array().unwrap().iter().map(|t| t["bytes"].as_u64().unwrap()).sum();
    assert_eq!(Some(bytes), i["bytes"]["total"].as_u64());
    let people = text(t.path(), &["info", &t.model()]);
    for part in ["FastGRNN", "layer0.u", "12 units", "10 classes", "hidden = 12"] {
        assert!(people.contains(part), "{people}");
    }
}

#[test]
fn predict_answers_one_line_a_sequence() {
    let t = trained();
    json(t.path(), &["data", "convert", "digits", "all.npz"]);
    let p = json(t.path(), &["predict", &t.model(), "all.npz"]);
    let n = p["n"].as_u64().unwrap() as usize;
    let rows = p["predictions"].as_array().unwrap();
    assert_eq!(rows.len(), n);
    has_keys(&rows[0], &["index", "id", "class", "label", "probability", "scores"]);
    let lines = text(t.path(), &["predict", &t.model(), "all.npz"]);
    assert_eq!(lines.lines().count(), n);
    let first: Vec<&str> = lines.lines().next().unwrap().split('\t').collect();
    assert_eq!(first[0], "0");
    assert_eq!(first[1], rows[0]["label"]);
    assert!((first[2].parse::<f64>().unwrap() - rows[0]["probability"].as_f64().unwrap()).abs() < 1e-4);
}

#[test]
fn data_list_names_the_known_sets() {
    let list = json(trained().path(), &["data", "list"]);
    let sets = list["datasets"].as_array().unwrap();
    let names: Vec<&str> = sets.iter().map(|s| s["name"].as_str().unwrap()).collect();
    for name in ["digits", "mnist", "har2", "har6", "dsa19"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(sets[0]["found"], true, "digits is built in");
}

#[test]
fn data_survives_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let digits = json(folder.path(), &["data", "inspect", "digits"]);
    assert_eq!((digits["dim"].as_u64(), digits["train"]["steps"]["max"].as_u64()), (Some(8), Some(8)));
    let written = json(folder.path(), &["data", "convert", "digits", "d.npz"]);
    assert_eq!(written["files"].as_array().unwrap().len(), 1);
    let again = json(folder.path(), &["data", "inspect", "d.npz"]);
    assert_eq!(digits["train"]["n"], again["train"]["n"]);
    assert_eq!(digits["test"]["classes"], again["test"]["classes"]);
}

#[test]
fn timesteps_reblock_and_eval_reads_as_training_did() {
    let folder = tempfile::tempdir().unwrap();
    let args = "train --dataset digits --timesteps 16 --hidden 4 --epochs 1 --out run"
        .split(' ')
        .collect::<Vec<_>>();
    let s = json(folder.path(), &args);
    let e = json(folder.path(), &["eval", "run", "--dataset", "digits"]);
    assert_eq!(e["accuracy"], s["test"]["accuracy"]);
}

#[test]
fn runs_without_a_name_get_fresh_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for n in 1..=2 {
        let args = "train --dataset digits --cell rnn --hidden 4 --epochs 1".split(' ').collect::<Vec<_>>();
        let s = json(folder.path(), &args);
        assert!(s["run"].as_str().unwrap().ends_with(&format!("digits-rnn-{n}")), "{s}");
        assert!(s["test_sd"].is_null(), "one seed has no deviation");
    }
}

#[test]
fn a_recipe_file_trains_and_flags_override_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("r.toml"),
        "dataset = \"digits\"\nhidden = 8\nepochs = 1\ncell = \"gru\"\n",
    )
    .unwrap();
    let s = json(folder.path(), &["train", "r.toml", "--cell", "lstm", "--out", "run"]);
    assert_eq!(s["cell"], "lstm");
    let config = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("hidden = 8") && config.contains("cell = \"lstm\""), "{config}");
}

#[test]
fn without_a_test_part_test_is_null() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60)
        .map(|i| format!("{}.5,{}.25,{}\n", i % 7, i % 3, if i % 2 == 0 { "up" } else { "down" }))
        .collect();
    std::fs::write(folder.path().join("d.csv"), rows).unwrap();
    let s = json(
        folder.path(),
        &["train", "--dataset", "d.csv", "--hidden", "4", "--epochs", "1", "--out", "run"],
    );
    assert!(s["test"].is_null() && s["test_sd"].is_null(), "{s}");
    let e = json(folder.path(), &["eval", "run", "--dataset", "d.csv"]);
    assert_eq!((e["split"].as_str(), e["n"].as_u64()), (Some("all"), Some(60)));
    assert!(e["f1"].is_number(), "two classes have an F1 of the positive one: {e}");
}

#[test]
fn predict_reads_a_file_as_training_did_without_its_label() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |label: bool| {
        let mut text = format!("walk,t,ax,ay{}\n", if label { ",activity" } else { "" });
        for walk in 0..40 {
            for t in 0..(5 + walk % 3) {
                let activity = if walk % 2 == 0 { ",still" } else { ",moving" };
                let label = if label { activity } else { "" };
                text.push_str(&format!("w{walk},{}.0,{}.5,{}.25{label}\n", t, walk % 2 * t, walk % 5));
            }
        }
        text
    };
    std::fs::write(folder.path().join("walks.csv"), rows(true)).unwrap();
    std::fs::write(folder.path().join("new.csv"), rows(false)).unwrap();
    let args = "train --dataset walks.csv --id-col walk --label-col activity --hidden 4 --epochs 2 --out run";
    json(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let p = json(folder.path(), &["predict", "run", "new.csv"]);
    assert_eq!(p["n"], 40);
    assert_eq!(p["predictions"][7]["id"], "w7");
    assert_eq!(json(folder.path(), &["info", "run"])["features"], serde_json::json!(["ax", "ay"]));
}

#[test]
fn numbers_are_regressed() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..80).map(|i| format!("{}.5,{}.25,{}.125\n", i % 7, i % 3, i % 7 + i % 3)).collect();
    std::fs::write(folder.path().join("d.csv"), rows).unwrap();
    let args = "train --dataset d.csv --label-col 2 --labels value --hidden 8 --epochs 60 --out run";
    let s = json(folder.path(), &args.split(' ').collect::<Vec<_>>());
    has_keys(&s["val"], &["rmse", "mae", "r2", "loss", "n"]);
    assert!(s["val"].get("accuracy").is_none(), "{s}");
    let e = json(folder.path(), &["eval", "run", "--dataset", "d.csv", "--predictions", "p.csv"]);
    assert!(e["r2"].as_f64().unwrap() > 0.5, "{e}");
    let csv = std::fs::read_to_string(folder.path().join("p.csv")).unwrap();
    assert!(csv.starts_with("id,label_0,prediction_0\n") && csv.lines().count() == 81, "{csv}");
    let p = json(folder.path(), &["predict", "run", "d.csv"]);
    assert_eq!(p["predictions"][0]["values"].as_array().unwrap().len(), 1);
    assert!(text(folder.path(), &["info", "run"]).contains("1 number\n"));
}

#[test]
fn bench_infer_measures_floats_and_integers() {
    let folder = tempfile::tempdir().unwrap();
    let b = json(folder.path(), &["bench", "infer", "--shape", "har32", "--seconds", "0"]);
    has_keys(&b, &["sequences", "rows"]);
    let rows = b["rows"].as_array().unwrap();
    let engines: Vec<_> = rows.iter().map(|r| r["engine"].as_str().unwrap()).collect();
    assert_eq!(engines, ["float", "runtime", "integer"]);
    for row in rows {
        has_keys(row, &["shape", "engine", "isa", "ns_per_step", "ratio", "turns"]);
        assert!(row["ns_per_step"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn bench_train_measures_a_shape() {
    let folder = tempfile::tempdir().unwrap();
    // Other tests run beside this one, so that no block is undisturbed: the budget ends it.
    let args = "bench train --shapes wakeword --blocks 1 --threads 1 --budget 4";
    let b = json(folder.path(), &args.split(' ').collect::<Vec<_>>());
    has_keys(&b, &["fma_peak_gflops", "rows"]);
    let rows = b["rows"].as_array().unwrap();
    assert!(rows.iter().all(|r| r["shape"] == "wakeword") && rows.len() >= 4);
    for row in rows {
        has_keys(
            row,
            &[
                "shape",
                "cell",
                "rank",
                "ms",
                "torch",
                "ratio_vs_fastest_torch",
                "gflops",
                "fraction_of_peak",
                "on_cpu",
            ],
        );
        assert!(row["ms"].as_f64().unwrap() > 0.0 && row["gflops"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["torch"].is_null(), "torch was not asked for");
    }
}

#[test]
fn bench_train_measures_a_shape_on_a_gpu() {
    if !fastgrnn_testing::emulator::is_available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let args = "bench train --device cuda --shapes wakeword --networks 2 --batches 1 --blocks 1 --json";
    let output = crate::command::command(folder.path(), &args.split(' ').collect::<Vec<_>>())
        .env("FASTGRNN_CUDA_LIBRARY", fastgrnn_testing::emulator::library())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let b: Value = serde_json::from_slice(&output.stdout).unwrap();
    has_keys(&b, &["device", "gpu", "driver", "torch", "rows"]);
    let rows = b["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let keys = "shape cell networks batch us us_range why peer peer_us peer_basis ratio peers";
    has_keys(&rows[0], &keys.split(' ').collect::<Vec<_>>());
    assert!(rows[0]["us"].as_f64().unwrap() > 0.0 && rows[0]["networks"] == 2, "{b}");
}

#[test]
fn completions_exist_for_every_shell() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(text(folder.path(), &["completions", shell]).contains("predictions"), "{shell}");
    }
    has_keys(&json(folder.path(), &["completions", "bash"]), &["shell", "script"]);
}

/// Recordings of two axes called x and y, apart by the sign of x.
fn recordings(header: &str, order: fn(f64, f64) -> String) -> String {
    let rows = (0..40).flat_map(|id| {
        (0..3).map(move |t| {
            let x = if id % 2 == 0 { 1.0 } else { -1.0 } + 0.01 * f64::from((id * 3 + t) * 7 % 11);
            let label = if id % 2 == 0 { "up" } else { "down" };
            format!("walk{id},{},{label}\n", order(x, f64::from((id + 2 * t) % 5)))
        })
    });
    std::iter::once(format!("{header}\n")).chain(rows).collect()
}

#[test]
fn predictions_do_not_depend_on_the_order_of_columns_and_carry_the_ids() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    put("w.csv", recordings("walk,x,y,activity", |x, y| format!("{x},{y}")));
    put("swapped.csv", recordings("walk,y,x,activity", |x, y| format!("{y},{x}")));
    put("other.csv", recordings("walk,x,z,activity", |x, y| format!("{x},{y}")));
    let args = "train --dataset w.csv --id-col walk --label-col activity --hidden 4 --epochs 2 --out run";
    json(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let straight = json(folder.path(), &["predict", "run", "w.csv"]);
    assert_eq!(json(folder.path(), &["predict", "run", "swapped.csv"]), straight);
    assert_eq!(straight["predictions"][1]["id"], "walk1");
    crate::command::fails(folder.path(), &["predict", "run", "other.csv"], 1, &["x, y", "x, z"]);

    json(folder.path(), &["eval", "run", "--dataset", "swapped.csv", "--predictions", "p.csv"]);
    let predictions = std::fs::read_to_string(folder.path().join("p.csv")).unwrap();
    assert!(predictions.lines().nth(1).unwrap().starts_with("walk0,up,"), "{predictions}");
    let ups: Vec<String> = std::fs::read_to_string(folder.path().join("w.csv"))
        .unwrap()
        .lines()
        .filter(|line| !line.ends_with("down"))
        .map(|line| format!("{line}\n"))
        .collect();
    put("ups.csv", ups.concat());
    assert_eq!(json(folder.path(), &["eval", "run", "--dataset", "ups.csv"])["n"], 20);
}

#[test]
fn convert_overwrites_nothing_whatever_the_case_of_the_ending() {
    let folder = tempfile::tempdir().unwrap();
    let convert = ["data", "convert", "digits", "E.CSV"];
    json(folder.path(), &convert);
    crate::command::fails(folder.path(), &convert, 2, &["E_TRAIN.CSV", "--force"]);
}
