//! Integer models through every command: `quantize`, `eval --engine`, `info`, `predict`, `compare`.

use crate::command::{Trained, copy_of_trained, fails, has_keys, json, text};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

/// The shared run made integer, with its image beside it; returns what `quantize` said.
fn quantized() -> &'static Value {
    static SHARED: OnceLock<Value> = OnceLock::new();
    SHARED.get_or_init(|| {
        let args =
            ["quantize", "run", "--calibrate", "digits", "-o", "int.safetensors", "--image", "int.image"];
        json(trained().path(), &args)
    })
}

/// A row of eight equal features.
fn eight(value: &str) -> String {
    [value; 8].join(",")
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

#[test]
fn quantize_says_what_it_made() {
    let q = quantized();
    let keys = ["model", "image", "cell", "params", "nnz", "bytes", "ram_bytes", "macs_per_step"];
    has_keys(q, &[&keys[..], &["calibrated_on", "scales", "test"]].concat());
    let model = Path::new(q["model"].as_str().unwrap());
    assert!(model.is_absolute() && model.is_file());
    let image = std::fs::read(q["image"].as_str().unwrap()).unwrap();
    assert!(image.starts_with(b"FG"));
    assert_eq!(image.len() as u64, whole(&q["bytes"]["total"]), "total is the length of the image");
    assert_eq!(q["scales"]["input_lsb"].as_array().unwrap().len(), 8);
    has_keys(&q["test"], &["n", "float", "integer", "agreement", "saturations"]);
    assert!(q["test"]["agreement"].as_f64().unwrap() > 0.97, "{q}");
    has_keys(&q["test"]["saturations"], &["total", "steps", "rows"]);
    let seed = &trained().summary["best_seed"];
    let train = json(trained().path(), &["eval", "run", "--dataset", "digits", "--split", "train"]);
    assert_eq!(q["calibrated_on"], train["n"], "scales come from what seed {seed} learnt from");
}

#[test]
fn quantize_tells_people_bytes_scales_and_both_accuracies() {
    let args = ["quantize", "run", "--calibrate", "digits", "-o", "people.safetensors"];
    let people = text(trained().path(), &args);
    for part in
        ["one count", "float", "integer", "measured", "agree on", "total: the device image", "saturated"]
    {
        assert!(people.contains(part), "{part} is not in\n{people}");
    }
}

#[test]
fn a_sensor_s_count_may_be_given() {
    let t = trained();
    let with = |lsb: &str, out: &str| {
        ["quantize", "run", "--calibrate", "digits", "-o", out, "--input-lsb", lsb].map(str::to_owned)
    };
    let run = |lsb: &str| {
        let args = with(lsb, "lsb.safetensors");
        json(t.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(run("0.0625")["scales"]["input_lsb"], serde_json::json!(vec![0.0625; 8]));
    assert_eq!(run("0.0625,0.0625,0.125,0.125,0.125,0.125,0.0625,0.0625")["scales"]["input_lsb"][2], 0.125);
    for (lsb, parts) in
        [("0.1,0.2", ["2 values", "8 features"]), ("-1", ["-1", "positive"]), ("1e-9", ["counts", "16 bits"])]
    {
        let args = with(lsb, "no.safetensors");
        fails(t.path(), &args.iter().map(String::as_str).collect::<Vec<_>>(), 1, &parts);
    }
    assert!(!t.path().join("no.safetensors").exists(), "nothing is left behind");
}

#[test]
fn calibration_data_need_no_labels() {
    let t = trained();
    let rows: String = (0..40).map(|i| format!("s{},{}\n", i / 2, eight(&format!("0.{}", i % 10)))).collect();
    std::fs::write(t.path().join("plain.csv"), format!("id,a,b,c,d,e,f,g,h\n{rows}")).unwrap();
    let args = ["quantize", "run", "--calibrate", "plain.csv", "--id-col", "id", "-o", "plain.safetensors"];
    let q = json(t.path(), &args);
    assert!(q["test"].is_null() && q["image"].is_null(), "{q}");
    assert_eq!(q["calibrated_on"], 20);
    let args = ["compare", "run", "plain.safetensors", "--dataset", "plain.csv", "--id-col", "id"];
    let c = json(t.path(), &args);
    assert!(c["a"]["scores"].is_null() && c["agreement"].is_number(), "{c}");
    assert_eq!((c["split"].as_str(), whole(&c["n"])), (Some("all"), 20));
}

#[test]
fn what_quantize_refuses() {
    quantized();
    let t = trained();
    let args = ["quantize", "int.safetensors", "--calibrate", "digits", "-o", "again.safetensors"];
    fails(t.path(), &args, 2, &["int.safetensors", "integer model already", "model_float.safetensors"]);
    let args = ["quantize", "run", "--calibrate", "digits", "-o", "run/model.safetensors"];
    fails(t.path(), &args, 2, &["would be lost", "-o"]);
    let args = ["quantize", "run", "--calibrate", "digits", "-o", "x.safetensors", "--headroom", "0.5"];
    fails(t.path(), &args, 2, &["--headroom 0.5", "between 1 and 1024"]);
    fails(t.path(), &["quantize", "run", "--calibrate", "digits"], 2, &["--output"]);
    fails(t.path(), &["quantize", "run", "-o", "x.safetensors"], 2, &["--calibrate"]);
    let narrow = ["quantize", "run", "--calibrate", "digits", "--timesteps", "64", "-o", "x.safetensors"];
    fails(t.path(), &narrow, 1, &["1 features", "reads 8"]);
}

#[test]
fn eval_computes_with_what_the_model_is_unless_told() {
    quantized();
    let t = trained();
    let eval =
        |more: &[&str]| json(t.path(), &[&["eval", "int.safetensors", "--dataset", "digits"], more].concat());
    let own = eval(&[]);
    assert_eq!(own["engine"], "integer");
    has_keys(&own["saturations"], &["total", "steps", "rows"]);
    assert_eq!(own["accuracy"], quantized()["test"]["integer"]["accuracy"]);
    assert_eq!(eval(&["--engine", "integer"]), own);
    let float = eval(&["--engine", "float"]);
    assert_eq!(float["engine"], "float");
    assert!(float.get("saturations").is_none());
    assert_ne!(float["loss"], own["loss"], "another arithmetic");
    assert_eq!(json(t.path(), &["eval", "run", "--dataset", "digits"])["engine"], "float");
    let args = ["eval", "run", "--dataset", "digits", "--engine", "integer"];
    fails(t.path(), &args, 2, &["float model", "fastgrnn quantize run"]);
}

#[test]
fn eval_says_where_values_saturate() {
    let t = trained();
    // Pixels lie between 0 and 1; these are far beyond what calibration saw.
    let rows: String =
        (0..30).map(|i| format!("s{i},{},{}\n", eight(&format!("{}.5", i % 10 * 3)), i % 10)).collect();
    std::fs::write(t.path().join("loud.csv"), format!("id,a,b,c,d,e,f,g,h,label\n{rows}")).unwrap();
    quantized();
    let args = ["eval", "int.safetensors", "--dataset", "loud.csv", "--id-col", "id", "--label-col", "label"];
    let e = json(t.path(), &args);
    let rows = e["saturations"]["rows"].as_array().unwrap();
    assert!(whole(&e["saturations"]["total"]) > 0, "{e}");
    has_keys(&rows[0], &["layer", "place", "count"]);
    let people = text(t.path(), &args);
    assert!(people.contains("saturated") && people.contains("of layer 0"), "{people}");
}

#[test]
fn info_counts_every_byte_of_an_integer_model() {
    quantized();
    let i = json(trained().path(), &["info", "int.safetensors"]);
    has_keys(&i, &["nnz", "bytes", "ram_bytes", "macs_per_step", "matrices", "scales", "engine", "tensors"]);
    let parts = ["weights", "indices", "scales", "biases", "head", "table", "header"];
    has_keys(&i["bytes"], &[&parts[..], &["total", "bytes_as_in_paper"]].concat());
    let sum: u64 = parts.iter().map(|p| whole(&i["bytes"][p])).sum();
    assert_eq!(sum, whole(&i["bytes"]["total"]), "the parts make the total");
    assert_eq!(i["engine"], "integer");
    let tensors = i["tensors"].as_array().unwrap().iter();
    assert_eq!(tensors.map(|t| whole(&t["bytes"])).sum::<u64>(), sum, "so do the tensors");
    for (key, of) in [("nnz", "nnz"), ("ram_bytes", "ram_bytes"), ("macs_per_step", "macs_per_step")] {
        assert_eq!(i[key], quantized()[of]);
    }
    let matrices = i["matrices"].as_array().unwrap();
    has_keys(&matrices[0], &["name", "rows", "cols", "form", "nonzero", "kept", "values", "indices"]);
    let nonzero: u64 = matrices.iter().map(|m| whole(&m["nonzero"])).sum();
    assert_eq!(nonzero, whole(&i["nnz"]));
    has_keys(&i["scales"], &["input_lsb", "input_bits", "layers", "score_bits"]);
    let people = text(trained().path(), &["info", "int.safetensors"]);
    for part in ["device image", "the paper's way of counting", "dense", "One count of the input", "of RAM"] {
        assert!(people.contains(part), "{part} is not in\n{people}");
    }
}

#[test]
fn info_answers_the_same_questions_about_floats() {
    let i = json(trained().path(), &["info", "run"]);
    has_keys(&i, &["nnz", "ram_bytes", "macs_per_step"]);
    has_keys(&i["bytes"], &["total", "weights", "indices", "scales", "head", "biases", "bytes_as_in_paper"]);
    assert_eq!(whole(&i["bytes"]["total"]), 4 * whole(&i["params"]));
    assert_eq!(i["bytes"]["bytes_as_in_paper"], i["bytes"]["total"], "a dense model is counted alike");
    assert_eq!((i["engine"].as_str(), i["format"].as_u64()), (Some("float"), Some(1)));
    // 12 units on 8 features, full rank, 10 classes.
    assert_eq!((whole(&i["nnz"]), whole(&i["macs_per_step"])), (12 * 8 + 12 * 12 + 120, 12 * 8 + 12 * 12));
}

#[test]
fn predict_takes_integer_models() {
    quantized();
    let t = trained();
    json(t.path(), &["data", "convert", "digits", "integer-input.npz"]);
    let by = |model: &str| json(t.path(), &["predict", model, "integer-input.npz"]);
    let (float, integer) = (by("run"), by("int.safetensors"));
    let class = |p: &Value, i: usize| p["predictions"][i]["class"].clone();
    let n = whole(&integer["n"]) as usize;
    let equal = (0..n).filter(|&i| class(&float, i) == class(&integer, i)).count();
    assert!(equal as f64 / n as f64 > 0.97, "{equal} of {n}");
}

#[test]
fn compare_follows_states_and_writes_a_page() {
    quantized();
    let t = trained();
    let args = ["compare", "run", "int.safetensors", "--dataset", "digits", "--report", "compare.html"];
    let c = json(t.path(), &args);
    has_keys(
        &c,
        &["dataset", "split", "n", "samples", "agreement", "difference", "a", "b", "drift", "report"],
    );
    assert_eq!((c["split"].as_str(), whole(&c["n"]), whole(&c["samples"])), (Some("test"), 355, 256));
    for side in ["a", "b"] {
        has_keys(&c[side], &["model", "engine", "cell", "bytes", "scores", "saturations"]);
    }
    assert!(c["a"]["saturations"].is_null() && c["b"]["saturations"].is_object(), "{c}");
    assert_eq!(c["agreement"], quantized()["test"]["agreement"]);
    assert_eq!(c["b"]["scores"]["accuracy"], quantized()["test"]["integer"]["accuracy"]);
    let drift = &c["drift"][0];
    has_keys(drift, &["layer", "value", "scale", "mean", "max", "relative", "points"]);
    let points = drift["points"].as_array().unwrap();
    assert_eq!(points.len(), 8, "a point a step");
    has_keys(&points[0], &["step", "n", "mean", "max"]);
    let mean = drift["mean"].as_f64().unwrap();
    assert!(mean > 0.0 && mean < 0.1 && drift["max"].as_f64().unwrap() >= mean, "{drift}");
    let page = std::fs::read_to_string(t.path().join("compare.html")).unwrap();
    for part in ["Drift of h, layer 0", "agreement", "saturated", "fastgrnn compare", "<svg"] {
        assert!(page.contains(part), "the page does not show '{part}'");
    }
    let few = json(t.path(), &[&args[..5], &["--samples", "3"]].concat());
    assert_eq!((whole(&few["samples"]), whole(&few["n"])), (3, 355));
}

#[test]
fn compare_takes_any_two_models_that_answer_the_same_question() {
    let t = trained();
    let small = "train --dataset digits --cell gru --hidden 4 --epochs 1 --out other";
    json(t.path(), &small.split(' ').collect::<Vec<_>>());
    let c = json(t.path(), &["compare", "run", "other", "--dataset", "digits"]);
    assert_eq!((c["drift"].as_array().unwrap().len(), whole(&c["samples"])), (0, 0), "{c}");
    assert!(text(t.path(), &["compare", "run", "other", "--dataset", "digits"]).contains("not the same"));
    let same = json(t.path(), &["compare", "run", "run", "--dataset", "digits"]);
    assert_eq!((same["agreement"].as_f64(), same["drift"][0]["max"].as_f64()), (Some(1.0), Some(0.0)));
    let label = |i: u32| if i.is_multiple_of(2) { "up" } else { "down" };
    let rows: String = (0..20).map(|i| format!("{},{}\n", eight(&format!("{i}.5")), label(i))).collect();
    std::fs::write(t.path().join("two.csv"), rows).unwrap();
    json(t.path(), &["train", "--dataset", "two.csv", "--hidden", "4", "--epochs", "1", "--out", "two"]);
    fails(t.path(), &["compare", "run", "two", "--dataset", "digits"], 1, &["the same question"]);
}

#[test]
fn a_quantized_run_delivers_the_integer_model() {
    let t = trained();
    let args = "train --dataset digits --hidden 8 --epochs 6 --quantize --out quantized";
    let s = json(t.path(), &args.split(' ').collect::<Vec<_>>());
    has_keys(&s, &["model", "model_float", "test_float", "bytes"]);
    let i = json(t.path(), &["info", "quantized"]);
    assert_eq!((i["engine"].as_str(), &i["bytes"]["total"]), (Some("integer"), &s["bytes"]["total"]));
    let e = json(t.path(), &["eval", "quantized", "--dataset", "digits"]);
    assert_eq!((e["engine"].as_str(), &e["accuracy"]), (Some("integer"), &s["test"]["accuracy"]));
    let page = std::fs::read_to_string(t.path().join("quantized/report.html")).unwrap();
    assert!(
        page.contains("device image, integers only") && page.contains("input.factor"),
        "the page of integers"
    );
}
