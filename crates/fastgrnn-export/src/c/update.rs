//! A unit's rule in C (section 5). `sum[…]` holds its sums, `bias` points at its biases.

use super::Part;
use super::curve::{Curves, Value};
use super::text::{rounded, times};
use fastgrnn::cells::CellKind;
use fastgrnn::quantize::IntegerLayer;
use std::collections::BTreeSet;

/// Statements that write the unit's new h to `target` and move `bias` on.
pub(super) fn code(
    index: usize,
    layer: &IntegerLayer,
    target: &str,
    curves: &mut Curves,
    parts: &mut BTreeSet<Part>,
) -> String {
    let (cell, s) = (&layer.cell, &layer.shifts);
    let gate = cell.kind.declaration().gated.then(|| curves.gate(cell.gate, s.sums));
    let f = curves.update(cell.update, s.sums);
    let (state, memory) = (s.state as i32, s.memory as i32);
    let h = format!("state->h{index}[k]");
    let bias = |nth: usize| times(&format!("(int32_t)FG_WORD(bias + {nth})"), s.bias);
    let at =
        |value: &Value, sum: usize, nth: usize| format!("{}(sum[{sum}] + {})", value.function, bias(nth));
    // A gate's complement fits 16 bits unless the gate may be negative.
    let (g, unsigned) = match &gate {
        Some(g) => (g, g.ctype == "uint16_t"),
        None => (&f, true),
    };
    let gate_type = g.ctype;
    let rest = |z: &str| match unsigned {
        true => format!("(uint16_t)(32768u - {z})"),
        false => format!("(32768 - {z})"),
    };
    let update_type = f.ctype;
    if cell.kind != CellKind::Rnn && cell.kind != CellKind::FastRnnVector {
        parts.insert(Part::SaturateState);
    }
    let line = |text: String| format!("        {text}\n");
    let lines = match cell.kind {
        CellKind::Rnn => {
            vec![
                format!("const int32_t value = {};", at(&f, 0, 0)),
                format!("{target} = saturate({});", rounded("value", f.bits - state)),
            ]
        }
        CellKind::FastRnn => vec![
            format!("const int32_t value = (int32_t){} * {};", layer.alpha[0], at(&f, 0, 0)),
            format!(
                "{target} = saturate_state({} + (int32_t){} * {h});",
                rounded("value", f.bits - state),
                layer.beta
            ),
        ],
        CellKind::FastRnnVector => vec![
            format!("const int32_t alpha = FG_UWORD(alpha_{index} + k);"),
            format!(
                "const int32_t beta = {} + round_shift((int32_t){} * (32768 - alpha), 15);",
                layer.nu, layer.zeta
            ),
            format!("const int32_t value = alpha * {};", at(&f, 0, 0)),
            format!(
                "{target} = saturate(round_shift({} + beta * {h}, 14));",
                rounded("value", f.bits + 1 - state)
            ),
        ],
        CellKind::FastGrnn => {
            let share_type = if unsigned { "uint16_t" } else { "int32_t" };
            vec![
                format!("const {gate_type} z = {};", at(g, 0, 0)),
                format!("const {update_type} value = {};", at(&f, 0, 1)),
                format!(
                    "const {share_type} share = ({share_type})({} + round_shift((int32_t){} * {}, 15));",
                    layer.nu,
                    layer.zeta,
                    rest("z")
                ),
                format!(
                    "{target} = saturate_state({} + (int32_t)z * {h});",
                    rounded("(int32_t)share * value", f.bits - 1 - state)
                ),
            ]
        }
        CellKind::Ugrnn => vec![
            format!("const {gate_type} z = {};", at(g, 0, 0)),
            format!("const {update_type} value = {};", at(&f, 1, 1)),
            format!(
                "{target} = saturate_state({} + (int32_t)z * {h});",
                rounded(&format!("(int32_t){} * value", rest("z")), f.bits - state)
            ),
        ],
        CellKind::Gru => vec![
            format!("const {gate_type} r = {};", at(g, 0, 0)),
            format!("const {gate_type} z = {};", at(g, 1, 1)),
            format!("const int16_t recurrent = saturate(sum[3] + {});", bias(3)),
            format!(
                "const {update_type} value = {}(sum[2] + {} + round_shift((int32_t)r * recurrent, 15));",
                f.function,
                bias(2)
            ),
            format!(
                "{target} = saturate_state({} + (int32_t)z * {h});",
                rounded(&format!("(int32_t){} * value", rest("z")), f.bits - state)
            ),
        ],
        CellKind::Lstm => {
            let c = format!("state->c{index}[k]");
            vec![
                format!("const {gate_type} i = {};", at(g, 0, 0)),
                format!("const {gate_type} forget = {};", at(g, 1, 1)),
                format!("const {update_type} value = {};", at(&f, 2, 2)),
                format!("const {gate_type} o = {};", at(g, 3, 3)),
                format!(
                    "const int16_t memory = saturate_state({} + (int32_t)forget * {c});",
                    rounded("(int32_t)i * value", f.bits - memory)
                ),
                format!("{c} = memory;"),
                format!(
                    "{target} = saturate({});",
                    rounded(
                        &format!(
                            "(int32_t)o * {}({})",
                            f.function,
                            times("(int32_t)memory", s.sums - s.memory)
                        ),
                        15 + f.bits - state
                    )
                ),
            ]
        }
    };
    let mut text: String = lines.into_iter().map(line).collect();
    text.push_str(&line(format!("bias += {};", layer.biases.len())));
    text
}
