//! Where a text is cut into tokens.

use fastgrnn_core::choice;
use serde::{Deserialize, Serialize};

choice! {
    /// What a token is.
    TokenKind {
        /// A word, with what follows one apostrophe, or a single sign: `\w+(?:'\w+)?|[^\w\s]`.
        #[default]
        Words = "words",
        /// A character.
        Characters = "characters",
        /// What stands between blanks.
        Blanks = "blanks",
    }
}

/// How a text becomes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// What a token is.
    pub kind: TokenKind,
    /// Whether letters become small first.
    pub lowercase: bool,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self { kind: TokenKind::Words, lowercase: true }
    }
}

impl Tokenizer {
    /// Calls `f` with each token of `text`.
    pub fn for_each(&self, text: &str, f: impl FnMut(&str)) {
        match self.lowercase {
            true => self.cut(&text.to_lowercase(), f),
            false => self.cut(text, f),
        }
    }

    fn cut(&self, text: &str, mut f: impl FnMut(&str)) {
        match self.kind {
            TokenKind::Blanks => text.split_whitespace().for_each(f),
            TokenKind::Characters => {
                let mut rest = text;
                while let Some(first) = rest.chars().next() {
                    let (token, after) = rest.split_at(first.len_utf8());
                    f(token);
                    rest = after;
                }
            }
            TokenKind::Words => words(text, f),
        }
    }
}

/// Whether a character can be part of a word.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the part of words that `text` begins with.
fn word_len(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

fn words(text: &str, mut f: impl FnMut(&str)) {
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mut end = word_len(rest);
        if end == 0 {
            end = first.len_utf8();
        } else if let Some(after) = rest[end..].strip_prefix('\'') {
            let more = word_len(after);
            end += if more > 0 { 1 + more } else { 0 };
        }
        f(&rest[..end]);
        rest = rest[end..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(kind: TokenKind, lowercase: bool, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        Tokenizer { kind, lowercase }.for_each(text, |token| tokens.push(token.to_string()));
        tokens
    }

    #[test]
    fn words_are_those_of_the_regular_expression() {
        for (text, expected) in [
            ("Hello, World!", &["hello", ",", "world", "!"][..]),
            ("it's John's'", &["it's", "john's", "'"]),
            ("a'b'c ''x x' '", &["a'b", "'", "c", "'", "'", "x", "x", "'", "'"]),
            ("  3.14\t-2_x ", &["3", ".", "14", "-", "2_x"]),
            ("Été—naïve «ΑΒ»", &["été", "—", "naïve", "«", "αβ", "»"]),
            ("", &[]),
            (" \u{a0}\u{2003}", &[]),
        ] {
            assert_eq!(tokens(TokenKind::Words, true, text), expected, "{text}");
        }
        assert_eq!(tokens(TokenKind::Words, false, "A b"), ["A", "b"]);
    }

    #[test]
    fn characters_keep_blanks_and_blanks_keep_signs() {
        assert_eq!(tokens(TokenKind::Characters, false, "aB é"), ["a", "B", " ", "é"]);
        assert_eq!(tokens(TokenKind::Blanks, false, " the <unk> N's "), ["the", "<unk>", "N's"]);
    }
}
