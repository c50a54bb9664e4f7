//! The soft-float C against its definition in f64, and against the integers that it stands for.

use crate::compilers::{LANGUAGES, STRICT, compiles, said};
use crate::models::variety;
use crate::written::{packed_float, written};
use fastgrnn_export::{Target, Windows, float};
use std::process::Command;

/// Scores of a driver around the C of `folder`, which reads counts from its standard input.
fn found(folder: &std::path::Path, counts: &[i16]) -> Vec<i32> {
    let driver = "#include \"model.h\"\n#include <stdio.h>\nint main(void)\n{\n    static model_state state;\n    int16_t counts[MODEL_FEATURES];\n    int32_t scores[MODEL_OUTPUTS];\n    model_init(&state);\n    while (fread(counts, sizeof counts, 1, stdin) == 1) {\n        model_step(&state, counts);\n        model_classify(&state, scores, 0);\n        fwrite(scores, sizeof scores, 1, stdout);\n    }\n    return 0;\n}\n";
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    std::fs::write(folder.join("counts"), counts.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    let output = Command::new("gcc")
        .current_dir(folder)
        .args(["-std=c99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", "driver"])
        .args(STRICT)
        .args(["model.c", "driver.c"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let input = std::fs::File::open(folder.join("counts")).unwrap();
    let output = Command::new(folder.join("driver")).stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    output.stdout.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn it_computes_its_definition_after_every_step_of_every_cell() {
    for (name, model) in variety() {
        let folder = written(&packed_float(&model, Target::C));
        let counts = Windows::random(&model, 1, 3).counts.concat();
        let unit = f64::from(model.network.score_bits()).exp2();
        let exact = float::scores(&model.network, &counts).concat();
        let found = found(&folder.path().join("out"), &counts);
        assert_eq!(found.len(), exact.len(), "{name}");
        let largest = exact.iter().fold(0f64, |top, s| top.max(s.abs()));
        for (i, (&found, &exact)) in found.iter().zip(&exact).enumerate() {
            let error = (f64::from(found) / unit - exact).abs();
            assert!(error < 1e-4 * largest + 1.0 / unit, "{name}, score {i}: {found} for {}", exact * unit);
        }
    }
}

#[test]
fn its_definition_is_what_the_integers_stand_for() {
    for (name, model) in variety() {
        // Without the frames at the limits of 16 bits (the first, the seventeenth), where integers saturate and floats do not.
        let features = model.network.input.factors.len();
        let counts = Windows::random(&model, 1, 4).counts.concat()[features..16 * features].to_vec();
        let exact = float::scores(&model.network, &counts).pop().unwrap();
        let view = model.view();
        let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
        let mut state = view.start(&mut memory, &mut scratch).unwrap();
        for frame in counts.chunks_exact(features) {
            view.step(&mut state, frame).unwrap();
        }
        let mut scores = vec![0; view.outputs()];
        view.scores(&state, &mut scores).unwrap();
        let unit = f64::from(view.score_bits()).exp2();
        let largest = exact.iter().fold(0.1f64, |top, s| top.max(s.abs()));
        for (integer, exact) in scores.iter().zip(&exact) {
            let error = (f64::from(*integer) / unit - exact).abs();
            assert!(error < 0.03 * largest, "{name}: {} for {exact}", f64::from(*integer) / unit);
        }
    }
}

#[test]
fn every_compiler_takes_it_as_c_and_as_cpp_without_a_warning() {
    for (name, model) in variety() {
        let folder = written(&packed_float(&model, Target::C));
        eprintln!("{name}");
        compiles(&folder.path().join("out"), "model.c", &LANGUAGES, &[]);
    }
}
