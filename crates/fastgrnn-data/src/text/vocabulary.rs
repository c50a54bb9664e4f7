//! The tokens that a model knows, by number.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;

/// Stands for every token that is not in the vocabulary; always its first.
pub const UNKNOWN: &str = "<unk>";
/// Stands at the end of a line of a language model's text.
pub const END_OF_LINE: &str = "<eos>";

/// How often each token occurs.
#[derive(Clone, Debug, Default)]
pub struct Counts(HashMap<String, u64>);

impl Counts {
    /// Counts a token.
    pub fn add(&mut self, token: &str) {
        match self.0.get_mut(token) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(token.to_string(), 1);
            }
        }
    }

    /// Different tokens.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// [`UNKNOWN`], then the `most` most frequent tokens of those that occur at least `least` times, the
    /// more frequent one first and equally frequent ones by their text. All tokens of `needed` are among
    /// them, even if they are rare.
    pub fn vocabulary(&self, most: usize, least: u64, needed: &[&str]) -> Vocabulary {
        let rank = |token: &str, count: u64| (!needed.contains(&token), std::cmp::Reverse(count));
        let mut all: Vec<(&str, u64)> =
            self.0.iter().map(|(token, &count)| (token.as_str(), count)).collect();
        all.retain(|&(token, count)| token != UNKNOWN && (count >= least || needed.contains(&token)));
        all.sort_unstable_by(|a, b| rank(a.0, a.1).cmp(&rank(b.0, b.1)).then_with(|| a.0.cmp(b.0)));
        all.truncate(most);
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let tokens = std::iter::once(UNKNOWN).chain(all.into_iter().map(|(token, _)| token));
        Vocabulary::of(tokens.map(String::from).collect())
    }
}

/// The tokens that a model knows; the first one is [`UNKNOWN`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    tokens: Vec<String>,
    index: HashMap<String, u32>,
}

impl Vocabulary {
    fn of(tokens: Vec<String>) -> Self {
        let index = tokens.iter().enumerate().map(|(i, token)| (token.clone(), i as u32)).collect();
        Self { tokens, index }
    }

    /// A vocabulary of given tokens. They must begin with [`UNKNOWN`], and none may occur twice.
    pub fn new(tokens: Vec<String>) -> Result<Self, String> {
        if tokens.first().map(String::as_str) != Some(UNKNOWN) {
            return Err(format!("a vocabulary begins with {UNKNOWN}"));
        }
        let vocabulary = Self::of(tokens);
        match vocabulary.index.len() == vocabulary.tokens.len() {
            true => Ok(vocabulary),
            false => {
                let is_first = |(i, token): (usize, &String)| vocabulary.index[token] as usize == i;
                let again = vocabulary.tokens.iter().enumerate().find(|&entry| !is_first(entry));
                Err(format!("the token '{}' occurs twice", again.map_or("", |(_, token)| token)))
            }
        }
    }

    /// All tokens by number.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Never: every vocabulary has [`UNKNOWN`].
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The number of a token; that of [`UNKNOWN`] if it is not in the vocabulary.
    pub fn index(&self, token: &str) -> u32 {
        self.get(token).unwrap_or(0)
    }

    /// The number of a token, if it is in the vocabulary.
    pub fn get(&self, token: &str) -> Option<u32> {
        self.index.get(token).copied()
    }
}

impl Serialize for Vocabulary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tokens.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(tokens: &str) -> Counts {
        let mut counts = Counts::default();
        tokens.split(' ').for_each(|token| counts.add(token));
        counts
    }

    #[test]
    fn the_most_frequent_tokens_are_known_and_ties_go_by_text() {
        let counts = counted("b b c c a d d d");
        assert_eq!(counts.vocabulary(3, 1, &[]).tokens(), ["<unk>", "d", "b", "c"]);
        assert_eq!(counts.vocabulary(9, 2, &[]).tokens(), ["<unk>", "d", "b", "c"]);
        assert_eq!(counts.vocabulary(9, 1, &[]).len(), 5);
        assert_eq!(counts.vocabulary(2, 2, &["a"]).tokens(), ["<unk>", "d", "a"], "a is needed");
    }

    #[test]
    fn a_text_that_has_the_unknown_token_does_not_get_a_second_one() {
        let vocabulary = counted("the <unk> <unk> end").vocabulary(10, 1, &[]);
        assert_eq!(vocabulary.tokens(), ["<unk>", "end", "the"]);
        assert_eq!((vocabulary.index("<unk>"), vocabulary.index("never")), (0, 0));
        assert_eq!((vocabulary.get("end"), vocabulary.get("never")), (Some(1), None));
    }

    #[test]
    fn a_vocabulary_survives_a_file_and_a_wrong_one_is_refused() {
        let vocabulary = counted("x y y").vocabulary(10, 1, &[]);
        let text = serde_json::to_string(&vocabulary).unwrap();
        assert_eq!(serde_json::from_str::<Vocabulary>(&text).unwrap(), vocabulary);
        for (text, part) in [
            (r#"["a"]"#, "begins with <unk>"),
            ("[]", "begins with <unk>"),
            (r#"["<unk>","a","b","a"]"#, "'a' occurs twice"),
        ] {
            let error = serde_json::from_str::<Vocabulary>(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
