//! The differences in packages of models that read texts, which take numbers of tokens instead of counts.

use super::context::PackageContext;
use super::parts::File;
use super::tokens::{format, is_language_model};
use fastgrnn::text::TokenKind;

/// The example program of a language model.
pub(super) fn example(context: &PackageContext) -> Option<String> {
    let text = format(context.model).filter(|_| is_language_model(context.model))?;
    let apart = if text.tokenizer.kind == TokenKind::Characters { "0" } else { "1" };
    Some(context.fill_with(include_str!("../templates/text/main.c"), &[("apart", apart)]))
}

/// The vocabulary as a JSON list of texts, the token with number 0 first.
pub(super) fn vocabulary(context: &PackageContext) -> Option<File> {
    let tokens = format(context.model)?.vocabulary.tokens();
    let json = serde_json::to_string_pretty(tokens).expect("texts can be written as JSON");
    Some(File::new(format!("{}_vocabulary.json", context.name()), json + "\n"))
}

/// The section on usage in the README of a language model.
pub(super) fn usage(context: &PackageContext) -> Option<String> {
    is_language_model(context.model).then(|| context.fill(include_str!("../templates/text/use.md")))
}

/// The README's section on the input: its title and its text.
pub(super) fn input(context: &PackageContext) -> Option<(&'static str, String)> {
    let text = format(context.model)?;
    let kind = match text.tokenizer.kind {
        TokenKind::Words => "words and single signs",
        TokenKind::Characters => "characters",
        TokenKind::Blanks => "what stands between blanks",
    };
    let small = if text.tokenizer.lowercase { ", after letters were made small" } else { "" };
    let explained = format!(
        "A step takes one count: the number of a token, from 0 to {}. Tokens are {kind}{small}. `{}_vocabulary.json` lists \
         their texts by number; 0 stands for every token that is not in the list, and so does a number beyond it.\n",
        text.vocabulary.len() - 1,
        context.name()
    );
    Some(("A token", explained))
}
