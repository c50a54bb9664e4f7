//! Nonlinearities in C: one function for each nonlinearity and scale that a network uses.

use super::helpers::Helpers;
use fastgrnn::cells::Nonlinearity;
use std::collections::BTreeMap;

/// The nonlinearities of a network, by the name of their C function.
pub(super) struct Curves<'a> {
    helpers: &'a Helpers,
    functions: BTreeMap<String, String>,
    table: bool,
}

/// How a nonlinearity is called, and what it returns.
pub(super) struct CurveCall {
    /// The C type of the value.
    pub(super) ctype: &'static str,
    /// The name of the function.
    pub(super) function: String,
    /// Fraction bits of the value.
    pub(super) bits: i32,
    /// Whether it takes the number 1 at its argument's scale as a second argument.
    pub(super) takes_unity: bool,
}

impl CurveCall {
    /// The call for the argument `t`.
    pub(super) fn at(&self, t: &str) -> String {
        let unity = if self.takes_unity { ", unity" } else { "" };
        format!("{}({t}{unity})", self.function)
    }
}

impl<'a> Curves<'a> {
    /// An empty set. The functions record in `helpers` what they call.
    pub(super) fn new(helpers: &'a Helpers) -> Self {
        Self { helpers, functions: BTreeMap::new(), table: false }
    }

    /// Adds a gate, whose value has 15 fraction bits. Its type is `fg_gate`, from 0 to 32768, or
    /// `int32_t` if it may be negative.
    pub(super) fn gate(&mut self, f: Nonlinearity, sums: u32) -> CurveCall {
        match f {
            Nonlinearity::QuantTanh => {
                let name = format!("quant_tanh_gate_{sums}");
                let body = format!(
                    "FG_INLINE int32_t {name}(int32_t t)\n{{\n    t = t > {most} ? {most} : t < -{most} ? -{most} : t;\n    return t * {scale};\n}}\n",
                    most = c32(1 << sums),
                    scale = c32(1 << (15 - sums)),
                );
                self.add(name, body, "int32_t", 15)
            }
            Nonlinearity::Tanh => CurveCall { ctype: "int32_t", ..self.update(f, sums) },
            _ => self.update(f, sums),
        }
    }

    /// Adds an update, whose value has 16 bits and as many fraction bits as [`CurveCall::bits`] says.
    pub(super) fn update(&mut self, f: Nonlinearity, sums: u32) -> CurveCall {
        let limit = |shift: u32| c32(1_i64 << (sums + shift));
        match f {
            Nonlinearity::QuantTanh => {
                let name = format!("quant_tanh_{sums}");
                // The value keeps the bits of the argument: 1 with 15 fraction bits would not fit.
                let body = format!(
                    "FG_INLINE fg_value {name}(int32_t t, int32_t unity)\n{{\n    if (FG_BEYOND(t + unity, {bits})) {{\n        t = t < 0 ? -{most} : {most};\n    }}\n    return (fg_value)t;\n}}\n",
                    bits = sums + 1,
                    most = limit(0)
                );
                CurveCall { takes_unity: true, ..self.add(name, body, "fg_value", sums as i32) }
            }
            Nonlinearity::QuantSigm | Nonlinearity::QuantSigm4 => {
                let (name, half, shift) = match f {
                    Nonlinearity::QuantSigm => ("quant_sigm", 0, 14 - sums),
                    _ => ("quant_sigm4", 1, 13 - sums),
                };
                let name = format!("{name}_{sums}");
                let body = format!(
                    "FG_INLINE fg_gate {name}(int32_t t, int32_t unity)\n{{\n    t += {middle};\n    if (FG_BEYOND(t, {bits})) {{\n        t = t < 0 ? 0 : {most};\n    }}\n    return (fg_gate)((fg_gate)t << {shift});\n}}\n",
                    middle = if half == 0 { "unity" } else { "2 * unity" },
                    bits = sums + half + 1,
                    most = limit(half + 1),
                );
                CurveCall { takes_unity: true, ..self.add(name, body, "fg_gate", 15) }
            }
            Nonlinearity::Relu => {
                let name = format!("relu_{sums}");
                let scaled = self.with_11_bits(sums);
                let body = format!(
                    "FG_INLINE fg_value {name}(int32_t t)\n{{\n    t = t > {most} ? {most} : t < 0 ? 0 : t;\n    t = {scaled};\n    return (fg_value)(t > 32767 ? 32767 : t);\n}}\n",
                    most = limit(4)
                );
                self.add(name, body, "fg_value", 11)
            }
            Nonlinearity::Identity => {
                let name = format!("identity_{sums}");
                let body = format!(
                    "FG_INLINE fg_value {name}(int32_t t)\n{{\n    t = t > {most} ? {most} : t < -{most} ? -{most} : t;\n    t = {scaled};\n    return (fg_value)(t > 32767 ? 32767 : t < -32767 ? -32767 - 1 : t);\n}}\n",
                    most = limit(5),
                    scaled = self.with_11_bits(sums),
                );
                self.add(name, body, "fg_value", 11)
            }
            Nonlinearity::Tanh => {
                let name = format!("tanh_{sums}");
                let body = format!(
                    "static fg_value {name}(int32_t t)\n{{\n    const uint16_t value = look_up_{sums}(2 * (t < 0 ? (t < -{most} ? {most} : -t) : t > {most} ? {most} : t));\n    return (fg_value)(t < 0 ? -(fg_value)value : (fg_value)value);\n}}\n",
                    most = limit(3)
                );
                self.look_up(sums);
                self.add(name, body, "fg_value", 15)
            }
            Nonlinearity::Sigmoid => {
                let name = format!("sigmoid_{sums}");
                let body = format!(
                    "static fg_gate {name}(int32_t t)\n{{\n    const fg_gate value = (fg_gate)((look_up_{sums}(t < 0 ? (t < -{most} ? {most} : -t) : t > {most} ? {most} : t) + 1u) >> 1);\n    return (fg_gate)(t < 0 ? 16384 - value : 16384 + value);\n}}\n",
                    most = limit(3)
                );
                self.look_up(sums);
                self.add(name, body, "fg_gate", 15)
            }
        }
    }

    /// `t`, which has `sums` fraction bits, with 11.
    fn with_11_bits(&self, sums: u32) -> String {
        match sums {
            11.. => self.helpers.round_shift("t", sums - 11),
            _ => format!("t * {}", c32(1 << (11 - sums))),
        }
    }

    /// Whether a function reads the table of the sigmoid.
    pub(super) fn needs_table(&self) -> bool {
        self.table
    }

    /// The definitions of all functions.
    pub(super) fn text(&self) -> String {
        self.functions.values().map(|f| format!("{f}\n")).collect()
    }

    fn look_up(&mut self, sums: u32) {
        self.table = true;
        let width = sums - 3;
        let name = format!("look_up_{sums}");
        // The table ends at 32757, so values are below 2^15; two neighbours differ by less than 2^11.
        let body = format!(
            "/* sigmoid(u) - 1/2 with 16 fraction bits, for u >= 0 with {sums}. */\nstatic uint16_t {name}(int32_t u)\n{{\n    const uint8_t i = (uint8_t)((uint32_t)u >> {width});\n    const uint16_t rest = (uint16_t)((uint32_t)u & {mask}u);\n    uint16_t low, high;\n    if (((uint32_t)u >> {width}) >= 64u) {{\n        return FG_UWORD(sigmoid_table + 64);\n    }}\n    low = FG_UWORD(sigmoid_table + i);\n    high = FG_UWORD(sigmoid_table + i + 1);\n    return (uint16_t)(low + (((uint32_t)(uint16_t)(high - low) * rest + {half}u) >> {width}));\n}}\n",
            mask = (1 << width) - 1,
            half = 1 << (width - 1),
        );
        // Functions are written in the order of their names. The space puts this one before its callers.
        self.functions.insert(format!(" {name}"), body);
    }

    fn add(&mut self, name: String, body: String, ctype: &'static str, bits: i32) -> CurveCall {
        self.functions.entry(name.clone()).or_insert(body);
        CurveCall { ctype, function: name, bits, takes_unity: false }
    }
}

/// A constant of 32 bits; an `int` may have only 16.
fn c32(value: i64) -> String {
    format!("(int32_t){value}")
}
