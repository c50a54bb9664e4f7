//! A unit's rule in C (section 5). `sum[…]` holds its sums, `bias` points at its biases.

use super::curve::{Curves, Value};
use super::text::{rounded, times};
use fastgrnn::cells::CellKind;
use fastgrnn::quantize::IntegerLayer;

/// A unit's rule.
pub(super) struct Unit {
    /// Declarations that stand before the loop over units.
    pub(super) constants: String,
    /// Statements that write the unit's new h and move `bias` on.
    pub(super) text: String,
}

/// The rule that writes the new h to `target`.
pub(super) fn code(index: usize, layer: &IntegerLayer, target: &str, curves: &mut Curves) -> Unit {
    let (cell, s) = (&layer.cell, &layer.shifts);
    let gate = cell.kind.declaration().gated.then(|| curves.gate(cell.gate, s.sums));
    let f = curves.update(cell.update, s.sums);
    let (state, memory) = (s.state as i32, s.memory as i32);
    let h = format!("state->h{index}[k]");
    let bias = |nth: usize| times(&format!("(int32_t)FG_WORD(bias + {nth})"), s.bias);
    let at = |value: &Value, sum: usize, nth: usize| value.at(&format!("sum[{sum}] + {}", bias(nth)));
    // A gate's complement fits 16 bits unless the gate may be negative.
    let (g, unsigned) = match &gate {
        Some(g) => (g, g.ctype == "fg_gate"),
        None => (&f, true),
    };
    let gate_type = g.ctype;
    let rest = |z: &str| match unsigned {
        true => format!("(fg_gate)(32768 - {z})"),
        false => format!("(32768 - {z})"),
    };
    let update_type = f.ctype;
    let blends = cell.kind != CellKind::Rnn && cell.kind != CellKind::FastRnnVector;
    // A gate times a state or an update.
    let signed_value = f.ctype == "fg_value";
    let product = |gate: &str, value: &str, signed: bool| match unsigned && signed {
        true => format!("multiply_us({gate}, {value})"),
        false => format!("(int32_t){gate} * {value}"),
    };
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
                "{target} = saturate_state({} + (int32_t){} * {h}, half);",
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
            let share = if unsigned {
                // ν + R(ζ·(1 − z), 15) in one subtraction and one shift by whole bytes.
                "const fg_gate share = (fg_gate)((most - multiply_uu(zeta, z)) >> 16);".to_string()
            } else {
                let (zeta, nu) = (layer.zeta, layer.nu);
                format!("const int32_t share = {nu} + round_shift((int32_t){zeta} * (32768 - z), 15);")
            };
            vec![
                format!("const {gate_type} z = {};", at(g, 0, 0)),
                format!("const {update_type} value = {};", at(&f, 0, 1)),
                share,
                format!(
                    "{target} = saturate_state({} + {}, half);",
                    rounded(&product("share", "value", signed_value), f.bits - 1 - state),
                    product("z", &h, true)
                ),
            ]
        }
        CellKind::Ugrnn => vec![
            format!("const {gate_type} z = {};", at(g, 0, 0)),
            format!("const {update_type} value = {};", at(&f, 1, 1)),
            format!(
                "{target} = saturate_state({} + {}, half);",
                rounded(&product(&rest("z"), "value", signed_value), f.bits - state),
                product("z", &h, true)
            ),
        ],
        CellKind::Gru => vec![
            format!("const {gate_type} r = {};", at(g, 0, 0)),
            format!("const {gate_type} z = {};", at(g, 1, 1)),
            format!("const int16_t recurrent = saturate(sum[3] + {});", bias(3)),
            format!(
                "const {update_type} value = {};",
                f.at(&format!("sum[2] + {} + round_shift({}, 15)", bias(2), product("r", "recurrent", true)))
            ),
            format!(
                "{target} = saturate_state({} + {}, half);",
                rounded(&product(&rest("z"), "value", signed_value), f.bits - state),
                product("z", &h, true)
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
                    "const int16_t memory = saturate_state({} + {}, half);",
                    rounded(&product("i", "value", signed_value), f.bits - memory),
                    product("forget", &c, true)
                ),
                format!("{c} = memory;"),
                format!("const {update_type} seen = {};", f.at(&times("(int32_t)memory", s.sums - s.memory))),
                format!(
                    "{target} = saturate({});",
                    rounded(&product("o", "seen", signed_value), 15 + f.bits - state)
                ),
            ]
        }
    };
    let mut text: String = lines.into_iter().map(line).collect();
    text.push_str(&line(format!("bias += {};", layer.biases.len())));
    let mut constants = String::new();
    let unity = f.takes_unity || gate.as_ref().is_some_and(|g| g.takes_unity);
    let shares = cell.kind == CellKind::FastGrnn && unsigned;
    let most = (u32::from(layer.zeta) + u32::from(layer.nu)) * 65_536 + 32_768;
    let held = [
        (unity, "int32_t", "unity", (1 << s.sums).to_string()),
        (blends, "int32_t", "half", "16384".to_string()),
        (shares, "uint32_t", "most", format!("{most}u")),
        (shares, "fg_gate", "zeta", (2 * u32::from(layer.zeta)).to_string()),
    ];
    let held = || held.iter().filter(|(needed, ..)| *needed);
    constants.extend(held().map(|(_, kind, name, value)| format!("    {kind} {name} = {value};\n")));
    constants.extend(held().map(|(_, _, name, _)| format!("    FG_HOLD({name});\n")));
    Unit { constants, text }
}
