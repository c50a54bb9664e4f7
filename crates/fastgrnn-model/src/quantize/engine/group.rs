//! A group of sequences, one a lane, that take their steps together.
//!
//! The longest sequence is in the first lane. When a lane's sequence ends, its scores and counts
//! are taken; the lane goes on computing, and its results are ignored.

use super::super::Saturations;
use super::cell::Rule;
use super::counts::Units;
use super::curve::saturated;
use super::layer::{Between, LayerState};
use super::plan::{FeatureScale, InputPlan, Plan};
use fastgrnn_engine::simd::Buffer;
use fastgrnn_engine::simd::int::{IntKernel, IntSimd, Rounding, Term};
use fastgrnn_runtime::int::Place;
use std::ops::Range;

/// Words of a group that are made at a time, of 4 bytes: less than a first cache holds.
const CHUNK: usize = 4096;
/// Steps after which counters of saturations are emptied: a step adds at most 2^11 to one.
const COUNTED: usize = 1 << 20;

/// The memory of a group, used again by the next one.
pub(super) struct Group<'p, S> {
    s: S,
    plan: &'p Plan,
    /// Frames in `words`.
    chunk: usize,
    /// What counts are worth, for each value of a chunk.
    units: Units,
    /// A chunk of one sequence as counts, and one more.
    counts: Vec<i16>,
    /// A chunk of the group: for each step and pair of features a vector.
    words: Buffer<i32>,
    /// The normalised frames of the window, a vector for each pair of features.
    input: Buffer<i32>,
    layers: Vec<LayerState>,
    between: Between,
    scores: Buffer<i32>,
    /// What saturated in all groups so far.
    pub(super) saturations: Saturations,
}

impl<'p, S: IntSimd> Group<'p, S> {
    pub(super) fn new(s: S, plan: &'p Plan) -> Self {
        let dim = plan.inputs();
        let pairs = dim.div_ceil(2);
        let chunk = (CHUNK / (pairs * S::LANES)).max(1);
        Self {
            s,
            plan,
            chunk,
            units: Units::new(&plan.input.lsb, chunk),
            counts: vec![0; chunk * dim + 1],
            words: Buffer::zeros(chunk * pairs * S::LANES),
            input: Buffer::zeros(plan.input.window.frames * pairs * S::LANES),
            layers: plan.layers.iter().map(LayerState::new::<S>).collect(),
            between: Between::new::<S>(&plan.layers),
            scores: Buffer::zeros(plan.outputs().next_multiple_of(2) * S::LANES),
            saturations: Saturations::new(plan.layers()),
        }
    }

    /// The scores of at most `LANES` sequences, a row each. They must not become longer.
    pub(super) fn scores(&mut self, sequences: &[&[f32]]) -> Vec<i32> {
        self.s.vectorize(Scores { group: self, sequences })
    }
}

struct Scores<'a, 'p, S> {
    group: &'a mut Group<'p, S>,
    sequences: &'a [&'a [f32]],
}

impl<S: IntSimd> IntKernel for Scores<'_, '_, S> {
    type Output = Vec<i32>;

    /// `T` is `S`: it comes from the group's own token.
    #[inline(always)]
    fn run<T: IntSimd>(self, _: T) -> Vec<i32> {
        let Self { group, sequences } = self;
        let (s, plan, dim) = (group.s, group.plan, group.plan.inputs());
        let mut scores = vec![0; sequences.len() * plan.outputs()];
        let mut rules = Vec::with_capacity(plan.layers());
        for (layer, of) in group.layers.iter_mut().zip(&plan.layers) {
            layer.reset::<S>(of);
            rules.push(Rule::new(s, of, &plan.table));
        }
        let window = plan.input.window;
        group.input.fill(0);
        // Sequences that have not ended. A step is a frame here.
        let mut active = sequences.len();
        let (mut step, mut counted) = (0, 0);
        loop {
            let steps = |lane: usize| sequences[lane].len() / dim;
            let ending = (0..active).rev().take_while(|&lane| steps(lane) == step).count();
            if ending > 0 {
                let ended = active - ending..active;
                group.head();
                group.take_scores(ended.clone(), &mut scores);
                group.saturations.steps += (ending * (step / window.stride)) as u64;
                group.take_cuts(ended);
                active -= ending;
            }
            if active == 0 {
                return scores;
            }
            if step % group.chunk == 0 {
                group.read(&sequences[..active], step);
                if step - counted >= COUNTED {
                    group.take_cuts(0..active);
                    counted = step;
                }
            }
            let length = dim.div_ceil(2) * S::LANES;
            let words = &group.words[step % group.chunk * length..][..length];
            // Frames since the last step are behind those that it has left.
            let place = (window.frames - window.stride + step % window.stride) * length;
            let frame = &mut group.input[place..place + length];
            normalize(s, &plan.input, words, frame, &mut group.layers[0].cut);
            step += 1;
            if step % window.stride != 0 {
                continue;
            }
            let mut below: &[i32] = &group.input;
            for (index, layer) in group.layers.iter_mut().enumerate() {
                layer.step(s, &rules[index], below, &mut group.between);
                below = &layer.h;
            }
            group.input.copy_within(window.stride * length.., 0);
        }
    }
}

impl<S: IntSimd> Group<'_, S> {
    /// Makes the next chunk of the sequences, from `first` on, counts side by side.
    #[inline(always)]
    fn read(&mut self, sequences: &[&[f32]], first: usize) {
        let dim = self.plan.inputs();
        let pairs = dim.div_ceil(2);
        for (lane, sequence) in sequences.iter().enumerate() {
            let steps = (sequence.len() / dim - first).min(self.chunk);
            let values = &sequence[first * dim..][..steps * dim];
            self.units.count(values, &mut self.counts);
            for step in 0..steps {
                let words = &mut self.words[step * pairs * S::LANES..][..pairs * S::LANES];
                let counts = &self.counts[step * dim..][..2 * pairs];
                for (pair, &[low, high]) in counts.as_chunks::<2>().0.iter().enumerate() {
                    // With an odd number of features the last half is not one: its factor is 0.
                    words[pair * S::LANES + lane] = i32::from(low) & 0xFFFF | i32::from(high) << 16;
                }
            }
        }
    }

    /// Writes the scores of all lanes as they are.
    #[inline(always)]
    fn head(&mut self) {
        let (s, plan) = (self.s, self.plan);
        let Some(top) = self.layers.last() else { return };
        let product = Term::new(&plan.head, &top.h, Rounding::new(s, 0)).times(plan.head_multiplier);
        for tile in 0..plan.head.tiles() {
            let rows = plan.head.tile(tile);
            product.write(s, tile, &mut self.scores[rows.start * S::LANES..]);
            for (row, &bias) in plan.head_biases.iter().enumerate().take(rows.end).skip(rows.start) {
                let to = &mut self.scores[row * S::LANES..];
                s.store(s.add(s.load(to), s.splat(bias)), to);
            }
        }
    }

    fn take_scores(&self, lanes: Range<usize>, scores: &mut [i32]) {
        let rows = scores.chunks_exact_mut(self.plan.outputs());
        for (lane, row) in rows.enumerate().skip(lanes.start).take(lanes.len()) {
            row.iter_mut().zip(self.scores.chunks_exact(S::LANES)).for_each(|(to, lanes)| *to = lanes[lane]);
        }
    }

    /// Adds what saturated in `lanes` to the whole, and empties their counters.
    fn take_cuts(&mut self, lanes: Range<usize>) {
        for (index, layer) in self.layers.iter_mut().enumerate() {
            for (place, cuts) in Place::ALL.into_iter().zip(layer.cut.chunks_exact_mut(S::LANES)) {
                let cuts = &mut cuts[lanes.clone()];
                self.saturations.note(index, place, cuts.iter().map(|&n| n as u64).sum());
                cuts.fill(0);
            }
        }
    }
}

/// A step's counts as the first layer's input (section 1 of the document).
#[inline(always)]
fn normalize<S: IntSimd>(s: S, plan: &InputPlan, counts: &[i32], input: &mut [i32], cut: &mut [i32]) {
    let mut total = s.load(&cut[Place::Input as usize * S::LANES..]);
    for (pair, [low, high]) in plan.scales.as_chunks::<2>().0.iter().enumerate() {
        let counts = s.load(&counts[pair * S::LANES..]);
        let low = saturated(s, scaled(s, s.low(counts), *low), &mut total);
        let high = saturated(s, scaled(s, s.high(counts), *high), &mut total);
        s.store(s.pair(low, high), &mut input[pair * S::LANES..]);
    }
    s.store(total, &mut cut[Place::Input as usize * S::LANES..]);
}

#[inline(always)]
fn scaled<S: IntSimd>(s: S, n: S::V, scale: FeatureScale) -> S::V {
    let product = s.add(s.mul(n, s.splat(scale.factor)), s.splat(scale.added));
    s.shr(product, s.splat(scale.shift as i32))
}
