//! The tokenizer and the vocabulary of a request or of a training text.

use super::super::Request;
use crate::text::{Counts, TextFormat, TokenKind, Tokenizer};

/// The tokenizer that a request asks for; `usual` is the one of the source.
fn tokenizer(request: &Request, usual: Tokenizer) -> Tokenizer {
    if let Some(format) = &request.text_format {
        return format.tokenizer;
    }
    let kind = request.text.tokens.unwrap_or(usual.kind);
    let lowercase = if kind == usual.kind { usual.lowercase } else { kind == TokenKind::Words };
    Tokenizer { kind, lowercase: request.text.lowercase.unwrap_or(lowercase) }
}

/// The tokenizer and the vocabulary that the request brings, or those of a training text, whose tokens
/// `tokens` counts.
pub(super) fn format(
    request: &Request,
    usual: Tokenizer,
    needed: &[&str],
    tokens: impl FnOnce(Tokenizer) -> Counts,
) -> TextFormat {
    if let Some(format) = &request.text_format {
        return format.clone();
    }
    let tokenizer = tokenizer(request, usual);
    let (most, least) = (request.text.vocabulary, request.text.min_count as u64);
    TextFormat { tokenizer, vocabulary: tokens(tokenizer).vocabulary(most, least, needed) }
}
