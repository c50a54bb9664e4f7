//! The temporary folder in which firmware is built and run.

use crate::BoardError;
use crate::tools::{ProgramOutput, run};
use fastgrnn::device::Board;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a compiler may take.
const BUILD_LIMIT: Duration = Duration::from_secs(300);

/// A temporary folder for one board, which is removed with the value.
pub(crate) struct WorkFolder {
    folder: TempDir,
    pub(crate) board: Board,
}

impl WorkFolder {
    pub(crate) fn new(board: Board) -> Result<Self, BoardError> {
        let made = tempfile::Builder::new().prefix("fastgrnn-board-").tempdir();
        let folder = made.map_err(|source| BoardError::Io { path: std::env::temp_dir(), source })?;
        Ok(Self { folder, board })
    }

    pub(crate) fn id(&self) -> &'static str {
        self.board.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), BoardError> {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(self.folder());
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|source| BoardError::Io { path, source })
    }

    pub(crate) fn write_all(&self, files: &[(&str, &str)]) -> Result<(), BoardError> {
        files.iter().try_for_each(|(name, text)| self.write(name, text.as_bytes()))
    }

    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, BoardError> {
        let path = self.path(name);
        std::fs::read(&path).map_err(|source| BoardError::Io { path, source })
    }

    /// Runs a program in the folder.
    pub(crate) fn run(
        &self,
        program: &str,
        args: &[String],
        limit: Duration,
    ) -> Result<ProgramOutput, BoardError> {
        let ran = run(program, args, self.folder(), "log", limit);
        ran.map_err(|source| BoardError::Io { path: PathBuf::from(program), source })
    }

    /// Runs a compiler to make `what`.
    pub(crate) fn build(&self, tool: &str, args: &[String], what: &str) -> Result<(), BoardError> {
        let ran = self.run(tool, args, BUILD_LIMIT)?;
        if ran.status.is_some_and(|s| s.success()) {
            return Ok(());
        }
        let output = if ran.status.is_none() { "it did not end".to_owned() } else { ran.output };
        Err(BoardError::Build { tool: tool.to_owned(), what: what.to_owned(), board: self.id(), output })
    }

    /// Copies everything to `folder`, which must not exist. The folder appears as a whole or not at all.
    pub(crate) fn keep(&self, folder: &Path) -> Result<(), BoardError> {
        let failed = |source| BoardError::Io { path: folder.to_owned(), source };
        let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(failed)?;
        let beside = tempfile::Builder::new().prefix(".keep-").tempdir_in(parent).map_err(failed)?;
        copy(self.folder(), beside.path()).map_err(failed)?;
        open_to_others(beside.path()).map_err(failed)?;
        std::fs::rename(beside.path(), folder).map_err(failed)
    }
}

/// Gives a folder the permissions of any new folder; temporary folders are closed to other users.
fn open_to_others(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
