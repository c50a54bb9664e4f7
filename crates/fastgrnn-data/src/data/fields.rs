//! Fields of CSV records, and what a file's surroundings say about them.

use super::Request;

/// What the surroundings of a file say about it.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub request: &'a Request,
    /// Whether labels are needed.
    pub labelled: bool,
    /// The class that the file's folder names.
    pub class: Option<&'a str>,
    /// Whether rows are time steps of one recording, because the file is one of many.
    pub steps: bool,
}

impl<'a> Context<'a> {
    /// A file on its own.
    pub fn alone(request: &'a Request, labelled: bool) -> Self {
        Self { request, labelled, class: None, steps: false }
    }
}

pub(crate) fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}

pub(crate) fn number<T: std::str::FromStr>(cell: &[u8]) -> Option<T> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

pub(crate) fn is_numeric(cell: &[u8]) -> bool {
    cell.is_empty() || number::<f32>(cell).is_some()
}
