//! Filters and logarithms.
//!
//! Between two edges one filter rises in equal steps as its neighbour falls, so both sums come from
//! additions alone: adding up the running sum weighs each power by its distance to the upper edge.
//! They stay whole numbers; what they should have been divided by is taken off the logarithm.

use super::Tables;
use crate::int::arithmetic::rounded;

/// ln 2 with 16 fraction bits.
const LN_2: i32 = 45_426;

/// ln(1 + i/32) with 16 fraction bits.
pub const LOG_TABLE: [u16; 33] = [
    0, 2017, 3973, 5873, 7719, 9515, 11262, 12965, 14624, 16242, 17821, 19364, 20870, 22343, 23783, 25193,
    26573, 27924, 29248, 30546, 31818, 33067, 34292, 35494, 36675, 37835, 38975, 40095, 41196, 42280, 43345,
    44394, 45426,
];

/// The counts behind the filters.
pub(super) fn logs(tables: &Tables, powers: &[i32], out: &mut [i16]) {
    let edge = |i: usize| usize::from(tables.edges[i]);
    // What the filter before the current edge has collected while rising, and over how many points.
    let (mut rising, mut width) = (0, 0);
    for i in 0..tables.edges.len() - 1 {
        let (mut sum, mut falling) = (0_u64, 0_u64);
        for power in powers[2 * edge(i)..2 * edge(i + 1)].chunks_exact(2) {
            sum += u64::from(power[0] as u32) | u64::from(power[1] as u32) << 32;
            falling += sum;
        }
        let wide = (edge(i + 1) - edge(i)) as u64;
        if i > 0 {
            let log = log(rising * wide + falling * width);
            out[i - 1] = match log {
                Some(log) => tables.floor.max(rounded(log - tables.offsets[i - 1], 8) as i16),
                None => tables.floor,
            };
        }
        (rising, width) = (sum * wide - falling, wide);
    }
}

/// The natural logarithm with 16 fraction bits; none of 0.
fn log(value: u64) -> Option<i32> {
    let whole = value.checked_ilog2()?;
    let mantissa = if whole >= 15 { value >> (whole - 15) } else { value << (15 - whole) } as i32 - (1 << 15);
    let (i, rest) = ((mantissa >> 10) as usize, mantissa & 1_023);
    let (low, high) = (i32::from(LOG_TABLE[i]), i32::from(LOG_TABLE[i + 1]));
    Some(whole as i32 * LN_2 + low + rounded((high - low) * rest, 10))
}
