//! What can go wrong.

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A name that C does not take.
    #[error("'{name}' cannot be a name in C: letters, digits and _, not starting with a digit, at most 40")]
    Name {
        /// The name.
        name: String,
    },
}
