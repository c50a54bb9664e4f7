//! Language models that write text on boards.

use crate::table::table;
use fastgrnn::report::count;
use fastgrnn_boards::BoardReport;

/// The table of what writing takes; empty where no model does.
pub fn describe(boards: &[BoardReport]) -> String {
    let row = |board: &BoardReport| {
        let text = board.text.as_ref()?;
        Some(vec![
            board.board.to_owned(),
            count(text.tokens),
            count(text.flash_bytes as u64),
            count(text.ram_static_bytes as u64),
            count(text.stack_bytes as u64),
            count(text.instructions_per_token.round() as u64),
            text.cycles_per_token.map_or("-".to_owned(), |n| count(n.round() as u64)),
            text.ms_per_token.map_or("-".to_owned(), |ms| format!("{ms:.3}")),
            text.mismatches.to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = boards.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let heading = [
        "writes text",
        "tokens",
        "flash, B",
        "RAM, B",
        "stack, B",
        "instr/token",
        "cycles/token",
        "ms/token",
        "mismatches",
    ];
    format!("\n{}", table(&heading, &rows))
}
