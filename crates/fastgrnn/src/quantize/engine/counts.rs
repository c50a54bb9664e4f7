//! Values in the data's units as counts: what a sensor would deliver.

use super::super::IntegerModel;

/// `value / lsb` as a count: ties to even, saturated, NaN as 0.
#[inline(always)]
pub(super) fn count(value: f32, lsb: f64) -> i16 {
    /// 1.5 · 2^52: a number added to it is rounded to an integer that its low bits hold.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let count = f64::from(value) / lsb;
    let count = if count.is_nan() { 0.0 } else { count };
    (count.clamp(-32_768.0, 32_767.0) + ROUND).to_bits() as i16
}

impl IntegerModel {
    /// Appends a sequence as counts: what a sensor with the model's `lsb` would deliver.
    pub fn counts(&self, sequence: &[f32], counts: &mut Vec<i16>) {
        let lsb = &self.network.input.lsb;
        for row in sequence.chunks_exact(lsb.len()) {
            counts.extend(row.iter().zip(lsb).map(|(&v, &lsb)| count(v, f64::from(lsb))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::count;
    use crate::rng::Rng;

    #[test]
    fn a_count_is_the_rounded_and_saturated_quotient() {
        let plain = |value: f32, lsb: f64| {
            // The cast takes NaN to 0.
            (f64::from(value) / lsb).round_ties_even().clamp(-32_768.0, 32_767.0) as i16
        };
        let mut rng = Rng::new(5);
        let mut values =
            vec![0.0, -0.0, 0.5, 1.5, -0.5, -1.5, 2.5, 1e30, -1e30, 32_767.5, -32_768.5, 32_766.5];
        values.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE]);
        values.extend((0..10_000).map(|_| (rng.normal() * 10f64.powf(rng.range(-3.0, 6.0))) as f32));
        for lsb in [1.0, 0.5, 0.1, 3.0, 0.0, f64::INFINITY] {
            for &value in &values {
                assert_eq!(count(value, lsb), plain(value, lsb), "{value} / {lsb}");
            }
        }
    }
}
