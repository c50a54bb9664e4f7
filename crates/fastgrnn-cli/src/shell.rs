//! Commands that are printed for a shell.

use fastgrnn::train::CONFIG_FILE;
use std::ffi::{OsStr, OsString};
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

/// This command as it was given, without `--resume`, for a shell in any folder. `recipe` is the recipe file that it
/// names, `out` the folder that it writes into.
pub fn own_command(recipe: Option<&Path>, out: &Path) -> String {
    let given: Vec<OsString> = std::env::args_os().skip(1).filter(|word| word != "--resume").collect();
    let before = std::iter::once(None).chain(given.iter().map(Some));
    let is_path = |word: &OsString, before: Option<&OsString>| {
        recipe == Some(Path::new(word))
            || before.is_some_and(|flag| PATH_FLAGS.iter().any(|known| flag == known))
    };
    let absolute = given.iter().zip(before).map(|(word, before)| match is_path(word, before) {
        true => absolute_word(word),
        false => word.to_string_lossy().into_owned(),
    });
    let mut words: Vec<String> = std::iter::once("fastgrnn".to_owned()).chain(absolute).collect();
    let is_out = |word: &OsString| word == "--out" || word.to_string_lossy().starts_with("--out=");
    if !given.iter().any(is_out) {
        words.extend(["--out".to_owned(), out.display().to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Flags whose value is a path, or may be one.
const PATH_FLAGS: [&str; 7] =
    ["--dataset", "--test", "--data-dir", "--teacher", "--word-vectors", "--join", "--out"];

/// A word of the command line that means the same in every folder, if it is the path of something.
fn absolute_word(word: &OsStr) -> String {
    let path = std::path::absolute(word).ok().filter(|path| path.exists());
    path.map_or_else(|| word.to_string_lossy().into_owned(), |path| path.display().to_string())
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
