//! Every cell in plain scalar f64, forward and backward through time: the oracle.
//!
//! Nothing here is fast. Each cell's rule reads like its equation and states its derivative by hand
//! (the files of `src/cells`); the engine, the device runtime and PyTorch are all compared with this code,
//! and this code with central differences.
//!
//! The functions take networks that pass [`Network::check`] and batches that fit them; they panic
//! on others. The trainer never calls them.
//!
//! ```
//! use fastgrnn_core::batch::{Batch, Targets};
//! use fastgrnn_core::cells::{Cell, CellKind};
//! use fastgrnn_engine::engine::Loss;
//! use fastgrnn_core::net::Network;
//! use fastgrnn_engine::reference;
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 2)], 2);
//! let mut params = vec![0.1; net.layout().len()];
//! let mut batch = Batch::new(1);
//! batch.push(&[0.5, -0.5]);
//! batch.targets = Targets::Class(vec![1]);
//! let (loss, gradient) = reference::gradient(&net, &params, &batch, Loss::SoftmaxCrossEntropy);
//! params.iter_mut().zip(&gradient).for_each(|(p, g)| *p -= 0.1 * g);
//! assert!(reference::gradient(&net, &params, &batch, Loss::SoftmaxCrossEntropy).0 < loss);
//! ```
mod layer;
mod linear;
mod loss;

pub use crate::cells::{Memory, Parameters, Unit};

use crate::cells;
use fastgrnn_core::batch::Batch;
use fastgrnn_core::cells::CellKind;
use fastgrnn_core::net::Loss;
use fastgrnn_core::net::{Network, Readout};
use layer::ReferenceLayer;
use linear::Linear;

/// The scores of each readout row, `rows × outputs`.
pub fn scores(net: &Network, params: &[f64], batch: &Batch) -> Vec<f64> {
    let model = Model::new(net);
    let mut scores = Vec::new();
    for i in 0..batch.len() {
        let passes = model.forward(params, batch, i);
        for t in model.readout_steps(batch.steps(i)) {
            scores.extend(model.head(params, passes[passes.len() - 1].state_after(t)));
        }
    }
    scores
}

/// The states of each layer after each step, `total steps × hidden` in the order of the batch.
pub fn states(net: &Network, params: &[f64], batch: &Batch) -> Vec<Vec<f64>> {
    let model = Model::new(net);
    let mut states = vec![Vec::new(); net.layers.len()];
    for i in 0..batch.len() {
        for (out, pass) in states.iter_mut().zip(model.forward(params, batch, i)) {
            (0..batch.steps(i)).for_each(|t| out.extend_from_slice(pass.state_after(t)));
        }
    }
    states
}

/// The weighted mean loss over the readout rows, and its derivative by every parameter.
pub fn gradient(net: &Network, params: &[f64], batch: &Batch, loss: Loss) -> (f64, Vec<f64>) {
    let model = Model::new(net);
    let mut total = 0.0;
    let mut gradient = vec![0.0; params.len()];
    let weight_sum: f64 = (0..batch.len())
        .map(|i| loss::weight(batch, i) * model.readout_steps(batch.steps(i)).len() as f64)
        .sum();
    let mut row = 0;
    for i in 0..batch.len() {
        let steps = batch.steps(i);
        let share = loss::weight(batch, i) / weight_sum;
        let passes = model.forward(params, batch, i);
        let mut d_states = vec![vec![0.0; net.hidden()]; steps];
        for t in model.readout_steps(steps) {
            let state = passes[passes.len() - 1].state_after(t);
            let scores = model.head(params, state);
            let (value, mut d_scores) = loss::row(loss, &scores, batch, row);
            let last = if net.readout == Readout::Last { batch.readings(i) as f64 } else { 1.0 };
            total += share * value / last;
            d_scores.iter_mut().for_each(|d| *d *= share / last);
            d_states[t] = model.head_reverse(params, state, &d_scores, &mut gradient);
            row += 1;
        }
        let earlier = if net.readout == Readout::Last { batch.readings(i) } else { 1 };
        for k in 1..earlier {
            let t = steps - 1 - k * batch.earlier.every;
            let state = passes[passes.len() - 1].state_after(t);
            let (value, mut d_scores) = loss::row(loss, &model.head(params, state), batch, row - 1);
            total += share * value / earlier as f64;
            d_scores.iter_mut().for_each(|d| *d *= share / earlier as f64);
            d_states[t] = model.head_reverse(params, state, &d_scores, &mut gradient);
        }
        for (layer, pass) in model.layers.iter().zip(&passes).rev() {
            d_states = layer.reverse(params, pass, &d_states, &mut gradient);
        }
    }
    (total, gradient)
}

/// The smallest distance between any nonlinearity's argument and a kink of that nonlinearity.
///
/// Where it is small, a difference quotient (or the same sum rounded another way) may fall on the
/// other side of the kink and rightly disagree with the derivative. Arguments exactly on a kink do
/// not count: they are made of clipped values (an LSTM's first cell state under relu, say) and do
/// not move with the parameters.
pub fn kink_margin(net: &Network, params: &[f64], batch: &Batch) -> f64 {
    let model = Model::new(net);
    let passes = (0..batch.len()).flat_map(|i| model.forward(params, batch, i));
    passes.map(|pass| pass.kink_margin).fold(f64::INFINITY, f64::min)
}

/// Unit `unit_index`'s next state by the rule of `kind`, from parameters stored anywhere.
pub fn step(kind: CellKind, parameters: &dyn Parameters, unit_index: usize, unit: &Unit) -> Memory {
    cells::step(kind, parameters, unit_index, unit)
}

/// Where each layer and the head find their parameters.
struct Model<'a> {
    net: &'a Network,
    layers: Vec<ReferenceLayer<'a>>,
    head: Linear,
    head_bias: usize,
}

impl<'a> Model<'a> {
    fn new(net: &'a Network) -> Self {
        let layout = net.layout();
        let start = |name: &str| layout.view(name).expect("the layout has a head").offset;
        let mut offset = 0;
        let layers = net.layers.iter().map(|cell| ReferenceLayer::new(cell, &mut offset)).collect();
        let head = Linear::full(start("head.w"), net.outputs, net.hidden());
        Self { net, layers, head, head_bias: start("head.b") }
    }

    /// Runs sequence `i` through all layers.
    fn forward(&self, params: &[f64], batch: &Batch, i: usize) -> Vec<layer::Pass> {
        let mut inputs: Vec<Vec<f64>> = batch
            .sequence(i)
            .chunks(batch.dim())
            .map(|step| step.iter().map(|&v| f64::from(v)).collect())
            .collect();
        let mut passes = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            let pass = layer.forward(params, inputs, self.initial(batch, i, l));
            inputs = (0..batch.steps(i)).map(|t| pass.state_after(t).to_vec()).collect();
            passes.push(pass);
        }
        passes
    }

    /// The state of layer `l` before the first step of sequence `i`.
    fn initial(&self, batch: &Batch, i: usize, l: usize) -> Vec<f64> {
        let hidden = self.net.layers[l].hidden;
        if batch.initial.is_empty() {
            return vec![0.0; hidden];
        }
        let width: usize = self.net.layers.iter().map(|cell| cell.hidden).sum();
        let before: usize = self.net.layers[..l].iter().map(|cell| cell.hidden).sum();
        let start = i * width + before;
        batch.initial[start..start + hidden].iter().map(|&h| f64::from(h)).collect()
    }

    /// The steps of a sequence whose states the head reads.
    fn readout_steps(&self, steps: usize) -> std::ops::Range<usize> {
        match self.net.readout {
            Readout::Last => steps - 1..steps,
            Readout::Every => 0..steps,
        }
    }

    fn head(&self, params: &[f64], state: &[f64]) -> Vec<f64> {
        let mut scores = self.head.apply(params, state);
        scores.iter_mut().zip(&params[self.head_bias..]).for_each(|(s, b)| *s += b);
        scores
    }

    fn head_reverse(&self, params: &[f64], state: &[f64], d: &[f64], gradient: &mut [f64]) -> Vec<f64> {
        gradient[self.head_bias..].iter_mut().zip(d).for_each(|(g, d)| *g += d);
        self.head.reverse(params, state, d, gradient)
    }
}
