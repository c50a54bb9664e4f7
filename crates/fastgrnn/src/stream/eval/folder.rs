//! Clips and noise from a folder of recordings, as sound.

use fastgrnn_data::audio;
use fastgrnn_data::audio::is_recording;
use fastgrnn_data::data::DataError;
use fastgrnn_data::data::clips::Lists;
use fastgrnn_data::data::speech::{Background, NOISE, Split};
use fastgrnn_data::features::Spec;
use std::path::{Path, PathBuf};

/// Test clips of a folder, each with its class, and noise that belongs to the test part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folder {
    /// The index of the clip's label, where it is one, and its samples.
    pub clips: Vec<(Option<usize>, Vec<i16>)>,
    /// The last fifth of each background recording.
    pub noise: Vec<Vec<i16>>,
}

impl Folder {
    /// Reads the recordings in the sub-folders of `path`, which name their classes: those that
    /// `testing_list.txt` names, or all where there is no such list. Noise comes from
    /// `_background_noise_`.
    pub fn read(path: &Path, labels: &[String], spec: &Spec) -> Result<Self, DataError> {
        let mut files: Vec<(String, PathBuf)> = Vec::new();
        for folder in entries(path)?.into_iter().filter(|folder| folder.is_dir()) {
            let word = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            if word == NOISE {
                continue;
            }
            for file in entries(&folder)? {
                let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
                if is_recording(&name) {
                    files.push((format!("{word}/{name}"), file));
                }
            }
        }
        if let Some(lists) = Lists::find(path, "", files.iter().map(|(key, _)| key.as_str()))? {
            files.retain(|(key, _)| lists.split(key) == Split::Test);
        }
        if files.is_empty() {
            let hint =
                "no recordings to test on are in it; name a folder with one sub-folder of WAV or FLAC \
                        files a word"
                    .into();
            return Err(DataError::Empty { file: path.display().to_string(), hint });
        }
        let read = |(key, file): &(String, PathBuf)| -> Result<_, DataError> {
            let samples = audio::resample(&audio::read(file)?, spec.rate())?.to_i16();
            let word = key.split('/').next();
            Ok((labels.iter().position(|label| Some(label.as_str()) == word), samples))
        };
        let clips = files.iter().map(read).collect::<Result<_, _>>()?;
        let noise = path.join(NOISE);
        let noise = match noise.is_dir() {
            true => Background::open(&noise, spec)?.part(Split::Test).map(<[i16]>::to_vec).collect(),
            false => Vec::new(),
        };
        Ok(Self { clips, noise })
    }
}

/// What a folder holds, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let io = |source| DataError::Io { path: folder.into(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        paths.push(entry.map_err(io)?.path());
    }
    paths.sort();
    Ok(paths)
}
