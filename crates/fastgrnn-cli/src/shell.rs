//! Commands that are printed for a shell.

use fastgrnn::train::CONFIG_FILE;
use std::path::Path;

/// A word of a command, quoted if the shell would read it otherwise.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,=:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The command that continues the training in `run`.
pub fn resume_command(run: &Path) -> String {
    format!("fastgrnn train --resume --out {}", quoted(&run.display().to_string()))
}

/// The command that continues the training whose folder a file is in.
pub fn resume_of(file: &Path) -> Option<String> {
    let run = file.ancestors().skip(1).take(2).find(|folder| folder.join(CONFIG_FILE).exists());
    run.map(resume_command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_the_shell_needs_it() {
        for (word, expected) in [
            ("runs/digits-gru-1", "runs/digits-gru-1"),
            ("my runs/a", "'my runs/a'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
