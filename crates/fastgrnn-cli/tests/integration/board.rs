//! `fastgrnn board` as a user calls it.

use crate::command::{Trained, command, copy_of_trained, fails, has_keys, json, text};
use fastgrnn::device::Board;
use fastgrnn_boards::missing_tools;
use std::path::Path;
use std::sync::OnceLock;

fn trained() -> &'static Trained {
    static COPY: OnceLock<Trained> = OnceLock::new();
    COPY.get_or_init(copy_of_trained)
}

/// The folder with an integer model of the shared run.
fn folder() -> &'static Path {
    static MADE: OnceLock<()> = OnceLock::new();
    MADE.get_or_init(|| {
        json(trained().path(), &["quantize", "run", "--calibrate", "digits", "-o", "int.safetensors"]);
    });
    trained().path()
}

fn runs(boards: &[Board]) -> bool {
    let missing: Vec<String> = boards.iter().flat_map(|&b| missing_tools(b)).map(|m| m.to_string()).collect();
    missing.iter().take(1).for_each(|missing| fastgrnn_testing::skipped(missing));
    missing.is_empty()
}

const SMALL: [&str; 6] = ["board", "int.safetensors", "--dataset", "digits", "--samples", "5"];

#[test]
fn boards_agree_with_the_host_and_say_what_they_take() {
    if !runs(&[Board::Uno, Board::M3, Board::Aarch64]) {
        return;
    }
    let found = json(folder(), &[&SMALL[..], &["--board", "m3,uno,aarch64"]].concat());
    has_keys(&found, &["boards", "dataset", "split", "windows", "hash", "does_not_fit"]);
    let boards = found["boards"].as_array().unwrap();
    let names: Vec<&str> = boards.iter().map(|b| b["board"].as_str().unwrap()).collect();
    assert_eq!(names, ["uno", "m3", "aarch64"]);
    for board in boards {
        let keys = [
            "board",
            "flash_bytes",
            "ram_static_bytes",
            "stack_bytes",
            "instructions_per_step",
            "cycles_per_step",
            "cycles_per_inference",
            "ms_per_step",
            "ms_per_inference",
            "measured_or_modelled",
            "mismatches",
            "ms_per_inference_zero_wait",
            "wait_states",
            "clock_hz",
        ];
        has_keys(board, &keys);
        assert_eq!((board["mismatches"].as_u64(), board["windows"].as_u64()), (Some(0), Some(5)));
        assert_eq!(board["hash"], found["hash"]);
    }
    assert_eq!(boards[0]["measured_or_modelled"], "measured");
    assert_eq!(
        (&boards[1]["measured_or_modelled"], &boards[1]["wait_states"]),
        (&"modelled".into(), &4.into())
    );
    assert!(boards[2]["ms_per_inference"].is_null() && boards[2]["instructions_per_step"].is_number());
}

#[test]
fn wait_states_and_optimisation_change_the_cycles_and_nothing_stays_behind() {
    if !runs(&[Board::M0plus]) {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let cycles = |more: &[&str]| {
        let args = [&SMALL[..], &["--board", "m0plus", "--json"], more].concat();
        let output = command(folder(), &args).env("TMPDIR", temporary.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        found["boards"][0]["cycles_per_step"].as_f64().unwrap()
    };
    let (own, none, size) = (cycles(&[]), cycles(&["--wait-states", "0"]), cycles(&["--optimize", "size"]));
    assert!(none < own && own != size, "{none} {own} {size}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn people_get_a_table_and_may_keep_the_firmware() {
    if !runs(&[Board::M3]) {
        return;
    }
    let args = [&SMALL[..], &["--board", "m3", "--keep", "firmware"]].concat();
    let table = text(folder(), &args);
    for part in ["flash, B", "ms/window", "modelled", "docs/board-models.md"] {
        assert!(table.contains(part), "{part} is not in\n{table}");
    }
    assert!(folder().join("firmware/m3/app.elf").is_file());
    fails(folder(), &args, 1, &["firmware/m3", "exists already", "--keep"]);
}

#[test]
fn a_float_model_is_sent_to_quantize() {
    let args = ["board", "run", "--dataset", "digits", "--board", "uno"];
    fails(folder(), &args, 2, &["float model", "fastgrnn quantize run --calibrate"]);
}

#[test]
fn an_unknown_board_is_answered_with_those_that_are_known() {
    let args = ["board", "int.safetensors", "--dataset", "digits", "--board", "mega"];
    fails(folder(), &args, 2, &["mega", "known boards: uno, m0plus, m3, m4, riscv32, aarch64, all"]);
}

#[test]
fn a_missing_tool_is_named_with_the_script_that_installs_it() {
    let args = ["board", "int.safetensors", "--dataset", "digits", "--board", "all"];
    let output = command(folder(), &args).env("PATH", "/nowhere").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("'avr-gcc', which is missing") && stderr.contains("scripts/setup-boards"),
        "{stderr}"
    );
}
