//! The Rust package as a stranger builds it: elsewhere, offline, with nothing but cargo.

use crate::compilers::said;
use crate::models::{awkward, model};
use crate::written::{file, packed, written};
use fastgrnn::cells::{CELLS, Cell, CellKind, Nonlinearity};
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::{ExportError, PackageOptions, Target, package};
use std::path::Path;
use std::process::{Command, Output};

fn cargo(folder: &Path, target: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder).args(args).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    command.env("RUSTFLAGS", "-D warnings").env_remove("CARGO_MANIFEST_DIR");
    command.output().unwrap()
}

#[test]
fn it_builds_offline_without_warnings_and_its_tests_pass() {
    let folder = written(&packed(&awkward(), Target::Rust));
    let target = tempfile::tempdir().unwrap();
    let output = cargo(&folder.path().join("out"), target.path(), &["test", "--quiet"]);
    assert!(output.status.success(), "{}", said(&output));
    let said_ = said(&output);
    assert_eq!(said_.matches("test result: ok").count(), 3, "units, golden vectors and the example: {said_}");
    let output = cargo(&folder.path().join("out"), target.path(), &["doc", "--no-deps", "--quiet"]);
    assert!(output.status.success(), "{}", said(&output));
}

/// All cells in one program: two exported crates may stand side by side.
#[test]
fn networks_of_every_cell_live_in_one_program_and_agree_with_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let piecewise =
        |cell: Cell| Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..cell };
    let mut models: Vec<(String, IntegerModel)> = Vec::new();
    for (i, cell) in CELLS.iter().filter(|cell| cell.has_integers()).enumerate() {
        let cell = piecewise(Cell::new(cell.kind, 4, 9)).with_ranks(Some(2), None);
        models.push((
            format!("{}_low_rank", cell.kind.name().replace('-', "_")),
            model(vec![cell], 4, 0.5, i as u64),
        ));
    }
    let two = vec![Cell::new(CellKind::Gru, 3, 5), Cell::new(CellKind::FastGrnn, 5, 4)];
    models.push(("two_layers".into(), model(two, 2, 1.0, 77)));
    let mut manifest =
        "[package]\nname = \"all\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n".to_owned();
    let mut main = "fn main() {\n".to_owned();
    for (name, model) in &models {
        let options = PackageOptions { name: name.clone(), ..PackageOptions::default() };
        package(model, Target::Rust, &options).unwrap().write(&folder.path().join(name), false).unwrap();
        manifest.push_str(&format!("{name} = {{ path = \"{name}\" }}\n"));
        main.push_str(&format!(
            "    assert_eq!({name}::self_test(&mut {name}::Memory::new()).unwrap(), 0, \"{name}\");\n"
        ));
    }
    main.push_str("    println!(\"all agree\");\n}\n");
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.path().join("src/main.rs"), main).unwrap();
    let output = cargo(folder.path(), &folder.path().join("target"), &["run", "--quiet"]);
    assert!(output.status.success() && said(&output).contains("all agree"), "{}", said(&output));
}

#[test]
fn the_crate_s_self_test_finds_a_damaged_image_and_a_wrong_score() {
    let made = packed(&awkward(), Target::Rust);
    let folder = written(&made);
    let out = folder.path().join("out");
    let target = tempfile::tempdir().unwrap();
    let golden = std::fs::read_to_string(out.join("src/golden.rs")).unwrap();
    std::fs::write(
        out.join("src/golden.rs"),
        golden.replacen("        scores: [", "        scores: [1 + ", 1),
    )
    .unwrap();
    let output = cargo(&out, target.path(), &["test", "--quiet", "--test", "golden"]);
    assert!(!output.status.success() && said(&output).contains("this_machine_computes"), "{}", said(&output));
    std::fs::write(out.join("src/golden.rs"), golden).unwrap();
    let mut image = file(&made, "model.img").bytes.clone();
    let middle = image.len() / 2;
    image[middle] ^= 1;
    std::fs::write(out.join("model.img"), image).unwrap();
    let output = cargo(&out, target.path(), &["test", "--quiet", "--test", "golden"]);
    assert!(!output.status.success() && said(&output).contains("Checksum"), "{}", said(&output));
}

#[test]
fn the_smallest_budget_that_is_accepted_compiles() {
    // An odd number of words of 16 bits before those of 32.
    let odd = model(vec![Cell::new(CellKind::FastGrnn, 3, 5)], 3, 1.0, 1);
    let with = |max_ram| package(&odd, Target::Rust, &PackageOptions { max_ram, ..Default::default() });
    let Err(ExportError::Ram { needed, .. }) = with(Some(1)) else { panic!("a byte was enough") };
    let folder = written(&with(Some(needed)).unwrap());
    let target = tempfile::tempdir().unwrap();
    let output = cargo(&folder.path().join("out"), target.path(), &["check", "--quiet"]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn the_ram_budget_is_checked_when_the_crate_is_built() {
    let options = PackageOptions { max_ram: Some(100_000), ..PackageOptions::default() };
    let folder = written(&package(&awkward(), Target::Rust, &options).unwrap());
    let out = folder.path().join("out");
    let target = tempfile::tempdir().unwrap();
    assert!(cargo(&out, target.path(), &["check", "--quiet"]).status.success());
    let lib = std::fs::read_to_string(out.join("src/lib.rs")).unwrap();
    std::fs::write(out.join("src/lib.rs"), lib.replace("<= 100000", "<= 10")).unwrap();
    let output = cargo(&out, target.path(), &["check", "--quiet"]);
    assert!(!output.status.success() && said(&output).contains("--max-ram"), "{}", said(&output));
}
