//! Random networks and batches for tests that compare one implementation with another.
#![allow(dead_code, reason = "each test file uses its own part")]

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::cells::{CELLS, Cell, CellKind, MatrixForm, Nonlinearity, Orthogonal, Role};
use fastgrnn_core::net::{Network, Readout};
use fastgrnn_core::rng::Rng;
use fastgrnn_engine::engine::Loss;
use fastgrnn_engine::reference;

pub const LOSSES: [Loss; 3] = [Loss::SoftmaxCrossEntropy, Loss::BinaryCrossEntropy, Loss::SquaredError];

/// Every cell.
pub fn kinds() -> impl Iterator<Item = CellKind> {
    CELLS.iter().map(|d| d.kind)
}

/// Every cell that has an integer form.
pub fn integer_kinds() -> impl Iterator<Item = CellKind> {
    kinds().filter(|kind| kind.declaration().has_integers())
}

/// The least number of units of this cell that is not below `hidden`.
pub fn units(kind: CellKind, hidden: usize) -> usize {
    if kind.declaration().has_pairs { hidden.next_multiple_of(2) } else { hidden }
}

/// The pairs of gate and update nonlinearity that make a difference to `kind`.
pub fn nonlinearities(kind: CellKind) -> Vec<(Nonlinearity, Nonlinearity)> {
    let gates = if kind.declaration().gated() { &Nonlinearity::ALL[..] } else { &[Nonlinearity::Sigmoid] };
    gates.iter().flat_map(|&gate| Nonlinearity::ALL.map(|update| (gate, update))).collect()
}

/// `layers` cells of `hidden` units on `input` features; ranks are cut to what the sizes allow.
pub fn network(
    cell: &Cell,
    layers: usize,
    (rank_w, rank_u): (Option<usize>, Option<usize>),
    outputs: usize,
    readout: Readout,
) -> Network {
    let forms = (MatrixForm::of_rank(rank_w), MatrixForm::of_rank(rank_u));
    network_of_forms(cell, layers, forms, outputs, readout)
}

/// The forms of W and U that tests go through, besides full and low-rank ones.
pub const FORMS: [(MatrixForm, MatrixForm); 5] = [
    (MatrixForm::Full, MatrixForm::Diagonal),
    (MatrixForm::Full, MatrixForm::Absent),
    (MatrixForm::LowRank(2), MatrixForm::Diagonal),
    (MatrixForm::Diagonal, MatrixForm::Diagonal),
    (MatrixForm::Diagonal, MatrixForm::LowRank(3)),
];

/// Ways to make an orthogonal U of `hidden` units.
pub fn orthogonal(hidden: usize) -> Vec<Orthogonal> {
    let half = hidden.div_ceil(2);
    let mut forms = vec![
        Orthogonal::Reflections { count: hidden },
        Orthogonal::Reflections { count: half },
        Orthogonal::Spectral { count: half, margin: 0.1 },
        Orthogonal::Factored { margin: 0.1 },
    ];
    if hidden >= 4 && hidden.is_multiple_of(2) {
        forms.extend([1, half].map(|layers| Orthogonal::Rotations { layers }));
        forms.push(Orthogonal::FftRotations);
    }
    forms
}

/// Like [`network`], with given forms. A W that is not square is full instead of diagonal, a U that
/// the cell does not have stays absent, and a cell that reads pairs of units has an even number of them.
pub fn network_of_forms(
    cell: &Cell,
    layers: usize,
    (form_w, form_u): (MatrixForm, MatrixForm),
    outputs: usize,
    readout: Readout,
) -> Network {
    let cut = |form: MatrixForm, rows: usize, cols: usize| match form {
        MatrixForm::LowRank(rank) => MatrixForm::LowRank(rank.min(rows).min(cols)),
        form => form,
    };
    let cells = (0..layers).map(|l| {
        let mut cell = cell.clone();
        cell.hidden = units(cell.kind, cell.hidden);
        cell.input = if l == 0 { cell.input } else { cell.hidden };
        let rows = cell.blocks() * cell.hidden;
        cell.form_w = cut(form_w, rows, cell.input);
        if cell.form_w == MatrixForm::Diagonal && cell.input != cell.hidden {
            cell.form_w = MatrixForm::Full;
        }
        if cell.kind.declaration().reads_state {
            cell.form_u = cut(form_u, rows, cell.hidden);
        }
        cell
    });
    let net = Network { readout, ..Network::new(cells.collect(), outputs) };
    net.check().expect("test networks are valid");
    net
}

/// Parameters for which states neither vanish nor explode, and differ from unit to unit.
pub fn params(net: &Network, rng: &mut Rng) -> Vec<f32> {
    let layout = net.layout();
    let mut params = vec![0.0; layout.len()];
    for view in layout.views() {
        let scale = match view.role {
            Role::Weight => 0.8 / (view.cols as f64).sqrt(),
            Role::Bias => 0.4,
            Role::Gain => 0.4,
            Role::Raw | Role::Embedding | Role::Basis | Role::Step => 1.0,
        };
        let centre = if view.role == Role::Gain { 1.0 } else { 0.0 };
        params[view.range()].fill_with(|| (centre + scale * rng.normal()) as f32);
    }
    params
}

/// Sequences of the given lengths with random values, weights and targets that fit `loss`.
pub fn batch(net: &Network, lengths: &[usize], loss: Loss, with_initial: bool, rng: &mut Rng) -> Batch {
    let mut batch = net.empty_batch();
    for &steps in lengths {
        match net.embedding {
            Some(embedding) => {
                let tokens: Vec<u32> = (0..steps).map(|_| rng.below(embedding.vocabulary) as u32).collect();
                batch.push_tokens(&tokens);
            }
            None => batch.push_zeros(steps).fill_with(|| rng.normal() as f32),
        }
        batch.weights.push(rng.range(0.5, 2.0) as f32);
    }
    if with_initial {
        let width: usize = net.layers.iter().map(|cell| cell.hidden).sum();
        batch.initial = (0..lengths.len() * width).map(|_| (0.5 * rng.normal()) as f32).collect();
    }
    let rows = match net.readout {
        Readout::Last | Readout::Mean | Readout::Max => lengths.len(),
        Readout::Every => batch.total_steps(),
    };
    batch.targets = match loss {
        Loss::SoftmaxCrossEntropy => {
            Targets::Class((0..rows).map(|_| rng.below(net.outputs) as u32).collect())
        }
        Loss::BinaryCrossEntropy => {
            Targets::Value((0..rows * net.outputs).map(|_| rng.below(2) as f32).collect())
        }
        Loss::SquaredError => Targets::Value((0..rows * net.outputs).map(|_| rng.normal() as f32).collect()),
    };
    batch
}

/// Gives the rows of `batch` classes, shares of classes and a teacher, as far as asked for.
pub fn soften(batch: &mut Batch, outputs: usize, rows: usize, soft: bool, taught: bool, rng: &mut Rng) {
    let classes = if outputs == 1 { 2 } else { outputs };
    batch.targets = Targets::Class((0..rows).map(|_| rng.below(classes) as u32).collect());
    let mut shares = || -> Vec<f32> {
        let row = |rng: &mut Rng| -> Vec<f64> {
            let raw: Vec<f64> = (0..classes).map(|_| rng.range(0.05, 1.0)).collect();
            let sum: f64 = raw.iter().sum();
            raw[classes - outputs..].iter().map(|v| v / sum).collect()
        };
        (0..rows).flat_map(|_| row(rng)).map(|v| v as f32).collect()
    };
    if soft {
        batch.soft = shares();
    }
    if taught {
        batch.teacher = fastgrnn_core::batch::Teacher { rows: shares(), weight: 0.7, temperature: 2.5 };
    }
}

/// Far enough from a kink that rounding to f32 does not cross it.
pub const ROUNDING_MARGIN: f64 = 2e-5;

/// Draws parameters and a batch whose nonlinearities stay `margin` away from their kinks. Cells that have kinks whatever
/// their nonlinearities are stay away from them at least as far as rounding needs.
pub fn off_kinks(
    net: &Network,
    lengths: &[usize],
    loss: Loss,
    with_initial: bool,
    margin: f64,
) -> (Vec<f32>, Batch) {
    let has_pairs = net.layers.iter().any(|cell| cell.kind.declaration().has_pairs);
    let margin = if has_pairs { margin.max(ROUNDING_MARGIN) } else { margin };
    for seed in 0..200 {
        let mut rng = Rng::keyed(seed, &[net.layout().len() as u64]);
        let params = params(net, &mut rng);
        let batch = batch(net, lengths, loss, with_initial, &mut rng);
        if reference::kink_margin(net, &widen(&params), &batch) > margin {
            return (params, batch);
        }
    }
    panic!("200 draws for {net:?} all came within {margin} of a kink");
}

/// The derivative of the reference's loss by every parameter, as a quotient of differences.
pub fn central_differences(net: &Network, params: &[f64], batch: &Batch, loss: Loss) -> Vec<f64> {
    // Four points: states that grow by powers (unbounded gates) bend the loss too much for two.
    const STEP: f64 = 2e-5;
    let mut moved = params.to_vec();
    let mut at = |i: usize, value: f64| {
        let old = std::mem::replace(&mut moved[i], value);
        let loss = reference::gradient(net, &moved, batch, loss).0;
        moved[i] = old;
        loss
    };
    let mut difference = |i: usize, step: f64| at(i, params[i] + step) - at(i, params[i] - step);
    let slope = |i| (8.0 * difference(i, STEP) - difference(i, 2.0 * STEP)) / (12.0 * STEP);
    (0..params.len()).map(slope).collect()
}

pub fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// `‖a − b‖ / ‖b‖`, or `‖a − b‖ / floor` for a `b` smaller than `floor`.
pub fn relative_error(a: &[f64], b: &[f64], floor: f64) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    difference / norm(b).max(floor)
}

pub fn norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

/// What the f64 reference says about a training step.
pub struct ReferenceStep<'a> {
    network: &'a Network,
    loss: f64,
    scores: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'a> ReferenceStep<'a> {
    pub fn new(network: &'a Network, params: &[f32], batch: &Batch, loss: Loss) -> Self {
        let wide = widen(params);
        let scores = reference::scores(network, &wide, batch);
        let (loss, gradient) = reference::gradient(network, &wide, batch, loss);
        Self { network, loss, scores, gradient }
    }

    /// Asserts that a loss, scores and each tensor's gradient are the reference's, to 1e-4.
    pub fn assert_near(&self, loss: f64, scores: &[f32], gradient: &[f32], about: &str) {
        let compare = |what: &str, error: f64| {
            assert!(error < 1e-4, "{what} is off by {error:e} with {about} of {:?}", self.network);
        };
        compare("the loss", relative_error(&[loss], &[self.loss], 1e-3));
        compare("the forward pass", relative_error(&widen(scores), &self.scores, 1e-3));
        let computed = widen(gradient);
        for view in self.network.layout().views() {
            // A scalar's derivative is one sum, which may nearly cancel: below what f32 resolves of the
            // whole gradient there is nothing to compare. Matrices and vectors get no such allowance.
            let share = if view.len() == 1 { 1e-3 } else { 1e-6 };
            let (found, expected) = (&computed[view.range()], &self.gradient[view.range()]);
            compare(&view.name, relative_error(found, expected, share * norm(&self.gradient)));
        }
    }
}

/// `count` lengths between 1 and `longest`.
pub fn lengths(count: usize, longest: usize) -> Vec<usize> {
    (0..count).map(|i| 1 + (i * 5 + 3) % longest).collect()
}
