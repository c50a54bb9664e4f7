//! One file a command; each calls the library and prints its answer.

pub mod bench;
pub mod board;
pub mod board_sound;
mod boards;
pub mod compare;
pub mod completions;
mod components;
pub mod data;
pub mod demo;
mod detector;
pub mod eval;
pub mod export;
pub mod info;
mod integer;
#[cfg(feature = "mic")]
mod microphone;
mod model;
pub mod new;
pub mod pareto;
mod part;
pub mod predict;
pub mod quantize;
mod report;
mod saturation;
pub mod stream;
pub mod stream_eval;
pub mod train;
