//! Images built from the fuzzer's choices: what the reader accepts must run without overflow.
#![no_main]

use fastgrnn_fuzz::{LAYERS, Source, exercise, image};
use fastgrnn_runtime::int::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut source = Source::new(bytes);
    let image = image(&mut source);
    if let Ok(model) = Model::<LAYERS>::read(&image) {
        exercise(&model, &mut source);
    }
});
