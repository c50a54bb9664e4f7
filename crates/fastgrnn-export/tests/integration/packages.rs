//! Packages as a user takes them: every file compiles, the self-test tells right from wrong, and
//! what tools read is what they expect.

use crate::compilers::{LANGUAGES, STRICT, compiles, has, said, skipped};
use crate::models::{awkward, model, small, variety};
use crate::written::{file, packed, packed_float, text, written};
use fastgrnn::cells::{Cell, CellKind};
use fastgrnn_export::{Optimize, Package, PackageOptions, Target, package};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const C_TARGETS: [Target; 5] =
    [Target::C, Target::Arduino, Target::PlatformIo, Target::Zephyr, Target::EspIdf];

fn stubs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stubs")
}

#[test]
fn all_c_based_packages_hold_the_same_core() {
    let model = small();
    let plain = packed(&model, Target::C);
    for target in [Target::Arduino, Target::PlatformIo, Target::Zephyr, Target::EspIdf] {
        let other = packed(&model, target);
        for name in ["model.h", "model.c", "model_text.c", "model_golden.h", "model_selftest.c"] {
            assert_eq!(
                file(&plain, name).bytes,
                file(&other, &format!("src/{name}")).bytes,
                "{target:?} {name}"
            );
        }
    }
}

#[test]
fn every_package_has_golden_vectors_a_readme_and_each_path_once() {
    let model = small();
    for target in Target::ALL {
        if target == Target::Wasm && !(has("clang") && has("wasm-ld")) {
            skipped("wasm packages need clang and wasm-ld");
            continue;
        }
        let package = packed(&model, target);
        let readme = text(&package, "README.md");
        for part in [
            "## Use",
            "one count",
            "class 2",
            "## Sizes",
            "fastgrnn board",
            "## Verify",
            &package.info.model_sha256,
        ] {
            assert!(readme.contains(part), "{target:?}: no '{part}' in\n{readme}");
        }
        file(&package, "model_golden.json");
        let paths: BTreeSet<&str> = package.files.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths.len(), package.files.len());
        for f in package.files.iter().filter(|f| !f.path.starts_with("runtime/")) {
            let Ok(text) = std::str::from_utf8(&f.bytes) else { continue };
            for key in ["@name@", "@NAME@", "@version@", "@summary@", "@readings@"] {
                assert!(!text.contains(key), "{target:?}: {key} is left in {}", f.path);
            }
        }
        assert_eq!(package, packed(&model, target), "{target:?}: the same model gives the same bytes");
    }
}

#[test]
fn every_c_file_pleases_every_compiler_as_c_and_as_cpp() {
    let mut models = variety();
    models.push(("awkward".into(), awkward()));
    for (i, (name, model)) in models.iter().enumerate() {
        eprintln!("{name}");
        let optimize = [Optimize::Size, Optimize::Speed][i % 2];
        let options = PackageOptions { optimize, ..PackageOptions::default() };
        let folder = written(&package(model, Target::C, &options).unwrap());
        let out = folder.path().join("out");
        compiles(&out, "model.c", &LANGUAGES, &[]);
        // The others differ by what scores mean, not by the cell.
        if ["numbers", "one score", "awkward"].contains(&name.as_str()) {
            compiles(&out, "model_text.c", &LANGUAGES, &[]);
            compiles(&out, "model_selftest.c", &LANGUAGES, &[]);
        }
    }
    let folder = written(&packed_float(&small(), Target::C));
    compiles(&folder.path().join("out"), "model_selftest.c", &LANGUAGES, &[]);
}

#[test]
fn sketches_samples_and_examples_compile_as_they_are() {
    let wide = model(vec![Cell::new(CellKind::Gru, 20, 6)], 3, 0.5, 2);
    for model in [small(), wide, awkward()] {
        let cpp: &[&[&str]] = &[&["-x", "c++", "-std=c++11"]];
        let c: &[&[&str]] = &[&["-x", "c", "-std=c99"]];
        for (target, files, language) in [
            (Target::Arduino, &["examples/Classify/Classify.ino", "examples/SelfTest/SelfTest.ino"][..], cpp),
            (Target::PlatformIo, &["examples/classify/src/main.cpp", "examples/selftest/src/main.cpp"], cpp),
            (Target::Zephyr, &["samples/classify/src/main.c"], c),
        ] {
            let folder = written(&packed(&model, target));
            let out = folder.path().join("out");
            for file in files {
                compiles(&out, file, language, &[&stubs(), &out.join("src")]);
            }
        }
        // It needs a stdio.h, which bare compilers do not bring along.
        let folder = written(&packed(&model, Target::EspIdf));
        let output = Command::new("gcc")
            .current_dir(folder.path().join("out"))
            .args([
                "-std=c99",
                "-O2",
                "-c",
                "examples/classify/main/main.c",
                "-o",
                "/dev/null",
                "-Isrc",
                "-I",
            ])
            .arg(stubs())
            .args(STRICT)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// `key=value` lines.
fn properties(text: &str) -> Vec<(&str, &str)> {
    text.lines().map(|l| l.split_once('=').unwrap_or_else(|| panic!("no = in '{l}'"))).collect()
}

#[test]
fn files_that_tools_read_are_well_formed() {
    let model = awkward();
    let arduino = packed(&model, Target::Arduino);
    let keys: Vec<&str> = properties(text(&arduino, "library.properties")).iter().map(|(k, _)| *k).collect();
    for key in [
        "name",
        "version",
        "author",
        "maintainer",
        "sentence",
        "paragraph",
        "category",
        "url",
        "architectures",
    ] {
        assert!(keys.contains(&key), "{key}");
    }
    for line in text(&arduino, "keywords.txt").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(columns.len() == 2 && ["KEYWORD1", "KEYWORD2", "LITERAL1"].contains(&columns[1]), "{line}");
    }
    let platformio = packed(&model, Target::PlatformIo);
    let json: serde_json::Value = serde_json::from_str(text(&platformio, "library.json")).unwrap();
    for example in json["examples"].as_array().unwrap() {
        for name in example["files"].as_array().unwrap() {
            file(&platformio, &format!("{}/{}", example["base"].as_str().unwrap(), name.as_str().unwrap()));
        }
    }
    let yaml = |package: &Package, path: &str| {
        let script = "import sys, json\ntry:\n    import yaml\nexcept ImportError:\n    sys.exit(7)\nprint(json.dumps(yaml.safe_load(sys.stdin)))";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), &file(package, path).bytes).unwrap();
        let input = std::fs::File::open(folder.path().join("f")).unwrap();
        let Ok(output) = Command::new("python3").args(["-c", script]).stdin(input).output() else {
            return None;
        };
        if output.status.code() == Some(7) {
            skipped(&format!("{path} was not parsed: python3 has no yaml module"));
            return None;
        }
        assert!(output.status.success(), "{path}: {}", said(&output));
        Some(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap())
    };
    let zephyr = packed(&model, Target::Zephyr);
    if let Some(module) = yaml(&zephyr, "zephyr/module.yml") {
        assert_eq!(module["name"], "model");
        assert_eq!(module["build"]["kconfig"], "Kconfig");
    }
    yaml(&zephyr, "samples/classify/sample.yaml");
    let idf = packed(&model, Target::EspIdf);
    if let Some(component) = yaml(&idf, "idf_component.yml") {
        assert_eq!(component["version"], env!("CARGO_PKG_VERSION"));
    }
    for (package, path) in [(&zephyr, "CMakeLists.txt"), (&idf, "CMakeLists.txt")] {
        let text = text(package, path);
        assert_eq!(text.matches('(').count(), text.matches(')').count(), "{path}");
        for source in
            text.split(|c: char| c.is_whitespace() || "\"()".contains(c)).filter(|w| w.ends_with(".c"))
        {
            file(package, source);
        }
    }
}

#[test]
fn the_reported_sizes_are_those_that_the_compiler_sees() {
    for target in C_TARGETS {
        let package = packed(&small(), target);
        let info = &package.info;
        let folder = if target == Target::C { "" } else { "src/" };
        let header = text(&package, &format!("{folder}model.h"));
        for (name, bytes) in
            [("STATE", info.state_bytes), ("SCRATCH", info.scratch_bytes), ("DATA", info.data_bytes)]
        {
            assert!(header.contains(&format!("MODEL_{name}_BYTES {bytes}")), "{name} {bytes}");
        }
    }
    let folder = written(&packed(&small(), Target::C));
    let check =
        "#include \"model.h\"\ntypedef char same[sizeof(model_state) == MODEL_STATE_BYTES ? 1 : -1];\n";
    std::fs::write(folder.path().join("out/check.c"), check).unwrap();
    compiles(&folder.path().join("out"), "check.c", &LANGUAGES, &[]);
}

#[test]
fn no_loop_becomes_a_call_of_the_c_library() {
    for (name, model) in
        [("small".into(), small()), ("awkward".into(), awkward())].into_iter().chain(variety())
    {
        let (integer, float) = (packed(&model, Target::C), packed_float(&model, Target::C));
        for (package, file) in [(&integer, "model.c"), (&integer, "model_selftest.c"), (&float, "model.c")] {
            let folder = written(package);
            let mut gcc = Command::new("gcc");
            gcc.current_dir(folder.path().join("out")).args(["-std=c99", "-O3", "-S", file, "-o", "-"]);
            let output = gcc.output().unwrap();
            assert!(output.status.success(), "{}", said(&output));
            let code = said(&output);
            for call in ["memset", "memcpy", "memmove"] {
                assert!(!code.contains(call), "{name}, {} {file} calls {call}", package.info.arithmetic);
            }
        }
    }
}

#[test]
fn the_main_task_of_esp_idf_never_has_less_stack_than_by_default() {
    let large = model(vec![Cell::new(CellKind::Lstm, 200, 100)], 3, 0.1, 2);
    for (model, least) in [(small(), 3584), (large, 3584 + 800)] {
        let package = packed(&model, Target::EspIdf);
        let line = text(&package, "examples/classify/sdkconfig.defaults");
        let stack: usize =
            line.trim().strip_prefix("CONFIG_ESP_MAIN_TASK_STACK_SIZE=").unwrap().parse().unwrap();
        assert!(stack >= least, "{line}");
    }
}

#[test]
fn metadata_names_a_page_and_no_licence() {
    let arduino = packed(&small(), Target::Arduino);
    assert!(text(&arduino, "library.properties").lines().any(|l| l.starts_with("url=https://")));
    assert!(!text(&packed(&small(), Target::EspIdf), "idf_component.yml").contains("license"));
}
