//! Numbers in the text files of known sets, parsed on a second thread while the next is unpacked.

use std::path::Path;
use std::sync::mpsc::sync_channel;

use super::super::{DataError, archive};

/// Files unpacked ahead of the parser.
const AHEAD: usize = 4;

/// Parses every wanted file of the folder or archive at `path`.
pub(super) fn parse_files<T: Send>(
    path: &Path,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    parse: impl Fn(&str, &[u8]) -> Result<T, DataError> + Send,
) -> Result<Vec<(String, T)>, DataError> {
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<(String, Vec<u8>)>(AHEAD);
        let parser = scope.spawn(move || -> Result<Vec<(String, T)>, DataError> {
            receive
                .into_iter()
                .map(|(name, bytes)| {
                    let parsed = parse(&name, &bytes)?;
                    Ok((name, parsed))
                })
                .collect()
        });
        let mut stopped = false;
        let unpacked = archive::visit(path, limit, wanted, &mut |name, bytes| {
            // The parser hangs up when it has failed; what it says comes below.
            stopped = stopped || send.send((name, bytes)).is_err();
            Ok(())
        });
        drop(send);
        let parsed = parser.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        unpacked?;
        Ok(parsed)
    })
}

/// A table of numbers between commas or blanks, `width` a line, appended row by row.
pub(super) fn table(file: &str, bytes: &[u8], width: usize) -> Result<Vec<f32>, DataError> {
    let mut values = Vec::with_capacity(bytes.len() / 8);
    for (i, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let before = values.len();
        let cells = line.split(|b| matches!(b, b' ' | b',' | b'\r' | b'\t'));
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let value = std::str::from_utf8(cell).ok().and_then(|cell| cell.parse::<f32>().ok());
            match value {
                Some(value) if value.is_finite() => values.push(value),
                _ => {
                    return Err(DataError::Corrupt {
                        file: file.into(),
                        place: format!("line {}", i + 1),
                        problem: format!("'{}' is not a finite number", String::from_utf8_lossy(cell)),
                    });
                }
            }
        }
        let found = values.len() - before;
        if found != width && found != 0 {
            let line = i as u64 + 1;
            return Err(DataError::Ragged { file: file.into(), line, expected: width, found });
        }
    }
    if values.is_empty() {
        return Err(DataError::Empty { file: file.into(), hint: "numbers were expected".into() });
    }
    Ok(values)
}
