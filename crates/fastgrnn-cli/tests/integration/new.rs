//! `new` and `random:N`: models and data that nobody trained or recorded.

use crate::command::{fails, has_keys, json, run, text};
use std::path::Path;

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

const UNO: &str = "new --cell fastgrnn --input 3 --hidden 16 --rank-w 2 --rank-u 8 --keep-w 0.5 \
                   --keep-u 0.5 --classes 2 --steps 40 --seed 7 -o m.safetensors";

fn made(folder: &Path) -> serde_json::Value {
    json(folder, &words(UNO))
}

#[test]
fn new_writes_an_integer_model_of_exactly_the_shape() {
    let folder = tempfile::tempdir().unwrap();
    let n = made(folder.path());
    let keys = ["model", "cell", "params", "nnz", "bytes", "ram_bytes", "macs_per_step", "steps", "seed"];
    has_keys(&n, &[&keys[..], &["scales"]].concat());
    assert_eq!(n["macs_per_step"], 16 + 3 + 64 + 64);
    assert_eq!(n["nnz"], 147 + 32);
    assert_eq!((&n["steps"], &n["seed"]), (&40.into(), &7.into()));
    let i = json(folder.path(), &["info", "m.safetensors"]);
    assert_eq!((i["engine"].as_str(), i["format"].as_u64()), (Some("integer"), Some(2)));
    assert_eq!(i["labels"], serde_json::json!(["class0", "class1"]));
    for matrix in i["matrices"].as_array().unwrap().iter().filter(|m| m["name"] != "head.w") {
        assert_eq!(matrix["kept"], 0.5, "{matrix}");
    }
    let first = std::fs::read(folder.path().join("m.safetensors")).unwrap();
    made(folder.path());
    assert_eq!(std::fs::read(folder.path().join("m.safetensors")).unwrap(), first);
}

#[test]
fn the_paper_s_shapes_and_every_cell_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let new = |args: &str| json(folder.path(), &words(&format!("new {args} --seed 1 -o m.safetensors")));
    let google = "--cell fastgrnn --input 32 --hidden 100 --rank-w 16 --rank-u 25 --keep-w 0.3 --keep-u 0.3 --classes 12 --steps 99";
    assert_eq!(new(google)["macs_per_step"], 480 + 154 + 750 + 750);
    let har = "--cell fastgrnn --input 9 --hidden 80 --rank-w 5 --rank-u 40 --keep-w 0.2 --keep-u 0.3 --classes 6 --steps 128";
    assert_eq!(new(har)["macs_per_step"], 80 + 9 + 960 + 960);
    let wake = "--cell fastgrnn --input 32 --hidden 32 --rank-w 10 --rank-u 15 --keep-w 0.2 --keep-u 0.3 --classes 2 --steps 162";
    assert_eq!(new(wake)["macs_per_step"], 64 + 64 + 144 + 144);
    for cell in ["rnn", "fastrnn", "fastrnn-vector", "fastgrnn", "ugrnn", "gru", "lstm", "mingru"] {
        // A minGRU has no U.
        let u = if cell == "mingru" { "" } else { "--rank-u full " };
        let shape = format!("--input 4 --hidden 10 {u}--layers 2 --classes 3 --steps 12 --update tanh");
        assert_eq!(new(&format!("--cell {cell} {shape}"))["cell"], cell);
        let e = json(folder.path(), &["eval", "m.safetensors", "--dataset", "random:60"]);
        assert_eq!((&e["n"], &e["saturations"]["total"]), (&60.into(), &0.into()), "{cell}");
    }
}

#[test]
fn random_data_goes_where_a_data_set_goes() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let f = |args: &str| json(folder.path(), &words(args));
    let e = f("eval m.safetensors --dataset random:30");
    assert_eq!((&e["n"], e["split"].as_str()), (&30.into(), Some("all")));
    assert_eq!(e["saturations"]["steps"], 30 * 40);
    assert_eq!(f("eval m.safetensors --dataset random:30,steps=5")["saturations"]["steps"], 150);
    let p = f("predict m.safetensors random:3");
    assert_eq!(p["predictions"].as_array().unwrap().len(), 3);
    assert_ne!(p, f("predict m.safetensors random:3,seed=1"));
    assert_eq!(f("compare m.safetensors m.safetensors --dataset random:9")["agreement"], 1.0);
    let people = run(folder.path(), &words("eval m.safetensors --dataset random:4"));
    assert!(String::from_utf8_lossy(&people.stderr).contains("4 random sequences of 40 steps, seed 0"));
    f("train --dataset random:40,features=2,steps=6,classes=2 --hidden 4 --epochs 1 --out r");
    let q = f("quantize r --calibrate random:8 -o q.safetensors");
    assert_eq!(q["calibrated_on"], 8);
}

#[test]
fn what_new_and_random_data_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, code, parts: &[&str]| fails(folder.path(), &words(args), code, parts);
    let shape = "new --cell fastgrnn --input 3 --classes 2 --steps 5 -o x.safetensors";
    let new = |more: &str, code, parts: &[&str]| f(&format!("{shape} {more}"), code, parts);
    new("--hidden 0", 2, &["--hidden 0", "between 1"]);
    new("--hidden 8 --rank-w 4", 1, &["rank-w 4", "at most 3"]);
    new("--hidden 8 --keep-u 1.5", 2, &["--keep-u 1.5", "the fraction to keep"]);
    new("--hidden 8 --layers 9", 1, &["9 layers", "at most 8"]);
    new("--hidden 600", 1, &["at most 511"]);
    new("--hidden 8 --gate relu", 1, &["relu gates"]);
    new("--hidden 8 --gate step", 2, &["quantSigm"]);
    f("new --cell rnn --input 3 --hidden 8 --gate sigmoid --classes 2 --steps 5 -o x", 2, &["no gate"]);
    f("new --cell fastgrnn --hidden 8 --classes 2 --steps 5 -o x", 2, &["--input"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
}

#[test]
fn random_data_without_a_model_must_say_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, parts: &[&str]| fails(folder.path(), &words(args), 2, parts);
    f("train --dataset random:40", &["features", "random:100,features=3,steps=50,classes=2"]);
    f("train --dataset random:40,features=2,steps=5", &["classes"]);
    f("train --dataset random:none", &["'none'", "random:100"]);
    f("data inspect random:4,tall=2", &["'tall=2'", "steps=T"]);
    made(folder.path());
    f("eval m.safetensors --dataset random:9,features=4", &["reads 3 features"]);
    assert!(
        text(folder.path(), &words("data inspect random:9,features=4,steps=3,classes=2"))
            .contains("4 a step")
    );
}
