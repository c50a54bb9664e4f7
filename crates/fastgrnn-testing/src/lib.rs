//! What the tests of several crates share. Nothing here is published.
//!
//! | module | contents |
//! | --- | --- |
//! | [`oracle`] | a second implementation of `docs/integer-arithmetic.md`, and random integer networks |
//! | [`networks`] | random float networks, parameters and batches |
//! | [`data`] | where the real data sets are, for tests that need them |
//! | [`emulator`] | CUDA's driver on the CPU, for tests of GPU code |
#![allow(missing_docs)]
pub mod data;
pub mod emulator;
pub mod networks;
pub mod oracle;
mod skip;

pub use skip::skipped;
