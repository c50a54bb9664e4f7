//! The self-test that goes along with an export: it passes where it should and fails where it must.

use crate::compilers::said;
use crate::models::{awkward, model, small, variety};
use crate::written::{packed, packed_float, text, written};
use fastgrnn::cells::{Cell, CellKind};
use fastgrnn_export::{Package, PackageOptions, Target, Windows, package};
use std::path::Path;
use std::process::Command;

/// Builds the plain C package's programs and runs the self-test: whether it passed, and its text.
fn self_test(folder: &Path) -> (bool, String) {
    let build = Command::new("make").current_dir(folder).output().unwrap();
    assert!(build.status.success(), "{}", said(&build));
    let output = Command::new(folder.join("selftest")).output().unwrap();
    (output.status.success(), said(&output))
}

#[test]
fn the_self_test_passes_for_every_cell_and_prints_the_hash_of_the_host() {
    for (name, model) in variety() {
        for float in [false, true] {
            let package = if float { packed_float(&model, Target::C) } else { packed(&model, Target::C) };
            let folder = written(&package);
            let (passed, text) = self_test(&folder.path().join("out"));
            assert!(passed && text.ends_with("PASS\n"), "{name}, float {float}:\n{text}");
            assert_eq!(text.contains(&package.info.golden.hash), !float, "{name}:\n{text}");
            assert_eq!(text.contains("(not compared)"), float, "{name}:\n{text}");
        }
    }
}

#[test]
fn the_example_classifies_recordings_and_refuses_what_is_none() {
    let package = packed(&awkward(), Target::C);
    let folder = written(&package);
    let out = folder.path().join("out");
    self_test(&out);
    let run = |input: &str| {
        std::fs::write(out.join("input"), input).unwrap();
        let file = std::fs::File::open(out.join("input")).unwrap();
        Command::new(out.join("classify")).stdin(file).output().unwrap()
    };
    let golden: serde_json::Value = serde_json::from_str(text(&package, "model_golden.json")).unwrap();
    let window = &golden["windows"][0];
    let counts: Vec<String> = window["counts"].as_array().unwrap().iter().map(|v| v.to_string()).collect();
    let lines: String = counts.chunks(2).map(|frame| frame.join(", ") + "\n").collect();
    let output = run(&format!("{lines}\n{lines}"));
    let scores: Vec<String> = window["scores"].as_array().unwrap().iter().map(|v| v.to_string()).collect();
    let said_ = said(&output);
    assert_eq!(said_.matches(&format!("scores {}\n", scores.join(" "))).count(), 2, "{said_}");
    let label = &package.info.labels[window["class"].as_u64().unwrap() as usize];
    assert!(said_.starts_with(label.as_str()), "{said_}");
    for bad in ["1\n", "1 2 3\n", "1 x\n", "1 40000\n"] {
        let output = run(bad);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(said(&output).contains("line 1"), "{bad}");
    }
}

/// What the self-test of a package says whose C was changed; it must not pass.
fn failure(package: &Package, what: &str, changed: &str) -> String {
    assert_ne!(changed, text(package, "model.c"), "{what}: nothing was changed");
    let folder = written(package);
    let out = folder.path().join("out");
    std::fs::write(out.join("model.c"), changed).unwrap();
    let (passed, text) = self_test(&out);
    assert!(!passed && text.ends_with("FAIL\n"), "{what}:\n{text}");
    text
}

#[test]
fn a_changed_weight_is_found() {
    let package = packed(&small(), Target::C);
    let source = text(&package, "model.c");
    let (before, rest) = source.split_once(" head_b[").unwrap();
    let (size, values) = rest.split_once('{').unwrap();
    let (_, others) = values.split_once(',').unwrap();
    let said = failure(&package, "a bias", &format!("{before} head_b[{size}{{12345,{others}"));
    assert!(said.contains("window 1") && said.contains("wrong"), "{said}");
}

#[test]
fn a_changed_recurrent_weight_is_found_however_many_windows_were_asked_for() {
    let model = model(vec![Cell::new(CellKind::FastGrnn, 60, 6)], 3, 1.0, 1);
    let windows = Some(Windows::random(&model, 100, 1));
    let package = package(&model, Target::C, &PackageOptions { windows, ..Default::default() }).unwrap();
    let source = text(&package, "model.c");
    let (before, rest) = source.split_once(" u1_0[").unwrap();
    let (size, values) = rest.split_once('{').unwrap();
    let (first, others) = values.split_once(',').unwrap();
    let other = if first.trim().starts_with('-') { 100 } else { -100 };
    failure(&package, "a weight of U", &format!("{before} u1_0[{size}{{{other},{others}"));
}

#[test]
fn a_reset_that_does_nothing_is_found() {
    let package = packed(&small(), Target::C);
    let reset = "void model_reset(model_state *state)\n{";
    // It works on a state that was never used, which the self-test fills with this byte.
    let lazy = format!("{reset}\n    if (state->h0[0] != (int16_t)0xA5A5) return;");
    let said = failure(&package, "reset", &text(&package, "model.c").replacen(reset, &lazy, 1));
    assert!(said.contains("reset: ") && !said.contains("reset: ok"), "{said}");
}

#[test]
fn a_state_that_is_kept_elsewhere_is_found() {
    let package = packed(&small(), Target::C);
    // All states are one; alone, each window still comes out right.
    let step = "void model_step(model_state *state, const int16_t *counts)\n{";
    let (before, body) = text(&package, "model.c").split_once(step).unwrap();
    let (body, after) = body.split_once("\n}\n").unwrap();
    let shared = format!(
        "{}{step}\n    model_state *own = state;\n    state = &only;\n{body}\n    *own = only;\n}}\n{after}",
        before.replace("void model_reset(model_state *state)\n{", RESET_BOTH)
    );
    let said = failure(&package, "state", &shared);
    assert!(said.contains("window 1: ") && said.contains("hash of all scores"), "{said}");
    assert!(!said.contains("side by side: ok"), "{said}");
}

const RESET_BOTH: &str = "\
static model_state only;
void model_reset(model_state *state)
{
    static uint8_t again;
    if (!again) {
        again = 1;
        model_reset(&only);
        again = 0;
    }";
