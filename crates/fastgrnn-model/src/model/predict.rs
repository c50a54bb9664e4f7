//! Predictions, and how good they are.

use super::sets::own_sets;
use super::{Model, ModelError, Scorer, Task};
use fastgrnn_core::metrics::{Evaluation, Scores, SetCounts};
use fastgrnn_core::net::{InitialState, Loss};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_data::data::{Examples, Expect, Labels, Normalize, Sequences};
use fastgrnn_data::text::END_OF_LINE;

/// What a model says about sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The most probable class of each sequence; empty for regression and for sets of labels.
    pub classes: Vec<u32>,
    /// Numbers a sequence in `values`.
    pub width: usize,
    /// Probabilities of the classes or labels, or the predicted numbers in the data's units.
    pub values: Vec<f32>,
}

impl Predictions {
    /// Makes raw scores readable.
    pub fn new(model: &Model, mut scores: Vec<f32>) -> Self {
        let sigmoid = |s: f32| 1.0 / (1.0 + (-s).exp());
        match (&model.task, model.loss) {
            (Task::Classes { labels }, Loss::BinaryCrossEntropy) if labels.len() == 2 => {
                let classes = scores.iter().map(|&s| u32::from(s > 0.0)).collect();
                let values = scores.iter().flat_map(|&s| [sigmoid(-s), sigmoid(s)]).collect();
                Self { classes, width: 2, values }
            }
            (Task::Classes { labels }, loss) => {
                let width = labels.len();
                let classes = scores.chunks_exact(width).map(largest).collect();
                for row in scores.chunks_exact_mut(width) {
                    match loss {
                        Loss::BinaryCrossEntropy => row.iter_mut().for_each(|s| *s = sigmoid(*s)),
                        _ => softmax(row),
                    }
                }
                Self { classes, width, values: scores }
            }
            (Task::NextToken, _) => Self::none(),
            (Task::Sets { labels, .. }, _) => {
                scores.iter_mut().for_each(|s| *s = sigmoid(*s));
                Self { classes: Vec::new(), width: labels.len(), values: scores }
            }
            (Task::Values { .. }, Loss::BinaryCrossEntropy) => {
                scores.iter_mut().for_each(|s| *s = sigmoid(*s));
                Self { classes: Vec::new(), width: model.network.outputs, values: scores }
            }
            (Task::Values { mean, scale }, _) => {
                for row in scores.chunks_exact_mut(mean.len().max(1)) {
                    row.iter_mut().zip(mean).zip(scale).for_each(|((s, m), k)| *s = *s * k + m);
                }
                Self { classes: Vec::new(), width: mean.len(), values: scores }
            }
        }
    }

    /// No predictions: those of a language model, and of many labels, are not kept.
    pub fn none() -> Self {
        Self { classes: Vec::new(), width: 0, values: Vec::new() }
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The probabilities or numbers of sequence `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// Share of sequences that both decide alike; nothing for regression.
    ///
    /// ```
    /// # use fastgrnn_model::model::Predictions;
    /// let of = |classes: &[u32]| Predictions { classes: classes.to_vec(), width: 0, values: Vec::new() };
    /// assert_eq!(of(&[0, 1]).agreement(&of(&[0, 0])), Some(0.5));
    /// assert_eq!(of(&[]).agreement(&of(&[])), None);
    /// ```
    pub fn agreement(&self, other: &Self) -> Option<f64> {
        let equal = self.classes.iter().zip(&other.classes).filter(|(a, b)| a == b).count();
        (!self.classes.is_empty()).then(|| equal as f64 / self.classes.len() as f64)
    }

    /// How good these predictions are of the examples at `indices`.
    pub fn evaluate(&self, model: &Model, y: &Labels, indices: &[u32], loss: f64) -> Evaluation {
        match y {
            Labels::Value { width, values } => {
                let rows = indices.iter().map(|&i| i as usize * width);
                let truth: Vec<f32> = rows.flat_map(|at| &values[at..at + width]).copied().collect();
                Evaluation::of_values(*width, &truth, &self.values, loss)
            }
            Labels::Class { index, .. } => {
                let truth: Vec<u32> = indices.iter().map(|&i| index[i as usize]).collect();
                let evaluation = Evaluation::of_classes(model.labels(), &truth, &self.classes, loss);
                match (model.positive(), &model.decision) {
                    (Some(class), Some(decision)) => evaluation.of_positive(class, decision.threshold),
                    _ => evaluation,
                }
            }
            Labels::Sets { sets, .. } => {
                let mut counts = SetCounts::new(self.width);
                for (k, &i) in indices.iter().enumerate() {
                    let margins: Vec<f32> = self.row(k).iter().map(|p| p - 0.5).collect();
                    counts.add(&margins, sets.get(i as usize));
                }
                Evaluation::of_sets(&counts, indices.len(), model.threshold_of_sets().unwrap_or(0.5), loss)
            }
            Labels::None | Labels::Next => Evaluation::of_classes(&[], &[], &[], loss),
        }
    }
}

/// The index of the largest score; the first of equals, as the engine counts it.
fn largest(row: &[f32]) -> u32 {
    let mut best = 0;
    for (i, &s) in row.iter().enumerate() {
        if s > row[best] {
            best = i;
        }
    }
    best as u32
}

fn softmax(row: &mut [f32]) {
    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|s| *s = (*s - top).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|s| *s /= sum);
}

impl Model {
    /// The token that stands at the end of a line of text; 0 where the vocabulary has none.
    pub(crate) fn end_of_line(&self) -> u32 {
        self.text.as_ref().map_or(0, |text| text.vocabulary.index(END_OF_LINE))
    }

    /// What data must be like for this model: with it, a reader takes columns by the model's names.
    ///
    /// ```
    /// use fastgrnn_data::data::Request;
    /// # fn request(model: &fastgrnn_model::model::Model) -> Request {
    /// Request { expect: Some(model.expects()), ..Request::new("new.csv") }
    /// # }
    /// ```
    pub fn expects(&self) -> Expect {
        let (mean, spread) = match self.normalizer.mode {
            Normalize::PerFeature => {
                let spread = self
                    .normalizer
                    .scale
                    .iter()
                    .map(|s| 1.0 / s)
                    .map(|s| if s.is_finite() { s } else { 1.0 });
                (self.normalizer.mean.clone(), spread.collect())
            }
            Normalize::PerCoordinate | Normalize::None => (Vec::new(), Vec::new()),
        };
        Expect {
            dim: self.network.input(),
            features: self.features.clone(),
            steps: self.steps,
            classes: self.labels().to_vec(),
            mean,
            spread,
            is_training_data: false,
        }
    }

    /// Predicts every sequence.
    pub fn predict(&self, x: &Sequences, threads: usize) -> Result<Predictions, ModelError> {
        self.check_sequences(x)?;
        if self.task == Task::NextToken {
            return Err(ModelError::NextToken);
        }
        let all: Vec<u32> = (0..x.len() as u32).collect();
        let (scores, _) = Scorer::new(&self.network, threads)?.score(self, &self.params, x, None, &all)?;
        Ok(Predictions::new(self, scores))
    }

    /// Predicts every example and compares with its label, matching classes by name.
    pub fn evaluate(
        &self,
        examples: &Examples,
        threads: usize,
    ) -> Result<(Evaluation, Predictions), ModelError> {
        self.check_sequences(&examples.x)?;
        let y = self.own_labels(&examples.y)?;
        let all: Vec<u32> = (0..examples.len() as u32).collect();
        let mut scorer = Scorer::new(&self.network, threads)?;
        if self.task == Task::NextToken {
            let evaluation = self.evaluate_tokens(&mut scorer, &self.params, &examples.x, &all)?;
            return Ok((evaluation, Predictions::none()));
        }
        if let Labels::Sets { .. } = y {
            let (counts, loss) = self.count_sets(&mut scorer, &self.params, &examples.x, &y, &all)?;
            return Ok((self.evaluate_sets(&counts, all.len(), loss), Predictions::none()));
        }
        let (scores, loss) = scorer.score(self, &self.params, &examples.x, Some(&y), &all)?;
        let predictions = Predictions::new(self, scores);
        let evaluation = predictions.evaluate(self, &y, &all, loss);
        Ok((evaluation, predictions))
    }

    /// The scores on all examples when every sequence starts from a state that is drawn from a normal distribution, for
    /// each of `count` states. `seed` decides the states.
    ///
    /// ```
    /// # use fastgrnn_core::{cells::{Cell, CellKind}, net::Network};
    /// # use fastgrnn_data::data::{Examples, Labels, Sequences};
    /// # use fastgrnn_model::model::{Model, Task};
    /// let net = Network::new(vec![Cell::new(CellKind::FastRnn, 1, 2)], 2);
    /// let (params, labels) = (vec![0.1; net.layout().len()], vec!["low".to_string(), "high".to_string()]);
    /// let model = Model::new(net, params, Task::Classes { labels: labels.clone() });
    /// let mut x = Sequences::new(1);
    /// x.push(&[0.1, 0.2]);
    /// let examples = Examples::new(x, Labels::Class { index: vec![1], names: labels });
    /// assert_eq!(model.scores_from_random_states(&examples, 3, 0, 1)?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scores_from_random_states(
        &self,
        examples: &Examples,
        count: usize,
        seed: u64,
        threads: usize,
    ) -> Result<Vec<Scores>, ModelError> {
        let units: usize = self.network.layers.iter().map(|cell| cell.hidden).sum();
        let of_state = |number: u64| {
            let mut rng = Rng::keyed(seed, &[stream::INITIAL, number]);
            let state = (0..units).map(|_| rng.normal() as f32).collect();
            let model = Self { initial_state: InitialState::Given(state), ..self.clone() };
            model.evaluate(examples, threads).map(|(evaluation, _)| evaluation.scores)
        };
        (0..count as u64).map(of_state).collect()
    }

    /// How well a language model with `params` in place of its own predicts the texts at `indices`.
    pub fn evaluate_tokens(
        &self,
        scorer: &mut Scorer,
        params: &[f32],
        x: &Sequences,
        indices: &[u32],
    ) -> Result<Evaluation, ModelError> {
        let (loss, tokens) = scorer.token_loss(self, params, x, indices)?;
        Ok(self.of_tokens(x, indices, tokens, loss))
    }

    /// The evaluation of a language model whose mean loss of the `tokens` of the texts at `indices` is `loss`.
    pub(crate) fn of_tokens(&self, x: &Sequences, indices: &[u32], tokens: usize, loss: f64) -> Evaluation {
        let mut evaluation = Evaluation::of_tokens(indices.len(), tokens, loss);
        let unknown = indices.iter().flat_map(|&i| x.tokens(i as usize)).filter(|&&token| token == 0).count();
        evaluation.scores.vocabulary = self.text.as_ref().map(|text| text.vocabulary.len());
        evaluation.scores.unknown_rate = Some(unknown as f64 / tokens.max(1) as f64);
        evaluation
    }

    /// Whether sequences have as many features as the model takes, and are long enough for a step of it.
    pub fn check_sequences(&self, x: &Sequences) -> Result<(), ModelError> {
        match self.network.embedding.is_some() {
            true if x.has_tokens() => return Ok(()),
            false if x.dim() == self.network.input() => {
                let stride = self.network.window.stride;
                let short = (0..x.len()).map(|i| (i, x.steps(i))).find(|&(_, frames)| frames < stride);
                return match short {
                    Some((index, frames)) => Err(ModelError::Short { index, frames, stride }),
                    None => Ok(()),
                };
            }
            _ => {}
        }
        let names = self.features.clone();
        Err(ModelError::Dim { found: x.dim(), expected: self.network.input(), names })
    }

    /// The labels with classes numbered as in the model.
    pub fn own_labels(&self, y: &Labels) -> Result<Labels, ModelError> {
        let expected = match self.task {
            Task::Classes { .. } => "classes",
            Task::Sets { .. } => "sets of labels",
            Task::Values { .. } => "numbers",
            Task::NextToken => "the next token",
        };
        match (y, &self.task) {
            (Labels::Class { index, names }, Task::Classes { labels }) => {
                let unknown = |class: usize| {
                    let label = names.get(class).cloned().unwrap_or_default();
                    ModelError::UnknownLabel { label, known: labels.clone() }
                };
                let own: Vec<Option<u32>> =
                    names.iter().map(|n| labels.iter().position(|l| l == n).map(|i| i as u32)).collect();
                let index = index
                    .iter()
                    .map(|&c| own.get(c as usize).copied().flatten().ok_or_else(|| unknown(c as usize)))
                    .collect::<Result<_, _>>()?;
                Ok(Labels::Class { index, names: labels.clone() })
            }
            (Labels::Value { width, .. }, Task::Values { mean, .. }) if *width == mean.len() => Ok(y.clone()),
            (Labels::Value { .. }, Task::Values { .. }) => {
                Err(ModelError::Labels { found: "have another number of columns", expected })
            }
            (Labels::Sets { sets, names, unseen }, Task::Sets { labels, .. }) => {
                Ok(own_sets(sets, &[&names[..], unseen].concat(), labels))
            }
            (Labels::Next, Task::NextToken) => Ok(Labels::Next),
            (Labels::Next, _) => Err(ModelError::Labels { found: "are the next token", expected }),
            (Labels::None, _) => Err(ModelError::Labels { found: "are missing", expected }),
            (Labels::Sets { .. }, _) => Err(ModelError::Labels { found: "are sets of labels", expected }),
            (Labels::Class { .. }, _) => Err(ModelError::Labels { found: "are classes", expected }),
            (Labels::Value { .. }, _) => Err(ModelError::Labels { found: "are numbers", expected }),
        }
    }
}
