//! One file a command; each calls the library and prints its answer.

pub mod bench;
pub mod completions;
pub mod data;
pub mod demo;
pub mod eval;
pub mod info;
mod model;
pub mod predict;
mod report;
pub mod train;
