//! WAV and FLAC files of every kind, whole and broken: decoded right, or refused clearly.

use crate::sound::{Wav, chunk, flac, riff, sine};
use fastgrnn_data::audio::{self, AudioError};

fn samples(bytes: &[u8]) -> Vec<f32> {
    audio::decode("clip", bytes).unwrap().samples
}

fn problem(bytes: &[u8]) -> String {
    audio::decode("clip.wav", bytes).unwrap_err().to_string()
}

#[test]
fn sixteen_bit_mono_passes_bit_for_bit() {
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let audio = audio::decode("all.wav", &Wav::pcm16(16_000, 1, &all).bytes()).unwrap();
    assert_eq!(audio.to_i16(), all);
    let wide: Vec<i32> = all.iter().step_by(3).map(|&s| s.into()).collect();
    let audio = audio::decode("all.flac", &flac(16_000, 16, 1, &wide)).unwrap();
    assert_eq!((audio.rate, audio.to_i16()), (16_000, all.iter().copied().step_by(3).collect()));
}

#[test]
fn every_width_is_on_the_scale_of_sixteen_bits() {
    assert_eq!(samples(&Wav::of(1, 8, vec![0, 128, 255]).bytes()), [-32_768.0, 0.0, 32_512.0]);
    assert_eq!(
        samples(&Wav::of(1, 24, vec![0, 0, 0x80, 0x80, 0, 0, 0xff, 0xff, 0x7f]).bytes())[..2],
        [-32_768.0, 0.5]
    );
    let wide = [i32::MIN, 1 << 16, -(1 << 15)].iter().flat_map(|s| s.to_le_bytes()).collect();
    assert_eq!(samples(&Wav::of(1, 32, wide).bytes()), [-32_768.0, 1.0, -0.5]);
    let floats = [1.0f32, -0.5, 0.0].iter().flat_map(|s| s.to_le_bytes()).collect();
    assert_eq!(samples(&Wav::of(3, 32, floats).bytes()), [32_768.0, -16_384.0, 0.0]);
    let doubles = [1.0f64, -0.5, 0.0].iter().flat_map(|s| s.to_le_bytes()).collect();
    assert_eq!(samples(&Wav::of(3, 64, doubles).bytes()), [32_768.0, -16_384.0, 0.0]);
    assert_eq!(samples(&flac(16_000, 8, 1, &[-128, 0, 127])), [-32_768.0, 0.0, 32_512.0]);
    assert_eq!(samples(&flac(16_000, 24, 1, &[-8_388_608, 128])), [-32_768.0, 0.5]);
}

#[test]
fn twelve_bits_lie_at_the_upper_end_of_sixteen() {
    let mut wav = Wav::pcm16(16_000, 1, &[0x7ff0, -16]);
    wav.bits = 12;
    assert_eq!(samples(&wav.bytes()), [32_752.0, -16.0]);
}

#[test]
fn values_beyond_full_scale_are_held_at_its_ends() {
    let floats = [1.0f32, 7.0, -7.0].iter().flat_map(|s| s.to_le_bytes()).collect();
    let audio = audio::decode("loud.wav", &Wav::of(3, 32, floats).bytes()).unwrap();
    assert_eq!(audio.to_i16(), [32_767, 32_767, -32_768]);
}

#[test]
fn channels_are_mixed_to_their_mean() {
    let stereo = audio::decode("s.wav", &Wav::pcm16(48_000, 2, &[10, 20, -3, 3, 5, 4]).bytes()).unwrap();
    assert_eq!((stereo.rate, stereo.samples), (48_000, vec![15.0, 0.0, 4.5]));
    assert_eq!(samples(&flac(44_100, 16, 3, &[1, 2, 6, -9, 0, 0])), [3.0, -3.0]);
}

#[test]
fn the_content_tells_the_format_and_the_ending_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("really_flac.wav");
    std::fs::write(&path, flac(16_000, 16, 1, &[1, 2, 3])).unwrap();
    assert_eq!(audio::read(&path).unwrap().to_i16(), [1, 2, 3]);
    let path = folder.path().join("really_wav.flac");
    std::fs::write(&path, Wav::pcm16(8_000, 1, &[4, 5]).bytes()).unwrap();
    assert_eq!(audio::read(&path).unwrap().to_i16(), [4, 5]);
    assert!(matches!(audio::read(&folder.path().join("none")), Err(AudioError::Io { .. })));
}

#[test]
fn an_extensible_header_names_its_format_in_the_sub_format() {
    for (tag, bits, data, expected) in
        [(1u16, 16, 7i16.to_le_bytes().to_vec(), 7.0), (3, 32, 0.25f32.to_le_bytes().to_vec(), 8_192.0)]
    {
        let mut format = Wav::of(0xfffe, bits, Vec::new()).format();
        format.extend(22u16.to_le_bytes());
        format.extend(bits.to_le_bytes());
        format.extend(4u32.to_le_bytes());
        format.extend(tag.to_le_bytes());
        format.extend(b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
        assert_eq!(samples(&riff(&[chunk(b"fmt ", &format), chunk(b"data", &data)])), [expected]);
    }
}

#[test]
fn other_chunks_are_passed_over_padded_or_not() {
    let wav = Wav::pcm16(16_000, 1, &[1, -2]);
    let (format, data) = (chunk(b"fmt ", &wav.format()), chunk(b"data", &wav.data));
    let odd = chunk(b"LIST", b"INFOx");
    let mut unpadded = chunk(b"bext", b"abc");
    unpadded.pop();
    let tail = chunk(b"id3 ", b"after the data");
    for chunks in [
        vec![odd.clone(), format.clone(), odd.clone(), data.clone(), tail],
        vec![chunk(b"JUNK", &[7; 100]), format.clone(), data.clone()],
        vec![unpadded, format, data],
    ] {
        assert_eq!(samples(&riff(&chunks)), [1.0, -2.0]);
    }
}

#[test]
fn a_format_chunk_may_be_longer_than_its_fields() {
    let wav = Wav::pcm16(16_000, 1, &[3]);
    let long = [wav.format(), vec![2, 0, 9, 9]].concat();
    assert_eq!(samples(&riff(&[chunk(b"fmt ", &long), chunk(b"data", &wav.data)])), [3.0]);
}

#[test]
fn a_length_left_open_by_a_pipe_goes_on_to_the_end() {
    for (whole, data) in [(u32::MAX, u32::MAX), (0, 0), (0x7fff_f024, 0x7fff_f000), (36, u32::MAX - 1)] {
        let mut bytes = Wav::pcm16(16_000, 1, &[1, 2, 3]).bytes();
        bytes[4..8].copy_from_slice(&whole.to_le_bytes());
        bytes[40..44].copy_from_slice(&data.to_le_bytes());
        assert_eq!(samples(&bytes), [1.0, 2.0, 3.0], "{data:#x}");
    }
}

#[test]
fn a_64_bit_header_holds_the_length_of_the_data() {
    let wav = Wav::pcm16(16_000, 1, &[1, 2]);
    let sizes = [0u64, 4, 2, 0].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = riff(&[chunk(b"ds64", &sizes), chunk(b"fmt ", &wav.format()), chunk(b"data", &wav.data)]);
    bytes.extend(chunk(b"tail", &[1, 2, 3, 4]));
    bytes[..4].copy_from_slice(b"RF64");
    let at = bytes.windows(4).position(|w| w == b"data").unwrap() + 4;
    bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
    assert_eq!(samples(&bytes), [1.0, 2.0]);
}

#[test]
fn half_a_frame_at_the_end_is_left_out() {
    let mut wav = Wav::pcm16(16_000, 2, &[2, 4, 6, 8]);
    wav.data.extend([1, 2, 3]);
    assert_eq!(samples(&wav.bytes()), [3.0, 7.0]);
}

#[test]
fn one_sample_is_a_recording_and_none_is_not() {
    assert_eq!(samples(&Wav::pcm16(16_000, 1, &[5]).bytes()), [5.0]);
    assert_eq!(samples(&flac(16_000, 16, 1, &[5])), [5.0]);
    for empty in [Wav::pcm16(16_000, 1, &[]).bytes(), flac(16_000, 16, 1, &[]), Vec::new()] {
        let message = problem(&empty);
        assert!(message.starts_with("clip.wav: there is no sound in it"), "{message}");
    }
}

#[test]
fn a_truncated_file_says_what_is_missing() {
    let wav = Wav::pcm16(16_000, 1, &[1; 100]).bytes();
    assert_eq!(
        problem(&wav[..144]),
        "clip.wav: data chunk at byte 36: 200 bytes are announced, 100 are there; copy or record it again"
    );
    let long = flac(16_000, 16, 1, &[1; 500]);
    let message = problem(&long[..long.len() - 40]);
    assert!(message.contains("500 samples are announced, 384 are there"), "{message}");
    for cut in 1..wav.len() - 1 {
        assert!(audio::decode("cut", &wav[..cut]).is_err(), "{cut}");
    }
    for cut in 1..long.len() - 1 {
        assert!(audio::decode("cut", &long[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_header_that_claims_gigabytes_does_not_get_them() {
    let mut bytes = Wav::pcm16(16_000, 1, &[1; 28]).bytes();
    assert_eq!(bytes.len(), 100);
    bytes[40..44].copy_from_slice(&0x7000_0000u32.to_le_bytes());
    assert!(problem(&bytes).contains("1879048192 bytes are announced, 56 are there"));
    let mut stream = flac(16_000, 16, 1, &[1; 10]);
    stream[21..26].copy_from_slice(&[0x0f, 0xff, 0xff, 0xff, 0xff]);
    assert!(problem(&stream).contains("samples are announced, 10 are there"));
}

#[test]
fn damage_in_a_flac_frame_is_found_by_its_checksum() {
    let mut stream = flac(16_000, 16, 1, &(0..500).collect::<Vec<i32>>());
    let at = stream.len() - 100;
    stream[at] ^= 1;
    let message = problem(&stream);
    assert!(message.contains("FLAC frame 2, after 384 samples: frame CRC mismatch"), "{message}");
}

#[test]
fn headers_that_make_no_sense_are_named() {
    let plain = Wav::pcm16(16_000, 1, &[1, 2]);
    let with = |change: fn(&mut Wav)| {
        let mut wav = plain.clone();
        change(&mut wav);
        problem(&wav.bytes())
    };
    for (message, expected) in [
        (with(|w| w.tag = 0x55), "format tag 85 (MP3); PCM (1) and float (3) are read"),
        (with(|w| w.tag = 7), "format tag 7 (mu-law)"),
        (with(|w| w.bits = 0), "0-bit integers"),
        (with(|w| w.bits = 40), "40-bit integers"),
        (with(|w| w.tag = 3), "16-bit floats"),
        (with(|w| w.channels = 0), "0 channels"),
        (with(|w| w.rate = 0), "0 samples a second"),
        (with(|w| w.rate = u32::MAX), "4294967295 samples a second"),
        (with(|w| (w.channels, w.bits) = (65_535, 32)), "65535 channels of 32 bits are 262140 bytes a frame"),
        (problem(&riff(&[chunk(b"data", &[0, 0])])), "data chunk at byte 12: no fmt chunk before it"),
        (problem(&riff(&[chunk(b"fmt ", &plain.format())])), "ends without a data chunk"),
        (
            problem(&riff(&[chunk(b"fmt ", &[1, 0])])),
            "fmt chunk at byte 20: 16 bytes are announced, 2 are there",
        ),
        (problem(b"RIFF\x04\0\0\0AVI "), "form 'AVI ', not 'WAVE'"),
        (problem(b"RIFF\x04"), "RIFF header: 12 bytes are announced, 5 are there"),
    ] {
        assert!(message.contains(expected) && message.starts_with("clip.wav: "), "{message}");
    }
}

#[test]
fn a_sample_that_is_no_number_is_named() {
    for value in [f32::NAN, f32::INFINITY] {
        let floats = [0.5, value].iter().flat_map(|s| s.to_le_bytes()).collect();
        assert!(problem(&Wav::of(3, 32, floats).bytes()).contains("sample 1 is "));
    }
    let doubles = [0.5, 1e300].iter().flat_map(|s: &f64| s.to_le_bytes()).collect();
    assert!(problem(&Wav::of(3, 64, doubles).bytes()).contains("sample 1 is "));
}

#[test]
fn other_formats_are_called_by_their_names() {
    assert!(problem(b"OggS\0\x02").contains("this is an Ogg file"));
    assert!(problem(b"ID3\x03\0\0\0\0\0\x02ab\xff\xfb").contains("this is an MP3 file"));
    assert!(problem(b"hello, world").contains("begins with the bytes 68 65 6c 6c"));
}

#[test]
fn a_tag_before_flac_is_passed_over() {
    let tagged = [b"ID3\x04\0\0\0\0\x01\x02".as_slice(), &[0; 130], &flac(16_000, 16, 1, &[9])].concat();
    assert_eq!(samples(&tagged), [9.0]);
}

/// Decodes every FLAC clip of the subset of Speech Commands.
#[test]
fn the_clips_of_speech_commands_are_decoded_whole() {
    let Some(folder) = fastgrnn_testing::data::folder("speech_commands/flac") else { return };
    let words = std::fs::read_dir(&folder).unwrap();
    let (mut clips, mut noise) = (0, 0);
    for word in words.map(|word| word.unwrap().path()).filter(|word| word.is_dir()) {
        let files = std::fs::read_dir(&word).unwrap().map(|file| file.unwrap().path());
        for clip in files.filter(|file| file.extension().is_some_and(|ending| ending == "flac")) {
            let audio = audio::read(&clip).unwrap();
            assert_eq!(audio.rate, 16_000);
            if word.ends_with("_background_noise_") {
                assert!(audio.seconds() > 59.0);
                noise += 1;
            } else {
                assert!((0.3..=1.0).contains(&audio.seconds()), "{}", clip.display());
                clips += 1;
            }
            assert!(audio.to_i16().iter().zip(&audio.samples).all(|(&i, &f)| f32::from(i) == f));
        }
    }
    assert_eq!((clips, noise), (1500, 6));
}

#[test]
fn a_tone_survives_a_flac_file() {
    let tone = sine(16_000, 440.0, 20_000.0, 4_000);
    let wide: Vec<i32> = tone.iter().map(|&s| s.into()).collect();
    assert_eq!(audio::decode("tone", &flac(16_000, 16, 1, &wide)).unwrap().to_i16(), tone);
}
