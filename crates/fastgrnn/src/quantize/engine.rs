//! The integer network on the host: whole sets of sequences, the device's bits.

use super::model::HostModel;
use super::{IntegerModel, Saturations};
use crate::data::Sequences;

/// Scores of sequences, and what saturated on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerScores {
    /// One row of outputs a sequence.
    pub scores: Vec<i32>,
    /// What saturated.
    pub saturations: Saturations,
}

impl IntegerModel {
    /// Scores the sequences of `x` at `indices`, in the data's units, on `threads` threads.
    ///
    /// Exactly what [`fastgrnn_runtime::int::Model::step`] gives when folded over the counts of
    /// each sequence.
    pub fn scores(&self, x: &Sequences, indices: &[u32], threads: usize) -> IntegerScores {
        let model = self.view();
        let (outputs, layers) = (model.outputs(), model.layers().len());
        let mut all =
            IntegerScores { scores: vec![0; indices.len() * outputs], saturations: Saturations::new(layers) };
        let share = indices.len().div_ceil(threads.max(1)).max(1);
        let parts = indices.chunks(share).zip(all.scores.chunks_mut(share * outputs));
        let saturations: Vec<Saturations> = std::thread::scope(|scope| {
            let workers: Vec<_> = parts
                .map(|(indices, out)| scope.spawn(move || self.scores_of(&model, x, indices, out)))
                .collect();
            workers.into_iter().map(|w| w.join().unwrap_or_default()).collect()
        });
        saturations.iter().for_each(|s| all.saturations.add(s));
        all
    }

    fn scores_of(&self, model: &HostModel, x: &Sequences, indices: &[u32], out: &mut [i32]) -> Saturations {
        let mut saturations = Saturations::new(model.layers().len());
        let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
        let mut counts = Vec::new();
        // The buffers have the lengths that the model asked for.
        let Ok(mut state) = model.start(&mut memory, &mut scratch) else { return saturations };
        for (&i, out) in indices.iter().zip(out.chunks_mut(model.outputs())) {
            model.reset(&mut state);
            counts.clear();
            self.counts(x.get(i as usize), &mut counts);
            for step in counts.chunks_exact(model.inputs()) {
                let _ = model.step_watched(&mut state, step, &mut saturations);
            }
            saturations.steps += (counts.len() / model.inputs()) as u64;
            let _ = model.scores(&state, out);
        }
        saturations
    }

    /// Appends a sequence as counts: what a sensor with the model's `lsb` would deliver.
    pub fn counts(&self, sequence: &[f32], counts: &mut Vec<i16>) {
        let lsb = &self.network.input.lsb;
        for row in sequence.chunks_exact(lsb.len()) {
            counts.extend(row.iter().zip(lsb).map(|(v, lsb)| {
                // The cast takes NaN to 0.
                (f64::from(*v) / f64::from(*lsb)).round_ties_even().clamp(-32_768.0, 32_767.0) as i16
            }));
        }
    }
}
