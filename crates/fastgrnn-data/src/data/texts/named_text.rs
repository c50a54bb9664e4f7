//! The text of a file.

use super::super::encoding::decoded;
use super::super::{DataError, Request};

/// The text of a file, with its name.
pub(crate) struct NamedText {
    /// The file, for messages.
    pub file: String,
    pub text: String,
    /// What was decided while it was read.
    pub notes: Vec<String>,
}

impl NamedText {
    /// The text of a file.
    pub fn decode(file: &str, bytes: &[u8], request: &Request) -> Result<Self, DataError> {
        let (bytes, note) = decoded(file, bytes, request.data.encoding)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let notes = note.map(|note| format!("{file}: {note}")).into_iter().collect();
        Ok(Self { file: file.into(), text, notes })
    }
}
