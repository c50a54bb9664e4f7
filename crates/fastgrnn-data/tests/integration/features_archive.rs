//! The front ends on real sound: every recorded clip of the data folder, against
//! the features that others computed of it.

use fastgrnn_data::data::speech::Archive;
use fastgrnn_data::features::{COUNT, Spec, extract, extract_counts};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// All clips as a second of samples, by `word/file`.
fn clips(folder: &Path) -> Vec<(String, Vec<i16>)> {
    let mut files = Vec::new();
    for word in std::fs::read_dir(folder.join("flac")).unwrap() {
        let word = word.unwrap();
        if word.file_name() != "_background_noise_" {
            files.extend(std::fs::read_dir(word.path()).unwrap().map(|file| file.unwrap().path()));
        }
    }
    files.sort();
    let clip = |path: PathBuf| {
        let samples = fastgrnn_data::audio::read(&path).unwrap().to_i16();
        let mut second = vec![0; 16_000 - samples.len()];
        second.extend(samples);
        let word = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        (format!("{word}/{}.wav", path.file_stem().unwrap().to_string_lossy()), second)
    };
    files.into_iter().map(clip).collect()
}

#[test]
fn float_features_are_the_archives_within_its_rounding() {
    let Some(folder) = fastgrnn_testing::data::folder("speech_commands") else { return };
    let archive = Archive::open(&folder, u64::MAX).unwrap();
    let rows: HashMap<&str, usize> =
        archive.clips().iter().enumerate().map(|(i, clip)| (clip.file.as_str(), i)).collect();
    let clips = clips(&folder);
    assert_eq!(clips.len(), 1_500);
    for (file, samples) in clips {
        let (ours, theirs) = (extract(&Spec::default(), &samples), archive.features(rows[file.as_str()]));
        assert_eq!(ours.len(), theirs.len());
        // Steps of half a nat.
        let far = ours.iter().zip(&theirs).find(|(a, b)| (*a - *b).abs() > 0.25 + 1e-3);
        assert_eq!(far, None, "{file}");
    }
}

#[test]
fn integer_features_are_the_float_ones_to_a_hundredth_of_a_nat() {
    let Some(folder) = fastgrnn_testing::data::folder("speech_commands") else { return };
    for (text, bars) in [("log-mel", [1e-6, 0.005, 0.3]), ("mfcc,coefficients=13", [1e-6, 0.005, 0.1])] {
        let spec: Spec = text.parse().unwrap();
        let (mut n, mut sums, mut worst) = (0.0, [0.0; 6], 0.0_f64);
        for (_, samples) in clips(&folder) {
            let (float, counts) = (extract(&spec, &samples), extract_counts(&spec, &samples));
            for (a, count) in float.into_iter().zip(counts) {
                let (a, b) = (f64::from(a), f64::from(count) * f64::from(COUNT));
                n += 1.0;
                for (sum, value) in sums.iter_mut().zip([a, b, a * a, b * b, a * b, (a - b) * (a - b)]) {
                    *sum += value;
                }
                worst = worst.max((a - b).abs());
            }
        }
        let [a, b, aa, bb, ab, dd] = sums.map(|sum| sum / n);
        let correlation = (ab - a * b) / ((aa - a * a) * (bb - b * b)).sqrt();
        let found = [1.0 - correlation, dd.sqrt(), worst];
        let _ = writeln!(std::io::stderr(), "{text}: 1 - r, rms, worst: {found:?}");
        assert!(found.iter().zip(bars).all(|(found, bar)| *found < bar), "{text}: {found:?}");
    }
}
