//! The loss of a language model on a text, with its state carried from the first token to the last.
//!
//! Most of the work is the head, which does not depend on later steps. So a long text is first read by the
//! cells alone, up to where each of several pieces begins; then the pieces are scored side by side, each from
//! the state that it begins with.

use super::{Model, ModelError};
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::{Network, NetworkError, Readout};
use fastgrnn_engine::engine::Engine;
use std::ops::Range;

/// Pieces of a text that are scored side by side.
const PIECES: usize = 16;
/// Texts with fewer tokens are read in one piece.
const LEAST_TOKENS: usize = 4096;
/// Steps of a piece that are scored at a time.
const STEPS: usize = 256;
/// Steps that the cells alone read at a time.
const CELL_STEPS: usize = 2048;

/// The buffers to score texts.
#[derive(Default)]
pub(super) struct TokenScorer {
    /// The network with a head at the last step only, for the states; made when it is needed.
    cells: Option<Engine>,
    inputs: Vec<u32>,
}

/// A text as a language model sees it.
struct Text<'a> {
    tokens: &'a [u32],
    /// What comes before the first token.
    before: u32,
}

impl Text<'_> {
    /// What the network reads to predict the tokens of `range`.
    fn inputs(&self, range: Range<usize>, inputs: &mut Vec<u32>) {
        inputs.clear();
        if range.start == 0 && !range.is_empty() {
            inputs.push(self.before);
        }
        inputs.extend_from_slice(&self.tokens[range.start.saturating_sub(1)..range.end.saturating_sub(1)]);
    }
}

impl TokenScorer {
    /// The sum of the losses of all `tokens`, each predicted from all before it.
    pub(super) fn loss(
        &mut self,
        engine: &mut Engine,
        batch: &mut Batch,
        (model, params): (&Model, &[f32]),
        tokens: &[u32],
    ) -> Result<f64, ModelError> {
        let text = Text { tokens, before: model.end_of_line() };
        let pieces = if tokens.len() < LEAST_TOKENS { 1 } else { PIECES };
        let len = tokens.len() / pieces;
        let mut states = self.first_states((model, params), batch, &text, pieces, len)?;
        let mut sum = 0.0;
        for first in (0..len).step_by(STEPS) {
            let steps = first..len.min(first + STEPS);
            let ranges = (0..pieces).map(|k| k * len + steps.start..k * len + steps.end);
            sum += self.score(engine, batch, (model, params), &text, ranges, &mut states)?;
        }
        // Fewer tokens than there are pieces are left, after the last piece.
        let rest = pieces * len..tokens.len();
        if !rest.is_empty() {
            let mut last = states[states.len() - states.len() / pieces..].to_vec();
            sum += self.score(engine, batch, (model, params), &text, std::iter::once(rest), &mut last)?;
        }
        Ok(sum)
    }

    /// The sum of the losses of the tokens of each range, and the states after them in place of those
    /// before.
    fn score(
        &mut self,
        engine: &mut Engine,
        batch: &mut Batch,
        (model, params): (&Model, &[f32]),
        text: &Text,
        ranges: impl Iterator<Item = Range<usize>>,
        states: &mut Vec<f32>,
    ) -> Result<f64, ModelError> {
        model.clear(batch);
        let mut targets = Vec::new();
        for range in ranges {
            text.inputs(range.clone(), &mut self.inputs);
            batch.push_tokens(&self.inputs);
            targets.extend_from_slice(&text.tokens[range]);
        }
        let count = targets.len();
        batch.targets = Targets::Class(targets);
        batch.carried.clone_from(states);
        let step = engine.evaluate(params, batch, model.loss)?;
        engine.states(states);
        Ok(step.loss * count as f64)
    }

    /// The states that the pieces of `len` tokens begin with.
    fn first_states(
        &mut self,
        (model, params): (&Model, &[f32]),
        batch: &mut Batch,
        text: &Text,
        pieces: usize,
        len: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let mut state = vec![0.0; model.network.state_len()];
        let mut all = state.clone();
        let mut unused = Vec::new();
        for piece in 1..pieces {
            let engine = match &mut self.cells {
                Some(engine) => engine,
                none => none.insert(cells_alone(&model.network)?),
            };
            for first in ((piece - 1) * len..piece * len).step_by(CELL_STEPS) {
                model.clear(batch);
                text.inputs(first..(piece * len).min(first + CELL_STEPS), &mut self.inputs);
                batch.push_tokens(&self.inputs);
                batch.carried.clone_from(&state);
                engine.forward(params, batch, &mut unused)?;
                engine.states(&mut state);
            }
            all.extend_from_slice(&state);
        }
        Ok(all)
    }
}

/// An engine for the states of a network: it computes the head after the last step only.
fn cells_alone(network: &Network) -> Result<Engine, NetworkError> {
    Engine::new(&Network { readout: Readout::Last, ..network.clone() }, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Scorer, Task};
    use fastgrnn_core::cells::{Cell, CellKind, Start};
    use fastgrnn_core::net::Embedding;
    use fastgrnn_core::rng::Rng;
    use fastgrnn_data::data::Sequences;

    /// A language model with two layers, one of them with a state besides h.
    fn model() -> Model {
        let layers = vec![Cell::new(CellKind::Lstm, 5, 6), Cell::new(CellKind::FastGrnn, 6, 4)];
        let network = Network {
            embedding: Some(Embedding { vocabulary: 11, tied: false }),
            readout: Readout::Every,
            ..Network::new(layers, 11)
        };
        let params = network.start(Start::default(), 10, 3);
        Model::new(network, params, Task::NextToken)
    }

    #[test]
    fn pieces_side_by_side_have_the_loss_of_one_long_sequence() {
        let model = model();
        let mut rng = Rng::keyed(1, &[]);
        for len in
            [1, STEPS + 1, LEAST_TOKENS - 1, LEAST_TOKENS, LEAST_TOKENS + 13, 3 * CELL_STEPS * PIECES / 2]
        {
            let tokens: Vec<u32> = (0..len).map(|_| (rng.next_u64() % 11) as u32).collect();
            let mut x = Sequences::of_tokens();
            x.push_tokens(&tokens);
            let mut whole = Batch::of_tokens();
            whole.push_tokens(&[&[0], &tokens[..len - 1]].concat());
            whole.targets = Targets::Class(tokens.clone());
            let mut engine = Engine::new(&model.network, 1).unwrap();
            let expected = engine.evaluate(&model.params, &whole, model.loss).unwrap().loss;
            for threads in [1, 3] {
                let mut scorer = Scorer::new(&model.network, threads).unwrap();
                let (loss, count) = scorer.token_loss(&model, &model.params, &x, &[0]).unwrap();
                assert_eq!(count, len);
                assert!((loss - expected).abs() < 1e-6, "{len} tokens: {loss}, expected {expected}");
            }
        }
    }
}
