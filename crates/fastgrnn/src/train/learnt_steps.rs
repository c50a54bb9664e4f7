//! The gradient of matrices whose entries have 4 bits, and of the logarithms of their steps.
//!
//! With the step e^λ, the network sees e^λ·n of a weight w, where n is w/e^λ limited to the reach of an entry, then
//! rounded. The rounding counts as a constant that is added, so that its slope is 1 (a straight-through estimate, as
//! of learned step size quantisation). With the gradient g by what is seen, a weight has the gradient g within the
//! reach and 0 outside, and λ has the sum of g·(e^λ·n − w) within the reach and of g·e^λ·n outside.
//!
//! That sum has a term for each entry, and would be most of the norm by which gradients are clipped. It is divided by
//! √(7·entries), 7 being the largest entry. For Adam, which divides by the size of gradients, nothing else changes.

use fastgrnn_core::cells::WeightBits;
use fastgrnn_core::net::Layout;
use fastgrnn_model::quantize::StepGrid;

/// Turns the gradient by the matrices that the network sees into that by the weights `params` and the logarithms of
/// their steps.
pub(super) fn pull_back(layout: &Layout, params: &[f32], gradient: &mut [f32]) {
    for (matrix, step) in layout.stepped() {
        let grid = StepGrid::of_log_step(params[step.offset]);
        let range = matrix.range();
        let sum = through_rounding(grid, &params[range.clone()], &mut gradient[range]);
        gradient[step.offset] = (sum * step_scale(matrix.len())) as f32;
    }
}

/// Sets the gradient of the steps to 0: no matrix is rounded to them yet.
pub(super) fn clear(layout: &Layout, gradient: &mut [f32]) {
    layout.stepped().for_each(|(_, step)| gradient[step.offset] = 0.0);
}

/// What the gradient of the logarithm of a step is multiplied with, for a matrix of so many entries.
pub(super) fn step_scale(entries: usize) -> f64 {
    1.0 / (f64::from(WeightBits::LARGEST_OF_FOUR) * entries as f64).sqrt()
}

/// Takes the gradient of the `weights` that are out of reach, and returns that of the logarithm of the step.
fn through_rounding(grid: StepGrid, weights: &[f32], gradient: &mut [f32]) -> f64 {
    let mut sum = 0.0;
    for (&weight, g) in weights.iter().zip(gradient) {
        let seen = f64::from(grid.nearest(weight));
        if grid.reaches(weight) {
            sum += f64::from(*g) * (seen - f64::from(weight));
        } else {
            sum += f64::from(*g) * seen;
            *g = 0.0;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::batch::{Batch, Targets};
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::{Loss, Network, View};
    use fastgrnn_core::rng::Rng;
    use fastgrnn_engine::engine::{Engine, Gradient};
    use fastgrnn_engine::reference;

    fn network() -> Network {
        let cell = Cell::new(CellKind::FastGrnn, 3, 6).with_ranks(None, Some(4));
        let cell = cell.with_bits(WeightBits::Four, WeightBits::Four);
        Network { bits_head: WeightBits::Four, ..Network::new(vec![cell], 3) }
    }

    fn batch(network: &Network) -> Batch {
        let mut rng = Rng::keyed(2, &[]);
        let mut batch = network.empty_batch();
        for _ in 0..5 {
            let x: Vec<f32> = (0..7 * 3).map(|_| rng.normal() as f32).collect();
            batch.push(&x);
        }
        batch.targets = Targets::Class(vec![0, 1, 2, 1, 0]);
        batch
    }

    /// Parameters with weights within and out of reach of their steps.
    fn params(layout: &Layout) -> Vec<f32> {
        let mut rng = Rng::keyed(1, &[]);
        let mut params: Vec<f32> = (0..layout.len()).map(|_| 0.4 * rng.normal() as f32).collect();
        for (number, (matrix, step)) in layout.stepped().enumerate() {
            params[step.offset] =
                WeightBits::first_log_step(&params[matrix.range()]) - 0.7 - 0.2 * number as f32;
        }
        params
    }

    /// The matrix of `weights` and a step with this logarithm, as the network sees it where rounding is a constant that
    /// is added to the limited ratio: the constant of `at`, the logarithm of another step, and of `centre`.
    fn surrogate(weights: &[f64], log_step: f64, centre: &[f64], at: f64) -> Vec<f64> {
        let limited = |w: f64, log_step: f64| (w / log_step.exp()).clamp(-8.0, 7.0);
        let entry = |(w, c): (&f64, &f64)| {
            let rounding = limited(*c, at).round_ties_even() - limited(*c, at);
            log_step.exp() * (limited(*w, log_step) + rounding)
        };
        weights.iter().zip(centre).map(entry).collect()
    }

    #[test]
    fn gradients_are_those_of_the_loss_with_rounding_as_a_constant() {
        let network = network();
        let (layout, batch) = (network.layout(), batch(&network));
        let params = params(&layout);
        let centre: Vec<f64> = params.iter().map(|&p| f64::from(p)).collect();
        let loss = |params: &[f64]| {
            let mut seen = params.to_vec();
            for (matrix, step) in layout.stepped() {
                let (range, at) = (matrix.range(), step.offset);
                let made = surrogate(&params[range.clone()], params[at], &centre[range.clone()], centre[at]);
                seen[range].copy_from_slice(&made);
            }
            reference::gradient(&network, &seen, &batch, Loss::SoftmaxCrossEntropy).0
        };
        let slope = |i: usize| {
            let by = 1e-5;
            let at = |sign: f64| {
                let mut params = centre.clone();
                params[i] += sign * by;
                loss(&params)
            };
            (at(1.0) - at(-1.0)) / (2.0 * by)
        };
        let mut seen = params.clone();
        for (matrix, step) in layout.stepped() {
            let grid = StepGrid::of_log_step(params[step.offset]);
            seen[matrix.range()].iter_mut().for_each(|w| *w = grid.nearest(*w));
        }
        let mut gradient = Gradient::new(&network);
        let mut engine = Engine::new(&network, 1).unwrap();
        engine.gradient(&seen, &batch, Loss::SoftmaxCrossEntropy, &mut gradient).unwrap();
        pull_back(&layout, &params, &mut gradient.values);
        let (mut within, mut outside) = (0, 0);
        let close = |view: &View, found: f64, expected: f64| {
            let size = found.abs().max(expected.abs()).max(1e-2);
            assert!((found - expected).abs() < 2e-3 * size, "{}: {found}, {expected}", view.name);
        };
        for (matrix, step) in layout.stepped() {
            let found = f64::from(gradient.values[step.offset]) / step_scale(matrix.len());
            assert!(found.abs() > 1e-4, "{} does not matter", step.name);
            close(step, found, slope(step.offset));
            let grid = StepGrid::of_log_step(params[step.offset]);
            for i in matrix.range() {
                let ratio = params[i] / grid.step;
                // Where a weight reaches the end of its range within the difference, there is no slope.
                if (ratio - 7.0).abs() > 0.01 && (ratio + 8.0).abs() > 0.01 {
                    close(matrix, f64::from(gradient.values[i]), slope(i));
                    *(if grid.reaches(params[i]) { &mut within } else { &mut outside }) += 1;
                }
            }
        }
        assert!(within > 30 && outside > 5, "{within} within, {outside} outside");
    }

    #[test]
    fn without_rounding_steps_have_no_gradient() {
        let layout = network().layout();
        let mut gradient = vec![1.0; layout.len()];
        clear(&layout, &mut gradient);
        assert_eq!(gradient.iter().filter(|g| **g == 0.0).count(), layout.stepped().count());
    }
}
