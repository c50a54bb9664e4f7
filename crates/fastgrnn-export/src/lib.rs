//! Integer networks as source code: one portable C core and thin packages around it.

mod c;
mod error;

pub use c::{COptions, CSource, Optimize, c_source};
pub use error::ExportError;
