//! Networks that read texts, in C: the vectors of tokens (section 1 of `docs/integer-arithmetic.md`), and
//! drawing the next token (section 10).

use super::text::{counter, falling, scaled_to_eleven_bits};
use fastgrnn::quantize::{InputScale, IntegerEmbedding, IntegerNetwork};

/// The function `look_up`, which writes the vector of a token as numbers of the C type `kind`.
pub(super) fn look_up(embedding: &IntegerEmbedding, input: &InputScale, kind: &str) -> String {
    let (tokens, width) = (embedding.vectors.rows, embedding.vectors.cols);
    let (d, factor) = (counter(width), 1_u32 << input.shift);
    format!(
        "static void look_up(const int16_t *counts, {kind} *x)
{{
    const uint16_t token = (uint16_t)counts[0];
    const int8_t *p = vectors + (uint32_t)(token < {tokens}u ? token : 0u) * {width}u;
    {d} d;
    for (d = 0; d < {width}; d++) {{
        x[d] = ({kind})(FG_BYTE(p + d) * {factor});
    }}
}}\n\n"
    )
}

/// The functions that draw a token, and what `classify` needs of them.
pub(super) fn sample(name: &str, network: &IntegerNetwork) -> String {
    let bits = network.score_bits();
    let sample = include_str!("parts/sample.c")
        .replace("@WIDE_SCALE@", &scaled_to_eleven_bits(bits, 524_287))
        .replace("@OUTPUTS@", &network.head_biases.len().to_string())
        .replace("@NAME@", name);
    falling(bits) + &sample + "\n"
}

/// What the header says about tokens. `end` is the token of the end of a line of a language model.
pub(super) fn header(name: &str, tokens: usize, end: Option<u32>) -> String {
    let upper = name.to_ascii_uppercase();
    let mut text = format!("\n#define {upper}_TOKENS {tokens} /* a token is a number below this */\n");
    let Some(end) = end else { return text };
    text.push_str(&format!(
        "#define {upper}_END_OF_LINE {end} /* the token between lines, which comes before a text, too */

/* How tokens are drawn. */
typedef struct {name}_sampler {{
    uint32_t random;
    uint16_t sharpness;
    uint16_t most;
}} {name}_sampler;

/* Prepares a sampler. sharpness is 256 / temperature (16 to 4096), or 0 to take the most probable token always;
   only the `most` most probable tokens are drawn, or any if that is 0. The same seed draws the same tokens. */
void {name}_sampler_init({name}_sampler *sampler, uint32_t seed, uint16_t sharpness, uint16_t most);

/* Draws the next token from the scores that {name}_classify wrote. Never draws token 0, which stands for unknown
   tokens. */
uint16_t {name}_sample({name}_sampler *sampler, const int32_t *scores);
"
    ));
    text
}
