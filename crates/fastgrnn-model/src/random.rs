//! Integer models without training: random weights, exact supports, scales as of a trained one.
//!
//! What a network costs on a board depends on its shape and on how many of its weights are there,
//! hardly on what they are. [`RandomModel`] makes one of any shape, so that flash, RAM and time can
//! be measured before the training that would take hours. It differs from rounding a network at its
//! starting values in two ways: every matrix has exactly the entries that a sparsity leaves it, and
//! values have the sizes of a trained network, neither dead nor saturated, because weights are
//! drawn by how many inputs they have and scales are then chosen by the same calibration that a
//! trained model goes through, on random walks of sensors with offsets and unequal ranges.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! use fastgrnn_model::random::RandomModel;
//! let cell = Cell::new(CellKind::FastGrnn, 3, 16).with_ranks(Some(2), Some(8));
//! let spec = RandomModel { kept_w: 0.5, kept_u: 0.5, ..RandomModel::new(cell, 2, 20) };
//! let model = spec.build()?;
//! // Half of 16 × 2, 3 × 2, 16 × 8 and 16 × 8.
//! assert_eq!(model.macs_per_step(), 16 + 3 + 64 + 64);
//! assert_eq!(spec.build()?.to_bytes()?, model.to_bytes()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::model::{Model, Task};
use crate::quantize::{
    BiasBits, IntegerModel, Options, QuantizeError, StepGrid, check_form, kept_entries, quantize,
};
use crate::settings::{
    InputLayer, MAX_HIDDEN, ModelRecipe, NetworkRecipe, QuantizationRecipe, SparsityRecipe,
};
use fastgrnn_core::cells::{
    Cell, MatrixForm, Nonlinearity, NonlinearityF64, Role, SlowStart, Start, WeightBits,
};
use fastgrnn_core::net::{InitialState, Layout, Network, NetworkError, View};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_core::window::Window;
use fastgrnn_data::data::{Normalize, Normalizer, RandomWalks, Sequences};
use fastgrnn_engine::reference;

/// Most features of a time step; an integer form allows fewer, which is checked later.
const MAX_INPUT: usize = 1 << 16;
/// Most steps of a sequence.
const MOST_STEPS: usize = 1 << 20;
/// Most outputs.
const MOST_CLASSES: usize = 1 << 12;
/// Calibration sequences, and the multiplications that they may take.
const SEQUENCES: usize = 64;
const WORK: usize = 1 << 29;
/// What a unit's input and state each add to its sum, as deviations: gates are then in motion and
/// seldom at their ends.
const GAIN_W: f64 = 0.5;
const GAIN_U: f64 = 0.4;
/// Deviation of scores.
const GAIN_HEAD: f64 = 2.0;
/// Share of its state that a gate keeps on average.
const KEEP: f64 = 0.6;
/// Deviation of biases within a layer.
const BIAS: f64 = 0.2;
/// Deviation of the gains of gates from 1.
const GATE_GAIN: f64 = 0.25;
/// Weights in deviations: none smaller, which would round to 0, and none larger, which would
/// coarsen the grid of all others.
const WEIGHTS: std::ops::Range<f64> = 0.1..3.0;

/// The shape of a random model.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomModel {
    /// The first layer of cells, with the features of a frame as its input; those above it read its state
    /// and are alike otherwise. Unlike a trained model's, α, β, ζ and ν are where training would start.
    pub cell: Cell,
    /// The layer below it that reads several frames, if there is one.
    pub input_layer: Option<InputLayer>,
    /// Layers.
    pub layers: usize,
    /// Fraction kept of W, or of each of its factors.
    pub kept_w: f64,
    /// Fraction kept of U, or of each of its factors. Without meaning where there is no U.
    pub kept_u: f64,
    /// Fraction kept of the head's matrix.
    pub kept_head: f64,
    /// Bits of the entries of the head's matrix.
    pub bits_head: WeightBits,
    /// Bits of biases, if not the usual ones.
    pub bias_bits: Option<BiasBits>,
    /// Classes, called class0, class1 and so on.
    pub classes: usize,
    /// Steps of a sequence: what random data for the model has.
    pub steps: usize,
    /// What everything is drawn from.
    pub seed: u64,
}

/// A shape that makes no integer model.
#[derive(Debug, thiserror::Error)]
pub enum RandomError {
    /// A number outside its range.
    #[error("{key} = {value}: it must be between {low} and {high}")]
    Range {
        /// The key.
        key: &'static str,
        /// The value.
        value: usize,
        /// The least.
        low: usize,
        /// The most.
        high: usize,
    },
    /// A fraction that keeps nothing or more than there is.
    #[error("{key} = {value}: it must be the fraction to keep, above 0 and at most 1")]
    Kept {
        /// The key.
        key: &'static str,
        /// The value.
        value: f64,
    },
    /// A fraction of a matrix that is stored whole.
    #[error("{key} = {value}: the form of this matrix is {form}, which is stored whole")]
    Sparse {
        /// The setting.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The form of the matrix.
        form: MatrixForm,
    },
    /// A fraction of a matrix whose entries have 4 bits.
    #[error(
        "{key} = {value}: a matrix whose entries have 4 bits is stored whole; use {key} 1, or 8 bits for it"
    )]
    SparseFourBits {
        /// The setting.
        key: &'static str,
        /// Its value.
        value: f64,
    },
    /// No such network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A network without an integer form.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
}

impl RandomModel {
    /// A dense model of one layer, with the nonlinearities that integers compute without a table.
    pub fn new(cell: Cell, classes: usize, steps: usize) -> Self {
        let update = match cell.kind.declaration().update {
            Nonlinearity::Tanh => Nonlinearity::QuantTanh,
            update => update,
        };
        let cell = cell.with_nonlinearities(Nonlinearity::QuantSigm, update);
        let (bits_head, bias_bits) = (WeightBits::Eight, None);
        let (kept_w, kept_u, kept_head) = (1.0, 1.0, 1.0);
        Self {
            cell,
            input_layer: None,
            layers: 1,
            kept_w,
            kept_u,
            kept_head,
            bits_head,
            bias_bits,
            classes,
            steps,
            seed: 0,
        }
    }

    /// The network, once it is known to have an integer form.
    fn network(&self) -> Result<Network, RandomError> {
        for (key, value, low, high) in [
            ("input", self.cell.input, 1, MAX_INPUT),
            ("hidden", self.cell.hidden, 1, MAX_HIDDEN),
            ("layers", self.layers, 1, fastgrnn_core::net::MAX_LAYERS),
            ("classes", self.classes, 2, MOST_CLASSES),
            ("steps", self.steps, 1, MOST_STEPS),
        ] {
            if !(low..=high).contains(&value) {
                return Err(RandomError::Range { key, value, low, high });
            }
        }
        for (key, value) in [("keep-w", self.kept_w), ("keep-u", self.kept_u), ("keep-head", self.kept_head)]
        {
            if !(value > 0.0 && value <= 1.0) {
                return Err(RandomError::Kept { key, value });
            }
        }
        for (key, kept, form) in
            [("keep-w", self.kept_w, self.cell.form_w), ("keep-u", self.kept_u, self.cell.form_u)]
        {
            if kept < 1.0 && form == MatrixForm::Diagonal {
                return Err(RandomError::Sparse { key, value: kept, form });
            }
        }
        for (key, value, bits) in [
            ("keep-w", self.kept_w, self.cell.bits_w),
            ("keep-u", self.kept_u, self.cell.bits_u),
            ("keep-head", self.kept_head, self.bits_head),
        ] {
            if value < 1.0 && bits == WeightBits::Four {
                return Err(RandomError::SparseFourBits { key, value });
            }
        }
        let projection = self.input_layer.map(|layer| layer.cell(self.cell.input));
        let projection = projection.map(|cell| Cell { bits_w: self.cell.bits_w, ..cell });
        let input = projection.as_ref().map_or(self.cell.input, |projection| projection.hidden);
        let cell = |input| Cell { input, ..self.cell.clone() };
        let cells = (0..self.layers).map(|i| cell(if i == 0 { input } else { self.cell.hidden }));
        let window = self.input_layer.map_or(Window::FRAME, |layer| layer.window());
        if self.steps < window.stride {
            return Err(RandomError::Range {
                key: "steps",
                value: self.steps,
                low: window.stride,
                high: MOST_STEPS,
            });
        }
        let network = Network::new(projection.into_iter().chain(cells).collect(), self.classes);
        let network = Network { window, bits_head: self.bits_head, ..network };
        network.check()?;
        check_form(&network, Normalize::PerFeature, &InitialState::Zero)?;
        Ok(network)
    }

    /// Draws the model and chooses its scales.
    pub fn build(&self) -> Result<IntegerModel, RandomError> {
        let network = self.network()?;
        let layout = network.layout();
        let params = self.params(&network, &layout);
        let dim = self.cell.input;
        let mut rng = self.rng(layout.views().len());
        // Sensors of unequal ranges, whose zero lies anywhere in them.
        let spread: Vec<f32> = (0..dim).map(|_| rng.range(-2.0, 4.0).exp2() as f32).collect();
        let mean = spread.iter().map(|s| s * rng.range(-2.0, 2.0) as f32).collect::<Vec<_>>();
        let labels = (0..self.classes).map(|i| format!("class{i}")).collect();
        let mut model = Model {
            normalizer: Normalizer {
                mode: Normalize::PerFeature,
                mean: mean.clone(),
                scale: spread.iter().map(|s| 1.0 / s).collect(),
            },
            seed: self.seed,
            dataset: "random".into(),
            steps: self.steps,
            recipe: self.recipe(),
            ..Model::new(network, params, Task::Classes { labels })
        };
        // Another stream than that of the data on which the model will be tried.
        let walks = RandomWalks { seed: rng.next_u64(), mean, spread };
        let sequences = (WORK / (self.steps * layout.len())).clamp(1, SEQUENCES);
        let x = walks.sequences(sequences, self.steps);
        let all: Vec<u32> = (0..x.len() as u32).collect();
        self.balance(&mut model, &x)?;
        Ok(quantize(&model, &x, &all, &Options { bias_bits: self.bias_bits, ..Options::default() })?)
    }

    /// Moves the head's biases so that scores are 0 on average: every class has its turn.
    ///
    /// By the reference, whose bits do not depend on the processor's vectors.
    fn balance(&self, model: &mut Model, x: &Sequences) -> Result<(), RandomError> {
        let mut batch = model.network.empty_batch();
        for i in 0..x.len() {
            model.push(&mut batch, x, i).map_err(QuantizeError::from)?;
        }
        let params: Vec<f64> = model.params.iter().map(|&p| f64::from(p)).collect();
        let scores = reference::scores(&model.network, &params, &batch);
        let layout = model.network.layout();
        let Some(biases) = layout.view("head.b") else { return Ok(()) };
        for (class, bias) in model.params[biases.range()].iter_mut().enumerate() {
            let of_class = scores.iter().skip(class).step_by(self.classes);
            *bias -= (of_class.sum::<f64>() / x.len() as f64) as f32;
        }
        Ok(())
    }

    fn rng(&self, key: usize) -> Rng {
        Rng::keyed(self.seed, &[stream::RANDOM_MODEL, key as u64])
    }

    /// The fraction kept of a matrix, and what its products should add up to.
    fn of_matrix(&self, name: &str) -> (f64, f64) {
        match name.split_once('.') {
            Some(("layer0", _)) if self.input_layer.is_some() => (1.0, 1.0),
            Some(("head", _)) => (self.kept_head, GAIN_HEAD),
            // Second factors hand on values of the size that they read.
            Some((_, "w2")) => (self.kept_w, 1.0),
            Some((_, "u2")) => (self.kept_u, 1.0),
            Some((_, name)) if name.starts_with('w') => (self.kept_w, GAIN_W),
            _ => (self.kept_u, GAIN_U),
        }
    }

    fn params(&self, network: &Network, layout: &Layout) -> Vec<f32> {
        // Where training starts: α, β, ζ and ν stay there.
        let mut params = network.start(Start::Slow, self.steps, self.seed);
        let biases = network.layers.iter().flat_map(|cell| cell.params().into_iter().map(|p| p.pointwise));
        let biases = biases.chain(std::iter::repeat(None));
        for (i, (view, declared)) in layout.views().iter().zip(biases).enumerate() {
            let mut rng = self.rng(i);
            let out = &mut params[view.range()];
            match (view.role, declared.map(|p| p.slow)) {
                (Role::Weight | Role::Embedding, _) => self.weights(view, &mut rng, out),
                (Role::Bias, slow) => {
                    let centre = match slow {
                        Some(SlowStart::Keep) => self.cell.gate.inverse(KEEP),
                        Some(SlowStart::Admit) => self.cell.gate.inverse(1.0 - KEEP),
                        _ => 0.0,
                    };
                    out.iter_mut().for_each(|b| *b = (centre + BIAS * rng.normal()) as f32);
                }
                (Role::Gain, _) => out.iter_mut().for_each(|g| *g += (GATE_GAIN * rng.normal()) as f32),
                (Role::Raw | Role::Basis | Role::Step, _) => {}
            }
        }
        for (matrix, step) in layout.stepped() {
            let grid = StepGrid::of(&params[matrix.range()]);
            params[step.offset] = grid.step.ln();
            params[matrix.range()].iter_mut().for_each(|v| *v = grid.nearest(*v));
        }
        params
    }

    /// Draws a support of exactly the size that a sparsity leaves, and the weights on it.
    fn weights(&self, view: &View, rng: &mut Rng, out: &mut [f32]) {
        let (kept, gain) = self.of_matrix(&view.name);
        let entries = kept_entries(kept, view.len());
        // A second factor is used transposed: its columns are its products.
        let products = if view.name.ends_with('2') { view.cols } else { view.rows };
        let deviation = gain / (entries as f64 / products as f64).max(1.0).sqrt();
        let mut order: Vec<usize> = (0..view.len()).collect();
        rng.shuffle(&mut order);
        out.fill(0.0);
        for &at in &order[..entries] {
            let size = std::iter::repeat_with(|| rng.normal()).find(|v| WEIGHTS.contains(&v.abs()));
            out[at] = (deviation * size.unwrap_or(1.0)) as f32;
        }
    }

    /// The settings with which `train` would make a network of this shape.
    fn recipe(&self) -> ModelRecipe {
        let cell = &self.cell;
        let network = NetworkRecipe {
            cell: Some(cell.kind),
            hidden: Some(cell.hidden),
            rank_w: Some(cell.form_w.rank().into()),
            rank_u: Some(cell.form_u.rank().into()),
            form_w: Some(cell.form_w.into()),
            form_u: Some(cell.form_u.into()),
            layers: Some(self.layers),
            input_layer: self.input_layer,
            gate: cell.kind.declaration().gated().then_some(cell.gate),
            update: Some(cell.update),
            ..NetworkRecipe::default()
        };
        let sparsity = SparsityRecipe {
            keep_w: Some(self.kept_w),
            keep_u: Some(self.kept_u),
            keep_head: Some(self.kept_head),
        };
        let four = |bits: WeightBits| (bits == WeightBits::Four).then_some(bits);
        let quantization = QuantizationRecipe {
            bits_w: four(cell.bits_w),
            bits_u: four(cell.bits_u),
            bits_head: four(self.bits_head),
            bits_bias: self.bias_bits.map(|bits| bits.count() as usize),
            ..QuantizationRecipe::default()
        };
        ModelRecipe { network, sparsity, quantization, ..ModelRecipe::default() }
    }
}
