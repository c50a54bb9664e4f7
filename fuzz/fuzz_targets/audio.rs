//! Any bytes to the readers of recordings; what is accepted is resampled.
#![no_main]

use fastgrnn::audio;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(sound) = audio::decode("fuzz", bytes) else { return };
    assert!(!sound.samples.is_empty() && sound.samples.iter().all(|sample| sample.is_finite()));
    if sound.samples.len() < 10_000 {
        let at_16k = audio::resample(&sound, 16_000).expect("short enough");
        assert!(at_16k.samples.iter().all(|sample| sample.is_finite()));
    }
});
