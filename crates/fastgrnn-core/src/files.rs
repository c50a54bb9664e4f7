//! Atomic, durable file writes.
//!
//! A file is written under a temporary name in the folder where it is to be, made durable, and then
//! renamed. Readers see the old file or the new one, never a part of it. Processes that write the
//! same file at the same time use different temporary names, so the last rename wins.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How temporary names begin.
const PREFIX: &str = ".writing-";

/// A file that is being written and has its temporary name. Dropping it removes it.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile<File>,
    path: PathBuf,
}

impl NewFile {
    /// Starts a file that is to become `path`; its folder must exist.
    ///
    /// It gets the permissions that any new file of the user has.
    pub fn create(path: &Path) -> io::Result<Self> {
        // `make_in` with a plain create keeps the permissions that the user's files have.
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .make_in(folder_of(path), |path| File::create_new(path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The file to write to.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Makes what was written durable and gives the file its name.
    pub fn persist(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map_err(|e| e.error)?;
        sync_folder(folder_of(&self.path));
        Ok(())
    }
}

/// Writes `bytes` to `path` as a whole, making the folder first if it is missing.
///
/// On failure nothing is left behind and what was at `path` stays.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("new/notes.txt");
/// fastgrnn_core::files::write_atomic(&path, b"whole")?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::other("not a file name"));
    }
    std::fs::create_dir_all(folder_of(path))?;
    let mut new = NewFile::create(path)?;
    new.file().write_all(bytes)?;
    new.persist()
}

/// Removes the temporary files in `folder` that killed processes left behind. Only for a folder into
/// which no other process writes, such as one that is locked.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join(".writing-x1"), "half")?;
/// std::fs::write(folder.path().join("whole"), "whole")?;
/// fastgrnn_core::files::remove_leftovers(folder.path())?;
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes `bytes` to `path` and makes them durable. Unlike [`write_atomic`], a failure may leave a part
/// of the file behind; use this for files in a folder that is renamed as a whole.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the entries of a folder durable, where folders can be opened; elsewhere the system does it by
/// itself.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomic(&path, b"first, longer").unwrap();
        write_atomic(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        std::fs::create_dir_all(path.join("inside")).unwrap();
        assert!(write_atomic(&path, b"bytes").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writers_of_one_file_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let texts = [vec![b'a'; 100_000], vec![b'b'; 100_000]];
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| write_atomic(&path, text).unwrap()));
            }
        });
        assert!(texts.contains(&std::fs::read(&path).unwrap()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_written_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
        std::fs::write(&plain, b"").unwrap();
        write_atomic(&ours, b"").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
