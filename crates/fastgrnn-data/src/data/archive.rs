//! Reads files, folders and archives in the same way: as a [`Tree`] of named byte strings.
//!
//! A folder is listed at once and read file by file. An archive (`.zip`, `.tar`, `.tar.gz`,
//! `.tar.xz`) is unpacked into memory, never onto the disk. A `.gz` or `.xz` file is its content
//! under the name without that ending. Whatever the files say about their size, no more than the
//! size limit is ever read, and an entry that points outside its archive is an error.

use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::declared::{self, Declared, Metered};
use super::watch::WatchedFile;
use super::{DataError, Watch};

/// The deepest level of folders that is read.
const MAX_DEPTH: usize = 8;

/// Memory an XZ dictionary may take, in KiB (`xz -9` uses 64 MiB).
const XZ_MEMORY_KIB: u32 = 1 << 20;

/// The files of a folder or an archive, or one file alone.
pub(crate) struct Tree {
    /// What to call the whole in messages.
    pub name: String,
    /// The files, sorted by name.
    pub files: Vec<Entry>,
    /// Folders on disk without any file in them.
    pub empty: Vec<String>,
    /// Files that nothing reads.
    pub skipped: Vec<String>,
    limit: u64,
    left: u64,
}

/// One file of a [`Tree`].
pub(crate) struct Entry {
    /// Its path inside the tree, with `/` between the parts, without `.gz` or `.xz`.
    pub name: String,
    body: Body,
}

enum Body {
    Disk(PathBuf),
    Memory(Vec<u8>),
}

impl Tree {
    /// Lists the folder or unpacks the file at `path`.
    pub fn open(path: &Path, limit: u64) -> Result<Self, DataError> {
        Self::open_watched(path, limit, None)
    }

    /// The same, telling `watch` how much of a file has been read.
    pub fn open_watched(path: &Path, limit: u64, watch: Option<&Watch>) -> Result<Self, DataError> {
        let name = file_name(path);
        let mut tree =
            Self { name, files: Vec::new(), empty: Vec::new(), skipped: Vec::new(), limit, left: limit };
        let found = fs::metadata(path).map_err(io_error(path))?;
        match watch {
            _ if found.is_dir() => list(path, "", 0, &mut tree)?,
            None => tree.unpack(&mut open(path)?)?,
            Some(watch) => {
                let mut file = WatchedFile::new(open(path)?, found.len(), watch);
                tree.unpack(&mut file)?;
                file.finish();
            }
        }
        tree.sorted()
    }

    /// The tree that a file called `name` with content `bytes` would be.
    pub fn from_bytes(name: &str, bytes: &[u8], limit: u64) -> Result<Self, DataError> {
        let mut tree = Self {
            name: name.into(),
            files: Vec::new(),
            empty: Vec::new(),
            skipped: Vec::new(),
            limit,
            left: limit,
        };
        tree.unpack(&mut Cursor::new(bytes))?;
        tree.sorted()
    }

    /// Sorted by name; a file beside its own packed copy would count twice.
    fn sorted(mut self) -> Result<Self, DataError> {
        self.files.sort_by(|a, b| a.name.cmp(&b.name));
        match self.files.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(DataError::Unsupported {
                problem: format!(
                    "'{}' is there twice, perhaps packed (.gz, .xz) and not; remove one of them",
                    pair[0].name
                ),
                file: self.name,
            }),
            None => Ok(self),
        }
    }

    /// The files of a zip archive, whatever its name (an NPZ file is one).
    pub fn from_zip(name: &str, bytes: &[u8], limit: u64) -> Result<Self, DataError> {
        let mut files = Vec::new();
        each_in_zip(name, &mut Cursor::new(bytes), limit, &|_| true, &mut |name, bytes| {
            files.push(Entry { name, body: Body::Memory(bytes) });
            Ok(())
        })?;
        Ok(Self { name: name.into(), files, empty: Vec::new(), skipped: Vec::new(), limit, left: limit })
    }

    /// The content of file `index`; an archive gives each away once.
    pub fn read(&mut self, index: usize) -> Result<Vec<u8>, DataError> {
        match &mut self.files[index].body {
            Body::Memory(bytes) => Ok(std::mem::take(bytes)),
            Body::Disk(path) => {
                let name = file_name(path);
                let mut reader = open(path)?;
                declared::check(&mut reader, Packing::of(&name).declared(), self.left)
                    .map_err(|_| DataError::TooLarge { file: self.name.clone(), limit: self.limit })?;
                let bytes = read_file(&name, &mut reader, self.left);
                let bytes = bytes.map_err(|e| unpack_error(&name, e))?;
                self.charge(bytes.len())?;
                Ok(bytes)
            }
        }
    }

    /// The first lines of file `index`, about 64 KiB, without giving it away; nothing if it cannot be
    /// read.
    pub fn head(&self, index: usize) -> Vec<u8> {
        const HEAD: usize = 1 << 16;
        let mut head = match &self.files[index].body {
            Body::Memory(bytes) => bytes[..bytes.len().min(HEAD)].to_vec(),
            Body::Disk(path) => {
                let read = |mut reader| read_file(&file_name(path), &mut reader, HEAD as u64).ok();
                open(path).ok().and_then(read).unwrap_or_default()
            }
        };
        if head.len() >= HEAD {
            let end = head.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            head.truncate(end);
        }
        head
    }

    fn charge(&mut self, bytes: usize) -> Result<(), DataError> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => return Err(DataError::TooLarge { file: self.name.clone(), limit: self.limit }),
        }
        Ok(())
    }

    fn unpack(&mut self, reader: &mut dyn ReadSeek) -> Result<(), DataError> {
        let name = self.name.clone();
        each(&name, reader, self.limit, &|_| true, &mut |name, bytes| {
            self.charge(bytes.len())?;
            self.files.push(Entry { name, body: Body::Memory(bytes) });
            Ok(())
        })
    }
}

/// Hands every wanted file of the folder or archive at `path` to `take`, in the order it comes.
///
/// Nothing is kept, so a reader can work on one file while the next is unpacked.
pub(crate) fn visit(
    path: &Path,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(String, Vec<u8>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if path.is_dir() {
        let mut tree = Tree::open(path, limit)?;
        for i in 0..tree.files.len() {
            if wanted(&tree.files[i].name) {
                let bytes = tree.read(i)?;
                take(tree.files[i].name.clone(), bytes)?;
            }
        }
        return Ok(());
    }
    each(&file_name(path), &mut open(path)?, limit, wanted, take)
}

/// The names of the files in the folder or archive at `path`, of which no content is kept.
pub(crate) fn names(path: &Path) -> Result<Vec<String>, DataError> {
    if path.is_dir() {
        return Ok(Tree::open(path, 0)?.files.into_iter().map(|entry| entry.name).collect());
    }
    let names = std::cell::RefCell::new(Vec::new());
    let note = |name: &str| {
        names.borrow_mut().push(name.to_string());
        false
    };
    visit(path, u64::MAX, &note, &mut |_, _| Ok(()))?;
    Ok(names.into_inner())
}

/// The last part of a path, for messages.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn open(path: &Path) -> Result<BufReader<File>, DataError> {
    Ok(BufReader::with_capacity(1 << 16, File::open(path).map_err(io_error(path))?))
}

/// Turns an operating-system error about `path` into ours.
pub(crate) fn io_error(path: &Path) -> impl Fn(std::io::Error) -> DataError + '_ {
    move |source| DataError::Io { path: path.into(), source }
}

#[derive(Clone, Copy, PartialEq)]
enum Packing {
    Plain,
    Gz,
    Xz,
    Tar,
    TarGz,
    TarXz,
    Zip,
}

impl Packing {
    /// How the packed bytes say how large they become.
    fn declared(self) -> Declared {
        match self {
            Self::Plain | Self::Tar => Declared::Length,
            Self::Gz | Self::TarGz => Declared::Gz,
            Self::Xz | Self::TarXz => Declared::XzIndex,
            Self::Zip => Declared::Elsewhere,
        }
    }

    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|e| name.ends_with(e));
        match () {
            () if ends(&[".tar.gz", ".tgz"]) => Self::TarGz,
            () if ends(&[".tar.xz", ".txz"]) => Self::TarXz,
            () if ends(&[".tar"]) => Self::Tar,
            () if ends(&[".zip"]) => Self::Zip,
            () if ends(&[".gz"]) => Self::Gz,
            () if ends(&[".xz"]) => Self::Xz,
            () => Self::Plain,
        }
    }
}

/// The name of the content of a file: without `.gz` or `.xz`.
pub(crate) fn plain_name(name: &str) -> String {
    match Packing::of(name) {
        Packing::Gz | Packing::Xz => name[..name.len() - 3].into(),
        _ => name.into(),
    }
}

/// A file or bytes in memory. The readers of this module are trait objects: the decoders would
/// otherwise be compiled again for every kind of reader.
trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

fn gz<'a>(reader: &'a mut dyn Read) -> Box<dyn Read + 'a> {
    Box::new(flate2::read::MultiGzDecoder::new(reader))
}

fn xz<'a>(reader: &'a mut dyn Read) -> Box<dyn Read + 'a> {
    Box::new(lzma_rust2::XzReader::new_mem_limit(reader, true, XZ_MEMORY_KIB))
}

/// The content of the file `name`, unpacked if it is a `.gz` or `.xz`. Reads at most one byte
/// more than `limit`.
fn read_file(name: &str, reader: &mut dyn Read, limit: u64) -> std::io::Result<Vec<u8>> {
    match Packing::of(name) {
        Packing::Gz => read_at_most(&mut *gz(reader), limit),
        Packing::Xz => read_at_most(&mut *xz(reader), limit),
        _ => read_at_most(reader, limit),
    }
}

/// All of `reader`, or one byte more than `limit` if there is more.
fn read_at_most(reader: &mut dyn Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unpack_error(file: &str, error: std::io::Error) -> DataError {
    let problem = if error.kind() == std::io::ErrorKind::UnexpectedEof {
        "it ends too early; copy or download it again".into()
    } else {
        format!("{error}; copy or download it again")
    };
    DataError::Corrupt { file: file.into(), place: "unpacking".into(), problem }
}

/// Unpacks what `name` says `reader` is. `take` gets every wanted file under a safe name.
fn each(
    name: &str,
    reader: &mut dyn ReadSeek,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(String, Vec<u8>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let packing = Packing::of(name);
    // Headers of a tar archive come on top of its files.
    let most = match packing {
        Packing::Tar | Packing::TarGz | Packing::TarXz => tar_limit(limit),
        _ => limit,
    };
    let too_large = |_| DataError::TooLarge { file: name.into(), limit };
    declared::check(reader, packing.declared(), most).map_err(too_large)?;
    match packing {
        Packing::Zip => each_in_zip(name, reader, limit, wanted, take),
        Packing::Tar => each_in_tar(name, reader, limit, wanted, take),
        Packing::TarGz => each_in_tar(name, &mut *gz(reader), limit, wanted, take),
        Packing::TarXz => each_in_tar(name, &mut *xz(reader), limit, wanted, take),
        Packing::Gz | Packing::Xz | Packing::Plain => {
            let bytes = read_file(name, reader, limit).map_err(|e| unpack_error(name, e))?;
            check_limit(name, bytes.len() as u64, limit)?;
            take(plain_name(name), bytes)
        }
    }
}

/// The most bytes of a tar archive: headers and padding of small files can take several times their
/// content.
fn tar_limit(limit: u64) -> u64 {
    limit.saturating_mul(4).saturating_add(1 << 20)
}

fn check_limit(name: &str, used: u64, limit: u64) -> Result<(), DataError> {
    if used > limit {
        return Err(DataError::TooLarge { file: name.into(), limit });
    }
    Ok(())
}

/// Reads one archive entry, unpacking a `.gz` or `.xz` inside; charges it to `used`.
fn entry_bytes(
    archive: &str,
    entry: &str,
    reader: &mut dyn Read,
    used: &mut u64,
    limit: u64,
) -> Result<Vec<u8>, DataError> {
    let bytes = read_file(entry, reader, limit - *used);
    let bytes = bytes.map_err(|e| unpack_error(&format!("{archive}: {entry}"), e))?;
    *used += bytes.len() as u64;
    check_limit(archive, *used, limit)?;
    Ok(bytes)
}

/// The entry's path with `/` between parts.
fn plain_path(entry: &str) -> String {
    let parts: Vec<&str> = entry.split(['/', '\\']).filter(|p| !matches!(*p, "" | ".")).collect();
    parts.join("/")
}

/// Refuses an entry whose path is absolute or climbs.
fn check_path(archive: &str, entry: &str) -> Result<(), DataError> {
    let has_drive = matches!(entry.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let climbs = entry.split(['/', '\\']).any(|part| part == "..");
    if has_drive || climbs || entry.starts_with(['/', '\\']) || entry.contains('\0') {
        return Err(DataError::UnsafePath { file: archive.into(), entry: entry.into() });
    }
    Ok(())
}

/// Whether a name is an operating system's litter rather than data.
fn is_litter(name: &str) -> bool {
    name.split('/').any(|part| (part.starts_with('.') && part != "..") || part == "__MACOSX")
}

fn each_in_tar(
    name: &str,
    reader: &mut dyn Read,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(String, Vec<u8>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let exceeded = std::cell::Cell::new(false);
    let fail = |e: std::io::Error| {
        if exceeded.get() { DataError::TooLarge { file: name.into(), limit } } else { unpack_error(name, e) }
    };
    let reader = Metered { inner: reader, left: tar_limit(limit), exceeded: &exceeded };
    let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 16, reader));
    let mut used = 0;
    for entry in archive.entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let written = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = plain_path(&written);
        if is_litter(&path) || !wanted(&plain_name(&path)) {
            continue;
        }
        check_path(name, &written)?;
        let size = entry.size();
        let bytes = entry_bytes(name, &path, &mut entry, &mut used, limit)?;
        if Packing::of(&path) == Packing::Plain && (bytes.len() as u64) < size {
            let (what, found) = (path, bytes.len() as u64);
            return Err(DataError::Truncated { file: name.into(), what, expected: size, found });
        }
        take(plain_name(&path), bytes)?;
    }
    // The checksum of a packed archive comes after the archive's own end.
    std::io::copy(&mut archive.into_inner(), &mut std::io::sink()).map_err(fail)?;
    Ok(())
}

fn each_in_zip(
    name: &str,
    reader: &mut dyn ReadSeek,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(String, Vec<u8>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let fail = |e: zip::result::ZipError| DataError::Corrupt {
        file: name.into(),
        place: "zip directory".into(),
        problem: format!("{e}; copy or download it again"),
    };
    let mut archive = zip::ZipArchive::new(reader).map_err(fail)?;
    let mut used = 0;
    let mut declared = 0u64;
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(fail)?;
        let path = plain_path(&entry.name().map_err(fail)?);
        if entry.is_file() && !is_litter(&path) && wanted(&plain_name(&path)) {
            declared = declared.saturating_add(entry.size());
        }
    }
    check_limit(name, declared, limit)?;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(fail)?;
        if !entry.is_file() {
            continue;
        }
        let written = entry.name().map_err(fail)?.into_owned();
        let path = plain_path(&written);
        if is_litter(&path) || !wanted(&plain_name(&path)) {
            continue;
        }
        check_path(name, &written)?;
        let bytes = entry_bytes(name, &path, &mut entry, &mut used, limit)?;
        take(plain_name(&path), bytes)?;
    }
    Ok(())
}

fn list(folder: &Path, prefix: &str, depth: usize, tree: &mut Tree) -> Result<(), DataError> {
    let before = tree.files.len();
    for item in fs::read_dir(folder).map_err(io_error(folder))? {
        let item = item.map_err(io_error(folder))?;
        let (path, part) = (item.path(), item.file_name().to_string_lossy().into_owned());
        if is_litter(&part) {
            continue;
        }
        let name = format!("{prefix}{part}");
        // Links are followed: a class folder may well be one.
        let Ok(kind) = fs::metadata(&path) else {
            tree.skipped.push(name);
            continue;
        };
        if kind.is_file() {
            tree.files.push(Entry { name: plain_name(&name), body: Body::Disk(path) });
        } else if kind.is_dir() && depth >= MAX_DEPTH {
            let problem = format!(
                "'{name}' lies more than {MAX_DEPTH} folders deep (or a link leads in a circle); name a folder further down"
            );
            return Err(DataError::Unsupported { file: tree.name.clone(), problem });
        } else if kind.is_dir() {
            list(&path, &format!("{name}/"), depth + 1, tree)?;
        } else {
            // A pipe, a socket or a device.
            tree.skipped.push(name);
        }
    }
    if depth > 0 && tree.files.len() == before {
        tree.empty.push(prefix.trim_end_matches('/').into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in entries {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn contents(name: &str, bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, DataError> {
        let mut tree = Tree::from_bytes(name, bytes, 10_000)?;
        (0..tree.files.len()).map(|i| Ok((tree.files[i].name.clone(), tree.read(i)?))).collect()
    }

    #[test]
    fn every_packing_gives_the_same_files() {
        let files: [(&str, &[u8]); 2] = [("a/x.csv", b"1,2"), ("b/y.csv", b"3,4")];
        let expected: Vec<(String, Vec<u8>)> =
            files.iter().map(|(n, b)| (n.to_string(), b.to_vec())).collect();
        assert_eq!(contents("s.tar", &tar(&files)).unwrap(), expected);
        assert_eq!(contents("s.tar.gz", &packed(&tar(&files))).unwrap(), expected);
        assert_eq!(contents("s.TGZ", &packed(&tar(&files))).unwrap(), expected);
        assert_eq!(contents("s.zip", &zip(&files)).unwrap(), expected);
        assert_eq!(contents("x.csv.gz", &packed(b"1,2")).unwrap(), [("x.csv".into(), b"1,2".to_vec())]);
        assert_eq!(contents("x.csv", b"1,2").unwrap(), [("x.csv".into(), b"1,2".to_vec())]);
    }

    #[test]
    fn a_packed_file_inside_an_archive_is_unpacked() {
        let packed = tar(&[("x.csv.gz", &packed(b"1,2"))]);
        assert_eq!(contents("s.tar", &packed).unwrap(), [("x.csv".into(), b"1,2".to_vec())]);
    }

    #[test]
    fn a_folder_reads_like_an_archive() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/x.csv.gz"), packed(b"1,2")).unwrap();
        fs::write(dir.path().join(".hidden"), b"no").unwrap();
        let mut tree = Tree::open(dir.path(), 100).unwrap();
        assert_eq!(tree.files.len(), 1);
        assert_eq!(tree.files[0].name, "a/x.csv");
        assert_eq!(tree.read(0).unwrap(), b"1,2");
    }

    #[test]
    fn entries_that_lead_outside_are_refused() {
        for name in ["../x.csv", "/etc/x.csv", "a/../../x.csv", "C:\\x.csv", "..\\x.csv"] {
            let error = contents("s.tar", &tar(&[(name, b"1")])).unwrap_err();
            assert!(matches!(error, DataError::UnsafePath { .. }), "{name}: {error}");
            let error = contents("s.zip", &zip(&[(name, b"1")])).unwrap_err();
            assert!(matches!(error, DataError::UnsafePath { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn more_than_the_limit_is_refused_before_it_is_held() {
        let zeros = vec![0; 2_000_000];
        for (name, bytes) in [
            ("x.csv", zeros.clone()),
            ("x.csv.gz", packed(&zeros)),
            ("s.tar", tar(&[("a.csv", &zeros[..6_000]), ("b.csv", &zeros[..6_000])])),
            ("s.tar.gz", packed(&tar(&[("x.csv", &zeros)]))),
            ("s.zip", zip(&[("x.csv", &zeros)])),
            ("s.tar", tar(&[("x.csv.gz", &packed(&zeros))])),
        ] {
            let error = contents(name, &bytes).unwrap_err();
            assert!(matches!(error, DataError::TooLarge { limit: 10_000, .. }), "{name}: {error}");
        }
    }

    #[test]
    fn truncated_archives_are_errors() {
        let files: [(&str, &[u8]); 1] = [("x.csv", &[b'1'; 700])];
        for (name, bytes) in [
            ("x.csv.gz", packed(&[b'1'; 700])),
            ("s.tar", tar(&files)[..900].to_vec()),
            ("s.tar.gz", packed(&tar(&files))),
            ("s.zip", zip(&files)),
        ] {
            let cut = &bytes[..bytes.len() - 12];
            let error = contents(name, cut).unwrap_err();
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
        assert!(contents("x.csv.xz", b"\xfd7zXZ\0\0\x04").is_err());
    }
}
