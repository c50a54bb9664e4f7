//! Inference of kilobyte recurrent networks on devices: `no_std`, no allocation, no dependency.
//!
//! The training library computes whole batches; this crate computes one step of one sequence,
//! which is what a microcontroller does.
#![no_std]
#![forbid(unsafe_code)]
