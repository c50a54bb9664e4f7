//! Any bytes as a device image: as they are, and with header and check sum made right.
#![no_main]

use fastgrnn_fuzz::{LAYERS, Source, exercise, seal};
use fastgrnn_runtime::int::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Model::<LAYERS>::read(bytes);
    let mut image = bytes.to_vec();
    seal(&mut image);
    if let Ok(model) = Model::<LAYERS>::read(&image) {
        exercise(&model, &mut Source::new(bytes));
    }
});
