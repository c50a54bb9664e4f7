//! Writing a data set as `.npz`, `.csv` or `.ts`, so that [`load`](super::load()) reads it back.
//!
//! A file appears whole or not at all: it is written under another name, synced and renamed. NPZ
//! holds both parts in one file. A CSV or `.ts` data set with a test part becomes two files,
//! `NAME_TRAIN` and `NAME_TEST`, beside each other.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::archive::io_error;
use super::{DataError, Dataset, Examples, Labels, npy};
use fastgrnn_core::files::NewFile;

/// Writes `data` in the format that the ending of `path` names, and says which files it wrote.
///
/// ```
/// use fastgrnn_data::data::{self, Request};
/// let folder = tempfile::tempdir().unwrap();
/// let digits = data::load(&Request::new("digits"))?;
/// let written = data::write(&digits, &folder.path().join("digits.npz"))?;
/// let again = data::load(&Request::new(written[0].to_str().unwrap()))?;
/// assert_eq!(again.train, digits.train);
/// # Ok::<(), data::DataError>(())
/// ```
pub fn write(data: &Dataset, path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let paths = outputs(data, path)?;
    if data.train.x.has_tokens() {
        let problem = "texts are not written; use the files that they came from".into();
        return Err(DataError::Unsupported { file: path.display().to_string(), problem });
    }
    let part = match Ending::of(path)? {
        Ending::Npz => {
            temporary(path, |out| npz(data, path, out))?.persist().map_err(io_error(path))?;
            return Ok(paths);
        }
        Ending::Csv => csv,
        Ending::Ts => ts,
    };
    // Both parts are whole before the first takes its place, so that a pair is never mixed.
    let examples = std::iter::once(&data.train).chain(&data.test);
    let ready = examples
        .zip(&paths)
        .map(|(examples, path)| temporary(path, |out| part(data, examples, &stem(path), out)));
    let ready: Vec<NewFile> = ready.collect::<Result<_, _>>()?;
    for (file, path) in ready.into_iter().zip(&paths) {
        file.persist().map_err(io_error(path))?;
    }
    Ok(paths)
}

/// The files that [`write()`] makes for `data` and `path`, whether they are there or not.
///
/// ```
/// use fastgrnn_data::data::{self, Request};
/// let digits = data::load(&Request::new("digits"))?;
/// let files = data::outputs(&digits, "digits.csv".as_ref())?;
/// assert_eq!(files[1].to_str(), Some("digits_TEST.csv"));
/// # Ok::<(), data::DataError>(())
/// ```
pub fn outputs(data: &Dataset, path: &Path) -> Result<Vec<PathBuf>, DataError> {
    if Ending::of(path)? == Ending::Npz || data.test.is_none() {
        return Ok(vec![path.into()]);
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let beside = |side: &str| path.with_file_name(format!("{}_{side}.{ending}", stem(path)));
    Ok(vec![beside("TRAIN"), beside("TEST")])
}

/// What the format that `path` names cannot hold of `data`, a line each, for people.
pub fn losses(data: &Dataset, path: &Path) -> Result<Vec<String>, DataError> {
    let (ending, parts) = (Ending::of(path)?, || std::iter::once(&data.train).chain(&data.test));
    let mut lost = Vec::new();
    if ending == Ending::Ts {
        if parts().any(|part| part.group.is_some()) {
            lost.push(".ts holds no groups: a split of it cannot keep them whole".into());
        }
        if data.features.is_some() {
            lost.push(".ts holds no names of features".into());
        }
        if let Labels::Class { names, .. } = &data.train.y {
            for name in names.iter().filter(|name| word(name) != **name) {
                lost.push(format!(
                    ".ts holds no blanks, commas or colons: class '{name}' is '{}'",
                    word(name)
                ));
            }
        }
    }
    if ending != Ending::Npz && parts().any(|part| part.recording.is_some()) {
        lost.push(
            "which recording a window was cut from is only kept in .npz: split by group instead".into(),
        );
    }
    if ending == Ending::Csv && parts().any(|part| part.x.max_steps() == 1) {
        lost.push("every sequence has one step, so ids never repeat: read it with `id-col = id`".into());
    }
    if parts().any(|part| part.ids.is_some()) {
        lost.push("ids of sequences are not written: they are numbered from 0".into());
    }
    Ok(lost)
}

/// The formats that can be written.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Npz,
    Csv,
    Ts,
}

impl Ending {
    fn of(path: &Path) -> Result<Self, DataError> {
        match path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("npz") => Ok(Self::Npz),
            Some("csv") => Ok(Self::Csv),
            Some("ts") => Ok(Self::Ts),
            _ => Err(DataError::Unsupported {
                file: path.display().to_string(),
                problem: "the ending must be .npz, .csv or .ts".into(),
            }),
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A file being written, and where it will be.
struct Out<'a> {
    file: BufWriter<&'a mut File>,
    path: &'a Path,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.file.write_all(bytes).map_err(io_error(self.path))
    }

    fn unsupported(&self, problem: String) -> DataError {
        DataError::Unsupported { file: self.path.display().to_string(), problem }
    }
}

/// Lets `write` fill a file that can then take the place of `path`.
fn temporary(
    path: &Path,
    write: impl FnOnce(&mut Out) -> Result<(), DataError>,
) -> Result<NewFile, DataError> {
    let mut new = NewFile::create(path).map_err(io_error(path))?;
    let mut out = Out { file: BufWriter::new(new.file()), path };
    write(&mut out)?;
    out.file.flush().map_err(io_error(path))?;
    drop(out);
    Ok(new)
}

fn npz(data: &Dataset, path: &Path, out: &mut Out) -> Result<(), DataError> {
    let mut sink = ZipSink { out: &mut out.file, at: 0, end: 0, error: None };
    let written = archive(data, path, &mut sink);
    // What the disk refused is the reason of whatever failed after it.
    match sink.error {
        Some(source) => Err(DataError::Io { path: path.into(), source }),
        None => written,
    }
}

fn archive(data: &Dataset, path: &Path, sink: &mut (impl Write + Seek)) -> Result<(), DataError> {
    let mut archive = Npz { zip: zip::ZipWriter::new(sink), path };
    archive.part(&data.train, if data.test.is_some() { "_train" } else { "" })?;
    if let Some(test) = &data.test {
        archive.part(test, "_test")?;
    }
    if let Labels::Class { names, .. } = &data.train.y {
        archive.text("classes", names)?;
    }
    if let Some(features) = &data.features {
        archive.text("features", features)?;
    }
    archive.zip.finish().map_err(|e| zip_error(path, e))?;
    Ok(())
}

/// Where the bytes of a zip file go. It keeps the first error to itself and swallows everything after it:
/// a `ZipWriter` that has seen an error prints another one when it is dropped.
struct ZipSink<W> {
    out: W,
    at: u64,
    end: u64,
    error: Option<std::io::Error>,
}

impl<W: Write + Seek> Write for ZipSink<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut count = bytes.len();
        if self.error.is_none() {
            match self.out.write(bytes) {
                Ok(written) => count = written,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Err(error),
                Err(error) => self.error = Some(error),
            }
        }
        self.at += count as u64;
        self.end = self.end.max(self.at);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.error.is_none() {
            self.error = self.out.flush().err();
        }
        Ok(())
    }
}

impl<W: Write + Seek> Seek for ZipSink<W> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.at = at.ok_or(std::io::ErrorKind::InvalidInput)?;
        if self.error.is_none() {
            self.error = self.out.seek(SeekFrom::Start(self.at)).err();
        }
        Ok(self.at)
    }
}

fn zip_error(path: &Path, error: zip::result::ZipError) -> DataError {
    DataError::Io { path: path.into(), source: error.into() }
}

struct Npz<'a, W: Write + Seek> {
    zip: zip::ZipWriter<W>,
    path: &'a Path,
}

impl<W: Write + Seek> Npz<'_, W> {
    fn part(&mut self, examples: &Examples, suffix: &str) -> Result<(), DataError> {
        let x = &examples.x;
        let floats = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
        let values: Vec<u8> = (0..x.len()).flat_map(|i| x.get(i)).flat_map(|v| v.to_le_bytes()).collect();
        if x.min_steps() == x.max_steps() {
            let shape = [x.len(), x.max_steps(), x.dim()];
            self.array(&format!("x{suffix}"), "<f4", &shape, &values)?;
        } else {
            let shape = [x.all_steps(), x.dim()];
            self.array(&format!("x{suffix}"), "<f4", &shape, &values)?;
            let lengths: Vec<u8> = (0..x.len()).flat_map(|i| (x.steps(i) as u64).to_le_bytes()).collect();
            self.array(&format!("lengths{suffix}"), "<u8", &[x.len()], &lengths)?;
        }
        let y = format!("y{suffix}");
        match &examples.y {
            Labels::None | Labels::Next => {}
            Labels::Sets { .. } => {
                let joined = joined_sets(&examples.y).unwrap_or_default();
                self.text(&y, &joined)?;
            }
            Labels::Value { width, values } => {
                self.array(&y, "<f4", &[x.len(), *width], &floats(values))?;
            }
            Labels::Class { index, names } => {
                let numbers: Option<Vec<i64>> = names.iter().map(|n| n.parse().ok()).collect();
                match numbers {
                    Some(numbers) => {
                        let cells: Vec<u8> =
                            index.iter().flat_map(|&c| numbers[c as usize].to_le_bytes()).collect();
                        self.array(&y, "<i8", &[x.len()], &cells)?;
                    }
                    None => {
                        let of_row = |&c: &u32| names[c as usize].as_str();
                        self.text(&y, &index.iter().map(of_row).collect::<Vec<_>>())?;
                    }
                }
            }
        }
        for (key, numbers) in [("group", &examples.group), ("recording", &examples.recording)] {
            if let Some(numbers) = numbers {
                let cells: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
                self.array(&format!("{key}{suffix}"), "<u4", &[x.len()], &cells)?;
            }
        }
        Ok(())
    }

    fn text<T: AsRef<str>>(&mut self, key: &str, text: &[T]) -> Result<(), DataError> {
        let width = text.iter().map(|t| t.as_ref().chars().count()).max().unwrap_or(0).max(1);
        let mut cells = Vec::with_capacity(text.len() * width * 4);
        for t in text {
            let chars = t.as_ref().chars().map(u32::from).chain(std::iter::repeat(0));
            cells.extend(chars.take(width).flat_map(u32::to_le_bytes));
        }
        self.array(key, &format!("<U{width}"), &[text.len()], &cells)
    }

    fn array(&mut self, key: &str, descr: &str, shape: &[usize], cells: &[u8]) -> Result<(), DataError> {
        let large = cells.len() as u64 > u64::from(u32::MAX) / 2;
        let options = zip::write::SimpleFileOptions::default().large_file(large);
        self.zip.start_file(format!("{key}.npy"), options).map_err(|e| zip_error(self.path, e))?;
        let written = self.zip.write_all(&npy::header(descr, shape)).and_then(|()| self.zip.write_all(cells));
        written.map_err(io_error(self.path))
    }
}

/// The names of the labels of each sequence, with `|` between them, if labels are sets.
fn joined_sets(labels: &Labels) -> Option<Vec<String>> {
    let Labels::Sets { sets, names, unseen } = labels else { return None };
    let name = |&label: &u32| {
        let known = names.get(label as usize);
        known.or_else(|| unseen.get(label as usize - names.len())).map_or("", String::as_str)
    };
    Some(sets.iter().map(|set| set.iter().map(name).collect::<Vec<_>>().join("|")).collect())
}

/// The label of each sequence as text.
fn labels(examples: &Examples, out: &Out) -> Result<Option<Vec<String>>, DataError> {
    match &examples.y {
        Labels::None | Labels::Next => Ok(None),
        Labels::Sets { .. } => Ok(joined_sets(&examples.y)),
        Labels::Class { index, names } => {
            Ok(Some(index.iter().map(|&c| names[c as usize].clone()).collect()))
        }
        Labels::Value { width: 1, values } => Ok(Some(values.iter().map(f32::to_string).collect())),
        Labels::Value { width, .. } => {
            Err(out.unsupported(format!("{width} target values a sequence fit into .npz only")))
        }
    }
}

/// One row a time step: id, label, group, features.
fn csv(data: &Dataset, examples: &Examples, _: &str, out: &mut Out) -> Result<(), DataError> {
    let x = &examples.x;
    let labels = labels(examples, out)?;
    let mut header = vec!["id".to_string()];
    header.extend(labels.is_some().then(|| "label".into()));
    header.extend(examples.group.is_some().then(|| "group".into()));
    for d in 0..x.dim() {
        let name = data.features.as_ref().map_or(format!("f{d}"), |names| names[d].clone());
        header.push(if header.contains(&name) { format!("f{d}_{name}") } else { name });
    }
    let path = out.path;
    let mut table = csv::Writer::from_writer(&mut out.file);
    let fail = |e: csv::Error| DataError::Io { path: path.into(), source: e.into() };
    table.write_record(&header).map_err(fail)?;
    for i in 0..x.len() {
        for step in x.get(i).chunks_exact(x.dim()) {
            let mut row = vec![i.to_string()];
            row.extend(labels.as_ref().map(|labels| labels[i].clone()));
            row.extend(examples.group.as_ref().map(|group| group[i].to_string()));
            row.extend(step.iter().map(f32::to_string));
            table.write_record(&row).map_err(fail)?;
        }
    }
    table.flush().map_err(io_error(path))
}

/// A header of directives, then one line a sequence.
fn ts(_: &Dataset, examples: &Examples, name: &str, out: &mut Out) -> Result<(), DataError> {
    let x = &examples.x;
    let labels = labels(examples, out)?;
    let equal = x.min_steps() == x.max_steps();
    let mut header = format!(
        "@problemName {}\n@timeStamps false\n@missing false\n@univariate {}\n",
        word(name),
        x.dim() == 1
    );
    if x.dim() > 1 {
        header += &format!("@dimensions {}\n", x.dim());
    }
    header += &format!("@equalLength {equal}\n");
    if equal {
        header += &format!("@seriesLength {}\n", x.max_steps());
    }
    header += &match &examples.y {
        Labels::Sets { .. } => {
            return Err(out.unsupported("sets of labels fit into .npz and .csv only".into()));
        }
        Labels::None | Labels::Next => "@classLabel false\n".into(),
        Labels::Value { .. } => "@targetlabel true\n".into(),
        Labels::Class { names, .. } => {
            let words: Vec<String> = names.iter().map(|name| word(name)).collect();
            let distinct: std::collections::BTreeSet<&String> = words.iter().collect();
            if distinct.len() < words.len() {
                let problem = "class names that differ only in blanks, commas or colons cannot be told apart in .ts; use .npz or .csv";
                return Err(out.unsupported(problem.into()));
            }
            format!("@classLabel true {}\n", words.join(" "))
        }
    };
    out.put(header.as_bytes())?;
    out.put(b"@data\n")?;
    for i in 0..x.len() {
        let (sequence, dim) = (x.get(i), x.dim());
        let dimension = |d: usize| {
            let values: Vec<String> = sequence.iter().skip(d).step_by(dim).map(f32::to_string).collect();
            values.join(",")
        };
        let mut line = (0..dim).map(dimension).collect::<Vec<_>>().join(":");
        if let Some(labels) = &labels {
            line += &format!(":{}", word(&labels[i]));
        }
        out.put(line.as_bytes())?;
        out.put(b"\n")?;
    }
    Ok(())
}

/// `name` without what separates words, values and dimensions in a `.ts` file.
fn word(name: &str) -> String {
    let separates = |c: char| c.is_whitespace() || matches!(c, ':' | ',');
    name.split(separates).filter(|w| !w.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;

    /// A disk with room for some bytes.
    struct SmallDisk {
        room: usize,
        refusals: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.room {
                0 => {
                    self.refusals += 1;
                    Err(std::io::ErrorKind::StorageFull.into())
                }
                room => {
                    self.room = room.saturating_sub(bytes.len());
                    Ok(bytes.len().min(room))
                }
            }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, _: SeekFrom) -> std::io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn a_full_disk_is_asked_once_and_the_archive_ends_in_peace() {
        let mut x = Sequences::new(1);
        (0..9).for_each(|i| x.push(&[i as f32; 50]));
        let y = Labels::Value { width: 1, values: vec![0.5; 9] };
        let data = Dataset::new("example", Examples::new(x, y));
        let mut whole = std::io::Cursor::new(Vec::new());
        archive(&data, Path::new("a.npz"), &mut whole).unwrap();
        let size = whole.into_inner().len();
        for room in [0, 10, size / 2, size - 1] {
            let mut disk = SmallDisk { room, refusals: 0 };
            let mut sink = ZipSink { out: &mut disk, at: 0, end: 0, error: None };
            archive(&data, Path::new("a.npz"), &mut sink).expect("the archive sees no error");
            assert_eq!(sink.error.take().unwrap().kind(), std::io::ErrorKind::StorageFull, "{room}");
            assert_eq!(disk.refusals, 1, "{room}");
        }
    }
}
