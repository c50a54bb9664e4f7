//! The runtime folded over each sequence: the definition of what the vectors compute.

use super::super::model::HostModel;
use super::super::{IntegerModel, Saturations};
use super::IntegerScores;
use fastgrnn_data::data::Sequences;

impl IntegerModel {
    /// [`IntegerModel::scores`], one sequence after the other on each thread.
    pub(super) fn scores_scalar(&self, x: &Sequences, indices: &[u32], threads: usize) -> IntegerScores {
        let model = self.view();
        let (outputs, layers) = (model.outputs(), model.layers().len());
        let mut all =
            IntegerScores { scores: vec![0; indices.len() * outputs], saturations: Saturations::new(layers) };
        let share = indices.len().div_ceil(threads.max(1)).max(1);
        let parts = indices.chunks(share).zip(all.scores.chunks_mut(share * outputs));
        let saturations: Vec<Saturations> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                parts.map(|(indices, out)| scope.spawn(move || self.fold(&model, x, indices, out))).collect();
            let joined = workers.into_iter().map(|w| w.join());
            joined.map(|w| w.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        saturations.iter().for_each(|s| all.saturations.add(s));
        all
    }

    fn fold(&self, model: &HostModel, x: &Sequences, indices: &[u32], out: &mut [i32]) -> Saturations {
        let mut saturations = Saturations::new(model.layers().len());
        let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
        let mut counts = Vec::new();
        const LENGTHS: &str = "the buffers have the lengths that the model states";
        let mut state = model.start(&mut memory, &mut scratch).expect(LENGTHS);
        for (&i, out) in indices.iter().zip(out.chunks_mut(model.outputs())) {
            model.reset(&mut state).expect(LENGTHS);
            counts.clear();
            self.sequence_counts(x, i as usize, &mut counts);
            for frame in counts.chunks_exact(model.inputs()) {
                let is_step = model.step_watched(&mut state, frame, &mut saturations).expect(LENGTHS);
                saturations.steps += u64::from(is_step);
            }
            model.scores(&state, out).expect(LENGTHS);
        }
        saturations
    }
}
