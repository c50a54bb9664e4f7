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
mod flow;
mod layer;
mod linear;
mod loss;
mod step_jacobian;

pub use crate::cells::{Memory, Parameters, Unit};
pub use flow::{jacobians, state_gradients};
pub use step_jacobian::StepJacobian;

use crate::cells;
use fastgrnn_core::batch::Batch;
use fastgrnn_core::cells::{Cell, CellKind};
use fastgrnn_core::net::{EMBEDDING, Loss, Network, Readout};
use fastgrnn_core::regularize::Place;
use layer::ReferenceLayer;
use linear::Linear;

/// The scores of each readout row, `rows × outputs`.
pub fn scores(net: &Network, params: &[f64], batch: &Batch) -> Vec<f64> {
    let model = Model::new(net);
    let mut scores = Vec::new();
    for i in 0..batch.len() {
        let run = model.forward(params, batch, i, false);
        if net.readout.is_pooled() {
            scores.extend(model.head(params, &run.pooled(net.readout, batch.steps(i)).0));
            continue;
        }
        for t in model.readout_steps(batch.steps(i)) {
            scores.extend(model.head(params, &run.read(t)));
        }
    }
    scores
}

/// The states of each layer after each step, `total steps × hidden` in the order of the batch.
pub fn states(net: &Network, params: &[f64], batch: &Batch) -> Vec<Vec<f64>> {
    let model = Model::new(net);
    let mut states = vec![Vec::new(); net.layers.len()];
    for i in 0..batch.len() {
        for (out, pass) in states.iter_mut().zip(&model.forward(params, batch, i, false).passes) {
            (0..batch.steps(i)).for_each(|t| out.extend_from_slice(pass.state_after(t)));
        }
    }
    states
}

/// The whole state of each sequence after its last step, as [`Batch::carried`] has it.
pub fn last_states(net: &Network, params: &[f64], batch: &Batch) -> Vec<f64> {
    let model = Model::new(net);
    let mut states = Vec::new();
    for i in 0..batch.len() {
        for (cell, pass) in net.layers.iter().zip(&model.forward(params, batch, i, false).passes) {
            states.extend_from_slice(pass.state_after(batch.steps(i) - 1));
            if cell.state_len() > cell.hidden {
                states.extend_from_slice(pass.last_c());
            }
        }
    }
    states
}

/// The weighted mean loss over the readout rows with the batch's penalties and dropout, and its
/// derivative by every parameter.
pub fn gradient(net: &Network, params: &[f64], batch: &Batch, loss: Loss) -> (f64, Vec<f64>) {
    gradient_with(net, params, batch, loss, &mut |_, _, _, _| {})
}

/// Is given a sequence, a layer, a number of steps and the derivative of the loss by the layer's state after so many
/// steps; 0 means the initial state.
type SeeDerivative<'a> = dyn FnMut(usize, usize, usize, &[Memory]) + 'a;

/// The same, and `see` is given the derivatives by the states.
fn gradient_with(
    net: &Network,
    params: &[f64],
    batch: &Batch,
    loss: Loss,
    see: &mut SeeDerivative,
) -> (f64, Vec<f64>) {
    let model = Model::new(net);
    let mut total = 0.0;
    let mut gradient = vec![0.0; params.len()];
    let of_sequences = |count: &dyn Fn(usize) -> usize| (0..batch.len()).map(count).sum::<usize>();
    let readings = |i: usize| if net.readout == Readout::Last { batch.readings(i) } else { 1 };
    let weight_sum: f64 = (0..batch.len())
        .map(|i| loss::weight(batch, i) * model.readout_steps(batch.steps(i)).len() as f64)
        .sum();
    let reads = of_sequences(&|i| readings(i) * model.readout_steps(batch.steps(i)).len());
    let changes = of_sequences(&|i| batch.steps(i) - 1);
    let mean = |factor: f32, rows: usize| f64::from(factor) / (rows.max(1) * net.hidden()) as f64;
    let activation = mean(batch.regularization.activation, reads);
    let temporal = mean(batch.regularization.temporal, changes);
    let mut row = 0;
    for i in 0..batch.len() {
        let steps = batch.steps(i);
        let run = model.forward(params, batch, i, true);
        let share = loss::weight(batch, i) / weight_sum / readings(i) as f64;
        let mut d_states = vec![vec![0.0; net.hidden()]; steps];
        // The rows of the head: each with its readout row. Earlier readings share the last one's.
        let first = row;
        row += model.readout_steps(steps).len();
        let later = model.readout_steps(steps).zip(first..);
        let earlier = (1..readings(i)).map(|k| (steps - 1 - k * batch.earlier.every, first));
        if net.readout.is_pooled() {
            let (state, shares) = run.pooled(net.readout, steps);
            let (value, mut d_scores) = loss::row(loss, &model.head(params, &state), batch, first);
            total += share * value + activation * state.iter().map(|h| h * h).sum::<f64>();
            d_scores.iter_mut().for_each(|d| *d *= share);
            let mut d_state = model.head_reverse(params, &state, &d_scores, &mut gradient);
            d_state.iter_mut().zip(&state).for_each(|(d, h)| *d += 2.0 * activation * h);
            for (d, share) in d_states.iter_mut().zip(&shares) {
                d.iter_mut().zip(share).zip(&d_state).for_each(|((d, share), of)| *d = share * of);
            }
        }
        for (t, row) in later.chain(earlier).filter(|_| !net.readout.is_pooled()) {
            let state = run.read(t);
            let (value, mut d_scores) = loss::row(loss, &model.head(params, &state), batch, row);
            total += share * value + activation * state.iter().map(|h| h * h).sum::<f64>();
            d_scores.iter_mut().for_each(|d| *d *= share);
            d_states[t] = model.head_reverse(params, &state, &d_scores, &mut gradient);
            d_states[t].iter_mut().zip(&state).for_each(|(d, h)| *d += 2.0 * activation * h);
        }
        run.drop_from(run.masks.len() - 1, &mut d_states);
        let top = &run.passes[run.passes.len() - 1];
        for t in 1..steps {
            for (k, (new, old)) in top.state_after(t).iter().zip(top.state_after(t - 1)).enumerate() {
                let change = new - old;
                total += temporal * change * change;
                d_states[t][k] += 2.0 * temporal * change;
                d_states[t - 1][k] -= 2.0 * temporal * change;
            }
        }
        for (l, (layer, pass)) in model.layers.iter().zip(&run.passes).enumerate().rev() {
            let mut of_layer = |steps: usize, d: &[Memory]| see(i, l, steps, d);
            d_states = layer.reverse(params, pass, &d_states, &mut gradient, &mut of_layer);
            if l > 0 {
                run.drop_from(l - 1, &mut d_states);
            }
        }
        if let Some(table) = model.table {
            for (t, &token) in batch.tokens(i).iter().enumerate() {
                let row = &mut gradient[table + token as usize * net.input()..][..net.input()];
                for (k, g) in row.iter_mut().enumerate() {
                    *g += d_states[t][k] * run.input_factors[t][k];
                }
            }
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
    let passes = (0..batch.len()).flat_map(|i| model.forward(params, batch, i, true).passes);
    passes.map(|pass| pass.kink_margin).fold(f64::INFINITY, f64::min)
}

/// Unit `unit_index`'s next state by the rule of `kind`, from parameters stored anywhere.
pub fn step(kind: CellKind, parameters: &dyn Parameters, unit_index: usize, unit: &Unit) -> Memory {
    cells::step(kind, parameters, unit_index, unit)
}

/// One sequence taken through all layers.
struct Run {
    passes: Vec<layer::Pass>,
    /// Factors of each input, which dropout decides.
    input_factors: Vec<Vec<f64>>,
    /// Factors of the states that each layer hands on.
    masks: Vec<Vec<Vec<f64>>>,
}

impl Run {
    /// What the head reads after step `t`.
    fn read(&self, t: usize) -> Vec<f64> {
        let last = self.passes.len() - 1;
        self.passes[last].state_after(t).iter().zip(&self.masks[last][t]).map(|(h, m)| h * m).collect()
    }

    /// The mean or the largest values of what the head could read, and the derivative of it by each state.
    fn pooled(&self, readout: Readout, steps: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let states: Vec<Vec<f64>> = (0..steps).map(|t| self.read(t)).collect();
        let width = states[0].len();
        let (mut pooled, mut shares) = (vec![0.0; width], vec![vec![0.0; width]; steps]);
        for k in 0..width {
            let first_largest =
                (0..steps).fold(0, |best, t| if states[t][k] > states[best][k] { t } else { best });
            match readout {
                Readout::Max => {
                    pooled[k] = states[first_largest][k];
                    shares[first_largest][k] = 1.0;
                }
                _ => {
                    pooled[k] = states.iter().map(|state| state[k]).sum::<f64>() / steps as f64;
                    shares.iter_mut().for_each(|share| share[k] = 1.0 / steps as f64);
                }
            }
        }
        (pooled, shares)
    }

    /// From derivatives by what layer `l` hands on to those by its states.
    fn drop_from(&self, l: usize, d_states: &mut [Vec<f64>]) {
        for (d, mask) in d_states.iter_mut().zip(&self.masks[l]) {
            d.iter_mut().zip(mask).for_each(|(d, m)| *d *= m);
        }
    }
}

/// Where each layer, the head and the embedding find their parameters.
struct Model<'a> {
    net: &'a Network,
    layers: Vec<ReferenceLayer<'a>>,
    head: Linear,
    head_bias: usize,
    /// First entry of the embedding.
    table: Option<usize>,
}

impl<'a> Model<'a> {
    fn new(net: &'a Network) -> Self {
        let layout = net.layout();
        let start = |name: &str| layout.view(name).map(|view| view.offset);
        let table = start(EMBEDDING);
        let head = start("head.w").or(table).expect("the layout has a head");
        let mut offset = 0;
        let layers = net.layers.iter().map(|cell| ReferenceLayer::new(cell, &mut offset)).collect();
        let head = Linear::full(head, net.outputs, net.hidden());
        let head_bias = start("head.b").expect("the layout has a head");
        Self { net, layers, head, head_bias, table }
    }

    /// Runs sequence `i` through all layers, with dropout if `training`.
    fn forward(&self, params: &[f64], batch: &Batch, i: usize, training: bool) -> Run {
        let (steps, dropout) = (batch.steps(i), &batch.regularization.dropout);
        let mask = |place: Place, width: usize| -> Vec<Vec<f64>> {
            let mut mask = vec![1.0; steps * width];
            if training && dropout.rate(place) > 0.0 {
                dropout.fill(place, i, width, &mut mask);
            }
            mask.chunks(width).map(|step| step.iter().map(|&m| f64::from(m)).collect()).collect()
        };
        let dim = self.net.step_input();
        let mut input_factors = mask(Place::Input, dim);
        let mut inputs: Vec<Vec<f64>> = match self.table {
            Some(table) => {
                let vector = |&token: &u32| params[table + token as usize * dim..][..dim].to_vec();
                for (factors, &token) in input_factors.iter_mut().zip(batch.tokens(i)).filter(|_| training) {
                    factors.iter_mut().for_each(|f| *f *= f64::from(dropout.of_token(token)));
                }
                batch.tokens(i).iter().map(vector).collect()
            }
            None => {
                let mut read = vec![0.0; dim];
                let of_step = |t: usize| {
                    batch.read_step(i, t, &mut read);
                    read.iter().map(|&v| f64::from(v)).collect()
                };
                (0..steps).map(of_step).collect()
            }
        };
        for (x, factors) in inputs.iter_mut().zip(&input_factors) {
            x.iter_mut().zip(factors).for_each(|(x, f)| *x *= f);
        }
        let mut run = Run { passes: Vec::new(), input_factors, masks: Vec::new() };
        for (l, layer) in self.layers.iter().enumerate() {
            let is_top = l + 1 == self.layers.len();
            let pass = layer.forward(params, inputs, self.first_state(batch, i, l));
            let factors =
                mask(if is_top { Place::Output } else { Place::Layer(l) }, self.net.layers[l].hidden);
            let dropped =
                |t: usize| pass.state_after(t).iter().zip(&factors[t]).map(|(h, m)| h * m).collect();
            inputs = (0..steps).map(dropped).collect();
            run.passes.push(pass);
            run.masks.push(factors);
        }
        run
    }

    /// The state of layer `l` before the first step of sequence `i`.
    fn first_state(&self, batch: &Batch, i: usize, l: usize) -> Vec<Memory> {
        let (cells, hidden) = (&self.net.layers, self.net.layers[l].hidden);
        let zero = || vec![Memory::default(); hidden];
        let sum = |cells: &[Cell], of: fn(&Cell) -> usize| cells.iter().map(of).sum::<usize>();
        let mut memory = zero();
        if !batch.initial.is_empty() {
            let start = i * sum(cells, |c| c.hidden) + sum(&cells[..l], |c| c.hidden);
            memory.iter_mut().zip(&batch.initial[start..]).for_each(|(m, &h)| m.h = f64::from(h));
        }
        if !batch.carried.is_empty() {
            let start = i * self.net.state_len() + sum(&cells[..l], Cell::state_len);
            let of_layer = &batch.carried[start..start + cells[l].state_len()];
            memory.iter_mut().zip(of_layer).for_each(|(m, &h)| m.h = f64::from(h));
            memory.iter_mut().zip(&of_layer[hidden..]).for_each(|(m, &c)| m.c = f64::from(c));
        }
        memory
    }

    /// The steps of a sequence whose states the head reads.
    fn readout_steps(&self, steps: usize) -> std::ops::Range<usize> {
        match self.net.readout {
            Readout::Last | Readout::Mean | Readout::Max => steps - 1..steps,
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
