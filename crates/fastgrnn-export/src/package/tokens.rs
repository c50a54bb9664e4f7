//! What a package has to know of a model that reads texts: its tokens, and whether it writes them.

use fastgrnn::model::Task;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::text::TextFormat;

/// How a model's tokens are made, if it reads texts.
pub(super) fn format(model: &IntegerModel) -> Option<&TextFormat> {
    model.network.embedding.as_ref().and(model.model.text.as_ref())
}

/// The names of a model's outputs: classes, or the tokens of a language model.
pub(super) fn labels(model: &IntegerModel) -> Vec<String> {
    match (format(model), &model.model.task) {
        (Some(text), Task::NextToken) => text.vocabulary.tokens().to_vec(),
        _ => model.model.labels().to_vec(),
    }
}

/// Whether the model is a language model with its vocabulary.
pub(super) fn is_language_model(model: &IntegerModel) -> bool {
    format(model).is_some() && model.model.task == Task::NextToken
}

/// The name of the example program.
pub(super) fn program(model: &IntegerModel) -> &'static str {
    if is_language_model(model) { "generate" } else { "classify" }
}

/// Templates of the self-test's function that draws tokens, and of the C that calls it.
pub(super) fn self_test(model: &IntegerModel) -> (&'static str, &'static str) {
    const CALL: &str = "    own = test_text(&one);\n    wrong = (uint16_t)(wrong + own);\n    \
                        @name@_put_text(@NAME@_TEXT(\"drawn tokens: \"), put);\n    put_verdict(own, put);\n";
    if is_language_model(model) { (include_str!("../templates/text/selftest.c"), CALL) } else { ("", "") }
}
