//! Which boards a model fits, by estimates alone.

use crate::table::table;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::{BOARD_COLUMNS, board_notes, board_rows};

/// Characters of a line of the notes.
const LINE: usize = 100;

/// The estimates as a table.
pub fn describe(model: &IntegerModel) -> String {
    let rows: Vec<Vec<String>> = board_rows(model).iter().map(|row| row.cells()).collect();
    let notes: String = board_notes(model).into_iter().map(wrapped).collect();
    format!("{}{notes}", table(&BOARD_COLUMNS.map(|(name, _)| name), &rows))
}

/// The text in indented lines.
fn wrapped(text: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > LINE {
            out.push_str(&format!("  {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    format!("{out}  {line}\n")
}
