//! From tokens back to text.

use super::{END_OF_LINE, TextFormat, TokenKind};

/// Signs that stand close to the word before them.
const CLOSING: &str = ".,;:!?)]}%";
/// Signs that stand close to the word after them.
const OPENING: &str = "([{$#";

impl TextFormat {
    /// Appends the numbers of the tokens of a text of several lines, as a language model reads it: after each
    /// line but the last stands the end of a line, and blank lines are skipped.
    pub fn encode_lines(&self, text: &str, tokens: &mut Vec<u32>) {
        let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let last = lines.next_back().unwrap_or("");
        for line in lines.filter(|line| !line.trim().is_empty()) {
            self.encode(line, tokens);
            tokens.push(self.vocabulary.index(END_OF_LINE));
        }
        self.encode(last, tokens);
    }

    /// The text of tokens. An end of a line begins a new line. Characters follow each other; between words
    /// stands a blank, except before signs that close and after those that open something.
    ///
    /// ```
    /// use fastgrnn_data::text::{Counts, END_OF_LINE, TextFormat, Tokenizer};
    /// let mut counts = Counts::default();
    /// ["the", "end", ".", "(", ")", END_OF_LINE].iter().for_each(|token| counts.add(token));
    /// let text = TextFormat { tokenizer: Tokenizer::default(), vocabulary: counts.vocabulary(9, 1, &[]) };
    /// let mut tokens = Vec::new();
    /// text.encode_lines("the (end).\nThe end", &mut tokens);
    /// assert_eq!(text.decode(&tokens), "the (end).\nthe end");
    /// ```
    pub fn decode(&self, tokens: &[u32]) -> String {
        let mut text = String::new();
        // Whether a blank may stand before the next token.
        let mut apart = false;
        for token in tokens.iter().filter_map(|&token| self.vocabulary.tokens().get(token as usize)) {
            if token == END_OF_LINE {
                text.push('\n');
                apart = false;
                continue;
            }
            let is_one_of = |signs: &str| token.chars().count() == 1 && signs.contains(token.as_str());
            let joins = self.tokenizer.kind == TokenKind::Words;
            if apart && !(joins && is_one_of(CLOSING)) {
                text.push(' ');
            }
            text.push_str(token);
            apart = self.tokenizer.kind != TokenKind::Characters && !(joins && is_one_of(OPENING));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Counts, Tokenizer};

    fn format(kind: TokenKind, tokens: &[&str]) -> TextFormat {
        let mut counts = Counts::default();
        tokens.iter().chain(&[END_OF_LINE]).for_each(|token| counts.add(token));
        TextFormat {
            tokenizer: Tokenizer { kind, lowercase: false },
            vocabulary: counts.vocabulary(99, 1, &[]),
        }
    }

    fn again(format: &TextFormat, text: &str) -> String {
        let mut tokens = Vec::new();
        format.encode_lines(text, &mut tokens);
        format.decode(&tokens)
    }

    #[test]
    fn characters_come_back_as_they_were() {
        let format = format(TokenKind::Characters, &["a", " ", "é", "."]);
        assert_eq!(again(&format, " a é.\na\n"), " a é.\na\n");
        assert_eq!(again(&format, "a\r\n\r\n  \na"), "a\na", "blank lines are skipped");
        assert_eq!(again(&format, "ax"), "a<unk>");
        assert_eq!(again(&format, ""), "");
    }

    #[test]
    fn what_stood_between_blanks_stands_between_blanks() {
        let format = format(TokenKind::Blanks, &["the", "N", "%", ".", "'s"]);
        assert_eq!(again(&format, "the N % 's .\n  the"), "the N % 's .\nthe");
    }

    #[test]
    fn signs_stand_close_to_words() {
        let format = format(TokenKind::Words, &["a", "b", ",", "(", ")", "-"]);
        assert_eq!(again(&format, "a, b (a) - b"), "a, b (a) - b");
        assert_eq!(format.decode(&[999, 1]), format.decode(&[1]), "a number that no token has");
    }
}
