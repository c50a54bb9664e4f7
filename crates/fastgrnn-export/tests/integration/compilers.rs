//! The compilers that generated C is compiled with.

use std::path::Path;
use std::process::{Command, Output};

/// Warnings that no generated file may cause.
pub const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Whether a program is installed.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Says that something was not tested, past the capture of output, so that nobody takes it for passed.
pub fn skipped(what: &str) {
    fastgrnn_testing::skipped(what);
    // A browser and a reader of YAML are not among the tools that are installed for the tests.
    let other = ["browser", "yaml"].iter().any(|tool| what.contains(tool));
    let must = std::env::var_os("FASTGRNN_TOOLS").is_some() && !other;
    assert!(!must, "tools were installed, yet skipped: {what}");
}

/// A compiler, with what makes it compile for its board.
pub struct Compiler {
    pub program: &'static str,
    pub flags: &'static [&'static str],
}

/// The compilers that generated C must please. Those of bare boards have no library, hence
/// `-ffreestanding`.
pub const COMPILERS: [Compiler; 5] = [
    Compiler { program: "avr-gcc", flags: &["-mmcu=atmega328p", "-Os"] },
    Compiler {
        program: "arm-none-eabi-gcc",
        flags: &["-mcpu=cortex-m0plus", "-mthumb", "-O2", "-ffreestanding"],
    },
    Compiler {
        program: "riscv64-unknown-elf-gcc",
        flags: &["-march=rv32imac", "-mabi=ilp32", "-O2", "-ffreestanding"],
    },
    Compiler { program: "gcc", flags: &["-O2"] },
    Compiler { program: "clang", flags: &["-O2"] },
];

/// As C99 and as C++.
pub const LANGUAGES: [&[&str]; 2] = [&["-x", "c", "-std=c99"], &["-x", "c++", "-std=c++11"]];

/// Compiles `file` of `folder` by every installed compiler in every language; panics with what a
/// compiler says.
pub fn compiles(folder: &Path, file: &str, languages: &[&[&str]], include: &[&Path]) {
    for compiler in &COMPILERS {
        if !has(compiler.program) {
            skipped(&format!("{file} was not compiled by {}", compiler.program));
            continue;
        }
        for language in languages {
            let mut command = Command::new(compiler.program);
            command.current_dir(folder).args(compiler.flags).args(STRICT).args(*language);
            include.iter().for_each(|path| {
                command.arg("-I").arg(path);
            });
            let output = command.args(["-c", file, "-o", "/dev/null"]).output().unwrap();
            assert!(output.status.success(), "{} {language:?} {file}:\n{}", compiler.program, said(&output));
        }
    }
}

/// What a program printed.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
