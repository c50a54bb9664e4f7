//! Skipping tests whose tools are not installed.

use fastgrnn::device::Board;
use fastgrnn_boards::missing_tools;
use std::io::Write;

/// Whether the board can be run here; says so where not.
pub fn runs(board: Board) -> bool {
    let missing = missing_tools(board);
    if let Some(missing) = missing.first() {
        // Not eprintln!, which a test that passes does not show.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {missing}");
        assert!(std::env::var_os("FASTGRNN_TOOLS").is_none(), "tools were installed, yet {missing}");
    }
    missing.is_empty()
}
