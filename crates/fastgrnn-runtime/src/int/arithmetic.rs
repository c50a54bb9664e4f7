//! The rounding shift and the saturation that everything else is made of.

/// `R(v, s)`: v / 2^s, halves up. Rust's `>>` of a negative number is the floor that it needs.
#[inline(always)]
pub(crate) const fn rounded(v: i32, shift: u32) -> i32 {
    if shift == 0 { v } else { (v + (1 << (shift - 1))) >> shift }
}

/// `S(v)`, and whether it changed v.
#[inline(always)]
pub(crate) const fn saturated(v: i32) -> (i16, bool) {
    if v > i16::MAX as i32 {
        (i16::MAX, true)
    } else if v < i16::MIN as i32 {
        (i16::MIN, true)
    } else {
        (v as i16, false)
    }
}

/// The number 1 with 15 fraction bits.
pub(crate) const ONE: i32 = 1 << 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up_on_both_sides_of_zero() {
        let cases = [(3, 1, 2), (-3, 1, -1), (-1, 1, 0), (-5, 2, -1), (-6, 2, -1), (6, 2, 2), (7, 0, 7)];
        for (v, s, r) in cases {
            assert_eq!(rounded(v, s), r, "{v} {s}");
        }
    }

    #[test]
    fn saturation_says_when_it_happened() {
        assert_eq!(saturated(32_768), (32_767, true));
        assert_eq!(saturated(-32_769), (-32_768, true));
        assert_eq!(saturated(-32_768), (-32_768, false));
    }
}
