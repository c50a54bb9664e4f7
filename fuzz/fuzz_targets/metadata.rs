//! Any text as the metadata of a model file that is right otherwise.
#![no_main]

use fastgrnn_fuzz::{model_files, read_model, with_metadata};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(model_files);

fuzz_target!(|text: &str| {
    for file in FILES.iter() {
        read_model(&with_metadata(file, text));
    }
});
