//! The generated C against the runtime: random networks of every cell, every bit of every step.

use crate::compilers::skipped;
use crate::driver;
use crate::networks;
use fastgrnn::quantize::{HostModel, IntegerNetwork};
use fastgrnn_export::{COptions, CSource, Optimize, c_source, float_source};
use fastgrnn_testing::oracle::random::{CELLS, Case, Manner, case, extended, network, windowed};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::Path;
use std::process::Command;

/// What the runtime computes, in the driver's layout.
fn expected(network: &IntegerNetwork, inputs: &[Vec<i16>]) -> Vec<u8> {
    let image = network.image();
    let model = HostModel::read(&image).expect("the generator draws networks that are accepted");
    let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
    let mut state = model.start(&mut memory, &mut scratch).unwrap();
    let mut scores = vec![0; model.outputs()];
    let mut out = Vec::new();
    for counts in inputs {
        model.step(&mut state, counts).unwrap();
        model.scores(&state, &mut scores).unwrap();
        let decision = model.decide(&scores);
        out.extend(state.kept().iter().flat_map(|v| v.to_le_bytes()));
        out.extend(scores.iter().flat_map(|v| v.to_le_bytes()));
        out.extend((decision.class as u16).to_le_bytes());
        out.push(decision.confidence);
    }
    out
}

/// Compiles the network's C with the host's compiler and runs it on the inputs.
fn found(folder: &Path, network: &IntegerNetwork, optimize: Optimize, inputs: &[Vec<i16>]) -> Vec<u8> {
    let source = c_source(network, &COptions { optimize, ..COptions::default() }).unwrap();
    driver::compile(folder, &source, include_str!("../drivers/core.c"), "undefined");
    driver::run(folder, inputs.iter().flatten().flat_map(|v| v.to_le_bytes()).collect())
}

#[test]
fn the_source_reports_the_sizes_that_its_header_defines() {
    let mut runner = TestRunner::deterministic();
    for code in CELLS {
        let Case { network, .. } = case(code, Manner::Tame).new_tree(&mut runner).unwrap().current();
        let network = networks::integer_network(&network);
        let float = match network.embedding {
            Some(_) => None,
            None => Some(float_source(&network, &COptions::default())),
        };
        for source in [c_source(&network, &COptions::default())].into_iter().chain(float) {
            let source = source.unwrap();
            for (name, value) in [
                ("FEATURES", source.features),
                ("OUTPUTS", source.outputs),
                ("STATE_BYTES", source.state_bytes),
                ("SCRATCH_BYTES", source.scratch_bytes),
                ("DATA_BYTES", source.data_bytes),
            ] {
                let line = format!("#define MODEL_{name} {value}");
                assert!(
                    source.header.lines().any(|l| l == line || l.starts_with(&format!("{line} "))),
                    "{line}"
                );
            }
        }
    }
}

fn agree(network: &IntegerNetwork, inputs: &[Vec<i16>], about: &str) {
    let folder = tempfile::tempdir().unwrap();
    let expected = expected(network, inputs);
    for optimize in [Optimize::Size, Optimize::Speed] {
        assert_eq!(found(folder.path(), network, optimize, inputs), expected, "{about} {optimize:?}");
    }
}

#[test]
fn random_networks_of_every_cell_compute_the_runtimes_bits() {
    let mut runner = TestRunner::deterministic();
    for code in CELLS {
        for manner in [Manner::Wild, Manner::Tame] {
            for turn in 0..4 {
                let drawn = case(code, manner);
                let drawn = match turn {
                    0 => drawn.boxed(),
                    1 => extended(drawn).boxed(),
                    2 => windowed(drawn).boxed(),
                    _ => windowed(extended(drawn)).boxed(),
                };
                for again in 0..2 {
                    let Case { network, inputs, .. } = drawn.new_tree(&mut runner).unwrap().current();
                    let about = format!("{code} {manner:?} {turn} {again}");
                    agree(&networks::integer_network(&network), &inputs, &about);
                }
            }
        }
    }
}

#[test]
fn long_rows_compute_the_runtimes_bits() {
    let mut runner = TestRunner::deterministic();
    for (code, sizes) in [(3, vec![140, 10]), (0, vec![2, 150]), (3, vec![300, 3]), (5, vec![3, 129])] {
        let drawn = network(vec![code], sizes.clone(), Manner::Wild).new_tree(&mut runner).unwrap().current();
        let inputs = vec![vec![12_345; sizes[0]], vec![-77; sizes[0]], vec![i16::MIN; sizes[0]]];
        agree(&networks::integer_network(&drawn), &inputs, &format!("{code} {sizes:?}"));
    }
}

/// What a call of a helper looks like, and the helper's definition, in the order of the definitions.
const HELPERS: [(&str, &str); 13] = [
    ("multiply_us(", include_str!("../../src/c/parts/multiply_us.c")),
    ("multiply_uu(", include_str!("../../src/c/parts/multiply_uu.c")),
    ("shift_right(", include_str!("../../src/c/parts/shift_right.c")),
    ("round_shift(", include_str!("../../src/c/parts/round_shift.c")),
    ("saturate(", include_str!("../../src/c/parts/saturate.c")),
    ("saturate_state(", include_str!("../../src/c/parts/saturate_state.c")),
    ("multiplied(", include_str!("../../src/c/parts/multiplied.c")),
    ("sparse_row(", include_str!("../../src/c/parts/sparse_row.c")),
    ("sparse_far_row(", include_str!("../../src/c/parts/sparse_far_row.c")),
    ("dense_row(", include_str!("../../src/c/parts/dense_row.c")),
    ("eight_sums(", include_str!("../../src/c/parts/eight_sums.c")),
    ("four_rows(", include_str!("../../src/c/parts/four_rows.c")),
    ("FG_MAC_", include_str!("../../src/c/parts/straight.c")),
];

/// `source` with its helper definitions replaced by those that a search of the text finds calls of.
fn with_searched_helpers(source: &str) -> String {
    let start = HELPERS.iter().filter_map(|(_, text)| source.find(text)).min().unwrap_or(source.len());
    let (before, mut code) = (&source[..start], source[start..].to_owned());
    for (_, definition) in HELPERS {
        code = code.replace(&format!("{definition}\n"), "");
    }
    for (call, definition) in HELPERS.iter().rev() {
        if code.contains(call) {
            code = format!("{definition}\n{code}");
        }
    }
    format!("{before}{code}")
}

#[test]
fn exactly_the_helpers_that_the_code_calls_are_defined() {
    let mut runner = TestRunner::deterministic();
    let mut used = [false; HELPERS.len()];
    let long = [(3, vec![140, 10]), (0, vec![2, 150])];
    let long = long.map(|(code, sizes)| network(vec![code], sizes, Manner::Wild).boxed());
    let short = CELLS.flat_map(|code| {
        let of = |case: Case| case.network;
        [
            case(code, Manner::Wild).prop_map(of).boxed(),
            case(code, Manner::Tame).prop_map(of).boxed(),
            extended(case(code, Manner::Wild)).prop_map(of).boxed(),
        ]
    });
    for drawn in short.chain(long) {
        for _ in 0..12 {
            let network = networks::integer_network(&drawn.new_tree(&mut runner).unwrap().current());
            for optimize in [Optimize::Size, Optimize::Speed] {
                let source =
                    c_source(&network, &COptions { optimize, ..COptions::default() }).unwrap().source;
                assert!(source == with_searched_helpers(&source), "{source}");
                for (used, (_, definition)) in used.iter_mut().zip(HELPERS) {
                    *used |= source.contains(definition);
                }
            }
        }
    }
    assert_eq!(used, [true; HELPERS.len()], "the drawn networks do not reach every helper");
}

#[test]
fn nothing_but_the_compilers_own_routines_is_called() {
    let tools = ["arm-none-eabi-gcc", "arm-none-eabi-nm"];
    if tools.iter().any(|t| Command::new(t).arg("--version").output().is_err()) {
        return skipped(&format!("calls of the C core were NOT looked at: no {tools:?}"));
    }
    let mut runner = TestRunner::deterministic();
    let folder = tempfile::tempdir().unwrap();
    for code in CELLS {
        let Case { network, .. } = case(code, Manner::Tame).new_tree(&mut runner).unwrap().current();
        for optimize in [Optimize::Size, Optimize::Speed] {
            let options = COptions { optimize, ..COptions::default() };
            let source = c_source(&networks::integer_network(&network), &options).unwrap();
            std::fs::write(folder.path().join("model.h"), &source.header).unwrap();
            std::fs::write(folder.path().join("model.c"), &source.source).unwrap();
            for flag in ["-Os", "-O2", "-O3"] {
                // Without -ffreestanding, as users compile: loops may become calls of memcpy.
                let args = ["-mcpu=cortex-m0plus", "-mthumb", "-std=c99", flag, "-c", "model.c"];
                let status = Command::new(tools[0]).current_dir(&folder).args(args).status().unwrap();
                assert!(status.success());
                let output =
                    Command::new(tools[1]).current_dir(&folder).args(["-u", "model.o"]).output().unwrap();
                let names = String::from_utf8(output.stdout).unwrap();
                let foreign = names.split_whitespace().find(|n| *n != "U" && !n.starts_with("__aeabi_"));
                assert!(foreign.is_none_or(|n| n.starts_with("__")), "{code} {flag}: {names}");
            }
        }
    }
}

#[test]
fn rows_of_4_bits_need_no_register_that_a_frame_pointer_takes() {
    let mut runner = TestRunner::deterministic();
    let folder = tempfile::tempdir().unwrap();
    let options = COptions { optimize: Optimize::Size, ..COptions::default() };
    let mut source = || {
        let drawn = extended(case(3, Manner::Tame)).new_tree(&mut runner).unwrap().current();
        c_source(&networks::integer_network(&drawn.network), &options).unwrap()
    };
    let has_rows = |source: &CSource| source.source.contains("four_rows(");
    let source = (0..64).map(|_| source()).find(has_rows).expect("some networks have 4 bits");
    std::fs::write(folder.path().join("model.h"), &source.header).unwrap();
    std::fs::write(folder.path().join("model.c"), &source.source).unwrap();
    for (program, cpu) in [("arm-none-eabi-gcc", "-mthumb"), ("clang", "--target=thumbv6m-none-eabi")] {
        if Command::new(program).arg("--version").output().is_err() {
            skipped(&format!("rows of 4 bits were not compiled by {program}"));
            continue;
        }
        for flag in ["-Os", "-O1", "-O2", "-O3"] {
            let args = ["-mcpu=cortex-m0plus", cpu, "-ffreestanding", "-fno-omit-frame-pointer", flag];
            let mut command = Command::new(program);
            command.current_dir(&folder).args(args).args(["-c", "model.c", "-o", "model.o"]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
