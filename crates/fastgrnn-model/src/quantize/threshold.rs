//! The threshold of an integer model: an offset on the grid of the head's biases.
//!
//! The class is that of the largest score, so an offset taken off the positive class's bias is a
//! threshold, exactly, as long as it is a whole number of bias steps. It is chosen among those,
//! with the scores that the integers give, so that what validation saw is what a device does.

use super::{IntegerModel, IntegerNetwork, QuantizeError};
use crate::model::best_cut;
use fastgrnn_data::data::{Examples, Labels};
use std::ops::RangeInclusive;

impl IntegerModel {
    /// This model with the threshold that gives the positive class the best F1 on the examples at
    /// `indices`, and the offset that this takes, in the units of a float model's scores. Nothing
    /// where the model has no positive class or no offset finds one.
    pub fn with_best_threshold(
        &self,
        examples: &Examples,
        indices: &[u32],
        threads: usize,
    ) -> Result<Option<(Self, f64)>, QuantizeError> {
        let (Some(positive), Labels::Class { index, .. }) = (self.model.positive(), &examples.y) else {
            return Ok(None);
        };
        let truth: Vec<bool> = indices.iter().map(|&i| index[i as usize] as usize == positive).collect();
        let scores = self.scores(&examples.x, indices, threads).scores;
        let margin = |row: &[i32]| match row {
            [one] if positive == 1 => f64::from(*one),
            [one] => -f64::from(*one),
            row => f64::from(row[positive]) - f64::from(row[1 - positive]),
        };
        let margins: Vec<f64> = scores.chunks_exact(self.network.head.rows).map(margin).collect();
        for shift in self.network.bias_shifts() {
            let Some(base) = self.network.lowered(positive, shift, 0) else { continue };
            // Biases of a coarser step are rounded, and margins with them.
            let moved = base.advantage(positive) - self.network.advantage(positive);
            let margins: Vec<f64> = margins.iter().map(|m| m + moved as f64).collect();
            let unit = f64::from(shift).exp2();
            let between = |low: f64, high: f64| {
                let step = ((low + high) / 2.0 / unit).round() * unit;
                (low < step && step < high).then_some(step)
            };
            let Some(cut) = best_cut(&margins, &truth, between) else { return Ok(None) };
            if let Some(network) = base.lowered(positive, shift, (cut.offset / unit) as i64) {
                let offset = cut.offset * f64::from(-self.network.score_bits()).exp2();
                return Ok(Some((self.with_network(network, offset)?, offset)));
            }
        }
        Ok(None)
    }

    /// This model with `offset`, in the units of a float model's scores, taken off its positive
    /// class: as near as the biases have it.
    pub fn with_offset(&self, offset: f64) -> Result<Self, QuantizeError> {
        let Some(positive) = self.model.positive() else { return Ok(self.clone()) };
        let of_scores = offset * f64::from(self.network.score_bits()).exp2();
        for shift in self.network.bias_shifts() {
            let steps = (of_scores / f64::from(shift).exp2()).round() as i64;
            if let Some(network) = self.network.lowered(positive, shift, steps) {
                return self.with_network(network, offset);
            }
        }
        Ok(self.clone())
    }

    fn with_network(&self, network: IntegerNetwork, offset: f64) -> Result<Self, QuantizeError> {
        let mut model = self.model.clone();
        model.set_threshold(offset);
        Self::new(&model, network)
    }
}

impl IntegerNetwork {
    /// Shifts of the biases from what they have.
    fn bias_shifts(&self) -> RangeInclusive<u32> {
        self.head_shift..=self.head_bias_bits.most_head_shift() as u32
    }

    /// What the biases give the positive class beyond the other one.
    fn advantage(&self, positive: usize) -> i64 {
        let bias = |k: usize| i64::from(self.head_biases[k]) << self.head_shift;
        match (self.head_biases.len(), positive) {
            (1, 1) => bias(0),
            (1, _) => -bias(0),
            _ => bias(positive) - bias(1 - positive),
        }
    }

    /// The network with biases in steps of `2^shift`, that of class `positive` lowered by `steps`
    /// of them. Nothing where that does not fit the bits of a bias, or a sum 32.
    fn lowered(&self, positive: usize, shift: u32, steps: i64) -> Option<Self> {
        let bits = self.head_bias_bits;
        if ((self.head.cols as u64) << 22) + (1 << (bits.count() - 1 + shift)) >= 1 << 31 {
            return None;
        }
        let longer = shift.checked_sub(self.head_shift)?;
        let half = (1i64 << longer) >> 1;
        let mut biases: Vec<i64> =
            self.head_biases.iter().map(|&b| (i64::from(b) + half) >> longer).collect();
        match (&mut biases[..], positive) {
            ([one], 0) => *one = one.checked_add(steps)?,
            ([one], _) => *one = one.checked_sub(steps)?,
            (several, positive) => several[positive] = several[positive].checked_sub(steps)?,
        }
        let fitting = -i64::from(bits.largest()) - 1..=i64::from(bits.largest());
        let fits = |b: i64| fitting.contains(&b).then_some(b as i16);
        let head_biases = biases.into_iter().map(fits).collect::<Option<_>>()?;
        Some(Self { head_biases, head_shift: shift, ..self.clone() })
    }
}
