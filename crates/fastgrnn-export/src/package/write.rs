//! Writing a package to a folder, all of it or nothing.

use super::parts::Package;
use crate::ExportError;
use fastgrnn::files::{sync_folder, write_durably};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a package was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPackage {
    /// The folder.
    pub folder: PathBuf,
    /// The new path of a folder that was there before.
    pub moved_aside: Option<PathBuf>,
}

impl Package {
    /// Writes the files to a temporary folder beside `folder`, makes them durable, and renames that
    /// folder to `folder`.
    ///
    /// An empty folder is replaced. A folder that is not empty is an error, or with `force` it is renamed
    /// to `FOLDER.old` (`.old-2`, …), so that no file of the user is lost. On failure nothing is left
    /// behind.
    pub fn write(&self, folder: &Path, force: bool) -> Result<WrittenPackage, ExportError> {
        let folder = std::path::absolute(folder).map_err(|cause| failed(folder, cause))?;
        let taken = state_of(&folder)?;
        if taken == FolderState::Something && !force {
            return Err(ExportError::NotEmpty { path: folder });
        }
        let parent = folder.parent().ok_or_else(|| ExportError::InUse { path: folder.clone() })?;
        fs::create_dir_all(parent).map_err(|cause| failed(parent, cause))?;
        let temporary = unused(&folder, "tmp", |path| fs::create_dir(path))?;
        let result = self.fill(&temporary).and_then(|()| put_in_place(&temporary, &folder, taken));
        if result.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&temporary);
        }
        let moved_aside = result?;
        sync_folder(parent);
        Ok(WrittenPackage { folder, moved_aside })
    }

    fn fill(&self, folder: &Path) -> Result<(), ExportError> {
        let mut folders = vec![folder.to_owned()];
        for file in &self.files {
            let path = folder.join(&file.path);
            let own = path.parent().unwrap_or(folder).to_owned();
            let write = || -> io::Result<()> {
                fs::create_dir_all(&own)?;
                write_durably(&path, &file.bytes)
            };
            write().map_err(|cause| failed(&path, cause))?;
            folders.push(own);
        }
        folders.iter().for_each(|f| sync_folder(f));
        Ok(())
    }
}

/// What is at the path of the package.
#[derive(Clone, Copy, PartialEq)]
enum FolderState {
    Nothing,
    Empty,
    Something,
}

fn state_of(folder: &Path) -> Result<FolderState, ExportError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => {
            return Ok(FolderState::Nothing);
        }
        Err(_) if !folder.is_dir() => return Err(ExportError::NotAFolder { path: folder.to_owned() }),
        Err(cause) => return Err(failed(folder, cause)),
    };
    let real = folder.canonicalize().map_err(|cause| failed(folder, cause))?;
    let here = std::env::current_dir().and_then(|d| d.canonicalize());
    if here.is_ok_and(|here| here.starts_with(&real)) {
        return Err(ExportError::InUse { path: folder.to_owned() });
    }
    let is_link = fs::symlink_metadata(folder).is_ok_and(|m| m.is_symlink());
    // A link is never replaced silently, wherever it leads.
    Ok(if is_link || entries.take(1).count() > 0 { FolderState::Something } else { FolderState::Empty })
}

/// Renames `temporary` to `folder` and returns the new path of the old folder, if there was one.
fn put_in_place(temporary: &Path, folder: &Path, found: FolderState) -> Result<Option<PathBuf>, ExportError> {
    let aside = match found {
        FolderState::Nothing => None,
        FolderState::Empty => {
            // Fails if a file appeared there in the meantime.
            fs::remove_dir(folder).map_err(|cause| failed(folder, cause))?;
            None
        }
        FolderState::Something => {
            let aside = unused(folder, "old", |path| match fs::symlink_metadata(path) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => fs::rename(folder, path),
            })?;
            Some(aside)
        }
    };
    fs::rename(temporary, folder).map_err(|cause| {
        if let Some(aside) = &aside {
            // The first error is the one to report.
            let _ = fs::rename(aside, folder);
        }
        failed(folder, cause)
    })?;
    Ok(aside)
}

/// Makes `FOLDER.ending`, or `FOLDER.ending-2` and so on if that exists.
fn unused(
    folder: &Path,
    ending: &str,
    make: impl Fn(&Path) -> io::Result<()>,
) -> Result<PathBuf, ExportError> {
    let name = folder.file_name().ok_or_else(|| ExportError::InUse { path: folder.to_owned() })?;
    for n in 1..1000 {
        let mut own = name.to_owned();
        own.push(if n == 1 { format!(".{ending}") } else { format!(".{ending}-{n}") });
        let path = folder.with_file_name(own);
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(failed(&path, cause)),
        }
    }
    Err(failed(folder, io::Error::other("too many folders of this name lie beside it")))
}

fn failed(path: &Path, cause: io::Error) -> ExportError {
    ExportError::Write { path: path.to_owned(), cause }
}
