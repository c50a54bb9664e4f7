//! The integer runtime against a second implementation of `docs/integer-arithmetic.md`.

mod cells;
mod codes;
mod curve_values;
mod extremes;
mod images;
mod rounding;
mod states;
