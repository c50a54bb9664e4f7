//! Background recordings, cut in time: the first 60 % train, the next 20 % validate, the rest tests.

use std::path::{Path, PathBuf};

use super::super::{DataError, Sequences};
use super::Split;
use crate::audio::{self, AudioError, is_recording};
use crate::features::{self, Spec};
use fastgrnn_core::rng::{Rng, stream};

/// The folder of background recordings inside a folder of words.
pub const NOISE: &str = "_background_noise_";

/// Background recordings at the features' sample rate.
pub struct Background {
    spec: Spec,
    /// Samples of a clip.
    clip: usize,
    recordings: Vec<Vec<i16>>,
}

impl Background {
    /// Reads the WAV and FLAC files in `folder`, sorted by name.
    pub fn open(folder: &Path, spec: &Spec) -> Result<Self, DataError> {
        let io = |source| DataError::Io { path: folder.into(), source };
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io)? {
            paths.push(entry.map_err(io)?.path());
        }
        // A pipe or a device would never end.
        paths.retain(|path| path.to_str().is_some_and(is_recording) && path.is_file());
        paths.sort();
        Self::of(paths.into_iter(), spec, spec.rate() as usize, None)
    }

    /// Reads the recordings at `paths`, to cut clips of `clip` samples from; one that cannot be read
    /// goes to `bad`, where that is given.
    pub fn of(
        paths: impl Iterator<Item = PathBuf>,
        spec: &Spec,
        clip: usize,
        mut bad: Option<&mut Vec<AudioError>>,
    ) -> Result<Self, DataError> {
        let (mut recordings, mut folder) = (Vec::new(), PathBuf::new());
        for path in paths {
            let read = audio::read(&path).and_then(|audio| audio::resample(&audio, spec.rate()));
            match (read, &mut bad) {
                (Ok(audio), _) => recordings.push(audio.to_i16()),
                (Err(error), Some(bad)) => bad.push(error),
                (Err(error), None) => return Err(DataError::Recording(error)),
            }
            folder = path.parent().map_or(PathBuf::new(), Path::to_path_buf);
        }
        let seconds = 5.0 * clip as f64 / f64::from(spec.rate());
        Self::with_clip(spec, clip, recordings).ok_or_else(|| DataError::Empty {
            file: folder.display().to_string(),
            hint: format!("no WAV or FLAC recording of at least {seconds} seconds is in it"),
        })
    }

    /// Recordings as they are, for clips of a second; `None` unless one has a second in each of its
    /// parts.
    pub fn new(spec: &Spec, recordings: Vec<Vec<i16>>) -> Option<Self> {
        Self::with_clip(spec, spec.rate() as usize, recordings)
    }

    fn with_clip(spec: &Spec, clip: usize, recordings: Vec<Vec<i16>>) -> Option<Self> {
        let is_long =
            |samples: &Vec<i16>| Split::ALL.into_iter().all(|split| part_of(samples, split).len() >= clip);
        let recordings: Vec<Vec<i16>> = recordings.into_iter().filter(is_long).collect();
        (!recordings.is_empty()).then_some(Self { spec: *spec, clip, recordings })
    }

    /// The samples of each recording that belong to `split`.
    pub fn part(&self, split: Split) -> impl Iterator<Item = &[i16]> {
        self.recordings.iter().map(move |samples| part_of(samples, split))
    }

    /// Features of each recording's share of `split`, as it goes on.
    pub fn frames(&self, split: Split) -> Sequences {
        let mut frames = Sequences::new(self.spec.dim());
        self.part(split).for_each(|samples| frames.push(&features::extract(&self.spec, samples)));
        frames
    }

    /// The clip of noise that is number `k` of `split`: the same for everybody.
    pub fn clip(&self, split: Split, k: usize) -> &[i16] {
        self.cut(split, Rng::keyed(0, &[stream::SPEECH, split as u64, 1, k as u64]), self.clip)
    }

    /// Some noise of `split`, at most `length` samples, chosen by `key`.
    pub fn drawn(&self, split: Split, key: u64, length: usize) -> &[i16] {
        self.cut(split, Rng::new(key), length)
    }

    fn cut(&self, split: Split, mut rng: Rng, length: usize) -> &[i16] {
        let samples = part_of(&self.recordings[rng.below(self.recordings.len())], split);
        let length = length.min(samples.len());
        let start = rng.below(samples.len() - length + 1);
        &samples[start..start + length]
    }

    /// The features of that clip.
    pub fn silence(&self, split: Split, k: usize) -> Vec<f32> {
        features::extract(&self.spec, self.clip(split, k))
    }
}

fn part_of(samples: &[i16], split: Split) -> &[i16] {
    let at = |fifths: usize| samples.len() / 5 * fifths;
    match split {
        Split::Train => &samples[..at(3)],
        Split::Validation => &samples[at(3)..at(4)],
        Split::Test => &samples[at(4)..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_of_one_part_holds_a_sample_of_another() {
        let spec = Spec::default();
        // Each sample tells the second it lies in.
        let counting = |n: i16| (0..n * 10).flat_map(|tenth| [tenth; 1_600]).collect::<Vec<i16>>();
        let noise = Background::new(&spec, vec![counting(30), vec![0; 16_000], counting(50)]).unwrap();
        for split in Split::ALL {
            let own: Vec<&[i16]> = noise.part(split).collect();
            assert_eq!(own.len(), 2, "a recording too short to be cut is left out");
            for k in 0..50 {
                let second = noise.clip(split, k);
                assert_eq!(second.len(), 16_000);
                let is_inside = |part: &&[i16]| part.as_ptr_range().contains(&second.as_ptr());
                assert!(own.iter().any(is_inside));
            }
        }
        assert_eq!(noise.clip(Split::Test, 3), noise.clip(Split::Test, 3));
        assert!(Background::new(&spec, vec![vec![0; 16_000]]).is_none());
    }
}
