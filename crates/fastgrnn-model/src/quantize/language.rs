//! How well an integer language model predicts texts.

use super::{IntegerModel, Saturations};
use crate::quantize::HostModel;
use fastgrnn_core::metrics::Evaluation;
use fastgrnn_data::data::Sequences;

/// Steps whose states are kept until their scores are computed.
const BLOCK: usize = 1024;
const LENGTHS: &str = "the buffers have the lengths that the model states";

impl IntegerModel {
    /// How well the model predicts every token of the texts at `indices`. Each text is read from its beginning
    /// to its end and the state is carried along; what comes before the first token is the end of a line.
    pub(super) fn evaluate_tokens(
        &self,
        x: &Sequences,
        indices: &[u32],
        threads: usize,
    ) -> (Evaluation, Saturations) {
        let view = self.view();
        let mut saturations = Saturations::new(view.layers().len());
        let (mut sum, mut count) = (0.0, 0);
        for &i in indices {
            sum += self.text_loss(&view, x.tokens(i as usize), threads, &mut saturations);
            count += x.steps(i as usize);
        }
        saturations.steps = count as u64;
        (self.model.of_tokens(x, indices, count, sum / count.max(1) as f64), saturations)
    }

    /// The sum of the losses of all tokens of a text.
    fn text_loss(
        &self,
        view: &HostModel,
        tokens: &[u32],
        threads: usize,
        saturations: &mut Saturations,
    ) -> f64 {
        let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
        let mut state = view.start(&mut memory, &mut scratch).expect(LENGTHS);
        let unit = f64::from(-self.network.score_bits()).exp2();
        let mut before = self.model.end_of_line();
        let (mut states, mut losses) = (Vec::new(), vec![0.0; BLOCK]);
        let mut sum = 0.0;
        for targets in tokens.chunks(BLOCK) {
            states.clear();
            for &target in targets {
                // An integer model has at most 65535 tokens.
                view.step_watched(&mut state, &[before as u16 as i16], saturations).expect(LENGTHS);
                states.extend_from_slice(state.layers());
                before = target;
            }
            let share = targets.len().div_ceil(threads.max(1));
            std::thread::scope(|scope| {
                let states = states.chunks(share * state.layers().len());
                for ((targets, states), losses) in
                    targets.chunks(share).zip(states).zip(losses.chunks_mut(share))
                {
                    scope.spawn(move || losses_of(view, unit, states, targets, losses));
                }
            });
            sum += losses[..targets.len()].iter().sum::<f64>();
        }
        sum
    }
}

/// The loss of each target, after the states of all layers before it.
fn losses_of(view: &HostModel, unit: f64, states: &[i16], targets: &[u32], losses: &mut [f64]) {
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let mut state = view.start(&mut memory, &mut scratch).expect(LENGTHS);
    let mut scores = vec![0; view.outputs()];
    let len = state.layers().len();
    for ((own, &target), loss) in states.chunks_exact(len).zip(targets).zip(losses) {
        state.layers_mut().copy_from_slice(own);
        view.scores(&state, &mut scores).expect(LENGTHS);
        let top = scores.iter().copied().max().unwrap_or(0);
        let below = |score: i32| (f64::from(score) - f64::from(top)) * unit;
        let all: f64 = scores.iter().map(|&score| below(score).exp()).sum();
        *loss = all.ln() - below(scores[target as usize]);
    }
}
