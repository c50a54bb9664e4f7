//! The report of a run says the same as the other commands.

use crate::command::{json, text};
use std::path::Path;

fn page(folder: &Path, run: &str) -> String {
    std::fs::read_to_string(folder.join(run).join("report.html")).unwrap()
}

/// Recordings of two classes as rows of a table, each a step; those with an index of at least `until` are
/// all `idle`.
fn recordings(path: &Path, n: usize, until: usize) {
    let mut table = String::from("rec,who,x,label\n");
    for i in 0..n {
        let label = if i % 2 == 1 && i < until { "fault" } else { "idle" };
        for step in 0..12 {
            let x = if label == "fault" { (step * 7 + i) % 5 } else { (step + i) % 3 };
            table += &format!("r{i},anna,{x}.5,{label}\n");
        }
    }
    std::fs::write(path, table).unwrap();
}

#[test]
fn the_report_and_info_say_the_same_about_flash_and_ram() {
    let folder = tempfile::tempdir().unwrap();
    let train = "train --dataset digits --hidden 8 --epochs 1 --quantize --out run";
    json(folder.path(), &train.split(' ').collect::<Vec<_>>());
    let (info, page) = (json(folder.path(), &["info", "run"]), page(folder.path(), "run"));
    let boards = info["boards"].as_array().unwrap();
    assert!(boards.len() > 3);
    let printed = text(folder.path(), &["info", "run"]);
    let thousands = |value: &serde_json::Value| fastgrnn::format::count(value.as_u64().unwrap());
    for board in boards {
        let (id, name) = (board["board"].as_str().unwrap(), board["name"].as_str().unwrap());
        let row = page.split("<tr>").find(|row| row.contains(&format!("{id}: {name}"))).expect("a row");
        for key in ["flash_bytes", "ram_bytes"] {
            assert!(row.contains(&format!("<td>{}", thousands(&board[key]))), "{key} of {id}: {row}");
            assert!(printed.contains(&thousands(&board[key])), "{key} of {id}: {printed}");
        }
    }
    assert!(page.contains("RAM, B (derived)") && page.contains("ms a step (modelled)"));
    assert!(!page.contains("RAM on a device"), "a number without the board it is for");
}

#[test]
fn an_absent_class_has_a_dash_on_the_terminal_and_in_the_report_and_null_in_json() {
    let folder = tempfile::tempdir().unwrap();
    recordings(&folder.path().join("train.csv"), 60, 60);
    recordings(&folder.path().join("test.csv"), 20, 0);
    let common = "train --dataset train.csv --test test.csv --id-col rec --group-col who --label-col label \
                  --val-group=false --cv off --hidden 4 --epochs 2 --allow class-absent,group-in-both,train-in-test --out";
    let mut train: Vec<&str> = common.split_whitespace().collect();
    train.push("run");
    let printed = text(folder.path(), &train);
    assert!(printed.contains("macro F1 –") && printed.contains("no sequence of fault"), "{printed}");
    let row = printed.lines().find(|line| line.trim_start().starts_with("fault")).unwrap();
    assert!(row.trim_end().ends_with('–'), "{row}");
    let page = page(folder.path(), "run");
    let row = page.split("<tr>").find(|row| row.starts_with("<th scope=\"row\">fault</th>")).unwrap();
    assert!(row.contains("<td>–</td><td>–</td><td>0</td>"), "recall and F1: {row}");
    let card = page.split("<div class=\"card\">").find(|card| card.contains(">test macro F1<")).unwrap();
    assert!(card.contains(">–<"), "{card}");
    let result = std::fs::read_to_string(folder.path().join("run/seed-0/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let classes = result["test"]["labels"].as_array().unwrap();
    let fault = classes.iter().position(|name| name == "fault").unwrap();
    let scores = &result["test"]["per_class"][fault];
    assert!(scores["recall"].is_null() && scores["f1"].is_null(), "{scores}");
    assert!(result["test"]["f1_macro"].is_null(), "{result}");
    let eval = "eval run --dataset train.csv --test test.csv --id-col rec --group-col who --label-col label";
    let printed = text(folder.path(), &eval.split(' ').collect::<Vec<_>>());
    let row = printed.lines().rfind(|line| line.trim_start().starts_with("fault")).unwrap();
    assert!(row.split_whitespace().skip(2).take(2).eq(["–", "–"]), "recall and F1: {row}");
}

#[test]
fn one_group_is_not_called_groups() {
    let folder = tempfile::tempdir().unwrap();
    recordings(&folder.path().join("one.csv"), 6, 6);
    let inspect = "data inspect one.csv --id-col rec --group-col who --label-col label";
    let printed = text(folder.path(), &inspect.split(' ').collect::<Vec<_>>());
    assert!(printed.contains("6 sequences of 12 steps, 1 group\n"), "{printed}");
}
