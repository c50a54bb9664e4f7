//! Normalising counts to the network's input, in C (section 1 of `docs/integer-arithmetic.md`).

use super::helpers::{Helper, Helpers};
use super::text::{ConstantTables, counter, times};
use fastgrnn::quantize::InputScale;

/// The function `normalise`, which writes numbers of the C type `kind`.
pub(super) fn code(input: &InputScale, kind: &str, tables: &mut ConstantTables, helpers: &Helpers) -> String {
    let features = input.factors.len();
    let extra = |&factor: &u16| u32::from(factor >> 14);
    let first = input.factors.first().map_or(0, extra);
    let same = input.factors.iter().all(|f| extra(f) == first);
    // Factor and offset are neighbours because they are read together.
    let pairs = input.factors.iter().zip(&input.offsets);
    tables.words("scales", &pairs.flat_map(|(&f, &o)| [f as i16, o]).collect::<Vec<_>>());
    let offset = times("(int32_t)FG_WORD(scale + 1)", input.offset_shift);
    let (constants, body) = if same {
        let shift = input.shift + 4 * first;
        let factor = match first {
            0 => "(uint16_t)FG_WORD(scale)".to_string(),
            _ => "(uint16_t)((uint16_t)FG_WORD(scale) & 0x3FFF)".to_string(),
        };
        let product = format!("{} - {offset}", helpers.multiply_us(&factor, "counts[d]"));
        let narrowed = |value: &str| match fits(input, shift) {
            true => format!("(int16_t)({value})"),
            false => helpers.saturate(value),
        };
        if shift == 0 {
            (String::new(), format!("        x[d] = {};\n", narrowed(&product)))
        } else {
            (
                format!("    int32_t half = {};\n    FG_HOLD(half);\n", 1 << (shift - 1)),
                format!(
                    "        x[d] = {};\n",
                    narrowed(&helpers.shift_right(&format!("{product} + half"), shift))
                ),
            )
        }
    } else {
        let product = helpers.multiply_us("(uint16_t)(factor & 0x3FFF)", "counts[d]");
        let value = helpers.saturate(&format!("round_shift_by({product} - {offset}, shift)"));
        let body = format!(
            "        const uint16_t factor = (uint16_t)FG_WORD(scale);
        const uint8_t shift = (uint8_t)({} + 4 * (factor >> 14));
        x[d] = {value};\n",
            input.shift
        );
        (String::new(), body)
    };
    // The shift is known only at run time, so that `round_shift` cannot be used directly.
    let helper = if same {
        ""
    } else {
        // It calls shift_right as well, which round_shift brings along.
        helpers.require(Helper::RoundShift);
        "static int32_t round_shift_by(int32_t v, uint8_t s)
{
    for (; s >= 8; s = (uint8_t)(s - 8)) {
        v = s == 8 ? round_shift(v, 8) : shift_right(v, 8);
    }
    if (s != 0) {
        for (; s > 1; s--) {
            v = shift_right(v, 1);
        }
        v = round_shift(v, 1);
    }
    return v;
}\n\n"
    };
    let k = counter(features);
    format!(
        "{helper}static void normalise(const int16_t *counts, {kind} *x)\n{{\n    const int16_t *scale = scales;\n    {k} d;\n{constants}    for (d = 0; d < {features}; d++) {{\n{body}        scale += 2;\n    }}\n}}\n\n"
    )
}

/// Whether the normalised input fits 16 bits for every count, so that it need not be saturated.
fn fits(input: &InputScale, shift: u32) -> bool {
    input.factors.iter().zip(&input.offsets).all(|(&factor, &offset)| {
        let offset = i64::from(offset) << input.offset_shift;
        let at = |count: i16| {
            let v = i64::from(count) * i64::from(factor & 0x3FFF) - offset;
            if shift == 0 { v } else { (v + (1 << (shift - 1))) >> shift }
        };
        let fits = |v: i64| i16::try_from(v).is_ok();
        fits(at(i16::MIN)) && fits(at(i16::MAX))
    })
}
