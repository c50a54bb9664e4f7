//! A second implementation of `docs/integer-arithmetic.md`, written from that page alone, and
//! the random networks on which it is compared with the runtime. It shares no code with the
//! runtime, computes in 64 bits, and asserts at every operation the width that the page promises:
//! each comparison is also a test of the argument that nothing overflows.
#![allow(dead_code)]

pub mod compare;
mod curve_values;
pub mod curves;
pub mod detector;
mod extremes;
pub mod image;
mod images;
pub mod network;
pub mod oracle;
mod quantized;
pub mod random;
pub mod reader;
mod rounding;
pub mod rules;
pub mod score;
mod states;
