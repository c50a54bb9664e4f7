//! What is said about data before and after a training.

use crate::command::{fails, json, run, text};
use serde_json::Value;
use std::path::Path;

/// Noise of three classes that were recorded one after the other, and a clock under an unusual name.
fn noise_with_a_clock(folder: &Path) {
    // A linear congruential generator: good enough for noise.
    let mut state = 12_345u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let mut table = String::from("rec,blip_no,x,y,z,label\n");
    for recording in 0..240 {
        for step in 0..20 {
            let class = ["fault", "idle", "machine_on"][recording / 80];
            let (x, y, z) = (noise(), noise(), noise());
            table += &format!("{recording},{},{x:.5},{y:.5},{z:.5},{class}\n", recording * 25 + step);
        }
    }
    std::fs::write(folder.join("leak.csv"), table).unwrap();
}

#[test]
fn a_clock_does_not_make_noise_look_like_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    noise_with_a_clock(folder.path());
    let train = "train --dataset leak.csv --id-col rec --epochs 12 --hidden 8 --json --out";
    let args = |out: &'static str| train.split(' ').chain([out]).collect::<Vec<_>>();
    let output = run(folder.path(), &args("run"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("clock-column") && stderr.contains("'blip_no'"), "{stderr}");
    assert!(stderr.contains("--columns"), "it says how to keep the column: {stderr}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let accuracy = summary["val"]["accuracy"].as_f64().unwrap();
    assert!((accuracy - 1.0 / 3.0).abs() < 0.1, "{accuracy}");
    assert_eq!((&summary["val"]["n"], summary["cv"].as_array().unwrap().len()), (&240.into(), 5));
    let report = std::fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("blip_no"), "the report says so, too");
    // Whoever names the clock gets it, and what it gives away.
    let kept = [&args("kept")[..], &["--columns", "blip_no,x,y,z"]].concat();
    let kept: Value = serde_json::from_slice(&run(folder.path(), &kept).stdout).unwrap();
    assert!(kept["val"]["accuracy"].as_f64().unwrap() > 0.6, "{}", kept["val"]);
}

#[test]
fn the_doctor_lists_findings_and_fails_where_a_training_would() {
    let folder = tempfile::tempdir().unwrap();
    noise_with_a_clock(folder.path());
    let doctor = ["data", "doctor", "leak.csv", "--id-col", "rec"];
    let answer = json(folder.path(), &doctor);
    let codes: Vec<&str> =
        answer["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["clock-column"]);
    for key in ["severity", "message", "remedy"] {
        assert!(answer["findings"][0][key].is_string(), "{answer}");
    }
    assert!(text(folder.path(), &doctor).contains("1 finding"));
    // The training part as the test part.
    let copies = [&doctor[..], &["--test", "leak.csv"]].concat();
    let output = run(folder.path(), &copies);
    assert_eq!(output.status.code(), Some(1));
    let (shown, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("train-in-test") && why.contains("--allow train-in-test"), "{shown}{why}");
    let train = "train --dataset leak.csv --id-col rec --test leak.csv --epochs 1 --cv off --out run";
    let train: Vec<&str> = train.split(' ').collect();
    fails(folder.path(), &train, 1, &["240 of 240 test sequences", "--allow train-in-test"]);
    assert!(!folder.path().join("run").exists());
    json(folder.path(), &[&train[..], &["--allow", "train-in-test"]].concat());
    fails(folder.path(), &[&train[..], &["--allow", "leak"]].concat(), 2, &["'leak'", "train-in-test"]);
}

#[test]
fn a_validation_part_without_a_class_is_no_perfect_score() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("rec,subject,x,y,label\n");
    for recording in 0..400usize {
        let (subject, class) = (recording / 100, if recording < 10 { "fall" } else { "normal" });
        for step in 0..6usize {
            let (x, y) = ((recording * 7 + step * 13) % 17, (recording * 5 + step * 3) % 11);
            table += &format!("{recording},S{subject},{x},{y},{class}\n");
        }
    }
    std::fs::write(folder.path().join("falls.csv"), table).unwrap();
    let train = "train --dataset falls.csv --id-col rec --epochs 3 --hidden 4 --json --out run";
    let output = run(folder.path(), &train.split(' ').collect::<Vec<_>>());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("class-absent") && stderr.contains("'fall'"), "{stderr}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let val = &summary["val"];
    assert!(val["f1_macro"].is_null() && val["absent"] == serde_json::json!(["fall"]), "{val}");
}

#[test]
fn folds_of_a_tiny_set_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: usize| {
        let x = |step: usize| ((i * 7 + step * 3) % 11) as f64 * 0.1;
        format!("{},{},{},{}\n", x(0), x(1), x(2), ["a", "b", "c"][i / 2])
    };
    let rows: String = (0..6).map(row).collect();
    std::fs::write(folder.path().join("tiny.csv"), format!("x0,x1,x2,label\n{rows}")).unwrap();
    let answer = json(folder.path(), &["data", "doctor", "tiny.csv"]);
    let findings = answer["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "small-folds");
    let message = found.unwrap_or_else(|| panic!("{answer}"))["message"].as_str().unwrap();
    assert!(message.contains("6 sequences") && message.contains("lack a class"), "{message}");
}

#[test]
fn a_manifest_is_named_by_a_flag_and_by_the_error_about_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data/rec")).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(format!("data/rec/{name}.csv")), "x,y\n1,2\n3,4\n").unwrap();
    }
    let manifest = "file,label,subject\na,up,S1\nb,down,S2\nc,up,S2\n";
    std::fs::write(folder.path().join("data/labels.csv"), manifest).unwrap();
    fails(folder.path(), &["data", "inspect", "data"], 2, &["--manifest labels.csv takes the labels"]);
    for path in ["labels.csv", "data/labels.csv"] {
        let answer = json(folder.path(), &["data", "inspect", "data", "--manifest", path]);
        assert_eq!((&answer["train"]["n"], &answer["train"]["groups"]), (&3.into(), &2.into()), "{path}");
    }
    fails(folder.path(), &["data", "inspect", "-"], 2, &["save the data to a file first"]);
}
