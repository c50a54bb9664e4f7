//! Files of lines that are only appended, each made durable before the next.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// A file of lines that is open.
pub(crate) struct LineFile(File);

impl LineFile {
    /// Opens the file, or begins it. What a kill left of a line is removed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let whole = whole_lines(path)?.len();
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        file.set_len(whole as u64)?;
        Ok(Self(file))
    }

    /// Appends a line, which ends with a line feed.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes())?;
        self.0.sync_data()
    }
}

/// The whole lines of a file; nothing if there is no file.
pub(crate) fn whole_lines(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole);
    Ok(bytes)
}

/// The lines of a text that are not empty, with their numbers from 1.
pub(crate) fn numbered(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    lines.filter(|(_, line)| !line.is_empty()).map(|(place, line)| (place + 1, line))
}

/// Digits of a content hash.
pub(crate) const KEY_DIGITS: usize = 32;

/// Whether a text can be a content hash, which names a folder.
pub(crate) fn is_key(text: &str) -> bool {
    text.len() == KEY_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A hash of what decides a result.
pub(crate) fn content_hash(parts: &[&str]) -> String {
    // FNV-1a in 128 bits: equal hashes of different results do not happen.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        // A byte that no text has stands between the parts.
        for &byte in part.as_bytes().iter().chain(&[0xff]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    format!("{hash:0KEY_DIGITS$x}")
}
