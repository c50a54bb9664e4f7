//! Which recordings train, validate and test.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use sha1::{Digest, Sha1};

use super::super::archive::file_name;
use super::super::parts::Purpose;
use super::super::speech::{Clip, Split};
use super::super::{DataError, Request};
use super::layout::{Layout, clips};
use fastgrnn_core::rng::{Rng, stream};

/// Per cent of the speakers that validate, and that test: the rule of Speech Commands.
const PER_CENT: f64 = 10.0;

/// The clips of a set with their parts.
pub(super) struct Parted {
    pub clips: Vec<Clip>,
    /// Whether the validation part is fixed.
    pub has_validation: bool,
    pub notes: Vec<String>,
}

/// Splits what is in `layout`: the same way whenever it is read, to train or afterwards.
pub(super) fn split(
    layout: &Layout,
    path: &Path,
    request: &Request,
    purpose: Purpose,
) -> Result<Parted, DataError> {
    let files = &layout.files;
    if purpose != Purpose::Set {
        // A folder that has a test part of its own is that part; any other is one as a whole.
        let is_whole = !files.iter().any(|file| file.part == Some(Split::Test));
        let of = |i: usize| if is_whole { Split::Test } else { files[i].part.unwrap_or(Split::Test) };
        return Ok(Parted { clips: clips(files, of), has_validation: false, notes: Vec::new() });
    }
    let is_apart = request.test_apart || request.test.is_some();
    let mut notes = Vec::new();
    let mut of: Vec<Split> = if layout.has_parts {
        files.iter().map(|file| file.part.unwrap_or(Split::Train)).collect()
    } else if let Some(lists) = Lists::find(path, &layout.prefix, files.iter().map(|file| file.key.as_str()))?
    {
        files.iter().map(|file| lists.split(&file.key)).collect()
    } else if let Some(by_speaker) = by_speaker(layout) {
        notes.push(
            "parts by speaker: a tenth each to validate and to test, by the rule of Speech Commands".into(),
        );
        by_speaker
    } else {
        let mut of = vec![Split::Train; files.len()];
        if !is_apart {
            draw(layout, &mut of, Split::Test);
            notes.push(format!(
                "{} of {} recordings, drawn at random, are the test part, the same in every run; if you recorded several clips of one person, a test set (`test`) of other people gives a better estimate",
                of.iter().filter(|&&split| split == Split::Test).count(),
                files.len()
            ));
        }
        of
    };
    // A test set apart leaves the whole folder to train and validate.
    if is_apart && !layout.has_parts {
        of.iter_mut().filter(|split| **split == Split::Test).for_each(|split| *split = Split::Train);
    }
    if !of.contains(&Split::Validation) {
        draw(layout, &mut of, Split::Validation);
    }
    let has_validation = of.contains(&Split::Validation);
    if !of.contains(&Split::Train) && request.expect.is_none() {
        let hint = "there are recordings to validate or test on but none to train on".into();
        return Err(DataError::NoLabels { file: file_name(path), hint });
    }
    Ok(Parted { clips: clips(files, |i| of[i]), has_validation, notes })
}

/// The part that Speech Commands gives a speaker, by a hash of the name.
fn speaker_split(speaker: &str) -> Split {
    let hash = Sha1::digest(speaker.as_bytes());
    let last = u32::from_be_bytes([hash[16], hash[17], hash[18], hash[19]]) & ((1 << 27) - 1);
    match f64::from(last) * (100.0 / f64::from((1u32 << 27) - 1)) {
        share if share < PER_CENT => Split::Validation,
        share if share < 2.0 * PER_CENT => Split::Test,
        _ => Split::Train,
    }
}

/// Parts by speaker; `None` if names tell no speakers, or one part would lack a class.
fn by_speaker(layout: &Layout) -> Option<Vec<Split>> {
    if !layout.has_speakers() {
        return None;
    }
    let of: Vec<Split> = layout.files.iter().map(|file| speaker_split(file.group())).collect();
    let words = layout.words().len();
    let is_whole = |part: Split| {
        let own = layout.files.iter().zip(&of).filter(|(_, split)| **split == part);
        own.map(|(file, _)| &file.word).collect::<HashSet<_>>().len() == words
    };
    Split::ALL.into_iter().all(is_whole).then_some(of)
}

/// Gives a tenth of every class that trains to `part`; at least one of three or more. Speakers stay
/// whole, so that their shares are as they come.
fn draw(layout: &Layout, of: &mut [Split], part: Split) {
    let mut units: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (i, file) in layout.files.iter().enumerate().filter(|(i, _)| of[*i] == Split::Train) {
        let stratum = if layout.has_speakers() { "" } else { file.word.as_str() };
        units.entry((stratum, file.group())).or_default().push(i);
    }
    let mut strata: BTreeMap<&str, Vec<Vec<usize>>> = BTreeMap::new();
    for ((stratum, _), files) in units {
        strata.entry(stratum).or_default().push(files);
    }
    for (number, units) in strata.values_mut().enumerate() {
        Rng::keyed(0, &[stream::SPEECH, 2, part as u64, number as u64]).shuffle(units);
        let share = if units.len() < 3 { 0 } else { (units.len() as f64 / 10.0).round().max(1.0) as usize };
        units[..share].iter().flatten().for_each(|&i| of[i] = part);
    }
}

/// `testing_list.txt` and `validation_list.txt`: clips by word and file, whatever their ending.
pub struct Lists {
    validation: HashSet<String>,
    test: HashSet<String>,
}

impl Lists {
    /// The lists in the folder at `path`, in its sub-folder `prefix`, or beside it; `None` if there
    /// are none that name one of `keys`.
    pub fn find<'a>(
        path: &Path,
        prefix: &str,
        keys: impl Iterator<Item = &'a str>,
    ) -> Result<Option<Self>, DataError> {
        let known: HashSet<&str> = keys.map(stem).collect();
        let inside = path.join(prefix);
        for folder in [Some(inside.as_path()), Some(path), path.parent()].into_iter().flatten() {
            let (test, validation) =
                (list(folder, "testing_list.txt")?, list(folder, "validation_list.txt")?);
            if test.iter().chain(&validation).any(|name| known.contains(name.as_str())) {
                return Ok(Some(Self { validation, test }));
            }
        }
        Ok(None)
    }

    /// The part of `word/file`.
    pub fn split(&self, key: &str) -> Split {
        match stem(key) {
            stem if self.test.contains(stem) => Split::Test,
            stem if self.validation.contains(stem) => Split::Validation,
            _ => Split::Train,
        }
    }
}

fn stem(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(stem, _)| stem)
}

fn list(folder: &Path, name: &str) -> Result<HashSet<String>, DataError> {
    let path = folder.join(name);
    // A pipe would wait for somebody to write to it.
    if std::fs::metadata(&path).is_ok_and(|file| !file.is_file()) {
        return Ok(HashSet::new());
    }
    match std::fs::read(&path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            Ok(text
                .lines()
                .map(|line| stem(line.trim()).replace('\\', "/"))
                .filter(|l| !l.is_empty())
                .collect())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashSet::new()),
        Err(source) => Err(DataError::Io { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_go_where_the_lists_of_speech_commands_put_them() {
        // The first speakers of each list of v0.01.
        for (speaker, expected) in [
            ("0c40e715", Split::Test),
            ("0ea0e2f4", Split::Test),
            ("060cd039", Split::Validation),
            ("026290a7", Split::Validation),
            ("00176480", Split::Train),
        ] {
            assert_eq!(speaker_split(speaker), expected, "{speaker}");
        }
    }
}
