//! Scores, class and confidence in C (sections 6 and 7 of `docs/integer-arithmetic.md`).

use super::helpers::Helpers;
use super::matrix::StoredRows;
use super::text::{bias_type, counter, falling, times};
use super::tokens;
use fastgrnn::quantize::IntegerNetwork;
use fastgrnn_runtime::int::Meaning;

/// The function `classify` and the functions that it calls.
pub(super) fn code(
    name: &str,
    network: &IntegerNetwork,
    h: &str,
    head: &StoredRows,
    is_language_model: bool,
    helpers: &Helpers,
) -> String {
    let outputs = network.head_biases.len();
    let k = counter(outputs);
    let (_, read) = bias_type(network.head_bias_bits);
    let bias = times(&format!("(int32_t){read}(head_b + k)"), network.head_shift);
    let (declarations, row, sum) = if head.are_four() {
        let call = head.four("p", h, "eight", "rows", helpers);
        let multiplier = network.head.product_scale().multiplier;
        (
            format!("    const int32_t eight = {};\n    int32_t rows[4];\n", head.eight(h, helpers)),
            format!("if ((k & 3) == 0) {{\n            p = {call};\n        }}"),
            helpers.multiplied("rows[k & 3]", multiplier),
        )
    } else {
        let row = format!("const fg_row row = {};\n        p = row.next;", head.call("p", h, helpers));
        (String::new(), row, "row.sum".to_owned())
    };
    let kind = head.kind();
    let (class, confidence) = match network.meaning {
        Meaning::Classes => (
            "best",
            format!(
                "        uint32_t all = 0;
        for (k = 0; k < {outputs}; k++) {{
            all += falling((uint32_t)scores[best] - (uint32_t)scores[k]);
        }}
        *confidence = (uint8_t)(8355840u / all);\n"
            ),
        ),
        Meaning::Binary => (
            "(uint16_t)(scores[0] > 0 ? 1 : 0)",
            "        *confidence = (uint8_t)(8355840u / (32768u + falling(magnitude(scores[0]))));\n".into(),
        ),
        Meaning::OneAgainstAll => (
            "best",
            "        const uint32_t own = falling(magnitude(scores[best]));
        *confidence = (uint8_t)(255u * (scores[best] >= 0 ? (uint32_t)32768u : own) / (32768u + own));\n"
                .into(),
        ),
        Meaning::Values => ("best", "        *confidence = 0;\n".into()),
    };
    let functions = if is_language_model { tokens::sample(name, network) } else { functions(network) };
    let table = if network.is_tied() { "vectors" } else { "head" };
    format!(
        "{functions}uint16_t {name}_classify(const {name}_state *state, int32_t *scores, uint8_t *confidence)
{{
    const {kind} *p = {table};
{declarations}    {k} k, best = 0;
    for (k = 0; k < {outputs}; k++) {{
        {row}
        scores[k] = {sum} + {bias};
        if (scores[k] > scores[best]) {{
            best = k;
        }}
    }}
    if (confidence != 0) {{
{confidence}    }}
    return {class};
}}
"
    )
}

/// The functions that compute a confidence. Only those that are called are included, because
/// compilers warn about others.
fn functions(network: &IntegerNetwork) -> String {
    let falling = || falling(network.score_bits());
    match network.meaning {
        Meaning::Values => String::new(),
        Meaning::Classes => falling(),
        Meaning::Binary | Meaning::OneAgainstAll => falling() + MAGNITUDE,
    }
}

const MAGNITUDE: &str = "\
static uint32_t magnitude(int32_t v)
{
    return v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
}

";
