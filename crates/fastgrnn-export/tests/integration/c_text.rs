//! Language models in C: the tokens that are drawn are those of the runtime.

use crate::compilers::said;
use crate::driver;
use crate::models::{language_model, small};
use crate::written::{packed, text, written};
use fastgrnn::generate::GenerateOptions;
use fastgrnn::model::AnyModel;
use fastgrnn::quantize::{EntryGrid, Grid, IntegerModel};
use fastgrnn::rng::Rng;
use fastgrnn_export::{COptions, ExportError, Optimize, PackageOptions, Target, c_source, package};
use fastgrnn_runtime::int::{Draw, TokenSampler};
use std::process::Command;

fn source(model: &IntegerModel, optimize: Optimize) -> fastgrnn_export::CSource {
    let options = COptions { optimize, end_of_line: model.end_of_line(), ..COptions::default() };
    c_source(&model.network, &options).unwrap()
}

#[test]
fn any_scores_draw_the_runtimes_token() {
    for tokens in [2, 3, 30] {
        let mut model = language_model(tokens, false);
        // Scores with few and with many fraction bits.
        for grid in [-8, 0, 7, 20] {
            model.network.head.grid = EntryGrid::Bytes(Grid { exponent: grid });
            let bits = model.network.score_bits();
            let folder = tempfile::tempdir().unwrap();
            driver::compile(
                folder.path(),
                &source(&model, Optimize::Size),
                include_str!("../drivers/sample.c"),
                "undefined",
            );
            let mut rng = Rng::new(tokens as u64);
            let (mut input, mut expected) = (Vec::new(), Vec::new());
            for turn in 0..400 {
                let seed = rng.next_u64() as u32;
                let sharpness = [0, 16, 256, 320, 4096, 1, u16::MAX][turn % 7];
                let most = [0, 1, 2, 7, u16::MAX][turn % 5];
                let size = f64::from(bits + [0, 2, 3, 40][turn % 4]).exp2();
                let score = |rng: &mut Rng| match turn % 9 {
                    0 => 5,
                    1 => [i32::MIN, i32::MAX][rng.below(2)],
                    _ => (rng.normal() * size) as i32,
                };
                let scores: Vec<i32> = (0..tokens).map(|_| score(&mut rng)).collect();
                input.extend(seed.to_le_bytes());
                input.extend([sharpness, most].iter().flat_map(|v: &u16| v.to_le_bytes()));
                input.extend(scores.iter().flat_map(|v| v.to_le_bytes()));
                let mut sampler = TokenSampler::new(seed, Draw { sharpness, most });
                expected.extend((sampler.draw(&scores, bits) as u16).to_le_bytes());
                expected.extend(sampler.random().to_le_bytes());
            }
            assert_eq!(driver::run(folder.path(), input), expected, "{tokens} tokens, {bits} fraction bits");
        }
    }
}

#[test]
fn the_package_of_a_language_model_passes_its_test_and_writes_the_text_of_the_host() {
    for tied in [false, true] {
        let model = language_model(20, tied);
        let package = packed(&model, Target::C);
        let folder = written(&package);
        let out = folder.path().join("out");
        let build = Command::new("make").current_dir(&out).output().unwrap();
        assert!(build.status.success(), "{}", said(&build));
        let test = Command::new(out.join("selftest")).output().unwrap();
        let told = said(&test);
        assert!(
            test.status.success() && told.contains("drawn tokens: ok") && told.ends_with("PASS\n"),
            "{told}"
        );
        let wrote = Command::new(out.join("generate")).args(["7", "150", "0.8", "9"]).output().unwrap();
        let options = GenerateOptions { length: 150, temperature: 0.8, most: 9, seed: 7 };
        let any = AnyModel::Integer(Box::new(model.clone()));
        let generated = any.generate("", &options).unwrap();
        let expected = any.text().unwrap().decode(&generated.tokens);
        assert_eq!(String::from_utf8(wrote.stdout).unwrap(), expected + "\n");
        let wrong = Command::new(out.join("generate")).args(["7", "150", "99"]).output().unwrap();
        assert_eq!(wrong.status.code(), Some(2));
        let vocabulary: Vec<String> = serde_json::from_str(text(&package, "model_vocabulary.json")).unwrap();
        assert_eq!(vocabulary, model.model.text.as_ref().unwrap().vocabulary.tokens());
        assert!(text(&package, "README.md").contains("the next of 20 tokens"));
    }
}

#[test]
fn a_changed_sampler_is_found() {
    let package = packed(&language_model(20, false), Target::C);
    let changed = text(&package, "model.c").replace("0x7FEB352Du", "0x7FEB352Fu");
    let folder = written(&package);
    let out = folder.path().join("out");
    std::fs::write(out.join("model.c"), changed).unwrap();
    Command::new("make").current_dir(&out).output().unwrap();
    let test = Command::new(out.join("selftest")).output().unwrap();
    let told = said(&test);
    assert!(
        !test.status.success() && told.contains("drawn tokens: ") && !told.contains("tokens: ok"),
        "{told}"
    );
}

#[test]
fn what_has_no_form_for_texts_is_refused() {
    let model = language_model(9, false);
    let refused = |target, float| {
        package(&model, target, &PackageOptions { float, ..PackageOptions::default() }).unwrap_err()
    };
    for target in Target::ALL.into_iter().filter(|target| *target != Target::C) {
        assert!(matches!(refused(target, false), ExportError::TextTarget { .. }), "{}", target.name());
    }
    assert!(matches!(refused(Target::C, true), ExportError::FloatText));
    let other = packed(&small(), Target::C);
    assert!(
        !text(&other, "model.c").contains("sample") && !text(&other, "model_selftest.c").contains("drawn")
    );
}
