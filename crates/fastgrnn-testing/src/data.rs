//! Where the real data sets are, for tests that need them.

use crate::skip::skipped;
use std::path::PathBuf;

/// The folder `name` inside `FASTGRNN_DATA`. Without one, says what the calling test skips; if the
/// environment variable `FASTGRNN_REQUIRE_DATA` is 1, the test fails instead.
pub fn folder(name: &str) -> Option<PathBuf> {
    let missing = match std::env::var_os("FASTGRNN_DATA").filter(|root| !root.is_empty()) {
        None => {
            let what = if name.is_empty() { "data" } else { name };
            format!("FASTGRNN_DATA is not set, so there is no {what} to test with")
        }
        Some(root) => match PathBuf::from(root).join(name) {
            folder if folder.exists() => return Some(folder),
            folder => format!("there is no {} to test with", folder.display()),
        },
    };
    let is_required = std::env::var_os("FASTGRNN_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!is_required, "FASTGRNN_REQUIRE_DATA is 1, but {missing}");
    skipped(&missing);
    None
}
