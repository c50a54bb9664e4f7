//! Files that are whole or not there, whenever the power goes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to a neighbour of `path`, makes them durable, and renames it to `path`.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not a file name"))?;
    let mut temporary = name.to_owned();
    temporary.push(".tmp");
    let temporary = path.with_file_name(temporary);
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, path)?;
    if let Some(folder) = path.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Makes a rename durable where folders can be opened; elsewhere the system does it by itself.
fn sync_folder(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
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
}
