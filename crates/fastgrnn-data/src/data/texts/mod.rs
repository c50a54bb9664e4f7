//! Texts as data: for language models, and with a label each.

mod class_folders;
mod columns;
mod extreme;
mod format;
mod json_lines;
mod labelled;
mod language;
mod named_text;
mod part_name;
mod part_texts;
mod sgml;

pub(crate) use columns::TableColumns;
pub(crate) use labelled::read_table;
pub use language::LANGUAGE_VAL_SPLIT;
pub(crate) use language::{LanguageTexts, language_parts};
pub(crate) use named_text::NamedText;
pub use part_texts::text_input;
pub(crate) use part_texts::to_parts;
pub(crate) use sgml::read as read_stories;

use super::archive::Tree;
use super::fields::is_numeric;
use super::parts::Parts;
use super::{DataError, Request, TaskKind};

/// Whether the files of `tree` are to be read as texts.
pub(crate) fn is_text(tree: &Tree, request: &Request) -> bool {
    let is_given = request.text.task == Some(TaskKind::LanguageModel)
        || request.text.text_col.is_some()
        || request.text_format.is_some();
    let is_lines = |name: &str| {
        let name = name.to_ascii_lowercase();
        [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
    };
    let are_lines = || tree.files.iter().any(|file| is_lines(&file.name));
    let are_texts = || are_lines() || are_prose(tree) || extreme::is_layout(tree, request);
    let are_stories = || {
        request.text.task == Some(TaskKind::MultiLabel)
            && tree.files.iter().any(|file| sgml::is_stories(&file.name))
    };
    let are_reviews = || tree.files.iter().any(|file| columns::is_yelp_reviews(&file.name));
    is_given || (request.text.task.is_some() && are_texts()) || are_reviews() || are_stories()
}

/// Whether all files are `.txt` files whose first line is no row of numbers.
fn are_prose(tree: &Tree) -> bool {
    let is_prose = |i: usize| {
        let head = tree.head(i);
        let line = head.split(|&b| b == b'\n').next().unwrap_or_default();
        let cells = line.split(|b| matches!(b, b' ' | b',' | b';' | b'\t' | b'\r'));
        !cells.filter(|cell| !cell.is_empty()).all(is_numeric)
    };
    let is_text = |name: &str| name.to_ascii_lowercase().ends_with(".txt");
    !tree.files.is_empty()
        && tree.files.iter().all(|file| is_text(&file.name))
        && (0..tree.files.len().min(3)).all(is_prose)
}

/// Reads texts; `labelled` says whether labels are wanted.
pub(crate) fn read(tree: &mut Tree, request: &Request, labelled: bool) -> Result<Parts, DataError> {
    match request.text.task {
        Some(TaskKind::LanguageModel) => language::read(tree, request),
        Some(TaskKind::MultiLabel) if tree.files.iter().any(|file| sgml::is_stories(&file.name)) => {
            sgml::read(tree, request, labelled)
        }
        _ => labelled::read(tree, request, labelled),
    }
}
