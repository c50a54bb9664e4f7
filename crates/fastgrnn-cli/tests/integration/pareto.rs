//! `pareto`: a small grid trained, shown, continued.

use crate::command::{fails, has_keys, json, run, text};

const GRID: &str = "pareto --dataset digits --budget-bytes 700,1000 --cells fastgrnn,gru --epochs 2 --out p";

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn a_grid_within_budgets_is_trained_shown_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let p = json(folder.path(), &words(GRID));
    has_keys(&p, &["run", "dataset", "points", "best", "report"]);
    let points = p["points"].as_array().unwrap();
    assert!(points.len() >= 6, "{p}");
    for point in points {
        let keys =
            ["name", "cell", "hidden", "rank_w", "rank_u", "sparsity_w", "sparsity_u", "budget", "bytes"];
        has_keys(point, &keys);
        has_keys(
            point,
            &["bytes_analytic", "nnz", "val", "test", "test_sd", "test_float", "front", "model", "run"],
        );
        let bytes = |key: &str| point[key].as_u64().unwrap();
        assert!(
            bytes("bytes") <= bytes("bytes_analytic") && bytes("bytes_analytic") <= bytes("budget"),
            "{point}"
        );
        assert!(bytes("bytes_analytic") * 10 > bytes("budget") * 8, "budgets are used: {point}");
    }
    let front = points.iter().filter(|p| p["front"] == true);
    assert!(front.count() >= 1);
    for best in p["best"].as_array().unwrap() {
        has_keys(best, &["budget", "cell", "point"]);
    }
    for name in ["pareto.html", "pareto.svg", "pareto.md", "pareto.json", "points"] {
        assert!(at("p").join(name).exists(), "{name}");
    }
    let page = std::fs::read_to_string(at("p/pareto.html")).unwrap();
    assert!(page.contains("accuracy against bytes") && page.contains("gru") && page.contains("<svg"));

    fails(folder.path(), &words(GRID), 2, &["already holds", "--resume"]);
    let model = points[0]["model"].as_str().unwrap();
    let before = std::fs::metadata(model).unwrap().modified().unwrap();
    let again = run(folder.path(), &[&words(GRID)[..], &["--resume"]].concat());
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    let stderr = String::from_utf8_lossy(&again.stderr);
    assert!(!stderr.contains("epoch 1/"), "finished points are not trained again:\n{stderr}");
    let shown = String::from_utf8(again.stdout).unwrap();
    assert!(shown.contains("Best on validation within each budget") && shown.contains("★"), "{shown}");
    assert!(std::fs::metadata(model).unwrap().modified().unwrap() >= before);
    assert_eq!(json(folder.path(), &[&words(GRID)[..], &["--resume"]].concat())["points"], p["points"]);
}

#[test]
fn what_pareto_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let f = |args: &str, code, parts: &[&str]| fails(folder.path(), &words(args), code, parts);
    f("pareto --dataset digits", 2, &["--budget-bytes"]);
    f("pareto --budget-bytes 1000", 2, &["nothing to train on"]);
    f("pareto --dataset digits --budget-bytes 1000 --cells gruu", 2, &["gruu", "fastgrnn"]);
    f("pareto --dataset digits --budget-bytes 60 --out a", 2, &["no network fits", "60 bytes"]);
    f("pareto --dataset digits --budget-bytes 900 --kept 0 --out b", 2, &["kept = 0"]);
    f("pareto --dataset digits --budget-bytes 900 --val-split 0 --out c", 2, &["validation"]);
    f("pareto --dataset digits --budget-bytes 900 --resume", 2, &["no pareto run of digits"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
}

#[test]
fn help_says_what_a_budget_is() {
    let folder = tempfile::tempdir().unwrap();
    let help = text(folder.path(), &["pareto", "--help"]);
    assert!(
        help.contains("Largest sizes of the device image in bytes") && help.contains("--rank-shares"),
        "{help}"
    );
}
