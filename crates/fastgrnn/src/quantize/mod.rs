//! From a float model to one that computes in integers only.
//!
//! `docs/integer-arithmetic.md` in the repository specifies what every integer means.

mod grid;

pub use grid::Grid;
