//! The self-test of an export on emulated boards, as a user would run it on real ones.

use crate::compilers::{STRICT, has, said, skipped};
use crate::models::{awkward, model};
use crate::written::{packed, packed_float, written};
use fastgrnn::cells::{CELLS, Cell, CellKind, Nonlinearity};
use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::{Package, Target};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A model of every cell, one of them with a float twin, each with its package.
fn packages() -> Vec<(String, Package)> {
    let mut all: Vec<(String, IntegerModel)> = Vec::new();
    for (i, cell) in CELLS.iter().filter(|cell| cell.has_integers()).enumerate() {
        let cell = Cell { update: Nonlinearity::QuantTanh, ..Cell::new(cell.kind, 3, 8) };
        all.push((cell.kind.name().into(), model(vec![cell.with_ranks(None, Some(4))], 3, 0.4, i as u64)));
    }
    all.push(("awkward".into(), awkward()));
    let mut packages: Vec<(String, Package)> =
        all.iter().map(|(name, model)| (name.clone(), packed(model, Target::C))).collect();
    let smooth = model(vec![Cell::new(CellKind::FastGrnn, 3, 8)], 3, 0.5, 20);
    packages.push(("float".into(), packed_float(&smooth, Target::C)));
    packages
}

fn boards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/boards")
}

/// Links `main` with the C of the package in `folder`.
fn link(compiler: &str, flags: &[&str], main: &str, folder: &Path) -> PathBuf {
    let output = Command::new(compiler)
        .current_dir(folder)
        .args(flags)
        .args(["-std=gnu99", "-I.", "-o", "board.elf"])
        .args(&STRICT[..3])
        .arg(boards().join(main))
        .args(["model.c", "model_text.c", "model_selftest.c", "-lgcc"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    folder.join("board.elf")
}

#[test]
fn a_cortex_m0_and_an_m3_pass() {
    if !has("arm-none-eabi-gcc") || !has("qemu-system-arm") {
        return skipped("self-tests were NOT run on a Cortex-M");
    }
    let script = format!("-T{}", boards().join("arm.ld").display());
    for (machine, cpu) in [("microbit", "-mcpu=cortex-m0"), ("mps2-an385", "-mcpu=cortex-m3")] {
        for (name, package) in packages() {
            let folder = written(&package);
            let flags = [cpu, "-mthumb", "-O2", "-ffreestanding", "-nostdlib", &script];
            let program = link("arm-none-eabi-gcc", &flags, "arm.c", &folder.path().join("out"));
            let output = Command::new("qemu-system-arm")
                .args(["-M", machine, "-nographic", "-monitor", "none", "-serial", "none"])
                .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
                .arg(program)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let text = said(&output);
            assert!(output.status.success() && text.contains("PASS"), "{name} on {machine}:\n{text}");
            assert!(
                name == "float" || text.contains(&package.info.golden.hash),
                "{name} on {machine}:\n{text}"
            );
        }
    }
}

/// The emulator of the Uno, built around libsimavr; QEMU's hangs in some of these programs.
fn simavr(folder: &Path) -> Option<PathBuf> {
    if !has("avr-gcc") || !Path::new("/usr/include/simavr/sim_avr.h").exists() {
        return None;
    }
    let program = folder.join("simavr");
    let output = Command::new("gcc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(boards().join("simavr.c"))
        .args(["-lsimavr", "-lelf"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    Some(program)
}

#[test]
fn an_uno_passes() {
    let tools = tempfile::tempdir().unwrap();
    let Some(simavr) = simavr(tools.path()) else { return skipped("self-tests were NOT run on an Uno") };
    for (name, package) in packages() {
        let folder = written(&package);
        let program = link("avr-gcc", &["-mmcu=atmega328p", "-Os"], "avr.c", &folder.path().join("out"));
        let output = Command::new(&simavr).arg(program).output().unwrap();
        let text = said(&output);
        assert!(output.status.success() && text.contains("PASS"), "{name}:\n{text}");
        assert!(name == "float" || text.contains(&package.info.golden.hash), "{name}:\n{text}");
    }
}
