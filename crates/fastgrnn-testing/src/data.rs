//! Where the real data sets are, for tests that need them.

use std::io::Write;
use std::path::PathBuf;

/// The folder `name` inside `FASTGRNN_DATA`. Without one, prints what the calling test skips.
pub fn folder(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("FASTGRNN_DATA") else {
        let what = if name.is_empty() { "data" } else { name };
        skipped(&format!("FASTGRNN_DATA is not set, so there is no {what} to test with"));
        return None;
    };
    let folder = PathBuf::from(root).join(name);
    if folder.exists() {
        return Some(folder);
    }
    skipped(&format!("there is no {}", folder.display()));
    None
}

/// Says so even where the test harness captures the output of tests that pass.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
