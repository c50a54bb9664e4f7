//! From sequences to the network's raw scores, in batches that are reused.

use super::token_loss::TokenScorer;
use super::{Model, ModelError, Task};
use fastgrnn_core::batch::{Batch, Sets, Targets};
use fastgrnn_core::net::{InitialState, Network, NetworkError};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::{DataError, Labels, Sequences};
use fastgrnn_engine::engine::Engine;

/// Sequences scored at a time.
const BATCH: usize = 256;
/// Stands for the epoch where there is none.
const NO_EPOCH: u64 = u64::MAX;

impl Model {
    /// Empties `batch` and makes it one of the right kind of targets.
    pub fn clear(&self, batch: &mut Batch) {
        batch.clear();
        match (&self.task, &batch.targets) {
            (Task::Values { .. }, Targets::Value(_))
            | (Task::Sets { .. }, Targets::Set(_))
            | (Task::Classes { .. } | Task::NextToken, Targets::Class(_)) => {}
            (Task::Values { .. }, _) => batch.targets = Targets::Value(Vec::new()),
            (Task::Sets { .. }, _) => batch.targets = Targets::Set(Sets::default()),
            (Task::Classes { .. } | Task::NextToken, _) => batch.targets = Targets::Class(Vec::new()),
        }
    }

    /// Appends sequence `i` of `x`, normalised, with its initial state.
    pub fn push(&self, batch: &mut Batch, x: &Sequences, i: usize) -> Result<(), DataError> {
        if x.has_tokens() {
            batch.push_tokens(x.tokens(i));
            self.push_initial(batch, NO_EPOCH, i);
            return Ok(());
        }
        batch.push(x.get(i));
        let last = batch.len() - 1;
        self.normalizer.apply(batch.sequence_mut(last), x.dim())?;
        self.push_initial(batch, NO_EPOCH, i);
        Ok(())
    }

    /// Appends the initial state of sequence `i` in `epoch`.
    pub fn push_initial(&self, batch: &mut Batch, epoch: u64, i: usize) {
        let states: usize = self.network.layers.iter().map(|c| c.hidden).sum();
        match &self.initial_state {
            InitialState::Zero => {}
            InitialState::Random => {
                let mut rng = Rng::keyed(self.seed, &[stream::INITIAL, epoch, i as u64]);
                batch.initial.extend((0..states).map(|_| rng.normal() as f32));
            }
            InitialState::Given(values) if values.len() == 1 => {
                batch.initial.extend(std::iter::repeat_n(values[0], states));
            }
            InitialState::Given(values) => batch.initial.extend_from_slice(values),
        }
    }

    /// Appends the target of sequence `i`, in the network's units.
    pub fn push_target(&self, batch: &mut Batch, y: &Labels, i: usize) {
        match (&mut batch.targets, y, &self.task) {
            (Targets::Class(targets), Labels::Class { index, .. }, _) => targets.push(index[i]),
            (Targets::Set(targets), Labels::Sets { sets, names, .. }, _) => {
                // Labels that only a test part has have no score.
                let set = sets.get(i);
                targets.push(&set[..set.partition_point(|&label| (label as usize) < names.len())]);
            }
            (Targets::Value(targets), Labels::Value { width, values }, Task::Values { mean, scale }) => {
                let row = &values[i * width..(i + 1) * width];
                targets.extend(row.iter().zip(mean).zip(scale).map(|((v, m), s)| (v - m) / s));
            }
            _ => {}
        }
    }
}

/// An engine with the buffers to score whole sets.
pub struct Scorer {
    /// The engine; training uses the same one.
    pub engine: Engine,
    batch: Batch,
    tokens: TokenScorer,
    scores: Vec<f32>,
}

impl Scorer {
    /// A scorer for `network` on this many threads.
    pub fn new(network: &Network, threads: usize) -> Result<Self, NetworkError> {
        let engine = Engine::new(network, threads.max(1))?;
        Ok(Self { engine, batch: network.empty_batch(), tokens: TokenScorer::default(), scores: Vec::new() })
    }

    /// The mean loss of a token, and the number of tokens, of the texts at `indices`: each is read from its
    /// beginning to its end, the state is carried along, and every token is predicted. What comes before the
    /// first one is the end of a line.
    pub fn token_loss(
        &mut self,
        model: &Model,
        params: &[f32],
        x: &Sequences,
        indices: &[u32],
    ) -> Result<(f64, usize), ModelError> {
        let (mut sum, mut count) = (0.0, 0);
        for tokens in indices.iter().map(|&i| x.tokens(i as usize)) {
            sum += self.tokens.loss(&mut self.engine, &mut self.batch, (model, params), tokens)?;
            count += tokens.len();
        }
        Ok((sum / count.max(1) as f64, count))
    }

    /// Scores the sequences at `indices` with `params` in place of the model's own. With labels
    /// it also returns their mean loss.
    pub fn score(
        &mut self,
        model: &Model,
        params: &[f32],
        x: &Sequences,
        labels: Option<&Labels>,
        indices: &[u32],
    ) -> Result<(Vec<f32>, f64), ModelError> {
        let outputs = model.network.outputs;
        let mut all = Vec::with_capacity(indices.len() * outputs);
        let loss = self
            .for_each_batch(model, params, x, labels, indices, |_, scores| all.extend_from_slice(scores))?;
        Ok((all, loss))
    }

    /// The same a batch at a time, for scores that need not all be in memory: calls `f` with the indices of a
    /// batch and its rows of scores. Returns the mean loss, or 0 without labels.
    pub(super) fn for_each_batch(
        &mut self,
        model: &Model,
        params: &[f32],
        x: &Sequences,
        labels: Option<&Labels>,
        indices: &[u32],
        mut f: impl FnMut(&[u32], &[f32]),
    ) -> Result<f64, ModelError> {
        let mut loss = 0.0;
        for part in indices.chunks(BATCH) {
            model.clear(&mut self.batch);
            for &i in part {
                model.push(&mut self.batch, x, i as usize)?;
                if let Some(y) = labels {
                    model.push_target(&mut self.batch, y, i as usize);
                }
            }
            self.engine.forward(params, &self.batch, &mut self.scores)?;
            if labels.is_some() {
                let step = self.engine.loss(&self.scores, &self.batch, model.loss)?;
                loss += step.loss * part.len() as f64;
            }
            f(part, &self.scores);
        }
        Ok(loss / indices.len().max(1) as f64)
    }

    /// The mean loss of given scores of the sequences at `indices`.
    pub fn loss(
        &mut self,
        model: &Model,
        scores: &[f32],
        y: &Labels,
        indices: &[u32],
    ) -> Result<f64, ModelError> {
        let mut loss = 0.0;
        for (part, scores) in indices.chunks(BATCH).zip(scores.chunks(BATCH * model.network.outputs)) {
            model.clear(&mut self.batch);
            for &i in part {
                // Nothing reads the sequences of scores that are there already.
                match self.batch.has_tokens() {
                    true => self.batch.push_tokens(&[]),
                    false => self.batch.push(&[]),
                }
                model.push_target(&mut self.batch, y, i as usize);
            }
            loss += self.engine.loss(scores, &self.batch, model.loss)?.loss * part.len() as f64;
        }
        Ok(loss / indices.len().max(1) as f64)
    }
}
