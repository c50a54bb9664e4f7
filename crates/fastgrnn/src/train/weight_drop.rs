//! DropConnect on the recurrent matrix: some entries of U are zero for one training step.
//!
//! What remains is divided by its share, so that sums keep their mean. Where U is the product of two
//! factors, entries of both are dropped.

use fastgrnn_core::net::Layout;
use fastgrnn_core::rng::Rng;

/// The entries that are dropped in a training step.
#[derive(Default)]
pub(super) struct WeightDrop {
    params: Vec<f32>,
    /// The entries of the recurrent matrices and what each is multiplied with.
    factors: Vec<(usize, f32)>,
}

impl WeightDrop {
    /// `params` with a `share` of the recurrent entries dropped.
    pub(super) fn apply(&mut self, layout: &Layout, params: &[f32], share: f64, mut rng: Rng) -> &[f32] {
        self.params.clear();
        self.params.extend_from_slice(params);
        self.factors.clear();
        let kept = (1.0 / (1.0 - share)) as f32;
        let is_recurrent = |name: &str| matches!(name.split_once('.'), Some((_, "u" | "u1" | "u2")));
        for view in layout.views().iter().filter(|view| is_recurrent(&view.name)) {
            for i in view.range() {
                let factor = if rng.uniform() < share { 0.0 } else { kept };
                self.params[i] *= factor;
                self.factors.push((i, factor));
            }
        }
        &self.params
    }

    /// From the gradient by the dropped parameters to that by the parameters.
    pub(super) fn pull_back(&self, gradient: &mut [f32]) {
        self.factors.iter().for_each(|&(i, factor)| gradient[i] *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::Network;

    #[test]
    fn only_recurrent_entries_are_dropped_and_their_mean_stays() {
        let cell = Cell::new(CellKind::FastGrnn, 3, 60).with_ranks(None, Some(20));
        let layout = Network::new(vec![cell], 2).layout();
        let params = vec![1.0; layout.len()];
        let mut drop = WeightDrop::default();
        let dropped = drop.apply(&layout, &params, 0.3, Rng::new(1)).to_vec();
        let mut gradient = vec![1.0; layout.len()];
        drop.pull_back(&mut gradient);
        assert_eq!(dropped, gradient, "the derivative of a product with a constant is the constant");
        for view in layout.views() {
            let values = &dropped[view.range()];
            if view.name.contains(".u") {
                let mean = values.iter().sum::<f32>() / values.len() as f32;
                assert!((mean - 1.0).abs() < 0.1, "{} {mean}", view.name);
                assert!(values.contains(&0.0), "{}", view.name);
            } else {
                assert!(values.iter().all(|v| *v == 1.0), "{}", view.name);
            }
        }
        assert_eq!(dropped, drop.apply(&layout, &params, 0.3, Rng::new(1)));
        assert_ne!(dropped, drop.apply(&layout, &params, 0.3, Rng::new(2)));
    }
}
