//! The data of one pass: which sequences it uses, how they are normalised and weighted, and their
//! order.
//!
//! Random numbers are keyed by seed, pass, epoch and sequence, so the content of a batch does not
//! depend on threads or on interruptions.

use super::epoch::Pass;
use super::sampler::{Sample, Sampler};
use super::soft_targets::SoftTargets;
use super::token_streams::TokenStreams;
use super::{Config, TrainError};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::net::Loss;
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::spectral::{Sources, Spectral};
use fastgrnn_data::data::{Augment, Dataset, Examples, Labels, Normalize, Normalizer, Sequences};
use fastgrnn_data::text::END_OF_LINE;
use fastgrnn_model::model::{Decision, Model, Task};
use fastgrnn_model::settings::ClassWeight;
use std::ops::Range;

pub(super) struct PassData<'a> {
    /// The model that is trained, without its parameters.
    pub model: Model,
    /// Sequences an epoch goes through.
    pub indices: Vec<u32>,
    examples: &'a Examples,
    augment: Augment,
    spectral: Spectral,
    /// Epochs of the run.
    epochs: usize,
    background: Option<&'a Sequences>,
    /// The class whose sequences count at their last step alone.
    last_only: Option<u32>,
    /// The least value of a log-mel feature.
    floor: f32,
    /// Weight of each class; empty if all count the same.
    weights: Vec<f32>,
    seed: u64,
    pass: Pass,
    batch_size: usize,
    epoch_size: usize,
    /// Chooses the sequences of an epoch; `None` if an epoch is every sequence once.
    sampler: Option<Sampler>,
    order: Vec<Sample>,
    scratch: Vec<f32>,
    soft: Option<SoftTargets>,
    /// The text, of a language model.
    streams: Option<TokenStreams>,
}

impl<'a> PassData<'a> {
    pub(super) fn new(
        config: &Config,
        data: &'a Dataset,
        seed: u64,
        pass: Pass,
        indices: Vec<u32>,
    ) -> Result<Self, TrainError> {
        let examples = &data.train;
        let mut recipe = config.portable();
        // One seed's model must not depend on which other seeds the run had.
        (recipe.training.seed, recipe.training.seeds) = (Some(seed), None);
        let normalize = match examples.x.has_tokens() {
            true => Normalize::None,
            false => config.preparation.normalize,
        };
        let model = Model {
            network: config.network(data),
            params: Vec::new(),
            task: task(&examples.y, &indices, config.training.loss),
            loss: config.training.loss,
            decision: config.training.positive.as_ref().map(Decision::even),
            normalizer: Normalizer::fit(normalize, &examples.x, &indices)?,
            initial_state: config.parameters.initial_state.clone(),
            seed,
            features: data.features.clone(),
            audio: data.audio,
            text: data.text.clone(),
            dataset: data.name.clone(),
            steps: config.training_frames(data),
            recipe,
        };
        let streams = match (&examples.y, &data.text) {
            (Labels::Next, Some(text)) => {
                let before = text.vocabulary.index(END_OF_LINE);
                let (rows, steps) = (config.training.batch, config.sequence_length());
                Some(TokenStreams::new(&examples.x, &indices, before, rows, steps))
            }
            _ => None,
        };
        let (share, count) = (config.training.class_share.as_ref(), config.epoch_size(indices.len()));
        let all_once = share.is_none() && count == indices.len();
        Ok(Self {
            sampler: (!all_once).then(|| Sampler::new(&examples.y, &indices, share, count)),
            epoch_size: count,
            weights: class_weights(&examples.y, &indices, config.training.class_weight),
            augment: config.augmentation(data),
            order: Vec::new(),
            spectral: config.preparation.augment.spectral(),
            epochs: config.training.epochs,
            background: data.background.as_ref(),
            last_only: config.last_only(data),
            floor: data.audio.as_ref().map_or(f32::MIN, |spec| spec.floor() as f32),
            scratch: Vec::new(),
            soft: SoftTargets::new(config, model.network.outputs),
            batch_size: config.training.batch,
            model,
            indices,
            examples,
            seed,
            pass,
            streams,
        })
    }

    /// Batches of an epoch. Their sizes differ by at most one, so no batch is a straggler.
    pub(super) fn batches(&self) -> usize {
        match &self.streams {
            Some(streams) => streams.batches(),
            None => self.epoch_size.div_ceil(self.batch_size).max(1),
        }
    }

    /// Whether a batch continues the one before.
    pub(super) fn carries_state(&self) -> bool {
        self.streams.is_some()
    }

    /// Puts the sequences into the order of `epoch`, which counts from 0.
    pub(super) fn shuffle(&mut self, epoch: usize) {
        let (seed, pass, epoch) = (self.seed, self.pass as u64, epoch as u64);
        match &self.sampler {
            Some(sampler) => sampler.sample_epoch(seed, pass, epoch, &mut self.order),
            None => {
                self.order.clear();
                self.order.extend(self.indices.iter().map(|&index| Sample { index, repeat: 0 }));
                Rng::keyed(seed, &[stream::SHUFFLE, pass, epoch]).shuffle(&mut self.order);
            }
        }
    }

    /// The sequences of the epoch in their order, and how often it has used each before.
    pub(super) fn order(&self) -> impl Iterator<Item = (u32, u32)> {
        self.order.iter().map(|sample| (sample.index, sample.repeat))
    }

    /// Weight of each class; empty if all count the same.
    pub(super) fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn range(&self, batch: usize) -> Range<usize> {
        let (n, batches) = (self.order.len(), self.batches());
        batch * n / batches..(batch + 1) * n / batches
    }

    /// The changes of `epoch`. Lead-ins grow over the first half of the run: what a word is, is
    /// learnt from words alone, to hear it after anything comes later.
    fn spectral(&self, epoch: usize) -> Spectral {
        let lead_in = self.spectral.lead_in * (2 * epoch).min(self.epochs) / self.epochs.max(1);
        Spectral { lead_in, ..self.spectral }
    }

    /// Fills `batch` with the sequences of batch number `number` of `epoch`.
    pub(super) fn fill(&mut self, batch: &mut Batch, epoch: usize, number: usize) -> Result<(), TrainError> {
        self.model.clear(batch);
        if let Some(streams) = &self.streams {
            streams.fill(batch, number);
            return Ok(());
        }
        let spectral = self.spectral(epoch);
        let dim = self.examples.x.dim();
        for at in self.range(number) {
            let Sample { index, repeat } = self.order[at];
            let (i, pass) = (index as usize, self.pass as u64);
            let key = [stream::AUGMENT, pass, epoch as u64, i as u64, u64::from(repeat)];
            // Only the repeats of a sequence have a fifth number in their key.
            let mut rng = Rng::keyed(self.seed, &key[..if repeat == 0 { 4 } else { 5 }]);
            if self.examples.x.has_tokens() {
                batch.push_tokens(self.examples.x.tokens(i));
            } else {
                self.scratch.clear();
                self.scratch.extend_from_slice(self.examples.x.get(i));
                self.augment.before(&mut self.scratch, dim, &mut rng);
                let (background, sequences) = (self.background, &self.examples.x);
                let from = Sources { background, floor: self.floor, sequences, indices: &self.indices };
                spectral.before(&mut self.scratch, dim, from, &mut rng);
                self.model.normalizer.apply(&mut self.scratch, dim)?;
                self.augment.after(&mut self.scratch, &mut rng);
                spectral.after(&mut self.scratch, dim, &mut rng);
                batch.push(&self.scratch);
            }
            self.model.push_initial(batch, (u64::from(repeat) << 34) + (pass << 32) + epoch as u64, i);
            self.model.push_target(batch, &self.examples.y, i);
            if let (Labels::Class { index, .. }, false) = (&self.examples.y, self.weights.is_empty()) {
                batch.weights.push(self.weights[index[i] as usize]);
            }
            if let (Labels::Class { index, .. }, Some(class)) = (&self.examples.y, self.last_only) {
                batch.last_only.push(index[i] == class);
            }
        }
        if let Some(soft) = &mut self.soft {
            let key = [stream::MIXUP, self.pass as u64, epoch as u64, number as u64];
            soft.apply(batch, Rng::keyed(self.seed, &key));
        }
        Ok(())
    }
}

/// Balanced: n / (classes that occur × size of the class), which averages to 1 over the sequences.
fn class_weights(y: &Labels, indices: &[u32], setting: ClassWeight) -> Vec<f32> {
    match (y, setting) {
        (Labels::Class { index, names }, ClassWeight::Balanced) => {
            let mut counts = vec![0usize; names.len()];
            indices.iter().for_each(|&i| counts[index[i as usize] as usize] += 1);
            let occurring = counts.iter().filter(|&&c| c > 0).count();
            let weight = |c: usize| indices.len() as f64 / (occurring * c.max(1)) as f64;
            counts.into_iter().map(|c| weight(c) as f32).collect()
        }
        _ => Vec::new(),
    }
}

/// Classes by name, or numbers with the mean and deviation of each target column.
fn task(y: &Labels, indices: &[u32], loss: Loss) -> Task {
    match y {
        Labels::Class { names, .. } => Task::Classes { labels: names.clone() },
        Labels::Value { width, .. } if loss == Loss::BinaryCrossEntropy => {
            Task::Values { mean: vec![0.0; *width], scale: vec![1.0; *width] }
        }
        Labels::Value { width, values } => {
            let (mut means, mut scales) = (Vec::new(), Vec::new());
            for column in 0..*width {
                let of = || indices.iter().map(|&i| f64::from(values[i as usize * width + column]));
                let n = indices.len().max(1) as f64;
                let mean = of().sum::<f64>() / n;
                let deviation = (of().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
                let scale = deviation as f32;
                means.push(mean as f32);
                scales.push(if scale.is_normal() { scale } else { 1.0 });
            }
            Task::Values { mean: means, scale: scales }
        }
        Labels::Sets { names, .. } => Task::Sets { labels: names.clone(), threshold: 0.5 },
        Labels::Next => Task::NextToken,
        Labels::None => Task::Classes { labels: Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_weights_give_every_class_the_same_total() {
        let y = Labels::Class { index: vec![0, 0, 0, 1], names: vec!["a".into(), "b".into(), "c".into()] };
        let weights = class_weights(&y, &[0, 1, 2, 3], ClassWeight::Balanced);
        assert_eq!(weights[..2], [4.0 / 6.0, 2.0]);
        assert!(class_weights(&y, &[0, 1], ClassWeight::None).is_empty());
    }

    #[test]
    fn targets_are_scaled_by_the_training_part_alone() {
        let y = Labels::Value { width: 1, values: vec![1.0, 3.0, 1e9] };
        assert_eq!(task(&y, &[0, 1], Loss::SquaredError), Task::Values { mean: vec![2.0], scale: vec![1.0] });
        let constant = Labels::Value { width: 1, values: vec![5.0, 5.0] };
        assert_eq!(
            task(&constant, &[0, 1], Loss::SquaredError),
            Task::Values { mean: vec![5.0], scale: vec![1.0] }
        );
    }
}
