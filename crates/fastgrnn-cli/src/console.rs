//! Where output goes: answers to stdout, everything else to stderr.
//!
//! With `--json` an answer is one JSON document and nothing else reaches stdout. A reader that has
//! gone away (`fastgrnn … | head`) ends the output quietly: this is not an error.

use crate::program::Document;
use crate::{flags, remedy};
use fastgrnn::train::RecipeError;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// How a command prints.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Print one JSON document.
    pub json: bool,
    /// No progress, no notes.
    pub quiet: bool,
}

impl Console {
    /// Prints the answer of the command: `value`, a struct or a map, as JSON, or the text.
    pub fn answer(&self, value: &impl serde::Serialize, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        let text =
            if self.json { serde_json::to_string_pretty(&Document::of(value))? + "\n" } else { text() };
        Ok(self.print(&text)?)
    }

    /// Prints text to stdout as it is.
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Prints a note to stderr.
    pub fn note(&self, line: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", flags::with_flags(line));
        }
    }

    /// Whether progress may redraw lines.
    pub fn is_live(&self) -> bool {
        // A dumb terminal cannot move its cursor.
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        !self.quiet && io::stderr().is_terminal() && !is_dumb
    }
}

/// Characters of a line where the answer is printed.
pub fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout());
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns >= 20);
    terminal.map(|(width, _)| usize::from(width.0)).or_else(columns).unwrap_or(USUAL_WIDTH)
}

/// Characters of a line if nothing says how wide the terminal is.
const USUAL_WIDTH: usize = 80;

/// Prints a failure as one block: what failed, then each cause under it.
pub fn print_error(error: &anyhow::Error) {
    let _ = match error.downcast_ref::<clap::Error>() {
        // Its text has colours and the usage.
        Some(usage) => usage.print(),
        None => io::stderr().write_all(error_block(error).as_bytes()),
    };
}

/// What failed, then each cause, without saying anything twice.
pub fn error_lines(error: &anyhow::Error) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for cause in error.chain() {
        // Errors about a recipe file name keys, and these stay keys.
        let text = cause.to_string();
        let cause = if cause.is::<RecipeError>() { text } else { flags::with_flags(&text) };
        // A wrapper that already quotes its cause would say everything twice.
        if lines.last().is_none_or(|above| !above.contains(&cause)) {
            lines.push(cause);
        }
    }
    lines
}

fn error_block(error: &anyhow::Error) -> String {
    let lines = error_lines(error);
    let mut block = String::new();
    for (depth, line) in lines.iter().enumerate() {
        let lead = if depth == 0 { "error: " } else { "  because: " };
        let indent = " ".repeat(lead.len());
        block.push_str(&format!("{lead}{}\n", line.replace('\n', &format!("\n{indent}"))));
    }
    if let Some(remedy) = remedy::of(error) {
        block.push_str(&format!("  try: {remedy}\n"));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn an_error_is_one_block_without_repeating_itself() {
        let inner = anyhow!("a.csv, line 3: 'x' is not a number");
        let same = inner.context("cannot read: a.csv, line 3: 'x' is not a number");
        assert_eq!(
            error_block(&same.context("cannot load the data set")),
            "error: cannot load the data set\n  because: cannot read: a.csv, line 3: 'x' is not a number\n"
        );
    }

    #[test]
    fn lines_of_a_message_stay_aligned() {
        assert_eq!(error_block(&anyhow!("one\ntwo")), "error: one\n       two\n");
    }
}
