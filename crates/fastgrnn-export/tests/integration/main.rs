//! The integration tests of this crate, as one program, so that the library is linked once.

// Helpers.
mod compilers;
mod driver;
mod models;
mod networks;
mod written;

// The C core.
mod c_core;
mod c_detector;
mod c_front;
mod c_text;
mod emulated;
mod estimate;
mod float;
mod rules;

// Packages.
mod listening;
mod packages;
mod rust_crate;
mod self_test;
mod wasm;
