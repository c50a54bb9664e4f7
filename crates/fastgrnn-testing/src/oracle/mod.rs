//! A second implementation of `docs/integer-arithmetic.md`, written from that page alone, and
//! the random networks on which it is compared with the runtime. It shares no code with the
//! runtime, computes in 64 bits, and asserts at every operation the width that the page promises:
//! each comparison is also a test of the argument that nothing overflows.

pub mod compare;
pub mod compute;
pub mod curves;
pub mod detector;
pub mod image;
pub mod network;
pub mod random;
pub mod reader;
pub mod rules;
pub mod sample;
pub mod score;
