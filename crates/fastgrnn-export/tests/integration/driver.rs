//! Generated C on the host: compiled with a driver and with sanitizers, then run on bytes.

use crate::compilers::STRICT;
use fastgrnn_export::CSource;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Compiles `source` and `driver` in `folder`, with gcc's `sanitizers`.
pub fn compile(folder: &Path, source: &CSource, driver: &str, sanitizers: &str) {
    std::fs::write(folder.join("model.h"), &source.header).unwrap();
    std::fs::write(folder.join("model.c"), &source.source).unwrap();
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    let status = Command::new("gcc")
        .current_dir(folder)
        .args(["-std=c99", "-O1", "-fno-sanitize-recover=all", &format!("-fsanitize={sanitizers}")])
        .args(STRICT)
        .args(["model.c", "driver.c", "-o", "driver"])
        .status()
        .unwrap();
    assert!(status.success(), "does not compile:\n{}", source.source);
}

/// Runs the compiled driver on `input` and returns its output.
pub fn run(folder: &Path, input: Vec<u8>) -> Vec<u8> {
    let mut child =
        Command::new(folder.join("driver")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // From a thread of its own: the driver may fill its output before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "undefined behaviour in {}", folder.join("model.c").display());
    output.stdout
}
