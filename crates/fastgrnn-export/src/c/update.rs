//! The rule that computes a unit's new state, in C (section 5 of `docs/integer-arithmetic.md`).
//!
//! The code runs inside a loop over the units: `sum[…]` holds the sums of unit `k`, and `bias` points
//! at its biases.

use super::curve::{CurveCall, Curves};
use super::helpers::Helpers;
use super::text::{bias_type, times};
use fastgrnn::cells::{CellKind, GAIN_BITS};
use fastgrnn::quantize::{IntegerFactors, IntegerLayer};

/// The rule of a unit as C.
pub(super) struct UnitCode {
    /// Declarations that stand before the loop over units.
    pub(super) constants: String,
    /// Statements that write the unit's new h and move `bias` to the next unit.
    pub(super) text: String,
}

/// Writes the rule of layer `index`, which stores the new h in `target`.
pub(super) fn code(
    index: usize,
    layer: &IntegerLayer,
    target: &str,
    curves: &mut Curves,
    helpers: &Helpers,
) -> UnitCode {
    let (cell, sums) = (&layer.cell, layer.shifts.sums);
    let gate = cell.kind.declaration().gated().then(|| curves.gate(cell.gate, sums));
    let update = curves.update(cell.update, sums);
    let rule = Rule { index, layer, target, gate, update, helpers };
    let lines = match cell.kind {
        CellKind::Rnn => rule.rnn(),
        CellKind::FastRnn => rule.fast_rnn(),
        CellKind::FastRnnVector => rule.fast_rnn_vector(),
        CellKind::FastGrnn => rule.fast_grnn("sum[0]"),
        CellKind::FastGrnnGain => rule.fast_grnn_gain(),
        CellKind::Ugrnn => rule.ugrnn(),
        CellKind::Gru => rule.gru(),
        CellKind::Lstm => rule.lstm(),
        CellKind::MinGru => rule.min_gru(),
        CellKind::Eurnn => unreachable!("integer networks have cells with an integer form"),
    };
    let advance = format!("bias += {};", layer.biases.len());
    let text = lines.into_iter().chain([advance]).map(|line| format!("        {line}\n")).collect();
    UnitCode { constants: rule.constants(), text }
}

/// The state of the generator while it writes the rule of a layer.
struct Rule<'a> {
    index: usize,
    layer: &'a IntegerLayer,
    /// The C variable that receives the new h.
    target: &'a str,
    /// The nonlinearity of the gates, for cells that have gates.
    gate: Option<CurveCall>,
    /// The nonlinearity of the update.
    update: CurveCall,
    helpers: &'a Helpers,
}

impl Rule<'_> {
    fn rnn(&self) -> Vec<String> {
        vec![format!("const int32_t value = {};", self.update_at(0, 0)), self.store_rounded("value", 0)]
    }

    fn fast_rnn(&self) -> Vec<String> {
        let (alpha, beta) = (self.layer.alpha[0], self.layer.beta);
        let value = self.update_in_state_units("value", 0);
        vec![
            format!("const int32_t value = (int32_t){alpha} * {};", self.update_at(0, 0)),
            self.store_blend(&value, &format!("(int32_t){beta} * {}", self.h())),
        ]
    }

    fn fast_rnn_vector(&self) -> Vec<String> {
        let (zeta, nu) = (self.layer.zeta, self.layer.nu);
        let share = self.helpers.round_shift(&format!("(int32_t){zeta} * (32768 - alpha)"), 15);
        let sum = format!("{} + beta * {}", self.update_in_state_units("value", 1), self.h());
        vec![
            format!("const int32_t alpha = FG_UWORD(alpha_{} + k);", self.index),
            format!("const int32_t beta = {nu} + {share};"),
            format!("const int32_t value = alpha * {};", self.update_at(0, 0)),
            self.store(&self.helpers.saturate(&self.helpers.round_shift(&sum, 14))),
        ]
    }

    /// FastGRNN, whose gate reads `gate_sum`.
    fn fast_grnn(&self, gate_sum: &str) -> Vec<String> {
        let share = if self.gate_is_unsigned() {
            // ν + R(ζ·(1 − z), 15) in one subtraction and one shift by whole bytes.
            let product = self.helpers.multiply_uu("zeta", "z");
            format!("const fg_gate share = (fg_gate)((most - {product}) >> 16);")
        } else {
            let (zeta, nu) = (self.layer.zeta, self.layer.nu);
            let rest = self.helpers.round_shift(&format!("(int32_t){zeta} * (32768 - z)"), 15);
            format!("const int32_t share = {nu} + {rest};")
        };
        let value = self.update_in_state_units(&self.gated_update("share", "value"), -1);
        vec![
            self.declare_gate_of("z", gate_sum, 0),
            self.declare_update(&self.update_at(0, 1)),
            share,
            self.store_blend(&value, &self.gated("z", &self.h())),
        ]
    }

    fn fast_grnn_gain(&self) -> Vec<String> {
        let most = largest_sum(self.layer);
        let sum = match most {
            0..=0x7FFF => "(int16_t)sum[0]",
            0x8000..=0x7F_FFFF => "sum[0]",
            _ => "(sum[0] > 8388607 ? 8388607 : sum[0] < -8388608 ? -8388608 : sum[0])",
        };
        let product = format!("(int32_t)FG_BYTE(gain_{} + k) * {sum}", self.index);
        let gained = self.helpers.round_shift(&product, GAIN_BITS);
        let declared = format!("const int32_t gained = {gained};");
        std::iter::once(declared).chain(self.fast_grnn("gained")).collect()
    }

    fn ugrnn(&self) -> Vec<String> {
        vec![
            self.declare_gate("z", 0, 0),
            self.declare_update(&self.update_at(1, 1)),
            self.store_interpolation(),
        ]
    }

    fn gru(&self) -> Vec<String> {
        let recurrent = self.helpers.saturate(&format!("sum[3] + {}", self.bias(3)));
        let reset = self.helpers.round_shift(&self.gated("r", "recurrent"), 15);
        let value = self.update.at(&format!("sum[2] + {} + {reset}", self.bias(2)));
        vec![
            self.declare_gate("r", 0, 0),
            self.declare_gate("z", 1, 1),
            format!("const int16_t recurrent = {recurrent};"),
            self.declare_update(&value),
            self.store_interpolation(),
        ]
    }

    fn lstm(&self) -> Vec<String> {
        let (c, shifts) = (format!("state->c{}[k]", self.index), &self.layer.shifts);
        let taken =
            self.helpers.rounded(&self.gated_update("i", "value"), self.update.bits - shifts.memory as i32);
        let memory = self.helpers.saturate_state(&format!("{taken} + {}", self.gated("forget", &c)));
        let seen = self.update.at(&times("(int32_t)memory", shifts.sums - shifts.memory));
        vec![
            self.declare_gate("i", 0, 0),
            self.declare_gate("forget", 1, 1),
            self.declare_update(&self.update_at(2, 2)),
            self.declare_gate("o", 3, 3),
            format!("const int16_t memory = {memory};"),
            format!("{c} = memory;"),
            format!("const {} seen = {seen};", self.update.ctype),
            self.store_rounded(&self.gated_update("o", "seen"), 15),
        ]
    }

    fn min_gru(&self) -> Vec<String> {
        let value = self.update_in_state_units(&self.gated_update("z", "value"), 0);
        vec![
            self.declare_gate("z", 0, 0),
            self.declare_update(&self.update_at(1, 1)),
            self.store_blend(&value, &self.gated(self.complement(), &self.h())),
        ]
    }

    /// The unit's old h.
    fn h(&self) -> String {
        format!("state->h{}[k]", self.index)
    }

    /// The unit's bias of vector `nth`, at the scale of the sums.
    fn bias(&self, nth: usize) -> String {
        let (_, read) = bias_type(self.layer.bias_bits);
        times(&format!("(int32_t){read}(bias + {nth})"), self.layer.shifts.bias)
    }

    /// The update's nonlinearity of a sum and a bias.
    fn update_at(&self, sum: usize, bias: usize) -> String {
        self.update.at(&format!("sum[{sum}] + {}", self.bias(bias)))
    }

    fn declare_update(&self, value: &str) -> String {
        format!("const {} value = {value};", self.update.ctype)
    }

    /// Declares a gate called `name`, of a sum and a bias.
    fn declare_gate(&self, name: &str, sum: usize, bias: usize) -> String {
        self.declare_gate_of(name, &format!("sum[{sum}]"), bias)
    }

    /// Declares a gate called `name`, of the expression `sum` and a bias.
    fn declare_gate_of(&self, name: &str, sum: &str, bias: usize) -> String {
        let gate = self.gate.as_ref().expect("only rules of gated cells declare gates");
        format!("const {} {name} = {};", gate.ctype, gate.at(&format!("{sum} + {}", self.bias(bias))))
    }

    /// Whether gates are between 0 and 1, so that a gate and its complement fit 16 bits.
    fn gate_is_unsigned(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.ctype == "fg_gate")
    }

    /// The product of a gate with a state.
    fn gated(&self, gate: &str, state: &str) -> String {
        match self.gate_is_unsigned() {
            true => self.helpers.multiply_us(gate, state),
            false => format!("(int32_t){gate} * {state}"),
        }
    }

    /// The product of a gate with a value of the update.
    fn gated_update(&self, gate: &str, value: &str) -> String {
        match self.update.ctype == "fg_value" {
            true => self.gated(gate, value),
            // The value is unsigned and may not fit the signed factor of `multiply_us`.
            false => format!("(int32_t){gate} * {value}"),
        }
    }

    /// `product` shifted right, with rounding, by the bits that the update has more than the state, and
    /// by `extra` bits.
    fn update_in_state_units(&self, product: &str, extra: i32) -> String {
        self.helpers.rounded(product, self.update.bits + extra - self.layer.shifts.state as i32)
    }

    /// `target = value`
    fn store(&self, value: &str) -> String {
        format!("{} = {value};", self.target)
    }

    /// Stores a product that has `extra` more bits than the update.
    fn store_rounded(&self, product: &str, extra: i32) -> String {
        self.store(&self.helpers.saturate(&self.update_in_state_units(product, extra)))
    }

    /// Stores the sum of two products with 15 more bits than the state.
    fn store_blend(&self, value: &str, old: &str) -> String {
        self.store(&self.helpers.saturate_state(&format!("{value} + {old}")))
    }

    /// Stores `(1 − z)·value + z·h`.
    fn store_interpolation(&self) -> String {
        let value = self.update_in_state_units(&self.gated_update(self.complement(), "value"), 0);
        self.store_blend(&value, &self.gated("z", &self.h()))
    }

    /// `1 − z`
    fn complement(&self) -> &'static str {
        match self.gate_is_unsigned() {
            true => "(fg_gate)(32768 - z)",
            false => "(32768 - z)",
        }
    }

    /// Constants that the loop over units reads.
    fn constants(&self) -> String {
        let (layer, kind) = (self.layer, self.layer.cell.kind);
        let unity = self.update.takes_unity || self.gate.as_ref().is_some_and(|gate| gate.takes_unity);
        let blends = kind != CellKind::Rnn && kind != CellKind::FastRnnVector;
        let is_fast_grnn = matches!(kind, CellKind::FastGrnn | CellKind::FastGrnnGain);
        let shares = is_fast_grnn && self.gate_is_unsigned();
        let most = (u32::from(layer.zeta) + u32::from(layer.nu)) * 65_536 + 32_768;
        let all = [
            (unity, "int32_t", "unity", (1 << layer.shifts.sums).to_string()),
            (blends, "int32_t", "half", "16384".to_string()),
            (shares, "uint32_t", "most", format!("{most}u")),
            (shares, "fg_gate", "zeta", (2 * u32::from(layer.zeta)).to_string()),
        ];
        let used = || all.iter().filter(|(used, ..)| *used);
        let declarations = used().map(|(_, kind, name, value)| format!("    {kind} {name} = {value};\n"));
        declarations.chain(used().map(|(_, _, name, _)| format!("    FG_HOLD({name});\n"))).collect()
    }
}

/// No sum of the layer is larger in absolute value, whatever W and U are multiplied with.
fn largest_sum(layer: &IntegerLayer) -> i64 {
    let side = |factors: &IntegerFactors, shift: u32| {
        let rows = factors.first.entries.chunks(factors.first.cols.max(1));
        let sizes = rows.map(|row| row.iter().map(|&a| i64::from(a).abs()).sum::<i64>());
        // The last 2 are for roundings.
        ((sizes.max().unwrap_or(0) << 15) >> shift) + 2
    };
    side(&layer.w, layer.shifts.w1) + side(&layer.u, layer.shifts.u1)
}
