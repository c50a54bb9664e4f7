//! The loss of a row of a head with many outputs, whose scores lie in blocks, in vector arithmetic.

use crate::simd::{Kernel, Simd, exp, ln_1p};
use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_core::net::Loss;

/// What a row should say.
#[derive(Clone, Copy)]
pub(super) enum WideTarget<'a> {
    /// One class, by softmax.
    Class(usize),
    /// Several classes, each by a sigmoid.
    Set(&'a [u32]),
}

/// The target of a readout row, if this file has its loss.
pub(super) fn target(batch: &Batch, loss: Loss, row: usize) -> Option<WideTarget<'_>> {
    if super::soft::applies(batch) {
        return None;
    }
    match (loss, &batch.targets) {
        (Loss::SoftmaxCrossEntropy, Targets::Class(classes)) => {
            Some(WideTarget::Class(classes[row] as usize))
        }
        (Loss::BinaryCrossEntropy, Targets::Set(sets)) => Some(WideTarget::Set(sets.get(row))),
        _ => None,
    }
}

/// Stands in columns that only pad a block: small enough that it adds nothing to any loss.
const NOTHING: f32 = -1e30;

/// The loss of row `i` of `rows`, whose scores become their gradients times `scale` if wanted.
pub(super) struct WideRow<'a> {
    /// Blocks of `rows` rows, `stride` apart.
    pub(super) scores: &'a mut [f32],
    pub(super) i: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    pub(super) outputs: usize,
    pub(super) target: WideTarget<'a>,
    pub(super) scale: f32,
    pub(super) is_gradient: bool,
}

impl Kernel for WideRow<'_> {
    /// The loss, and whether the largest score is a target.
    type Output = (f64, bool);

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) -> (f64, bool) {
        let end = self.at(self.outputs - 1) + 1;
        let blocks = self.scores.len() / (self.rows * self.stride);
        let last = ((blocks - 1) * self.rows + self.i) * self.stride + self.width;
        self.scores[end..last].fill(NOTHING);
        match self.target {
            WideTarget::Class(class) => self.softmax(s, class),
            WideTarget::Set(set) => self.binary(s, set),
        }
    }
}

impl WideRow<'_> {
    /// Where the score of an output is.
    #[inline(always)]
    fn at(&self, output: usize) -> usize {
        (output / self.width * self.rows + self.i) * self.stride + output % self.width
    }

    /// Calls `f` with every vector of the row.
    #[inline(always)]
    fn for_vectors<S: Simd>(&mut self, mut f: impl FnMut(&mut [f32])) {
        let first = self.i * self.stride;
        for block in self.scores.chunks_exact_mut(self.rows * self.stride) {
            block[first..first + self.width].chunks_exact_mut(S::LANES).for_each(&mut f);
        }
    }

    /// The largest score.
    #[inline(always)]
    fn largest<S: Simd>(&mut self, s: S) -> f32 {
        let mut largest = s.splat(f32::NEG_INFINITY);
        self.for_vectors::<S>(|v| largest = s.max(largest, s.load(v)));
        let mut lanes = [f32::NEG_INFINITY; 16];
        s.store(largest, &mut lanes);
        lanes.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }

    /// Whether `output` has the largest score, as the first of equals.
    #[inline(always)]
    fn is_first(&self, output: usize, largest: f32) -> bool {
        let score = |o: usize| self.scores[self.at(o)];
        score(output) == largest && (0..output).all(|o| score(o) != largest)
    }

    #[inline(always)]
    fn softmax<S: Simd>(&mut self, s: S, class: usize) -> (f64, bool) {
        let largest = self.largest(s);
        let of_class = self.scores[self.at(class)];
        let is_correct = self.is_first(class, largest);
        let (top, mut sum) = (s.splat(largest), s.splat(0.0));
        self.for_vectors::<S>(|v| {
            let e = exp(s, s.sub(s.load(v), top));
            sum = s.add(sum, e);
            s.store(e, v);
        });
        let sum = s.sum(sum);
        if self.is_gradient {
            let factor = s.splat(self.scale / sum);
            self.for_vectors::<S>(|v| s.store(s.mul(s.load(v), factor), v));
            let at = self.at(class);
            self.scores[at] -= self.scale;
        }
        (f64::from(largest - of_class) + f64::from(sum).ln(), is_correct)
    }

    #[inline(always)]
    fn binary<S: Simd>(&mut self, s: S, set: &[u32]) -> (f64, bool) {
        let largest = self.largest(s);
        let is_correct = set.iter().any(|&o| self.is_first(o as usize, largest));
        let of_set: f64 = set.iter().map(|&o| f64::from(self.scores[self.at(o as usize)])).sum();
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        let (factor, is_gradient) = (s.splat(self.scale), self.is_gradient);
        let mut sum = s.splat(0.0);
        self.for_vectors::<S>(|v| {
            let x = s.load(v);
            let e = exp(s, s.min(x, s.sub(zero, x)));
            sum = s.add(sum, s.add(s.max(zero, x), ln_1p(s, e)));
            if is_gradient {
                // 1 / (1 + e) above 0, e / (1 + e) below: exact for small probabilities.
                let above = s.add(e, s.between(x, 0.0, f32::INFINITY, s.sub(one, e)));
                s.store(s.mul(s.div(above, s.add(one, e)), factor), v);
            }
        });
        if is_gradient {
            for &o in set {
                let at = self.at(o as usize);
                self.scores[at] -= self.scale;
            }
        }
        (f64::from(s.sum(sum)) - of_set, is_correct)
    }
}
