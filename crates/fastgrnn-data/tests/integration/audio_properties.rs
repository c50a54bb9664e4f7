//! Recordings under arbitrary bytes: audio or an error, never a panic, never memory that is not there.

use crate::sound::{Wav, chunk, flac, riff};
use fastgrnn_data::audio::{self, Audio, Resampler, resample};
use proptest::prelude::*;

/// Decodes; whatever comes out must keep its promises.
fn check(bytes: &[u8]) {
    if let Ok(audio) = audio::decode("any", bytes) {
        assert!(!audio.samples.is_empty() && audio.samples.iter().all(|s| s.is_finite()));
        assert!((1_000..=768_000).contains(&audio.rate));
        assert_eq!(audio.to_i16().len(), audio.samples.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(start in 0usize..5, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let starts: [&[u8]; 5] = [b"", b"RIFF\0\0\0\0WAVE", b"RF64\xff\xff\xff\xffWAVEds64", b"fLaC\x80\0\0\x22", b"ID3"];
        check(&[starts[start], &bytes].concat());
    }

    #[test]
    fn any_format_chunk_never_panics(format in prop::collection::vec(any::<u8>(), 0..48), data in prop::collection::vec(any::<u8>(), 0..64), tag in 0u8..8) {
        let mut format = format;
        if let Some(first) = format.first_mut() { *first = tag }
        if let Some(second) = format.get_mut(1) { *second = 0 }
        check(&riff(&[chunk(b"fmt ", &format), chunk(b"data", &data)]));
    }

    #[test]
    fn damaged_files_never_panic(samples in prop::collection::vec(any::<i16>(), 1..400), at in any::<prop::sample::Index>(), value in any::<u8>(), cut in any::<prop::sample::Index>(), channels in 1u32..4) {
        let wide: Vec<i32> = samples.iter().map(|&s| s.into()).take(samples.len() / channels as usize * channels as usize).collect();
        for mut bytes in [Wav::pcm16(16_000, channels as u16, &samples).bytes(), flac(16_000, 16, channels, &wide)] {
            let place = at.index(bytes.len());
            bytes[place] = value;
            check(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            check(&bytes);
        }
    }

    #[test]
    fn sixteen_bits_survive_either_format(samples in prop::collection::vec(any::<i16>(), 1..600), rate in 1_000u32..200_000) {
        let wav = audio::decode("wav", &Wav::pcm16(rate, 1, &samples).bytes()).unwrap();
        prop_assert_eq!(&wav.to_i16(), &samples);
        let wide: Vec<i32> = samples.iter().map(|&s| s.into()).collect();
        let flac = audio::decode("flac", &flac(rate, 16, 1, &wide)).unwrap();
        prop_assert_eq!(flac, wav);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_two_rates_resample_to_the_same_length_of_time(from in 1_000u32..100_000, to in 1_000u32..100_000, n in 0usize..300) {
        let audio = Audio { rate: from, samples: vec![1_000.0; n] };
        let out = resample(&audio, to).unwrap();
        prop_assert!(out.samples.iter().all(|s| s.is_finite() && s.abs() < 3_000.0));
        let exact = n as f64 * f64::from(to) / f64::from(from);
        prop_assert!((out.samples.len() as f64 - exact).abs() <= 1.0);
        prop_assert_eq!(Resampler::new(from, to).length(n), out.samples.len());
    }
}
