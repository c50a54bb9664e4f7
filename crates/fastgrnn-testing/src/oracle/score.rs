//! Sections 6 and 7: the class and the confidence that scores mean.

/// The class of scores whose meaning is the code `meaning`.
pub fn class(meaning: u8, scores: &[i64]) -> usize {
    if meaning == 1 {
        return usize::from(scores[0] > 0);
    }
    let largest = largest(scores);
    scores.iter().position(|score| *score == largest).expect("the largest is among them")
}

/// 255 for certainty.
pub fn confidence(meaning: u8, f_s: i8, scores: &[i64]) -> u8 {
    let largest = largest(scores);
    let quotient = match meaning {
        0 => {
            let sum: u64 = scores.iter().map(|score| e((largest - score) as u64, f_s)).sum();
            in_unsigned_32_bits(255 * 32768) / in_unsigned_32_bits(sum)
        }
        1 => 255 * 32768 / (32768 + e(scores[0].unsigned_abs(), f_s)),
        2 => {
            let tail = e(largest.unsigned_abs(), f_s);
            let numerator = if largest >= 0 { 32768 } else { tail };
            in_unsigned_32_bits(255 * numerator) / (32768 + tail)
        }
        _ => 0,
    };
    u8::try_from(quotient).expect("a confidence is a byte")
}

fn largest(scores: &[i64]) -> i64 {
    *scores.iter().max().expect("there is a score")
}

fn in_unsigned_32_bits(v: u64) -> u64 {
    assert!(u32::try_from(v).is_ok(), "{v} leaves 32 bits");
    v
}

/// E(D): e^(−D) with 15 fraction bits, for a difference D of scores with `f_s` fraction bits.
pub fn e(difference: u64, f_s: i8) -> u64 {
    exponential(with_eleven_bits(difference, f_s).min(65535))
}

/// A difference of scores with `f_s` fraction bits, with 11 of them.
pub fn with_eleven_bits(difference: u64, f_s: i8) -> u64 {
    in_unsigned_32_bits(difference);
    if f_s <= 11 {
        difference * (1 << (11 - i32::from(f_s)))
    } else {
        difference / (1 << (i32::from(f_s) - 11))
    }
}

/// The lines of E below that for d.
pub fn exponential(d: u64) -> u64 {
    let t = in_unsigned_32_bits(d * 1477 + 512) / 1024;
    let (n, y) = (t / 2048, t % 2048);
    let slope = in_unsigned_32_bits(y * 22006) / 2048;
    let curvature = in_unsigned_32_bits((y * y / 2048) * 5622) / 2048;
    if n >= 16 { 0 } else { (32768 - slope + curvature) / (1 << n) }
}
