//! Packages as a user takes them: every file compiles, the self-test tells right from wrong, and
//! what tools read is what they expect.

mod common;

use common::{
    awkward, compiles, file, has, model, packed, packed_float, said, skipped, small, text, variety, written,
};
use fastgrnn::cells::{Cell, CellKind};
use fastgrnn_export::{ExportError, Golden, MOST_BYTES, Package, PackageOptions, Target, Windows, package};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const C_TARGETS: [Target; 5] =
    [Target::C, Target::Arduino, Target::PlatformIo, Target::Zephyr, Target::EspIdf];

fn stubs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stubs")
}

/// Builds the plain C package's programs and runs the self-test: whether it passed, and its text.
fn self_test(folder: &Path) -> (bool, String) {
    let build = Command::new("make").current_dir(folder).output().unwrap();
    assert!(build.status.success(), "{}", said(&build));
    let output = Command::new(folder.join("selftest")).output().unwrap();
    (output.status.success(), said(&output))
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
            &package.facts.model_sha256,
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
        let package = if i % 4 == 3 { packed_float(model, Target::C) } else { packed(model, Target::C) };
        let folder = written(&package);
        let out = folder.path().join("out");
        for name in ["model_text.c", "model_selftest.c"] {
            compiles(&out, name, &common::LANGUAGES, &[]);
        }
    }
    let folder = written(&packed(&small(), Target::C));
    let out = folder.path().join("out");
    compiles(&out, "model.c", &common::LANGUAGES, &[]);
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
            .args(common::STRICT)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

#[test]
fn the_self_test_passes_for_every_cell_and_prints_the_hash_of_the_host() {
    for (name, model) in variety() {
        for float in [false, true] {
            let package = if float { packed_float(&model, Target::C) } else { packed(&model, Target::C) };
            let folder = written(&package);
            let (passed, text) = self_test(&folder.path().join("out"));
            assert!(passed && text.ends_with("PASS\n"), "{name}, float {float}:\n{text}");
            assert_eq!(text.contains(&package.facts.golden.hash), !float, "{name}:\n{text}");
        }
    }
}

#[test]
fn the_self_test_fails_if_the_network_the_reset_or_the_state_is_wrong() {
    let package = packed(&model(vec![Cell::new(CellKind::FastGrnn, 3, 6)], 3, 1.0, 1), Target::C);
    let source = text(&package, "model.c").to_owned();
    let broken = |what: &str, from: &str, to: &str| {
        let changed = source.replacen(from, to, 1);
        assert_ne!(changed, source, "{what}: no '{from}' in the C");
        let folder = written(&package);
        let out = folder.path().join("out");
        std::fs::write(out.join("model.c"), changed).unwrap();
        let (passed, text) = self_test(&out);
        assert!(!passed && text.ends_with("FAIL\n"), "{what}:\n{text}");
        text
    };
    let head = source.split("head_b[").nth(1).and_then(|t| t.split("{").nth(1)).unwrap();
    let first = head.split(',').next().unwrap().trim();
    let text =
        broken("one bias", &format!("{{{}", head.split(first).next().unwrap().to_owned() + first), "{12345");
    assert!(text.contains("wrong"), "{text}");
    let reset = "void model_reset(model_state *state)\n{";
    let text = broken(
        "no reset",
        reset,
        "void model_reset(model_state *state)\n{\n    if (state->h0[0] != (int16_t)0xA5A5) return;",
    );
    assert!(text.contains("reset: ") && !text.contains("reset: ok"), "{text}");
    let step = "void model_step(model_state *state, const int16_t *counts)\n{";
    let shared = format!("static model_state only;\n{step}\n    model_state *own = state; state = &only;");
    // A step that keeps its state elsewhere, and only shows it to the caller.
    let changed = source.replacen(step, &shared, 1);
    let end = changed
        .rfind("}\n\n")
        .map(|_| ())
        .and(changed.split(step).nth(1).and_then(|t| t.find("\n}\n")))
        .unwrap();
    let at = changed.find(step).unwrap() + step.len() + end;
    let changed = format!("{}\n    *own = only;{}", &changed[..at], &changed[at..]);
    let folder = written(&package);
    let out = folder.path().join("out");
    std::fs::write(out.join("model.c"), changed).unwrap();
    let (passed, text) = self_test(&out);
    assert!(!passed && !text.contains("side by side: ok"), "{text}");
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
    let label = &package.facts.labels[window["class"].as_u64().unwrap() as usize];
    assert!(said_.starts_with(label.as_str()), "{said_}");
    for bad in ["1\n", "1 2 3\n", "1 x\n", "1 40000\n"] {
        let output = run(bad);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(said(&output).contains("line 1"), "{bad}");
    }
}

#[test]
fn golden_vectors_fit_a_small_board_whatever_the_network() {
    for (features, outputs, windows) in [(1, 2, 4), (32, 12, 4), (500, 3, 4), (9, 6, 1), (9, 6, 100)] {
        let model = model(vec![Cell::new(CellKind::Rnn, features, 4)], outputs, 0.3, 5);
        let golden = Golden::integer(&model, &Windows::random(&model, windows, 1)).unwrap();
        assert!(golden.bytes() <= MOST_BYTES, "{features} features: {} bytes", golden.bytes());
        assert!(!golden.windows.is_empty() && golden.windows.len() <= windows);
        assert!(golden.windows.iter().all(|w| !w.counts.is_empty() && w.counts.len() % features == 0));
    }
}

#[test]
fn windows_that_are_none_are_refused() {
    let model = small();
    let windows = |counts: Vec<Vec<i16>>| Windows { counts, origin: "a test".into() };
    let make =
        |w: Windows| package(&model, Target::C, &PackageOptions { windows: Some(w), ..Default::default() });
    assert!(matches!(make(windows(vec![])), Err(ExportError::NoWindow)));
    assert!(matches!(make(windows(vec![vec![]])), Err(ExportError::NoWindow)));
    let odd = make(windows(vec![vec![1, 2, 3, 4]]));
    assert!(matches!(odd, Err(ExportError::Window { found: 4, features: 3 })));
}

#[test]
fn the_ram_budget_is_checked_when_exporting_and_when_compiling() {
    let model = small();
    let with = |max_ram| package(&model, Target::C, &PackageOptions { max_ram, ..Default::default() });
    let facts = with(None).unwrap().facts;
    let needed = facts.state_bytes + facts.scratch_bytes + 2 * facts.features + 4 * facts.outputs;
    assert!(matches!(with(Some(needed - 1)), Err(ExportError::Ram { most, .. }) if most == needed - 1));
    for float in [false, true] {
        let options = PackageOptions { max_ram: Some(4 * needed), float, ..Default::default() };
        let folder = written(&package(&model, Target::C, &options).unwrap());
        let compile = |define: &str| {
            let mut gcc = Command::new("gcc");
            gcc.current_dir(folder.path().join("out")).args([
                "-std=c99",
                "-c",
                "model.c",
                "-o",
                "/dev/null",
                define,
            ]);
            gcc.output().unwrap().status.success()
        };
        assert!(compile("-DNOTHING"));
        assert!(!compile("-DMODEL_MAX_RAM=10"), "a smaller budget must not compile");
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
            eprintln!("SKIPPED: {path} was not parsed; python3 has no yaml module");
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
fn people_s_texts_stay_texts() {
    let package = packed(&awkward(), Target::C);
    let readme = text(&package, "README.md");
    assert!(readme.contains("größer 2"), "{readme}");
    assert!(readme.contains("acc \\*/ x"), "{readme}");
    assert!(!readme.contains("<b>"), "{readme}");
}

#[test]
fn names_and_floats_that_cannot_be_are_refused() {
    let model = small();
    let named =
        |name: &str| package(&model, Target::C, &PackageOptions { name: name.into(), ..Default::default() });
    assert!(matches!(named("My Model"), Err(ExportError::Name { .. })));
    assert!(matches!(named("stdint"), Err(ExportError::NameTaken { .. })));
    let ok = named("gesture_2").unwrap();
    assert!(text(&ok, "gesture_2.h").contains("gesture_2_step"));
    let float = package(&model, Target::Rust, &PackageOptions { float: true, ..Default::default() });
    assert!(matches!(float, Err(ExportError::FloatTarget { target: "rust" })));
}

#[test]
fn a_folder_is_written_whole_and_nothing_of_the_user_s_is_lost() {
    let package = packed(&small(), Target::C);
    let parent = tempfile::tempdir().unwrap();
    let entries = || std::fs::read_dir(parent.path()).unwrap().count();
    let out = parent.path().join("deep/out");
    let written = package.write(&out, false).unwrap();
    assert_eq!((written.folder.as_path(), written.moved_aside), (out.as_path(), None));
    assert_eq!(std::fs::read(out.join("model.c")).unwrap(), file(&package, "model.c").bytes);

    let out = parent.path().join("mine");
    std::fs::create_dir(&out).unwrap();
    package.write(&out, false).unwrap();
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    assert!(matches!(package.write(&out, false), Err(ExportError::NotEmpty { .. })));
    for n in ["mine.old", "mine.old-2"] {
        let aside = package.write(&out, true).unwrap().moved_aside.unwrap();
        assert_eq!(aside, parent.path().join(n));
    }
    assert_eq!(std::fs::read_to_string(parent.path().join("mine.old/notes.txt")).unwrap(), "mine");
    assert!(!out.join("notes.txt").exists());

    std::fs::write(parent.path().join("file"), "a file").unwrap();
    assert!(matches!(package.write(&parent.path().join("file"), true), Err(ExportError::NotAFolder { .. })));
    assert!(matches!(package.write(Path::new("."), true), Err(ExportError::InUse { .. })));
    assert_eq!(entries(), 5, "deep, mine, mine.old, mine.old-2, file and nothing temporary");
}

#[test]
fn the_sizes_in_the_facts_are_those_that_the_compiler_sees() {
    for target in C_TARGETS {
        let package = packed(&small(), target);
        let facts = &package.facts;
        let folder = if target == Target::C { "" } else { "src/" };
        let header = text(&package, &format!("{folder}model.h"));
        for (name, bytes) in
            [("STATE", facts.state_bytes), ("SCRATCH", facts.scratch_bytes), ("DATA", facts.data_bytes)]
        {
            assert!(header.contains(&format!("MODEL_{name}_BYTES {bytes}")), "{name} {bytes}");
        }
    }
    let folder = written(&packed(&small(), Target::C));
    let check =
        "#include \"model.h\"\ntypedef char same[sizeof(model_state) == MODEL_STATE_BYTES ? 1 : -1];\n";
    std::fs::write(folder.path().join("out/check.c"), check).unwrap();
    compiles(&folder.path().join("out"), "check.c", &common::LANGUAGES, &[]);
}
