//! Notation and section 4: R, S's bounds, widths, nonlinearities.

use super::network::Curve;

/// 1 with 15 fraction bits.
pub const ONE: i64 = 1 << 15;

/// The value, after checking that it fits 32 bits, signed.
#[track_caller]
pub fn in_32_bits(v: i64) -> i64 {
    assert!(i32::try_from(v).is_ok(), "{v} leaves 32 bits");
    v
}

/// The value, after checking that it lies within `limit` of 0.
#[track_caller]
pub fn within(limit: i64, v: i64) -> i64 {
    assert!(v.abs() <= limit, "{v} lies beyond {limit}");
    v
}

/// P, the product with a multiplier of 15 fraction bits, as the page writes it for 32 bits.
#[track_caller]
pub fn p(v: i64, m: u16) -> i64 {
    if m == 0 {
        return v;
    }
    let m = i64::from(m);
    let parts = (in_32_bits(v.div_euclid(1 << 15) * m), r(in_32_bits(v.rem_euclid(1 << 15) * m), 15));
    assert_eq!(parts.0 + parts.1, (v * m + (1 << 14)).div_euclid(1 << 15), "{v} times {m}");
    within(v.abs() + 1, parts.0 + parts.1)
}

/// R, the rounding shift.
#[track_caller]
pub fn r(v: i64, s: u8) -> i64 {
    if s == 0 {
        return in_32_bits(v);
    }
    in_32_bits(v + (1 << (s - 1))).div_euclid(1 << s)
}

/// S, saturation to 16 bits.
pub fn s(v: i64) -> i64 {
    v.clamp(-32768, 32767)
}

/// A nonlinearity's value, and whether `relu` or `identity` was cut.
#[track_caller]
pub fn value(curve: Curve, t: i64, f_a: u8, table: &[u16]) -> (i64, bool) {
    in_32_bits(t);
    let unit = 1 << f_a; // 1 with F_a fraction bits
    match curve {
        Curve::Tanh => {
            let magnitude = interpolated(table, 2 * t.abs().min(8 * unit), f_a);
            (within(ONE, if t >= 0 { magnitude } else { -magnitude }), false)
        }
        Curve::Sigmoid => {
            let half = r(interpolated(table, t.abs().min(8 * unit), f_a), 1);
            (gate_value(if t >= 0 { (1 << 14) + half } else { (1 << 14) - half }), false)
        }
        Curve::Relu => {
            let u = t.max(0).min(16 * unit);
            let c = if f_a >= 11 { r(u, f_a - 11) } else { in_32_bits(u * (1 << (11 - f_a))) };
            (c.min(32767), c > 32767)
        }
        Curve::Identity => {
            let u = t.max(-32 * unit).min(32 * unit);
            let c = if f_a >= 11 { r(u, f_a - 11) } else { in_32_bits(u * (1 << (11 - f_a))) };
            (s(c), s(c) != c)
        }
        Curve::QuantTanh => (within(ONE, t.clamp(-unit, unit) * (1 << (15 - f_a))), false),
        Curve::QuantSigm => (gate_value(in_32_bits(t + unit).clamp(0, 2 * unit) * (1 << (14 - f_a))), false),
        Curve::QuantSigm4 => {
            (gate_value(in_32_bits(t + 2 * unit).clamp(0, 4 * unit) * (1 << (13 - f_a))), false)
        }
    }
}

#[track_caller]
fn gate_value(v: i64) -> i64 {
    assert!((0..=ONE).contains(&v), "{v} lies outside 0 to 1");
    v
}

/// L(u).
fn interpolated(table: &[u16], u: i64, f_a: u8) -> i64 {
    let w = f_a - 3;
    let i = u.div_euclid(1 << w);
    if i >= 64 {
        return i64::from(table[64]);
    }
    let (low, high) = (i64::from(table[i as usize]), i64::from(table[i as usize + 1]));
    low + r((high - low) * u.rem_euclid(1 << w), w)
}
