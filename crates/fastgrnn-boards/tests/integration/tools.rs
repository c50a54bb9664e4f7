//! Skipping tests whose tools are not installed.

use fastgrnn::device::Board;
use fastgrnn_boards::missing_tools;

/// Whether the board can be run here; says so where not.
pub fn runs(board: Board) -> bool {
    let missing = missing_tools(board);
    if let Some(missing) = missing.first() {
        fastgrnn_testing::skipped(&missing.to_string());
        assert!(std::env::var_os("FASTGRNN_TOOLS").is_none(), "tools were installed, yet {missing}");
    }
    missing.is_empty()
}
