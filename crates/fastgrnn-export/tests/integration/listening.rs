//! Packages of models that listen: samples go in, and every text and example says so.

use crate::compilers::{LANGUAGES, STRICT, compiles, has, said, skipped};
use crate::models::listening;
use crate::written::{file, packed, packed_float, text, written};
use fastgrnn::features::Spec;
use fastgrnn_export::{ExportError, PackageOptions, Target, package};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stubs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stubs")
}

#[test]
fn readmes_of_c_packages_tell_how_sound_goes_in() {
    for detects in [false, true] {
        let model = listening(detects);
        for target in [Target::C, Target::Arduino, Target::PlatformIo, Target::Zephyr, Target::EspIdf] {
            let package = packed(&model, target);
            let readme = text(&package, "README.md");
            let front = package.info.front.unwrap();
            assert_eq!((front.rate, front.hop), (16_000, Spec::default().hop()));
            for part in [
                "## Sound in",
                "model_push(&audio",
                "16000 per second",
                "MODEL_RATE",
                "buffers of the front end",
            ] {
                assert!(readme.contains(part), "{target:?}: no '{part}' in\n{readme}");
            }
            assert_eq!(readme.contains("audio.heard"), detects, "{target:?}");
            assert_eq!(readme.contains("model_listen("), detects, "{target:?}");
            for wrong in ["raw readings", "read_sensor", "counts unchanged", "@"] {
                assert!(!readme.contains(wrong), "{target:?}: '{wrong}' in\n{readme}");
            }
            for f in &package.files {
                let Ok(text) = std::str::from_utf8(&f.bytes) else { continue };
                for key in ["@hear@", "@rate@", "@at_end@", "read_sensor"] {
                    assert!(!text.contains(key), "{target:?}: {key} in {}", f.path);
                }
            }
        }
    }
}

#[test]
fn packages_without_a_front_end_say_that_they_take_features() {
    let model = listening(false);
    let mut packages = vec![packed_float(&model, Target::C)];
    match has("clang") && has("wasm-ld") {
        true => packages.push(packed(&model, Target::Wasm)),
        false => skipped("wasm packages need clang and wasm-ld"),
    }
    for package in packages {
        let readme = text(&package, "README.md");
        assert!(readme.contains("takes frames of features, not samples"), "{readme}");
        assert!(readme.contains("One count is worth 1/256 nat"), "{readme}");
        assert_eq!(package.info.front, None);
    }
}

#[test]
fn a_rust_package_holds_the_tables_of_its_front_end() {
    let package = packed(&listening(false), Target::Rust);
    assert!(text(&package, "src/lib.rs").contains("pub mod front;"));
    assert!(text(&package, "README.md").contains("front.push(&mut stream"));
    file(&package, "src/front.rs");
    // Its documentation's example pushes a second of sound and counts the frames.
    let folder = written(&package);
    let output = Command::new(env!("CARGO"))
        .current_dir(folder.path().join("out"))
        .args(["test", "--offline", "--quiet", "--doc"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn examples_that_listen_compile_as_they_are() {
    let examples: [(Target, &str, &[&str]); 4] = [
        (Target::Arduino, "examples/Classify/Classify.ino", &["-x", "c++", "-std=c++11"]),
        (Target::PlatformIo, "examples/classify/src/main.cpp", &["-x", "c++", "-std=c++11"]),
        (Target::Zephyr, "samples/classify/src/main.c", &["-x", "c", "-std=c99"]),
        (Target::EspIdf, "examples/classify/main/main.c", &["-x", "c", "-std=c99"]),
    ];
    for detects in [false, true] {
        for (target, example, language) in examples {
            let folder = written(&packed(&listening(detects), target));
            for board in [&[][..], &["-DARDUINO_ARDUINO_NANO33BLE"]] {
                let mut gcc = Command::new("gcc");
                gcc.current_dir(folder.path().join("out")).args(STRICT).args(language).args(board);
                gcc.args(["-O2", "-c", example, "-o", "/dev/null", "-Isrc", "-I"]).arg(stubs());
                let output = gcc.output().unwrap();
                assert!(output.status.success(), "{target:?} {board:?}: {}", said(&output));
            }
        }
    }
}

/// What the C package's program says to `bytes`.
fn classify(detects: bool, bytes: &[u8]) -> Output {
    let folder = written(&packed(&listening(detects), Target::C));
    let out = folder.path().join("out");
    let made = Command::new("make").current_dir(&out).args(["classify", "selftest"]).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let sound = folder.path().join("sound.raw");
    std::fs::write(&sound, bytes).unwrap();
    let input = Stdio::from(std::fs::File::open(sound).unwrap());
    Command::new(out.join("classify")).stdin(input).output().unwrap()
}

#[test]
fn the_program_of_the_c_package_hears_samples() {
    let spec = Spec::default();
    // A window of 20 frames, then four frames and some samples over.
    let n = spec.window() + 23 * spec.hop() + 5;
    let sound: Vec<u8> = (0..n).flat_map(|i| ((i * i % 4_001) as i16 - 2_000).to_le_bytes()).collect();
    let output = classify(false, &sound);
    let lines: Vec<String> = said(&output).lines().map(str::to_owned).collect();
    assert!(output.status.success() && lines.len() == 2, "{lines:?}");
    let seconds = (spec.window() + 19 * spec.hop()) as f64 / f64::from(spec.rate());
    assert!(lines[0].starts_with(&format!("{seconds:.2} s: class ")), "{lines:?}");
    assert!(lines[1].contains("scores"), "{lines:?}");

    let heard = said(&classify(true, &sound));
    assert!(heard.lines().next().is_some_and(|l| l.contains(" s: class ") && l.ends_with(" %")), "{heard}");

    let wav = classify(false, b"RIFF....WAVEfmt ");
    assert!(!wav.status.success() && said(&wav).contains("without its header"), "{}", said(&wav));
}

#[test]
fn the_ram_that_export_allows_includes_the_front_end() {
    let model = listening(false);
    let options = PackageOptions { max_ram: Some(1_000), ..PackageOptions::default() };
    let error = package(&model, Target::C, &options).unwrap_err();
    assert!(matches!(error, ExportError::Ram { needed, most: 1_000 } if needed > 2_500), "{error}");
    let ExportError::Ram { needed, .. } = error else { return };
    let exact = PackageOptions { max_ram: Some(needed), ..PackageOptions::default() };
    let folder = written(&package(&model, Target::C, &exact).unwrap());
    compiles(&folder.path().join("out"), "model.c", &LANGUAGES, &[]);
}
