//! What the entries of a matrix are worth, and how a product of them is scaled.

use super::{Grid, StepGrid};
use fastgrnn_core::cells::WeightBits;

/// What the entries of a matrix are worth. An entry is a byte; one of 4 bits is 16 times its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntryGrid {
    /// Bytes on a grid of a power of two.
    Bytes(Grid),
    /// Entries of 4 bits with a step of any size.
    FourBits(StepGrid),
}

/// The byte that an entry of 1 stands for, of a matrix with 4 bits.
const FOUR_BIT_UNIT: i8 = 16;

impl EntryGrid {
    /// Bits of an entry.
    pub fn bits(self) -> WeightBits {
        match self {
            Self::Bytes(_) => WeightBits::Eight,
            Self::FourBits(_) => WeightBits::Four,
        }
    }

    /// The byte whose value is nearest to `value`.
    pub fn byte(self, value: f32) -> i8 {
        match self {
            Self::Bytes(grid) => grid.byte(value),
            Self::FourBits(grid) => FOUR_BIT_UNIT * grid.entry(value),
        }
    }

    /// What a byte stands for.
    pub fn value(self, byte: i8) -> f32 {
        match self {
            Self::Bytes(grid) => grid.value(byte),
            Self::FourBits(grid) => grid.value(byte / FOUR_BIT_UNIT),
        }
    }

    /// What a byte of 1 would be worth.
    pub fn unit(self) -> f64 {
        match self {
            Self::Bytes(grid) => f64::from(-grid.exponent).exp2(),
            Self::FourBits(grid) => f64::from(grid.step) / f64::from(FOUR_BIT_UNIT),
        }
    }
}

/// A scale of products: 2^−bits, times the multiplier with 15 fraction bits if that is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductScale {
    /// Fraction bits of a product with the multiplier.
    pub bits: i32,
    /// M of `docs/integer-arithmetic.md`.
    pub multiplier: u16,
}

impl ProductScale {
    /// The scale of products that are worth `unit` each, which is above 0 and no subnormal number.
    pub fn of(unit: f64) -> Self {
        // unit = mantissa · 2^exponent, where the mantissa is at least 1/2 and below 1.
        let exponent = ((unit.to_bits() >> 52) & 0x7FF) as i32 - 1022;
        let mantissa = unit * f64::from(-exponent).exp2();
        match (mantissa * ONE).round() as u32 {
            HALF => Self { bits: 1 - exponent, multiplier: 0 },
            multiplier if multiplier < ONE as u32 => Self { bits: -exponent, multiplier: multiplier as u16 },
            _ => Self { bits: -exponent, multiplier: 0 },
        }
    }
}

/// 1 and 1/2 with 15 fraction bits.
const ONE: f64 = 32_768.0;
const HALF: u32 = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_bytes_need_no_multiplier() {
        for exponent in [-20, -8, 0, 7, 33] {
            let scale = ProductScale::of(EntryGrid::Bytes(Grid { exponent }).unit());
            assert_eq!(scale, ProductScale { bits: exponent, multiplier: 0 });
        }
    }

    #[test]
    fn a_multiplier_gives_the_unit_to_within_its_last_bit() {
        for step in [0.001f32, 0.3, 0.5, 0.7, 0.999_999, 1.0, 1.000_001, 3.0, 16.0, 77.7] {
            let unit = EntryGrid::FourBits(StepGrid { step }).unit();
            let ProductScale { bits, multiplier } = ProductScale::of(unit);
            assert!(multiplier == 0 || (HALF + 1..ONE as u32).contains(&multiplier.into()), "{multiplier}");
            let factor = if multiplier == 0 { 1.0 } else { f64::from(multiplier) / ONE };
            let found = factor * f64::from(-bits).exp2();
            assert!((found / unit - 1.0).abs() <= 1.0 / ONE, "{step}: {found} instead of {unit}");
        }
    }

    #[test]
    fn entries_of_4_bits_are_bytes_of_which_16_are_worth_a_step() {
        let grid = EntryGrid::FourBits(StepGrid { step: 0.3 });
        assert_eq!((grid.byte(0.7), grid.byte(9.0), grid.byte(-9.0)), (32, 112, -128));
        for byte in [-128, -16, 0, 16, 112] {
            assert_eq!(grid.byte(grid.value(byte)), byte);
            assert!((f64::from(grid.value(byte)) - grid.unit() * f64::from(byte)).abs() < 1e-6);
        }
    }
}
