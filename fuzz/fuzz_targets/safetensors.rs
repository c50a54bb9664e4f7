//! Any bytes as a model file.
#![no_main]

use fastgrnn_fuzz::read_model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| read_model(bytes));
