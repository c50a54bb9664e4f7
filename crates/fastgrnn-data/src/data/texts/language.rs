//! Texts for language models: lines of tokens, one after the other.
//!
//! Blank lines are skipped, and after each other line stands [`END_OF_LINE`]. The vocabulary is that of
//! the training text; what it lacks is [`UNKNOWN`](crate::text::UNKNOWN). Each part is one sequence.

use super::super::archive::Tree;
use super::super::names::listed;
use super::super::part::{Part, RawLabels};
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences};
use super::format::format;
use super::named_text::NamedText;
use super::part_name::{PartName, part_of};
use crate::text::{Counts, END_OF_LINE, TextFormat, Tokenizer};

/// Share of the lines of a single text that is for validation.
const VALIDATION_SHARE: f64 = 0.1;

impl NamedText {
    /// The lines that are not blank.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.trim().is_empty())
    }

    /// The first lines, and the last ones, which are this share of all.
    fn split(self, share: f64) -> (Self, Self) {
        let count = self.lines().count();
        let last = ((count as f64 * share).round() as usize).min(count);
        let joined = |lines: Vec<&str>| lines.join("\n");
        let first = joined(self.lines().take(count - last).collect());
        let rest = joined(self.lines().skip(count - last).collect());
        let part = |text: String| Self { file: self.file.clone(), text, notes: Vec::new() };
        let rest = part(rest);
        (Self { notes: self.notes.clone(), ..part(first) }, rest)
    }
}

/// The texts of a language model's parts.
#[derive(Default)]
pub(crate) struct LanguageTexts {
    pub train: Option<NamedText>,
    pub validation: Option<NamedText>,
    pub test: Option<NamedText>,
}

/// Reads the texts of a folder or archive, or a single one.
pub(super) fn read(tree: &mut Tree, request: &Request) -> Result<Parts, DataError> {
    let names: Vec<String> = tree.files.iter().map(|file| file.name.clone()).collect();
    let mut texts = LanguageTexts::default();
    if let [name] = &names[..] {
        let bytes = tree.read(0)?;
        texts = single(NamedText::decode(name, &bytes, request)?, request);
    } else {
        let mut skipped = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let slot = match part_of(name) {
                Some(PartName::Train) => &mut texts.train,
                Some(PartName::Validation) => &mut texts.validation,
                Some(PartName::Test) => &mut texts.test,
                None => {
                    skipped.push(name.clone());
                    continue;
                }
            };
            if let Some(before) = slot {
                let what = "texts of the same part";
                let names = listed(&[before.file.clone(), name.clone()]);
                return Err(DataError::SeveralFiles { file: tree.name.clone(), what, names });
            }
            *slot = Some(NamedText::decode(name, &tree.read(i)?, request)?);
        }
        if texts.train.is_none() && request.text_format.is_none() {
            let found = if names.is_empty() { "nothing".into() } else { listed(&names) };
            return Err(DataError::NoText { file: tree.name.clone(), found });
        }
        if let (Some(train), false) = (&mut texts.train, skipped.is_empty()) {
            train.notes.push(format!("not read: {}", listed(&skipped)));
        }
    }
    language_parts(texts, Tokenizer::default(), request)
}

/// The parts of a single text: its end is for testing, if that is asked for, and what comes before the end for
/// validation. A model that is there already reads all of it.
fn single(text: NamedText, request: &Request) -> LanguageTexts {
    if request.text_format.is_some() {
        return LanguageTexts { test: Some(text), ..LanguageTexts::default() };
    }
    let (rest, test) = match request.data.test_split.filter(|share| *share > 0.0) {
        Some(share) => {
            let (rest, test) = text.split(share);
            (rest, Some(test))
        }
        None => (text, None),
    };
    let (mut train, validation) = rest.split(VALIDATION_SHARE);
    train.notes.push(format!("{}: the last tenth of the lines is for validation", train.file));
    LanguageTexts { train: Some(train), validation: Some(validation), test }
}

/// Tokens of the texts, with the vocabulary of the training text.
pub(crate) fn language_parts(
    texts: LanguageTexts,
    usual: Tokenizer,
    request: &Request,
) -> Result<Parts, DataError> {
    let format = format(request, usual, &[END_OF_LINE], |tokenizer| {
        let mut counts = Counts::default();
        for line in texts.train.iter().flat_map(NamedText::lines) {
            tokenizer.for_each(line, |token| counts.add(token));
            counts.add(END_OF_LINE);
        }
        counts
    });
    let part = |text: Option<NamedText>| text.map(|text| encode(text, &format)).transpose();
    Ok(Parts { train: part(texts.train)?, validation: part(texts.validation)?, test: part(texts.test)? })
}

fn encode(text: NamedText, format: &TextFormat) -> Result<Part, DataError> {
    let end = format.vocabulary.index(END_OF_LINE);
    let mut tokens = Vec::new();
    for line in text.lines() {
        format.encode(line, &mut tokens);
        tokens.push(end);
    }
    if tokens.is_empty() {
        let hint = "it has no line with anything in it; a language model learns from text".into();
        return Err(DataError::Empty { file: text.file, hint });
    }
    let mut x = Sequences::of_tokens();
    x.push_tokens(&tokens);
    let mut part = Part::new(text.file, x, RawLabels::Next);
    part.text = Some(format.clone());
    part.notes = text.notes;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, TaskKind, load_bytes};

    fn request() -> Request {
        let mut request = Request::default();
        request.text.task = Some(TaskKind::LanguageModel);
        request
    }

    #[test]
    fn a_text_becomes_lines_of_tokens_with_its_end_for_validation() {
        let lines: Vec<String> = (0..20).map(|i| format!("line {i}\n\n")).collect();
        let data = load_bytes("novel.txt", lines.concat().as_bytes(), &request()).unwrap();
        assert_eq!(data.train.y, Labels::Next);
        assert_eq!((data.train.len(), data.validation.as_deref()), (2, Some(&[1][..])));
        assert_eq!((data.train.x.steps(0), data.train.x.steps(1)), (18 * 3, 2 * 3));
        let vocabulary = &data.text.unwrap().vocabulary;
        assert_eq!(vocabulary.tokens()[..3], ["<unk>", "<eos>", "line"]);
        let last = data.train.x.tokens(1);
        assert_eq!(last, [2, 0, 1, 2, 0, 1], "the numbers 18 and 19 are not in the training text");
    }

    #[test]
    fn the_end_of_a_line_is_known_even_if_other_tokens_are_more_frequent() {
        let mut request = request();
        request.text.vocabulary = 2;
        let data = load_bytes("a.txt", "a a a b b c\n".repeat(20).as_bytes(), &request).unwrap();
        let vocabulary = &data.text.unwrap().vocabulary;
        assert_eq!(vocabulary.tokens(), ["<unk>", "a", "<eos>"]);
    }

    #[test]
    fn an_empty_text_is_an_error() {
        for text in ["", "\n \n"] {
            let error = load_bytes("a.txt", text.as_bytes(), &request()).unwrap_err().to_string();
            assert!(error.contains("a.txt") && error.contains("no line"), "{error}");
        }
    }
}
