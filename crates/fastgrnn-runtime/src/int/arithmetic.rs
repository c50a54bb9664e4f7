//! The rounding shift and the saturation that everything else is made of.

/// `R(v, s)`: v / 2^s, halves up. Rust's `>>` of a negative number is the floor that it needs.
#[inline(always)]
pub(crate) const fn rounded(v: i32, shift: u32) -> i32 {
    if shift == 0 { v } else { (v + (1 << (shift - 1))) >> shift }
}

/// `P(v, M)`: v times a multiplier of 15 fraction bits, by parts of 32 bits each; v where there is none.
#[inline(always)]
pub(crate) const fn multiplied(v: i32, multiplier: u16) -> i32 {
    let m = multiplier as i32;
    if m == 0 { v } else { (v >> 15) * m + rounded((v & 0x7FFF) * m, 15) }
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
    fn a_product_by_parts_is_the_rounded_product() {
        let values = [0, 1, -1, 16_383, 16_384, 32_767, 32_768, -32_768, -32_769, 123_456_789, -987_654_321];
        for v in values.into_iter().chain([i32::MAX, i32::MIN]) {
            assert_eq!(multiplied(v, 0), v);
            for m in [1, 16_384, 16_385, 20_000, 31_415, 32_766, 32_767] {
                let exact = (i64::from(v) * i64::from(m) + (1 << 14)) >> 15;
                assert_eq!(i64::from(multiplied(v, m)), exact, "{v} {m}");
            }
        }
    }

    #[test]
    fn saturation_says_when_it_happened() {
        assert_eq!(saturated(32_768), (32_767, true));
        assert_eq!(saturated(-32_769), (-32_768, true));
        assert_eq!(saturated(-32_768), (-32_768, false));
    }
}
