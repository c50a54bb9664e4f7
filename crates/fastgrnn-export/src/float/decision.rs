//! Class and confidence of the soft-float C. They are computed in integers, from scores at the integer
//! network's scale (sections 6 and 7 of `docs/integer-arithmetic.md`).
//!
//! The integer core computes the same in code of its own (`c/decide.rs`). Sharing the text would
//! change the bytes and cycles of one of the two, which are compared with each other.

use fastgrnn::quantize::IntegerNetwork;
use fastgrnn_runtime::int::Meaning;

/// The functions that the body calls. Only those that are used are included, because compilers warn
/// about others.
pub(super) fn functions(network: &IntegerNetwork) -> String {
    let mut text = String::new();
    if network.meaning != Meaning::Values {
        text.push_str(&FALLING.replace("@d@", &scaled(network.score_bits())));
    }
    if matches!(network.meaning, Meaning::Binary | Meaning::OneAgainstAll) {
        text.push_str(SIZE);
    }
    text
}

const FALLING: &str = "\
/* e^-difference with 15 fraction bits, as the integer network computes it. */
static uint32_t falling(uint32_t difference)
{
    uint32_t d, t, n, y;
    d = @d@;
    if (d > 65535UL)
        d = 65535UL;
    t = (d * 1477UL + 512UL) >> 10;
    n = t >> 11;
    y = t & 2047UL;
    if (n >= 16)
        return 0;
    return (ONE - ((y * 22006UL) >> 11) + ((((y * y) >> 11) * 5622UL) >> 11)) >> n;
}

";

const SIZE: &str = "\
static uint32_t size(int32_t v)
{
    return v < 0 ? 0UL - (uint32_t)v : (uint32_t)v;
}

";

/// A difference of scores with 11 fraction bits.
fn scaled(bits: i32) -> String {
    match bits - 11 {
        0 => "difference".to_owned(),
        shift @ 1.. => format!("difference >> {shift}"),
        shift => format!("difference > (65535UL >> {0}) ? 65535UL : difference << {0}", -shift),
    }
}

/// Statements that compute class and confidence for scores with this meaning.
pub(super) fn body(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Classes => {
            "    for (k = 0; k < OUTPUTS; k++)
        whole += falling((uint32_t)scores[best] - (uint32_t)scores[k]);
    part = ONE;"
        }
        Meaning::Binary => {
            "    whole = ONE + falling(size(scores[0]));
    part = ONE;
    best = scores[0] > 0 ? 1 : 0;"
        }
        Meaning::OneAgainstAll => {
            "    part = falling(size(scores[best]));
    whole = ONE + part;
    if (scores[best] >= 0)
        part = ONE;"
        }
        Meaning::Values => "    whole = ONE;",
    }
}
