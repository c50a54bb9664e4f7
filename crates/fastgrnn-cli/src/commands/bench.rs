//! `fastgrnn bench train`

use crate::args::BenchArgs;
use crate::console::Console;

/// Measures.
pub fn run(_args: BenchArgs, _console: Console) -> anyhow::Result<()> {
    Ok(())
}
