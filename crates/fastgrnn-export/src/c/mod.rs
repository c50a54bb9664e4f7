//! The C core: one header and one source file for a network.

use crate::ExportError;
use fastgrnn::quantize::IntegerNetwork;

/// What the generated code is made for where size and speed disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimize {
    /// Few bytes of flash.
    #[default]
    Size,
    /// Few cycles.
    Speed,
}

/// How to write C.
#[derive(Clone, Debug)]
pub struct COptions {
    /// Prefix of every name, and the files' name.
    pub name: String,
    /// RAM that may be used, checked when the C is compiled.
    pub max_ram: Option<usize>,
    /// Size or speed.
    pub optimize: Optimize,
}

/// A network in C.
#[derive(Clone, Debug)]
pub struct CSource {
    /// The prefix.
    pub name: String,
    /// `NAME.h`
    pub header: String,
    /// `NAME.c`
    pub source: String,
    /// Bytes of constant data in flash, derived from the tables.
    pub data_bytes: usize,
    /// Bytes of the state struct.
    pub state_bytes: usize,
    /// Bytes of buffers that `step` and `classify` put on the stack.
    pub scratch_bytes: usize,
}

/// Writes `network` in C.
pub fn c_source(network: &IntegerNetwork, options: &COptions) -> Result<CSource, ExportError> {
    let _ = network;
    Err(ExportError::Name { name: options.name.clone() })
}
