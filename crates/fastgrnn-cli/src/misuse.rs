//! The difference between a command that failed and one that was asked wrongly.

use std::fmt;

/// A command line that makes no sense; the exit code is 2 instead of 1.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// A misuse as an error.
pub fn misuse(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Misuse(message.into()))
}
