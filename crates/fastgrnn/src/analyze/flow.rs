//! How gradients flow along sequences: products of Jacobians, and the gradient of the loss by each state.

use super::error::AnalyzeError;
use super::spectrum::{ProductSpectrum, first_vector, frobenius, log_extremes, spectral_norm};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::cells::CellKind;
use fastgrnn_data::data::{Examples, Labels};
use fastgrnn_engine::reference::{StepJacobian, jacobians, state_gradients};
use fastgrnn_model::model::Model;

/// What one sequence came to.
#[derive(Clone, Debug)]
pub(super) struct FollowedSequence {
    pub layers: Vec<FollowedLayer>,
    /// The loss of the sequence; nothing without a label.
    pub loss: Option<f64>,
}

/// One layer along a sequence.
#[derive(Clone, Debug)]
pub(super) struct FollowedLayer {
    /// The product over each wanted number of steps; nothing where the sequence is shorter.
    pub products: Vec<Option<Product>>,
    /// Norms of the gradient of the loss by the state after 0, 1, 2, … steps; empty without a label.
    pub gradient: Vec<f64>,
    /// The largest norm of what a step passes on through U: of α·U·D, for a FastRNN.
    pub through_u: f64,
    /// The largest factor with which a row of U enters a step: α times the slope of the nonlinearity, for a FastRNN.
    pub slope: f64,
}

/// The product of the Jacobians of the last steps of a sequence. All figures are natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Product {
    /// Its largest singular value.
    pub largest: f64,
    /// Its smallest one; −∞ for 0.
    pub smallest: f64,
    /// The paper's bound of the condition number, where there is one.
    pub bound: Option<f64>,
}

impl Product {
    /// Whether it is singular to the accuracy of f64.
    pub fn is_singular(&self) -> bool {
        self.smallest == f64::NEG_INFINITY
    }

    /// The logarithm of its condition number.
    pub fn log_condition(&self) -> f64 {
        if self.is_singular() { f64::INFINITY } else { self.largest - self.smallest }
    }
}

/// What is followed, and how far.
pub(super) struct Follower<'a> {
    model: &'a Model,
    params: Vec<f64>,
    examples: &'a Examples,
    /// The labels in the numbering of the model; nothing without labels.
    labels: Option<&'a Labels>,
    /// Numbers of steps, ascending.
    steps: &'a [usize],
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Follower<'a> {
    pub fn new(
        model: &'a Model,
        examples: &'a Examples,
        labels: Option<&'a Labels>,
        steps: &'a [usize],
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let params = model.params.iter().map(|&p| f64::from(p)).collect();
        Self { model, params, examples, labels, steps, stop }
    }

    /// Follows the network along sequence `i`.
    pub fn follow(&self, i: usize) -> Result<FollowedSequence, AnalyzeError> {
        let mut batch = self.model.network.empty_batch();
        self.model.clear(&mut batch);
        self.model.push(&mut batch, &self.examples.x, i)?;
        let gradients = self.labels.map(|labels| {
            self.model.push_target(&mut batch, labels, i);
            state_gradients(&self.model.network, &self.params, &batch, self.model.loss)
        });
        let (loss, mut norms) = gradients.map_or((None, Vec::new()), |(loss, norms)| (Some(loss), norms));
        let mut layers = Vec::new();
        for layer in 0..self.model.network.layers.len() {
            let mut of_layer = self.follow_layer(&batch, layer);
            if let Some(norms) = norms.get_mut(layer) {
                of_layer.gradient = std::mem::take(norms);
            }
            layers.push(of_layer);
            if (self.stop)() {
                return Err(AnalyzeError::Stopped);
            }
        }
        Ok(FollowedSequence { layers, loss })
    }

    fn follow_layer(&self, batch: &Batch, layer: usize) -> FollowedLayer {
        let cell = &self.model.network.layers[layer];
        let size = cell.state_len();
        let mut found = FollowedLayer {
            products: vec![None; self.steps.len()],
            gradient: Vec::new(),
            through_u: 0.0,
            slope: 0.0,
        };
        let (mut spectrum, mut vector) = (ProductSpectrum::identity(size), first_vector(size));
        let (mut done, mut next) = (0, 0);
        let mut worst = Worst::default();
        let see = &mut |_, step: &StepJacobian| {
            if (self.stop)() {
                return false;
            }
            let norm = spectral_norm(&step.through_u, &mut vector);
            found.through_u = found.through_u.max(norm);
            found.slope = found.slope.max(step.slope);
            if next < self.steps.len() {
                worst.add(cell.kind, step, norm);
                spectrum.multiply_transposed(&step.matrix, log_condition(step, norm));
                done += 1;
                if done == self.steps[next] {
                    let values = spectrum.log_singular_values();
                    let bound = worst.bound(cell.kind, done);
                    found.products[next] =
                        Some(Product { largest: values[0], smallest: values[size - 1], bound });
                    next += 1;
                }
            }
            true
        };
        jacobians(&self.model.network, &self.params, batch, 0, layer, see);
        found
    }
}

/// What the bound of a product needs of its factors.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    /// The largest α/β·‖UᵀD‖ of a FastRNN.
    ratio: f64,
    /// The largest logarithm of the condition number of a factor of an RNN.
    log_condition: f64,
}

impl Worst {
    fn add(&mut self, kind: CellKind, step: &StepJacobian, norm: f64) {
        match kind {
            CellKind::FastRnn => {
                // What is not through U is β, the same for all units.
                let beta = step.matrix[0] - step.through_u[0];
                self.ratio = self.ratio.max(if beta > 0.0 { norm / beta } else { f64::INFINITY });
            }
            CellKind::Rnn => {
                let (largest, smallest) = log_extremes(&step.matrix, step.size);
                let log_condition = if largest.is_finite() { largest - smallest } else { f64::INFINITY };
                self.log_condition = self.log_condition.max(log_condition);
            }
            _ => {}
        }
    }

    /// The natural logarithm of the paper's bound of the condition number of the product of so many factors.
    fn bound(&self, kind: CellKind, factors: usize) -> Option<f64> {
        let of_factor = match kind {
            CellKind::FastRnn if self.ratio < 1.0 => self.ratio.ln_1p() - (-self.ratio).ln_1p(),
            CellKind::Rnn if self.log_condition.is_finite() => self.log_condition,
            _ => return None,
        };
        Some(factors as f64 * of_factor)
    }
}

/// The natural logarithm of a bound of the condition number of a factor; infinity where none is known. `norm` is that of
/// what goes through U.
fn log_condition(step: &StepJacobian, norm: f64) -> f64 {
    let size = step.size;
    let direct = (0..size).map(|k| (step.matrix[k * (size + 1)] - step.through_u[k * (size + 1)]).abs());
    let (low, high) = direct.fold((f64::INFINITY, 0.0f64), |(low, high), d| (low.min(d), high.max(d)));
    // An LSTM also has parts beside the diagonal, which count like what goes through U.
    let beside: Vec<f64> =
        step.matrix.iter().zip(&step.through_u).map(|(whole, through)| whole - through).collect();
    let off_diagonal = (frobenius(&beside).powi(2)
        - (0..size).map(|k| beside[k * (size + 1)].powi(2)).sum::<f64>())
    .max(0.0)
    .sqrt();
    let norm = norm + off_diagonal;
    if low > norm { ((high + norm) / (low - norm)).ln() } else { f64::INFINITY }
}
