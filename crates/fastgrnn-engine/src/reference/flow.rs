//! How a change of a state reaches later states and the loss.

use super::step_jacobian::StepJacobian;
use super::{Memory, Model, gradient_with};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::net::{Loss, Network};

/// Gives `see` the derivative of the state of a layer by the state before, for each step of sequence `i`, from the last
/// step to the first. Returning false ends the walk.
///
/// ```
/// use fastgrnn_core::batch::Batch;
/// use fastgrnn_core::cells::{Cell, CellKind};
/// use fastgrnn_core::net::Network;
/// use fastgrnn_engine::reference::jacobians;
/// let net = Network::new(vec![Cell::new(CellKind::FastRnn, 1, 2)], 2);
/// let params = vec![0.0; net.layout().len()];
/// let mut batch = Batch::new(1);
/// batch.push(&[0.5, -0.5, 0.1]);
/// let mut steps = Vec::new();
/// jacobians(&net, &params, &batch, 0, 0, &mut |t, jacobian| {
///     steps.push((t, jacobian.matrix.clone()));
///     true
/// });
/// // U is 0 and β is one half, so that half of the state is kept.
/// assert_eq!(steps, [2, 1, 0].map(|t| (t, vec![0.5, 0.0, 0.0, 0.5])));
/// ```
pub fn jacobians(
    net: &Network,
    params: &[f64],
    batch: &Batch,
    i: usize,
    layer: usize,
    see: &mut dyn FnMut(usize, &StepJacobian) -> bool,
) {
    let model = Model::new(net);
    let run = model.forward(params, batch, i, false);
    let of_layer = &model.layers[layer];
    let u = of_layer.dense_u(params);
    let mut scratch = vec![0.0; params.len()];
    for t in (0..batch.steps(i)).rev() {
        if !see(t, &of_layer.jacobian(params, &run.passes[layer], t, &u, &mut scratch)) {
            break;
        }
    }
}

/// The loss of a batch of one sequence, and for each layer the norms of its derivative by the state after 0, 1, 2, …
/// steps.
///
/// ```
/// use fastgrnn_core::batch::{Batch, Targets};
/// use fastgrnn_core::cells::{Cell, CellKind};
/// use fastgrnn_core::net::{Loss, Network};
/// use fastgrnn_engine::reference::state_gradients;
/// let net = Network::new(vec![Cell::new(CellKind::FastRnn, 1, 2)], 2);
/// let params = vec![0.1; net.layout().len()];
/// let mut batch = Batch::new(1);
/// batch.push(&[0.5, -0.5, 0.1]);
/// batch.targets = Targets::Class(vec![1]);
/// let (_, norms) = state_gradients(&net, &params, &batch, Loss::SoftmaxCrossEntropy);
/// assert_eq!((norms.len(), norms[0].len()), (1, 4));
/// ```
pub fn state_gradients(net: &Network, params: &[f64], batch: &Batch, loss: Loss) -> (f64, Vec<Vec<f64>>) {
    let mut norms: Vec<Vec<f64>> = net.layers.iter().map(|_| vec![0.0; batch.steps(0) + 1]).collect();
    let (value, _) = gradient_with(net, params, batch, loss, &mut |sequence, layer, steps, d: &[Memory]| {
        if sequence == 0 {
            norms[layer][steps] = d.iter().map(|d| d.h * d.h + d.c * d.c).sum::<f64>().sqrt();
        }
    });
    (value, norms)
}
