//! Any text as the metadata of a model file that is right otherwise; the first byte says which.
#![no_main]

use fastgrnn_fuzz::{model_files, read_model, with_metadata};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(model_files);

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, text)) = bytes.split_first() else { return };
    let file = &FILES[usize::from(which) % FILES.len()];
    read_model(&with_metadata(file, &String::from_utf8_lossy(text)));
});
