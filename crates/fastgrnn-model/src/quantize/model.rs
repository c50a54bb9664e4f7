//! A model that computes in integers, with everything needed to use it.

use super::build::{MAX_INTEGER_LAYERS, build};
use super::{Detector, DetectorProblem, IntegerNetwork, Options, QuantizeError, Saturations};
use crate::model::{Model, ModelError, Predictions, Scorer, Task};
use fastgrnn_core::metrics::Evaluation;
use fastgrnn_data::data::{Examples, Sequences};
use fastgrnn_data::features;
use fastgrnn_runtime::int;

/// The runtime's view of an image, with room for as many layers as the host takes.
pub type HostModel<'a> = int::Model<'a, MAX_INTEGER_LAYERS>;

/// An integer network and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerModel {
    /// Network, labels, recipe and the rest; its parameters are what the integers stand for.
    pub model: Model,
    /// The integers.
    pub network: IntegerNetwork,
    /// What turns its scores on a stream into detections; see [`IntegerModel::set_detector`].
    detector: Option<Detector>,
    /// The device image; [`IntegerModel::new`] has checked it.
    image: Vec<u8>,
}

/// Makes `model` integer. Scales are chosen by running it on the sequences of `x` at `indices`,
/// which should be training data.
///
/// ```
/// use fastgrnn_core::cells::{Cell, CellKind, Start};
/// use fastgrnn_data::data::Sequences;
/// use fastgrnn_model::model::{Model, Task};
/// use fastgrnn_core::net::Network;
/// use fastgrnn_model::quantize::{Options, quantize};
/// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
/// let params = net.start(Start::default(), 3, 0);
/// let labels = vec!["still".to_string(), "moving".to_string()];
/// let model = Model::new(net, params, Task::Classes { labels });
/// let mut x = Sequences::new(1);
/// x.push(&[0.1, 0.2, 0.3]);
/// let integer = quantize(&model, &x, &[0], &Options::default())?;
/// assert_eq!(integer.scores(&x, &[0], 1).scores.len(), 2);
/// assert!(integer.image().len() < 4 * model.params.len() + 150);
/// # Ok::<(), fastgrnn_model::quantize::QuantizeError>(())
/// ```
pub fn quantize(
    model: &Model,
    x: &Sequences,
    indices: &[u32],
    options: &Options,
) -> Result<IntegerModel, QuantizeError> {
    if let Task::Sets { .. } = model.task {
        return Err(QuantizeError::SeveralLabels);
    }
    let network = build(model, x, indices, options)?;
    IntegerModel::new(model, network)
}

impl IntegerModel {
    /// Puts an integer network in the place of `about`'s parameters.
    pub fn new(about: &Model, network: IntegerNetwork) -> Result<Self, QuantizeError> {
        let image = network.image();
        HostModel::read(&image)?;
        let model = Model { params: network.params(&about.network), ..about.clone() };
        Ok(Self { model, network, detector: None, image })
    }

    /// The front end that a device has before the network: that of a model that listens, where the
    /// network reads its counts as they are.
    pub fn front(&self) -> Option<features::Spec> {
        self.model.audio.filter(|_| self.network.input.lsb.iter().all(|&lsb| lsb == features::COUNT))
    }

    /// The token of the end of a line, of a language model.
    pub fn end_of_line(&self) -> Option<u32> {
        (self.model.task == Task::NextToken).then(|| self.model.end_of_line())
    }

    /// The detector that the model's file holds.
    pub fn detector(&self) -> Option<&Detector> {
        self.detector.as_ref()
    }

    /// The stored detector, or one with default values of the classes that are keywords by name.
    pub fn detector_or_default(&self) -> Result<Detector, DetectorProblem> {
        match &self.detector {
            Some(detector) => Ok(detector.clone()),
            None => Detector::of(self.model.labels()),
        }
    }

    /// Gives the model a detector, after checking it against the network.
    pub fn set_detector(&mut self, detector: Option<Detector>) -> Result<(), DetectorProblem> {
        if let Some(detector) = &detector {
            let view = self.view();
            detector.view().check(view.meaning(), view.outputs())?;
        }
        self.detector = detector;
        Ok(())
    }

    /// The device image: every byte that a device stores of the model.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The runtime's view of the image.
    pub fn view(&self) -> HostModel<'_> {
        HostModel::read(&self.image).expect("the image was checked when the model was made")
    }

    /// Predicts every sequence, with integers only.
    pub fn predict(&self, x: &Sequences, threads: usize) -> Result<(Predictions, Saturations), ModelError> {
        self.model.check_sequences(x)?;
        if self.model.task == Task::NextToken {
            return Err(ModelError::NextToken);
        }
        let all: Vec<u32> = (0..x.len() as u32).collect();
        let (predictions, _, saturations) = self.predictions(x, &all, threads);
        Ok((predictions, saturations))
    }

    /// Predicts every example and compares with its label, matching classes by name.
    pub fn evaluate(
        &self,
        examples: &Examples,
        threads: usize,
    ) -> Result<(Evaluation, Predictions, Saturations), ModelError> {
        let all: Vec<u32> = (0..examples.len() as u32).collect();
        self.evaluate_at(examples, &all, threads)
    }

    /// [`IntegerModel::evaluate`] of the examples at `indices`.
    pub fn evaluate_at(
        &self,
        examples: &Examples,
        indices: &[u32],
        threads: usize,
    ) -> Result<(Evaluation, Predictions, Saturations), ModelError> {
        self.model.check_sequences(&examples.x)?;
        let y = self.model.own_labels(&examples.y)?;
        if self.model.task == Task::NextToken {
            let (evaluation, saturations) = self.evaluate_tokens(&examples.x, indices, threads);
            return Ok((evaluation, Predictions::none(), saturations));
        }
        let (predictions, scores, saturations) = self.predictions(&examples.x, indices, threads);
        let mut scorer = Scorer::new(&self.model.network, 1)?;
        let loss = scorer.loss(&self.model, &scores, &y, indices)?;
        let evaluation = predictions.evaluate(&self.model, &y, indices, loss);
        Ok((evaluation, predictions, saturations))
    }

    /// Predictions and the scores as numbers.
    fn predictions(
        &self,
        x: &Sequences,
        indices: &[u32],
        threads: usize,
    ) -> (Predictions, Vec<f32>, Saturations) {
        let found = self.scores(x, indices, threads);
        let unit = f64::from(-self.network.score_bits()).exp2();
        let scores: Vec<f32> = found.scores.iter().map(|&s| (f64::from(s) * unit) as f32).collect();
        let mut predictions = Predictions::new(&self.model, scores.clone());
        if !predictions.classes.is_empty() {
            // The device's decision; floats might see equals where integers do not.
            let view = self.view();
            let rows = found.scores.chunks_exact(view.outputs());
            predictions.classes = rows.map(|row| view.decide(row).class as u32).collect();
        }
        (predictions, scores, found.saturations)
    }
}
