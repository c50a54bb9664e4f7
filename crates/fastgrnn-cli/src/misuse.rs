//! Usage errors (exit code 2), as opposed to failures (exit code 1).

use std::fmt;

/// A usage error; the exit code is 2 instead of 1.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// A usage error with this message.
pub fn misuse(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Misuse(message.into()))
}
