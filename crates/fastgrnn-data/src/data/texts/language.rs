//! Texts for language models: lines of tokens, one after the other.
//!
//! Blank lines are skipped, and after each other line stands [`END_OF_LINE`]. The vocabulary is that of
//! the training text; what it lacks is [`UNKNOWN`](crate::text::UNKNOWN). Each part is one sequence.

use super::super::archive::Tree;
use super::super::names::listed;
use super::super::part::{Part, RawLabels};
use super::super::parts::Parts;
use super::super::{DataError, Request, Sequences};
use super::columns::refuse_other_settings;
use super::format::format;
use super::named_text::NamedText;
use super::part_name::{PartName, part_of};
use crate::text::{Counts, END_OF_LINE, TextFormat, Tokenizer};

/// Share of the lines of a single text that is for validation, unless the request says otherwise.
pub const LANGUAGE_VAL_SPLIT: f64 = 0.1;
/// A text of fewer lines is split between words: some texts are a single long line.
const FEW_LINES: usize = 10;

impl NamedText {
    /// The lines that are not blank.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split(['\n', '\r']).filter(|line| !line.trim().is_empty())
    }

    /// The first lines, and the last ones, which are this share of all.
    fn split(self, share: f64) -> (Self, Self) {
        let count = self.lines().count();
        if count < FEW_LINES {
            return self.split_between_words(share);
        }
        let last = ((count as f64 * share).round() as usize).min(count);
        let joined = |lines: Vec<&str>| lines.join("\n");
        let first = joined(self.lines().take(count - last).collect());
        let rest = joined(self.lines().skip(count - last).collect());
        let part = |text: String| Self { file: self.file.clone(), text, notes: Vec::new() };
        let rest = part(rest);
        (Self { notes: self.notes.clone(), ..part(first) }, rest)
    }

    /// The beginning, and the end from the first word on that is in the last `share` of the bytes.
    fn split_between_words(mut self, share: f64) -> (Self, Self) {
        let from = (self.text.len() as f64 * (1.0 - share)) as usize;
        let is_cut = |&(at, sign): &(usize, char)| at >= from && sign.is_whitespace();
        let cut = self.text.char_indices().find(is_cut).map_or(self.text.len(), |(at, _)| at);
        let rest = self.text.split_off(cut);
        let end = Self { file: self.file.clone(), text: rest, notes: Vec::new() };
        (self, end)
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
        texts = single(NamedText::decode(name, &bytes, request)?, request)?;
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
        if let Some(train) = texts.train.take_if(|_| texts.validation.is_none() && is_split(request)) {
            let (train, validation) = with_validation(train, request)?;
            (texts.train, texts.validation) = (Some(train), validation);
        } else if let (Some(train), Some(validation)) = (&mut texts.train, &texts.validation)
            && let Some(share) =
                request.val_split.filter(|share| *share > 0.0 && request.text_format.is_none())
        {
            let own = &validation.file;
            train.notes.push(format!("{own} is the validation part; `val-split = {share}` is not used"));
        }
        if let (Some(train), false) = (&mut texts.train, skipped.is_empty()) {
            train.notes.push(format!("not read: {}", listed(&skipped)));
        }
    }
    language_parts(texts, Tokenizer::default(), request)
}

/// Whether a text is split as for training: for training, or because a model was trained on it.
fn is_split(request: &Request) -> bool {
    let is_own = request.expect.as_ref().is_some_and(|expect| expect.is_training_data);
    request.text_format.is_none() || (is_own && request.test.is_none())
}

/// The parts of a single text: its end is for testing, if that is asked for, and what comes before the end for
/// validation. A model that was trained on another text reads all of it.
fn single(text: NamedText, request: &Request) -> Result<LanguageTexts, DataError> {
    if !is_split(request) {
        return Ok(LanguageTexts { test: Some(text), ..LanguageTexts::default() });
    }
    let (rest, test) = match request.data.test_split.filter(|share| *share > 0.0) {
        Some(share) => {
            let (rest, test) = text.split(share);
            (rest, Some(test))
        }
        None => (text, None),
    };
    let (train, validation) = with_validation(rest, request)?;
    Ok(LanguageTexts { train: Some(train), validation, test })
}

/// A text without its end, and the end, which is for validation. With `val-split = 0` there is none.
fn with_validation(text: NamedText, request: &Request) -> Result<(NamedText, Option<NamedText>), DataError> {
    let share = request.val_split.unwrap_or(LANGUAGE_VAL_SPLIT);
    if share <= 0.0 {
        return Ok((text, None));
    }
    let is_empty = text.lines().next().is_none();
    let (mut train, validation) = text.split(share);
    let is_short = train.lines().next().is_none() || validation.lines().next().is_none();
    if is_short && !is_empty {
        let hint = format!(
            "it is too short: a share of {share} at its end is for validation (`val-split`), and nothing is left for one of the parts"
        );
        return Err(DataError::Empty { file: train.file, hint });
    }
    train
        .notes
        .push(format!("{}: a share of {share} at its end is for validation (`val-split`)", train.file));
    Ok((train, Some(validation)))
}

/// Tokens of the texts, with the vocabulary of the training text.
pub(crate) fn language_parts(
    texts: LanguageTexts,
    usual: Tokenizer,
    request: &Request,
) -> Result<Parts, DataError> {
    if let Some(text) = texts.train.as_ref().or(texts.test.as_ref()) {
        refuse_other_settings(&text.file, request)?;
    }
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
    use crate::data::{Dataset, Expect, Labels, TaskKind, load_bytes};

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
    fn a_text_of_one_line_is_split_between_words_and_a_word_is_too_short() {
        let text = "one two three four ".repeat(30);
        let data = load_bytes("a.txt", text.as_bytes(), &request()).unwrap();
        let steps = (data.train.x.steps(0), data.train.x.steps(1));
        assert_eq!((steps.0 + steps.1, steps.1), (122, 12));
        let error = load_bytes("a.txt", b"word\n", &request()).unwrap_err().to_string();
        assert!(error.contains("too short"), "{error}");
        let old = load_bytes("a.txt", "a b\r".repeat(30).as_bytes(), &request()).unwrap();
        assert_eq!((old.train.x.steps(0), old.train.x.steps(1)), (81, 9), "\\r ends a line");
    }

    #[test]
    fn a_model_finds_the_parts_of_its_training_text_again_and_reads_all_of_another() {
        let text = "one two three\n".repeat(100);
        let request = request().with_data(|data| data.test_split = Some(0.1));
        let data = load_bytes("a.txt", text.as_bytes(), &request).unwrap();
        let steps = |data: &Dataset| data.test.as_ref().map(|test| test.x.steps(0));
        assert_eq!(steps(&data), Some(40));
        let expect = |is_training_data| Some(Expect { is_training_data, ..Expect::default() });
        let again = Request { text_format: data.text.clone(), expect: expect(true), ..request.clone() };
        let found = load_bytes("a.txt", text.as_bytes(), &again).unwrap();
        assert_eq!((steps(&found), &found.train.x), (Some(40), &data.train.x));
        let other = Request { expect: expect(false), ..again };
        let found = load_bytes("b.txt", text.as_bytes(), &other).unwrap();
        assert_eq!((steps(&found), found.train.len()), (Some(400), 0));
    }

    #[test]
    fn the_share_for_validation_can_be_chosen_and_0_leaves_the_whole_text_for_training() {
        let lines: Vec<String> = (0..20).map(|i| format!("word{i}\n")).collect();
        for (share, trained, tokens) in [(0.25, vec![30, 10], 17), (0.0, vec![40], 22)] {
            let request = Request { val_split: Some(share), ..request() };
            let data = load_bytes("a.txt", lines.concat().as_bytes(), &request).unwrap();
            let steps: Vec<usize> = (0..data.train.len()).map(|i| data.train.x.steps(i)).collect();
            assert_eq!((steps, data.text.unwrap().vocabulary.len()), (trained, tokens));
            let is_split = data.notes.iter().any(|note| note.contains("for validation"));
            assert_eq!(is_split, share > 0.0, "{:?}", data.notes);
        }
    }

    #[test]
    fn an_empty_text_is_an_error() {
        for text in ["", "\n \n"] {
            let error = load_bytes("a.txt", text.as_bytes(), &request()).unwrap_err().to_string();
            assert!(error.contains("a.txt") && error.contains("no line"), "{error}");
        }
    }
}
