//! The C helper functions that generated code calls.
//!
//! Compilers warn about static functions that nothing calls, so a source file must define exactly
//! the helpers that its code uses. The generator therefore writes every call through [`Helpers`],
//! which remembers the helper; [`Helpers::text`] then gives their definitions.

use super::text::times;
use std::cell::Cell;

/// A function or a group of macros in `parts`, in the order of their definitions: a helper calls
/// only those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helper {
    MultiplyUs,
    MultiplyUu,
    ShiftRight,
    RoundShift,
    Saturate,
    SaturateState,
    Multiplied,
    SparseRow,
    SparseFarRow,
    DenseRow,
    EightSums,
    FourRows,
    /// The macros `FG_MAC_ADD` and `FG_MAC_SUB`.
    MultiplyAccumulate,
}

impl Helper {
    const ALL: [Self; 13] = [
        Self::MultiplyUs,
        Self::MultiplyUu,
        Self::ShiftRight,
        Self::RoundShift,
        Self::Saturate,
        Self::SaturateState,
        Self::Multiplied,
        Self::SparseRow,
        Self::SparseFarRow,
        Self::DenseRow,
        Self::EightSums,
        Self::FourRows,
        Self::MultiplyAccumulate,
    ];

    fn definition(self) -> &'static str {
        match self {
            Self::MultiplyUs => include_str!("parts/multiply_us.c"),
            Self::MultiplyUu => include_str!("parts/multiply_uu.c"),
            Self::ShiftRight => include_str!("parts/shift_right.c"),
            Self::RoundShift => include_str!("parts/round_shift.c"),
            Self::Saturate => include_str!("parts/saturate.c"),
            Self::SaturateState => include_str!("parts/saturate_state.c"),
            Self::Multiplied => include_str!("parts/multiplied.c"),
            Self::EightSums => include_str!("parts/eight_sums.c"),
            Self::FourRows => include_str!("parts/four_rows.c"),
            Self::SparseRow => include_str!("parts/sparse_row.c"),
            Self::SparseFarRow => include_str!("parts/sparse_far_row.c"),
            Self::DenseRow => include_str!("parts/dense_row.c"),
            Self::MultiplyAccumulate => include_str!("parts/straight.c"),
        }
    }

    /// The helpers that this one calls.
    fn calls(self) -> &'static [Self] {
        match self {
            Self::RoundShift | Self::SaturateState => &[Self::ShiftRight],
            Self::Multiplied => &[Self::ShiftRight, Self::RoundShift],
            _ => &[],
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The helpers that the code written so far calls.
///
/// The set has interior mutability so that closures that write parts of one expression can share it.
#[derive(Default)]
pub(super) struct Helpers {
    used: Cell<u16>,
}

impl Helpers {
    /// Records that the code calls `helper`.
    pub(super) fn require(&self, helper: Helper) {
        self.used.set(self.used.get() | helper.bit());
        helper.calls().iter().for_each(|&called| self.require(called));
    }

    /// The definitions of all recorded helpers.
    pub(super) fn text(&self) -> String {
        let used = Helper::ALL.into_iter().filter(|helper| self.used.get() & helper.bit() != 0);
        used.map(|helper| format!("{}\n", helper.definition())).collect()
    }

    /// `R(value, shift)`; a negative shift multiplies.
    pub(super) fn rounded(&self, value: &str, shift: i32) -> String {
        match shift {
            0 => format!("({value})"),
            1.. => self.round_shift(value, shift.unsigned_abs()),
            _ => times(value, shift.unsigned_abs()),
        }
    }

    /// `R(value, shift)` as a call, even where the shift is 0.
    pub(super) fn round_shift(&self, value: &str, shift: u32) -> String {
        self.require(Helper::RoundShift);
        format!("round_shift({value}, {shift})")
    }

    /// `P(value, multiplier)`; the value itself for a multiplier of 0, which is none.
    pub(super) fn multiplied(&self, value: &str, multiplier: u16) -> String {
        if multiplier == 0 {
            return value.to_owned();
        }
        self.require(Helper::Multiplied);
        format!("multiplied({value}, {multiplier})")
    }

    /// `floor(value / 2^shift)`
    pub(super) fn shift_right(&self, value: &str, shift: u32) -> String {
        self.require(Helper::ShiftRight);
        format!("shift_right({value}, {shift})")
    }

    /// `S(value)`
    pub(super) fn saturate(&self, value: &str) -> String {
        self.require(Helper::Saturate);
        format!("saturate({value})")
    }

    /// `S(R(value, 15))`; the C variable `half` must hold 2^14.
    pub(super) fn saturate_state(&self, value: &str) -> String {
        self.require(Helper::SaturateState);
        format!("saturate_state({value}, half)")
    }

    /// The product of an unsigned 16-bit number with a signed one.
    pub(super) fn multiply_us(&self, a: &str, b: &str) -> String {
        self.require(Helper::MultiplyUs);
        format!("multiply_us({a}, {b})")
    }

    /// The product of two unsigned 16-bit numbers.
    pub(super) fn multiply_uu(&self, a: &str, b: &str) -> String {
        self.require(Helper::MultiplyUu);
        format!("multiply_uu({a}, {b})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_brings_along_those_that_it_calls() {
        for helper in [Helper::RoundShift, Helper::SaturateState, Helper::Multiplied] {
            let helpers = Helpers::default();
            helpers.require(helper);
            let text = helpers.text();
            let (called, caller) = (text.find("shift_right(int32_t v"), text.find(helper.definition()));
            assert!(called.is_some() && called < caller, "{helper:?}: {text}");
        }
    }

    #[test]
    fn definitions_call_no_other_helpers_than_the_declared_ones() {
        let name = |helper: Helper| match helper {
            Helper::MultiplyUs => "multiply_us(",
            Helper::MultiplyUu => "multiply_uu(",
            Helper::ShiftRight => "shift_right(",
            Helper::RoundShift => "round_shift(",
            Helper::Saturate => "saturate(",
            Helper::SaturateState => "saturate_state(",
            Helper::Multiplied => "multiplied(",
            Helper::EightSums => "eight_sums(",
            Helper::FourRows => "four_rows(",
            Helper::SparseRow => "sparse_row(",
            Helper::SparseFarRow => "sparse_far_row(",
            Helper::DenseRow => "dense_row(",
            Helper::MultiplyAccumulate => "FG_MAC_",
        };
        for helper in Helper::ALL {
            let called = Helper::ALL.into_iter().filter(|&other| other != helper);
            let called: Vec<Helper> =
                called.filter(|&other| helper.definition().contains(name(other))).collect();
            assert_eq!(called, helper.calls(), "{helper:?}");
        }
    }

    #[test]
    fn nothing_is_defined_until_a_call_is_written() {
        let helpers = Helpers::default();
        assert_eq!(helpers.rounded("v", 0), "(v)");
        assert_eq!(helpers.text(), "");
        assert_eq!(helpers.rounded("v", 3), "round_shift(v, 3)");
        assert!(helpers.text().contains("int32_t round_shift("));
    }
}
