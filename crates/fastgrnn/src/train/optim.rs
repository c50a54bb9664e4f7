//! Optimisers on flat buffers.
//!
//! They walk the views of a [`Layout`] and know nothing about cells: matrices, factors
//! ([`Role::Weight`]) and embeddings are decayed, biases, gains and scalars are not. A step allocates nothing,
//! and every entry is updated on its own, so the result does not depend on how loops are vectorised.
//!
//! Of an embedding, only the rows of tokens that occur in the batch have a gradient, and only these are
//! visited: other rows and their moments stay as they are, and are not decayed.
//!
//! ```
//! use fastgrnn::cells::{Cell, CellKind};
//! use fastgrnn::net::Network;
//! use fastgrnn::train::{Optim, Optimizer};
//! let layout = Network::new(vec![Cell::new(CellKind::Rnn, 1, 2)], 2).layout();
//! let mut params = vec![1.0; layout.len()];
//! let gradient = vec![0.5; layout.len()];
//! let mut optim = Optim::new(Optimizer::Sgd, 0.9, 0.0, layout.len());
//! optim.step(&layout, &mut params, &gradient, 0.1);
//! assert_eq!(params[0], 0.95);
//! ```

use fastgrnn_core::cells::Role;
use fastgrnn_core::net::Layout;
use fastgrnn_engine::simd::FlushDenormals;
use fastgrnn_model::settings::Optimizer;
use std::ops::Range;

/// Decay of Adam's second moment.
const BETA2: f64 = 0.999;
/// Keeps Adam's quotient finite where a gradient has always been 0.
const EPSILON: f32 = 1e-8;

/// An optimiser with its moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Optim {
    kind: Optimizer,
    momentum: f64,
    weight_decay: f32,
    /// Steps done.
    pub(super) steps: u64,
    /// Momentum, or Adam's first moment.
    pub(super) first: Vec<f32>,
    /// Adam's second moment.
    pub(super) second: Vec<f32>,
}

impl Optim {
    /// An optimiser of `len` parameters, with moments of 0.
    pub fn new(kind: Optimizer, momentum: f64, weight_decay: f64, len: usize) -> Self {
        let moments = |needed: bool| vec![0.0; if needed { len } else { 0 }];
        let adam = matches!(kind, Optimizer::Adam | Optimizer::AdamW);
        Self {
            kind,
            momentum,
            weight_decay: weight_decay as f32,
            steps: 0,
            first: moments(!matches!(kind, Optimizer::Sgd | Optimizer::Asgd | Optimizer::Rsg)),
            second: moments(adam),
        }
    }

    /// Moves `params` against `gradient` at the learning rate `lr`.
    pub fn step(&mut self, layout: &Layout, params: &mut [f32], gradient: &[f32], lr: f64) {
        self.step_rows(layout, params, gradient, None, lr);
    }

    /// The same; of an embedding only the `rows`, where they are given.
    pub fn step_rows(
        &mut self,
        layout: &Layout,
        params: &mut [f32],
        gradient: &[f32],
        rows: Option<&[u32]>,
        lr: f64,
    ) {
        // The moments of a parameter without gradient decay into the denormals and would stay there.
        let _flush = FlushDenormals::start();
        self.steps += 1;
        for view in layout.views() {
            let decay = match view.role {
                Role::Weight | Role::Embedding => self.weight_decay,
                Role::Bias | Role::Gain | Role::Raw | Role::Basis | Role::Step => 0.0,
            };
            match rows.filter(|_| view.role == Role::Embedding) {
                None => self.update(view.range(), decay, params, gradient, lr),
                Some(rows) => {
                    for &row in rows {
                        let first = view.offset + row as usize * view.cols;
                        self.update(first..first + view.cols, decay, params, gradient, lr);
                    }
                }
            }
        }
    }

    /// Updates the entries of `range`.
    fn update(&mut self, range: Range<usize>, decay: f32, params: &mut [f32], gradient: &[f32], lr: f64) {
        let (p, g) = (&mut params[range.clone()], &gradient[range.clone()]);
        let (beta1, new1, lr32) = (self.momentum as f32, (1.0 - self.momentum) as f32, lr as f32);
        match self.kind {
            Optimizer::Sgd | Optimizer::Asgd | Optimizer::Rsg => sgd(p, g, lr32, decay),
            Optimizer::Nesterov => nesterov(p, g, &mut self.first[range], lr32, beta1, decay),
            Optimizer::Adam | Optimizer::AdamW => {
                let (coupled, shrink) = match self.kind {
                    Optimizer::Adam => (decay, 1.0),
                    _ => (0.0, 1.0 - lr32 * decay),
                };
                let t = self.steps.min(i32::MAX as u64) as i32;
                let size = (lr / (1.0 - self.momentum.powi(t))) as f32;
                let unbias = self.unbias();
                let (m, v) = (&mut self.first[range.clone()], &mut self.second[range]);
                adam(p, g, m, v, &Adam { size, unbias, beta1, new1, coupled, shrink });
            }
        }
    }

    /// The mean second moment of the entries of `range` that `kept` marks; 0 without such moments.
    pub(super) fn typical_second(&self, range: Range<usize>, kept: &[u8]) -> f32 {
        let Some(second) = self.second.get(range) else { return 0.0 };
        let of = || second.iter().zip(kept).filter(|(_, k)| **k != 0).map(|(v, _)| f64::from(*v));
        (of().sum::<f64>() / of().count().max(1) as f64) as f32
    }

    /// How far a gradient of 1 moves an entry whose second moment is `second`.
    pub(super) fn step_size(&self, second: f32, lr: f64) -> f32 {
        match self.kind {
            Optimizer::Sgd | Optimizer::Asgd | Optimizer::Rsg | Optimizer::Nesterov => lr as f32,
            Optimizer::Adam | Optimizer::AdamW => lr as f32 / ((second * self.unbias()).sqrt() + EPSILON),
        }
    }

    /// Gives an entry that comes back a second moment, so that its first steps are like others'.
    pub(super) fn begin(&mut self, entry: usize, second: f32) {
        if let Some(moment) = self.second.get_mut(entry) {
            *moment = second;
        }
    }

    /// One over the bias of the second moment. In f64: 0.999^t is close to 1 for the first
    /// thousand steps.
    fn unbias(&self) -> f32 {
        (1.0 / (1.0 - BETA2.powi(self.steps.min(i32::MAX as u64) as i32))) as f32
    }
}

fn sgd(p: &mut [f32], g: &[f32], lr: f32, decay: f32) {
    for (p, &g) in p.iter_mut().zip(g) {
        *p -= lr * (g + decay * *p);
    }
}

/// Nesterov's momentum as PyTorch writes it: `v ← μv + g`, `p ← p − lr(g + μv)`.
fn nesterov(p: &mut [f32], g: &[f32], v: &mut [f32], lr: f32, mu: f32, decay: f32) {
    for ((p, &g), v) in p.iter_mut().zip(g).zip(v) {
        let g = g + decay * *p;
        *v = mu * *v + g;
        *p -= lr * (g + mu * *v);
    }
}

/// The numbers that all entries of a view share.
struct Adam {
    /// Learning rate over the first moment's bias.
    size: f32,
    /// One over the second moment's bias.
    unbias: f32,
    beta1: f32,
    new1: f32,
    /// Decay that is added to the gradient.
    coupled: f32,
    /// Factor of decoupled decay.
    shrink: f32,
}

fn adam(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], a: &Adam) {
    // 1 − β rounded from f64: the difference of rounded f32 would be off in the fifth digit.
    let (beta2, new2) = (BETA2 as f32, (1.0 - BETA2) as f32);
    for (((p, &g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
        let g = g + a.coupled * *p;
        *m = a.beta1 * *m + a.new1 * g;
        *v = beta2 * *v + new2 * (g * g);
        *p = *p * a.shrink - a.size * *m / ((*v * a.unbias).sqrt() + EPSILON);
    }
}

/// Scales `gradient` down to the norm `limit` where it is larger (0: never), and returns the norm
/// it had. Sums run in f64 in an order that is fixed.
pub fn clip_norm(gradient: &mut [f32], limit: f64) -> f64 {
    let norm = sum_of_squares(gradient).sqrt();
    if limit > 0.0 && norm > limit && norm.is_finite() {
        let factor = (limit / norm) as f32;
        gradient.iter_mut().for_each(|g| *g *= factor);
    }
    norm
}

fn sum_of_squares(values: &[f32]) -> f64 {
    let mut lanes = [0f64; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    for chunk in chunks {
        for (lane, &v) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(v) * f64::from(v);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgrnn_core::cells::{Cell, CellKind};
    use fastgrnn_core::net::{EMBEDDING, Embedding, Network};
    use fastgrnn_core::settings::Choice;

    /// One weight of each role: `w`, `u` decay, `b` does not.
    fn layout() -> Layout {
        Network::new(vec![Cell::new(CellKind::Rnn, 1, 1)], 1).layout()
    }

    fn close(a: f32, b: f64) {
        assert!((f64::from(a) - b).abs() < 1e-6, "{a} is not {b}");
    }

    /// Parameters after each of three steps at learning rate 0.1 from 1.0, with gradients
    /// 0.5, −0.25, 1.0 in every entry.
    fn run(kind: Optimizer, decay: f64) -> Vec<(f32, f32)> {
        let layout = layout();
        let (w, b) = (layout.view("layer0.w").unwrap().offset, layout.view("layer0.b").unwrap().offset);
        let mut params = vec![1.0f32; layout.len()];
        let mut optim = Optim::new(kind, 0.9, decay, layout.len());
        [0.5f32, -0.25, 1.0]
            .iter()
            .map(|&g| {
                optim.step(&layout, &mut params, &vec![g; layout.len()], 0.1);
                (params[w], params[b])
            })
            .collect()
    }

    #[test]
    fn sgd_matches_hand_values() {
        let steps = run(Optimizer::Sgd, 0.1);
        close(steps[0].0, 1.0 - 0.1 * (0.5 + 0.1));
        close(steps[1].0, 0.94 - 0.1 * (-0.25 + 0.094));
        close(steps[0].1, 0.95);
        close(steps[2].1, 0.95 + 0.025 - 0.1);
    }

    #[test]
    fn nesterov_matches_hand_values() {
        let steps = run(Optimizer::Nesterov, 0.0);
        // v: 0.5, 0.2, 1.18; p: 1 − 0.1(0.5 + 0.45), …
        close(steps[0].0, 0.905);
        close(steps[1].0, 0.905 - 0.1 * (-0.25 + 0.9 * 0.2));
        close(steps[2].0, 0.912 - 0.1 * (1.0 + 0.9 * 1.18));
    }

    #[test]
    fn adam_matches_a_plain_f64_version() {
        for (kind, decay) in [(Optimizer::Adam, 0.0), (Optimizer::Adam, 0.1), (Optimizer::AdamW, 0.1)] {
            let steps = run(kind, decay);
            let (mut p, mut m, mut v) = (1.0f64, 0.0f64, 0.0f64);
            for (t, g) in [0.5, -0.25, 1.0].into_iter().enumerate() {
                let g = if kind == Optimizer::Adam { g + decay * p } else { g };
                m = 0.9 * m + 0.1 * g;
                v = 0.999 * v + 0.001 * g * g;
                let (mh, vh) =
                    (m / (1.0 - 0.9f64.powi(t as i32 + 1)), v / (1.0 - 0.999f64.powi(t as i32 + 1)));
                let shrink = if kind == Optimizer::AdamW { 1.0 - 0.1 * decay } else { 1.0 };
                p = p * shrink - 0.1 * mh / (vh.sqrt() + 1e-8);
                close(steps[t].0, p);
            }
        }
    }

    #[test]
    fn only_given_rows_of_an_embedding_move_and_they_move_as_all_would() {
        let net = Network {
            embedding: Some(Embedding { vocabulary: 5, tied: false }),
            ..Network::new(vec![Cell::new(CellKind::Rnn, 3, 2)], 2)
        };
        let layout = net.layout();
        let table = layout.view(EMBEDDING).unwrap().range();
        for kind in Optimizer::all() {
            let mut gradient = vec![0.5f32; layout.len()];
            gradient[table.clone()].fill(0.0);
            gradient[table.start + 6..table.start + 9].fill(-1.0);
            let start = vec![1.0f32; layout.len()];
            let (mut all, mut some) = (start.clone(), start.clone());
            Optim::new(kind, 0.9, 0.0, layout.len()).step(&layout, &mut all, &gradient, 0.1);
            Optim::new(kind, 0.9, 0.0, layout.len()).step_rows(
                &layout,
                &mut some,
                &gradient,
                Some(&[2]),
                0.1,
            );
            assert_eq!(all, some, "{kind}");
            let mut decayed = start.clone();
            let mut optim = Optim::new(kind, 0.9, 0.1, layout.len());
            optim.step_rows(&layout, &mut decayed, &gradient, Some(&[2]), 0.1);
            assert_eq!(decayed[table.start], 1.0, "{kind}: a row that does not occur is not decayed");
            // Adam's first step is as long as the learning rate, whatever the gradient.
            let is_decayed = decayed[table.start + 6] != some[table.start + 6];
            assert_eq!(is_decayed, kind != Optimizer::Adam, "{kind}");
        }
    }

    #[test]
    fn biases_are_never_decayed() {
        for kind in Optimizer::all() {
            let (with, without) = (run(kind, 0.5), run(kind, 0.0));
            assert_eq!(with[2].1, without[2].1);
            assert_ne!(with[2].0, without[2].0);
        }
    }

    #[test]
    fn clipping_keeps_the_direction_and_limits_the_norm() {
        let mut gradient: Vec<f32> = vec![3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0];
        assert_eq!(clip_norm(&mut gradient, 10.0), 5.0);
        assert_eq!(gradient[0], 3.0);
        assert_eq!(clip_norm(&mut gradient, 1.0), 5.0);
        close(gradient[0], 0.6);
        close(gradient[9], 0.8);
        assert_eq!(clip_norm(&mut [300.0, 400.0], 0.0), 500.0);
        assert!(clip_norm(&mut [f32::NAN], 1.0).is_nan());
        assert!(clip_norm(&mut [f32::MAX; 3], 1.0).is_finite());
    }
}
