//! Integer networks as source code: one portable C core and thin packages around it.
//!
//! [`package`] makes everything that a tool chain needs of a model: the core, golden vectors, a
//! self-test, examples, a README. [`Package::write`] puts it into a folder, whole or not at all.
//! [`c_source`] is the core alone; [`float_source`] the same functions in soft float, to be
//! compared with.

mod c;
mod error;
mod fill;
pub mod float;
mod golden;
mod name;
mod package;
mod plain;

pub use c::{COptions, CSource, FrontEndInfo, Optimize, c_source};
pub use error::ExportError;
pub use float::float_source;
pub use golden::{Golden, GoldenWindow, MOST_BYTES, Windows};
pub use package::{
    Facts, File, GOLDEN_SEED, GOLDEN_WINDOWS, GoldenFacts, Package, PackageOptions, Target, Written, package,
};
