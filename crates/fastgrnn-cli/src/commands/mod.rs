//! One file for each command. A command calls the library and prints the answer; helpers that several
//! commands share are in the modules beside this one.

pub mod analyze;
pub mod bench;
pub mod board;
pub mod compare;
pub mod completions;
pub mod data;
pub mod demo;
pub mod eval;
pub mod export;
pub mod generate;
pub mod info;
pub mod new;
pub mod pareto;
pub mod predict;
pub mod quantize;
pub mod reproduce;
pub mod runs;
pub mod search;
pub mod stream;
pub mod stream_eval;
pub mod train;
pub mod tune;
