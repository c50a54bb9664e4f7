//! The C text of constants and tables.

use fastgrnn::quantize::BiasBits;
use std::fmt::{Display, Write};

/// The constant tables of a network, and their bytes.
#[derive(Default)]
pub(super) struct ConstantTables {
    pub(super) text: String,
    pub(super) total: usize,
    /// Bytes of the largest table.
    pub(super) largest: usize,
}

impl ConstantTables {
    /// A table of bytes.
    pub(super) fn bytes(&mut self, name: &str, values: &[i8]) {
        self.add("int8_t", name, values);
    }

    /// A table of signed 16-bit numbers.
    pub(super) fn words(&mut self, name: &str, values: &[i16]) {
        self.add("int16_t", name, values);
    }

    /// A table of unsigned 32-bit numbers.
    pub(super) fn long_words(&mut self, name: &str, values: &[u32]) {
        self.count(4 * values.len());
        let _ = write!(self.text, "static const uint32_t {name}[{}] FG_ROM = {{", values.len());
        for (i, value) in values.iter().enumerate() {
            let gap = if i % 8 == 0 { "\n    " } else { " " };
            let _ = write!(self.text, "{gap}0x{value:08x}u,");
        }
        self.text.push_str("\n};\n");
    }

    /// Biases, in one byte each if they have 8 bits.
    pub(super) fn biases(&mut self, name: &str, values: &[i16], bits: BiasBits) {
        match bits {
            BiasBits::Sixteen => self.words(name, values),
            BiasBits::Eight => self.bytes(name, &values.iter().map(|&v| v as i8).collect::<Vec<_>>()),
        }
    }

    fn count(&mut self, bytes: usize) {
        self.total += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// A table of unsigned 16-bit numbers.
    pub(super) fn unsigned_words(&mut self, name: &str, values: &[u16]) {
        self.add("uint16_t", name, values);
    }

    fn add<T: Display>(&mut self, kind: &str, name: &str, values: &[T]) {
        // C has no empty arrays.
        let len = values.len().max(1);
        self.count(len * size_of::<T>());
        let _ = write!(self.text, "static const {kind} {name}[{len}] FG_ROM = {{");
        for (i, value) in values.iter().enumerate() {
            let gap = if i % 20 == 0 { "\n    " } else { " " };
            // C has no negative constants: this one is the negation of a number that may not fit an int.
            let _ = match value.to_string().as_str() {
                "-32768" => write!(self.text, "{gap}-32767 - 1,"),
                text => write!(self.text, "{gap}{text},"),
            };
        }
        if values.is_empty() {
            self.text.push_str("\n    0");
        }
        self.text.push_str("\n};\n");
    }
}

/// The strings with `between` between them.
pub(super) fn joined(strings: impl IntoIterator<Item = String>, between: &str) -> String {
    strings.into_iter().collect::<Vec<_>>().join(between)
}

/// `value · 2^bits`, without a left shift, which is undefined for negative values.
pub(super) fn times(value: &str, bits: u32) -> String {
    match bits {
        0 => format!("({value})"),
        _ => format!("({value}) * (int32_t){}", 1_i64 << bits),
    }
}

/// The type of biases and the macro that reads one.
pub(super) fn bias_type(bits: BiasBits) -> (&'static str, &'static str) {
    match bits {
        BiasBits::Eight => ("int8_t", "FG_BYTE"),
        BiasBits::Sixteen => ("int16_t", "FG_WORD"),
    }
}

/// The smallest unsigned type that counts to `n`.
pub(super) fn counter(n: usize) -> &'static str {
    if n <= 255 { "uint8_t" } else { "uint16_t" }
}

/// The C function `falling` for scores with these fraction bits.
pub(super) fn falling(bits: i32) -> String {
    include_str!("parts/falling.c").replace("@SCALE@", &scaled_to_eleven_bits(bits, 65_535)) + "\n"
}

/// The statement that gives `d`, a difference of scores with these fraction bits, 11 of them.
pub(super) fn scaled_to_eleven_bits(bits: i32, most: u32) -> String {
    if bits >= 11 {
        return format!("d >>= {};", bits - 11);
    }
    let shift = 11 - bits;
    format!("d = d > {}u ? {most}u : d << {shift};", most >> shift)
}
