//! The integration tests of this crate, as one program, so that the libraries are linked once.

// Helpers.
#[path = "../../../fastgrnn-export/tests/integration/networks.rs"]
mod networks;
mod tiny;
mod tools;

mod boards;
mod cycles;
mod estimate;
mod sound;
mod text;
mod wild;
