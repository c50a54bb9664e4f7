//! Values in the data's units as counts: what a sensor would deliver.

use super::super::IntegerModel;
use fastgrnn_data::data::Sequences;

/// A quotient of value and lsb as a count: ties to even, saturated, NaN as 0.
#[inline(always)]
fn count(quotient: f64) -> i16 {
    /// 1.5 · 2^52: a number added to it is rounded to an integer that its low bits hold.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let quotient = if quotient.is_nan() { 0.0 } else { quotient };
    (quotient.clamp(-32_768.0, 32_767.0) + ROUND).to_bits() as i16
}

/// What counts are worth, for a number of steps in a row.
pub(super) struct Units {
    /// The lsb of each value, or if `inverse` one over it.
    per_value: Vec<f64>,
    inverse: bool,
}

impl Units {
    /// The units of `steps` steps.
    pub(super) fn new(lsb: &[f32], steps: usize) -> Self {
        // One over a power of two is exact, and multiplying is much faster than dividing.
        let inverse = lsb.iter().all(|lsb| lsb.is_normal() && lsb.to_bits() << 9 == 0);
        let unit = |&lsb: &f32| if inverse { f64::from(lsb).recip() } else { f64::from(lsb) };
        Self { per_value: lsb.iter().map(unit).cycle().take(lsb.len() * steps).collect(), inverse }
    }

    /// Makes values counts, both beginning with the first feature.
    #[inline(always)]
    pub(super) fn count(&self, values: &[f32], counts: &mut [i16]) {
        let (counts, units) = (&mut counts[..values.len()], &self.per_value[..values.len()]);
        if self.inverse {
            for (i, n) in counts.iter_mut().enumerate() {
                *n = count(f64::from(values[i]) * units[i]);
            }
        } else {
            for (i, n) in counts.iter_mut().enumerate() {
                *n = count(f64::from(values[i]) / units[i]);
            }
        }
    }
}

impl IntegerModel {
    /// Appends sequence `i` of `x` as counts. A token is the count whose bits are its number.
    pub fn sequence_counts(&self, x: &Sequences, i: usize, counts: &mut Vec<i16>) {
        match x.has_tokens() {
            // Integer models have at most 65535 tokens; 0 is the unknown one.
            true => counts.extend(x.tokens(i).iter().map(|&token| u16::try_from(token).unwrap_or(0) as i16)),
            false => self.counts(x.get(i), counts),
        }
    }

    /// Appends a sequence as counts: what a sensor with the model's `lsb` would deliver.
    pub fn counts(&self, sequence: &[f32], counts: &mut Vec<i16>) {
        let lsb = &self.network.input.lsb;
        for row in sequence.chunks_exact(lsb.len()) {
            counts.extend(row.iter().zip(lsb).map(|(&v, &lsb)| count(f64::from(v) / f64::from(lsb))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Units;
    use fastgrnn_core::rng::Rng;

    #[test]
    fn a_count_is_the_rounded_and_saturated_quotient() {
        let plain = |value: f32, lsb: f32| {
            // The cast takes NaN to 0.
            (f64::from(value) / f64::from(lsb)).round_ties_even().clamp(-32_768.0, 32_767.0) as i16
        };
        let mut rng = Rng::new(5);
        let mut values =
            vec![0.0, -0.0, 0.5, 1.5, -0.5, -1.5, 2.5, 1e30, -1e30, 32_767.5, -32_768.5, 32_766.5];
        values.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE]);
        values.extend((0..10_000).map(|_| (rng.normal() * 10f64.powf(rng.range(-3.0, 6.0))) as f32));
        for lsb in [1.0, 0.5, 0.1, 3.0, 1024.0, -0.25, 0.0, 1e-40, 1e-30, f32::INFINITY, f32::NAN] {
            let mut counts = vec![0; values.len()];
            Units::new(&[lsb], values.len()).count(&values, &mut counts);
            for (&value, &count) in values.iter().zip(&counts) {
                assert_eq!(count, plain(value, lsb), "{value} / {lsb}");
            }
        }
    }
}
