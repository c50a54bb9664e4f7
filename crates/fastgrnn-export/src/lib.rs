//! Exports integer networks as source code: one portable C core, and packages around it.
//!
//! [`package`] generates everything that a tool chain needs: the core, golden vectors, a self-test,
//! examples and a README. [`Package::write`] writes them to a folder, all of them or none.
//! [`c_source`] generates only the core, and [`float_source`] the same functions in soft float, for
//! comparisons.

mod c;
mod error;
mod escape;
mod fill;
pub mod float;
mod golden;
mod name;
mod package;

pub use c::{COptions, CSource, FrontEndInfo, Optimize, c_source};
pub use error::ExportError;
pub use float::float_source;
pub use golden::{Golden, GoldenText, GoldenWindow, MOST_BYTES, Windows};
pub use package::{
    File, GOLDEN_SEED, GOLDEN_WINDOWS, GoldenInfo, Package, PackageInfo, PackageOptions, Target,
    WrittenPackage, package,
};
