//! Tests that cannot run here say so.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that something was not tested, even where the test harness captures the output of tests that
/// pass. If the environment variable `FASTGRNN_SKIPPED` names a file, a line is added to it:
/// `scripts/test` ends with a list of them.
pub fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
    let Some(list) = std::env::var_os("FASTGRNN_SKIPPED") else { return };
    if let Ok(mut list) = OpenOptions::new().create(true).append(true).open(list) {
        let _ = list.write_all(format!("{what}\n").as_bytes());
    }
}
