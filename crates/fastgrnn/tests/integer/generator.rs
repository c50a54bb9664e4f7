//! The random networks by themselves, for tests of other crates: those that a reader accepts.
#![allow(dead_code)]

pub mod image;
pub mod network;
pub mod random;
pub mod rules;
