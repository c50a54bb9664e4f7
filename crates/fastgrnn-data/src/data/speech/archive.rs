//! The features of every clip, one byte a value.

use std::path::Path;

use super::super::DataError;
use super::super::archive::{Tree, file_name};
use super::super::array::Array;
use super::super::npy;
use super::{Clip, Split};

/// Mel filters a frame.
pub const FILTERS: usize = 32;
/// Frames a clip.
pub const FRAMES: usize = 99;

const VALUES: &str = "logmel_u8.npy.xz";
const INDEX: &str = "index.csv.gz";

/// Log-mel features of all clips of Speech Commands v0.01, in steps of half a nat from −2.
///
/// ```no_run
/// use fastgrnn_data::data::speech::Archive;
/// let archive = Archive::open("speech_commands".as_ref(), 1 << 30)?;
/// let first = archive.features(0);
/// assert_eq!(first.len(), 99 * 32);
/// # Ok::<(), fastgrnn_data::data::DataError>(())
/// ```
pub struct Archive {
    clips: Vec<Clip>,
    /// Clip by clip, filter by filter, frame by frame.
    values: Vec<u8>,
}

impl Archive {
    /// Whether an archive lies in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(INDEX).exists()
    }

    /// Reads the archive in `folder`, of at most `limit` bytes unpacked.
    pub fn open(folder: &Path, limit: u64) -> Result<Self, DataError> {
        let bytes = |name: &str| Tree::open(&folder.join(name), limit)?.read(0);
        let clips = index(&bytes(INDEX)?)?;
        let file = file_name(&folder.join(VALUES));
        let mut values = bytes(VALUES)?;
        let start = {
            let array = npy::read(&file, &values)?;
            values.len() - checked(&array, &file, clips.len())?.len()
        };
        values.drain(..start);
        Ok(Self { clips, values })
    }

    /// What is known about each clip, sorted by file.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// The features of clip `i`, frame by frame, in nats.
    pub fn features(&self, i: usize) -> Vec<f32> {
        let clip = &self.values[i * FILTERS * FRAMES..][..FILTERS * FRAMES];
        (0..FRAMES * FILTERS).map(|at| value(clip[at % FILTERS * FRAMES + at / FILTERS])).collect()
    }

    /// `features` as the archive would hold them: rounded to half a nat, at least −2.
    pub fn rounded(features: &mut [f32]) {
        features.iter_mut().for_each(|v| *v = value(((*v + 2.0) * 2.0).round().clamp(0.0, 255.0) as u8));
    }
}

fn value(byte: u8) -> f32 {
    f32::from(byte) * 0.5 - 2.0
}

fn checked<'a>(array: &Array<'a>, file: &str, clips: usize) -> Result<&'a [u8], DataError> {
    let is_right = array.shape == [clips, FILTERS, FRAMES];
    array.bytes().filter(|_| is_right).ok_or_else(|| DataError::Corrupt {
        file: file.into(),
        place: "header".into(),
        problem: format!(
            "shape {:?}, but {INDEX} lists {clips} clips, of {FILTERS} filters and {FRAMES} frames of one byte each; take both files from one source",
            array.shape
        ),
    })
}

fn index(bytes: &[u8]) -> Result<Vec<Clip>, DataError> {
    let file = || INDEX.to_string();
    let text = String::from_utf8_lossy(bytes);
    let mut clips = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty()) {
        let corrupt =
            |problem: String| DataError::Corrupt { file: file(), place: format!("line {}", at + 1), problem };
        let mut cells = line.split(',');
        let (Some(name), Some(split)) = (cells.next(), cells.next()) else {
            return Err(corrupt(format!("'{line}' is not like bed/00176480_nohash_0.wav,train,16000")));
        };
        let split = match split {
            "train" => Split::Train,
            "validation" => Split::Validation,
            "test" => Split::Test,
            other => return Err(corrupt(format!("'{other}' is none of train, validation and test"))),
        };
        clips.push(Clip { file: name.into(), split });
    }
    if clips.is_empty() {
        return Err(DataError::Empty { file: file(), hint: "it lists no clips".into() });
    }
    Ok(clips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_line_that_cannot_be_understood_is_named() {
        let message = |text: &str| index(text.as_bytes()).err().unwrap().to_string();
        assert!(message("file,split\nbed/a.wav,tset,1\n").contains("line 2: 'tset'"));
        assert!(message("file,split\nbed\n").contains("line 2"));
        assert!(message("file,split\n").contains("no clips"));
    }

    #[test]
    fn rounding_gives_what_a_byte_can_hold() {
        let mut values = [-30.0, -2.0, 0.2, 0.3, 20.24, 1e9];
        Archive::rounded(&mut values);
        assert_eq!(values, [-2.0, -2.0, 0.0, 0.5, 20.0, 125.5]);
    }
}
