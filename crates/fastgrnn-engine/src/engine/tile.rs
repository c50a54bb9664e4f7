//! A tile: some sequences of a batch, taken through the whole network by one worker.

use super::layer::{Input, Layer, LayerWorkspace, Steps};
use super::loss;
use super::plan::{HeadPlan, Plan};
use super::weights::{HeadWeights, Weights};
use crate::simd::{Buffer, Gemm, Outer, Segment, Simd};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::net::{Loss, Readout};
use std::ops::Range;

/// Sequences a tile holds at most: enough rows for the matrix kernels, few enough that a batch of
/// 100 keeps four threads busy. Fixed, because gradients are added up tile by tile: the same bits
/// on any number of threads.
pub(super) const ROWS: usize = 32;

/// Number of tiles of a batch of `n`, which its size alone decides: even, so that two threads share
/// it evenly, unless the batch is tiny.
pub(super) fn count(n: usize) -> usize {
    if n < 8 { 1 } else { n.div_ceil(ROWS).next_multiple_of(2) }
}

/// The sequences of tile `i` of `tiles`.
pub(super) fn range(n: usize, tiles: usize, i: usize) -> Range<usize> {
    n * i / tiles..n * (i + 1) / tiles
}

/// What a tile computes.
#[derive(Default)]
pub(super) struct TileOut {
    /// Gradients, padded and transposed; see [`Plan`].
    pub(super) grads: Buffer,
    /// Scores of the tile's readout rows, in the batch's order.
    pub(super) scores: Vec<f32>,
    pub(super) loss: f64,
    pub(super) correct: usize,
}

/// A worker's buffers.
#[derive(Default)]
pub(super) struct Workspace {
    steps: Steps,
    /// Index in the batch of each row, longest sequence first.
    order: Vec<usize>,
    /// Those that have a reading, in that order.
    who: Vec<usize>,
    /// The data, `[t][row][feature]`.
    x: Buffer,
    layers: Vec<LayerWorkspace>,
    /// Gradient of every state of the layer above and of the one below.
    dout: Buffer,
    dx: Buffer,
    /// Last states, their scores.
    last: Buffer,
    scores: Buffer,
}

/// Which state of a sequence the head reads.
#[derive(Clone, Copy)]
struct Reading {
    /// Readout row of the sequence.
    t: usize,
    /// How many readings come after it; only the last one is scored.
    back: usize,
}

impl Reading {
    fn at(t: usize) -> Self {
        Self { t, back: 0 }
    }
}

/// A tile at work.
pub(super) struct SequenceTile<'a, S> {
    pub(super) s: S,
    pub(super) plan: &'a Plan,
    pub(super) weights: &'a Weights,
    pub(super) batch: &'a Batch,
    pub(super) sequences: Range<usize>,
    /// The loss and the sum of all row weights, to train; nothing, to score.
    pub(super) training: Option<(Loss, f64)>,
}

impl<S: Simd> SequenceTile<'_, S> {
    /// Computes scores, and loss and gradients if training.
    pub(super) fn run(&self, space: &mut Workspace, out: &mut TileOut) {
        self.gather(space);
        self.forward(space);
        let rows = match self.plan.net.readout {
            Readout::Last => self.sequences.len(),
            Readout::Every => self.first_row(self.sequences.end) - self.first_row(self.sequences.start),
        };
        out.scores.resize(rows * self.plan.head.outputs, 0.0);
        (out.loss, out.correct) = (0.0, 0);
        if self.training.is_some() {
            out.grads.reserve(self.plan.grads);
            out.grads.fill(0.0);
        }
        let every_state = self.readout(space, out);
        if self.training.is_some() {
            self.backward(space, every_state, out);
        }
    }

    /// Index of the first readout row of a sequence of the batch.
    fn first_row(&self, sequence: usize) -> usize {
        match self.plan.net.readout {
            Readout::Last => sequence,
            Readout::Every if sequence == self.batch.len() => self.batch.total_steps(),
            Readout::Every => self.batch.first_step(sequence),
        }
    }

    /// Sorts the rows by length and copies the data time-major.
    fn gather(&self, space: &mut Workspace) {
        let Workspace { steps, order, x, layers, .. } = space;
        let (batch, dim, rows) = (self.batch, self.batch.dim(), self.sequences.len());
        order.clear();
        order.extend(self.sequences.clone());
        order.sort_unstable_by_key(|&i| (usize::MAX - batch.steps(i), i));
        let longest = order.first().map_or(0, |&i| batch.steps(i));
        steps.rows = rows;
        steps.active.clear();
        let mut running = rows;
        for t in 0..longest {
            while batch.steps(order[running - 1]) <= t {
                running -= 1;
            }
            steps.active.push(running);
        }
        steps.full = steps.active.iter().take_while(|&&n| n == rows).count();
        x.reserve(longest * rows * dim);
        for (row, &i) in order.iter().enumerate() {
            for (t, step) in batch.sequence(i).chunks_exact(dim).enumerate() {
                let at = (t * rows + row) * dim;
                x[at..at + dim].copy_from_slice(step);
            }
        }
        layers.resize_with(self.plan.layers.len(), LayerWorkspace::default);
        let states: usize = self.plan.layers.iter().map(|l| l.hidden).sum();
        let mut first = 0;
        for (plan, layer) in self.plan.layers.iter().zip(layers) {
            Layer::<S>::prepare(plan, steps, layer, self.training.is_some());
            if !batch.initial.is_empty() {
                for (row, &i) in order.iter().enumerate() {
                    let from = &batch.initial[i * states + first..][..plan.hidden];
                    layer.h[row * plan.width..][..plan.hidden].copy_from_slice(from);
                }
            }
            first += plan.hidden;
        }
    }

    fn forward(&self, space: &mut Workspace) {
        let Workspace { steps, x, layers, .. } = space;
        let training = self.training.is_some();
        for i in 0..layers.len() {
            let (below, this) = layers.split_at_mut(i);
            let input = self.input(x, below, steps);
            self.layer(i, steps, input).forward(&mut this[0], training);
        }
    }

    fn layer<'b>(&'b self, i: usize, steps: &'b Steps, input: Input<'b>) -> Layer<'b, S> {
        Layer { s: self.s, plan: &self.plan.layers[i], weights: &self.weights.layers[i], steps, input }
    }

    /// What the layer above `below` reads: the data, or the states of the layer under it.
    fn input<'b>(&self, x: &'b [f32], below: &'b [LayerWorkspace], steps: &Steps) -> Input<'b> {
        match below.last() {
            None => Input { x, stride: self.batch.dim() },
            Some(layer) => {
                let width = self.plan.layers[below.len() - 1].width;
                Input { x: &layer.h[steps.rows * width..], stride: width }
            }
        }
    }

    /// Scores and, if training, losses and the states' gradients; says whether these are in
    /// `space.dout` (of every state) rather than in the last layer's `dh`.
    fn readout(&self, space: &mut Workspace, out: &mut TileOut) -> bool {
        let Workspace { steps, order, who, layers, dout, last, scores, .. } = space;
        let (rows, width) = (steps.rows, self.plan.layers[layers.len() - 1].width);
        let top = layers.last_mut().expect("a network has a layer");
        match self.plan.net.readout {
            Readout::Last => {
                last.reserve(rows * width);
                for (row, &i) in order.iter().enumerate() {
                    let at = (self.batch.steps(i) * rows + row) * width;
                    last[row * width..][..width].copy_from_slice(&top.h[at..at + width]);
                }
                if self.training.is_none() || self.batch.earlier.readings == 0 {
                    self.head(&last[..rows * width], &mut top.dh, scores, order, Reading::at(0), out);
                    return false;
                }
                dout.reserve(steps.active.len() * rows * width);
                dout[..steps.active.len() * rows * width].fill(0.0);
                for k in 0..=self.batch.earlier.readings {
                    let back = k * self.batch.earlier.every;
                    who.clear();
                    for (row, &i) in order.iter().enumerate().filter(|(_, i)| k < self.batch.readings(**i)) {
                        let at = ((self.batch.steps(i) - back) * rows + row) * width;
                        last[who.len() * width..][..width].copy_from_slice(&top.h[at..at + width]);
                        who.push(i);
                    }
                    if who.is_empty() {
                        break;
                    }
                    let reading = Reading { t: 0, back: k };
                    self.head(&last[..who.len() * width], &mut top.dh, scores, who, reading, out);
                    let mut read = top.dh.chunks_exact(width);
                    for (row, &i) in order.iter().enumerate().filter(|(_, i)| k < self.batch.readings(**i)) {
                        let at = ((self.batch.steps(i) - back - 1) * rows + row) * width;
                        read.next().into_iter().for_each(|dh| dout[at..at + width].copy_from_slice(dh));
                    }
                }
                top.dh[..rows * width].fill(0.0);
                true
            }
            Readout::Every => {
                if self.training.is_some() {
                    dout.reserve(steps.active.len() * rows * width);
                }
                for (t, &n) in steps.active.iter().enumerate() {
                    let at = t * rows * width;
                    let states = &top.h[at + rows * width..at + (rows + n) * width];
                    let dh = if self.training.is_some() { &mut dout[at..] } else { &mut dout[..] };
                    self.head(states, dh, scores, &order[..n], Reading::at(t), out);
                }
                if self.training.is_some() {
                    top.dh[..rows * width].fill(0.0);
                }
                true
            }
        }
    }

    /// The head on `states`, one row for each of `sequences`.
    fn head(
        &self,
        states: &[f32],
        dh: &mut [f32],
        scores: &mut Buffer,
        sequences: &[usize],
        reading: Reading,
        out: &mut TileOut,
    ) {
        let HeadPlan { hidden, outputs, width, ref grad_w, ref grad_b, .. } = self.plan.head;
        let HeadWeights { forward, back, bias } = &self.weights.head;
        let rows = sequences.len();
        let stride = states.len() / rows.max(1);
        scores.reserve(self.sequences.len() * width);
        let states = Segment { a: states, stride, k: hidden };
        for row in scores.chunks_exact_mut(width).take(rows) {
            row.copy_from_slice(&bias[..width]);
        }
        self.s.vectorize(Gemm {
            rows,
            a: &[states],
            b: forward,
            c: scores,
            c_stride: width,
            add: true,
            ahead: [&[]; 2],
        });
        let first = self.first_row(self.sequences.start);
        for (scores, &sequence) in scores.chunks_exact_mut(width).zip(sequences) {
            let row = self.first_row(sequence) + reading.t;
            if reading.back == 0 {
                out.scores[(row - first) * outputs..][..outputs].copy_from_slice(&scores[..outputs]);
            }
            if let Some((loss, total)) = self.training {
                let weight = loss::weight(self.batch, sequence) * self.share(sequence);
                let scale = (f64::from(weight) / total) as f32;
                let (value, correct) = loss::row(loss, &mut scores[..outputs], self.batch, row, scale);
                out.loss += f64::from(weight) * value;
                out.correct += usize::from(correct && reading.back == 0);
            }
        }
        if self.training.is_none() {
            return;
        }
        let a = &[Segment { a: scores, stride: width, k: outputs }];
        self.s.vectorize(Gemm { rows, a, b: back, c: dh, c_stride: stride, add: false, ahead: [&[]; 2] });
        self.s.vectorize(Outer {
            rows,
            a: states.a,
            a_stride: stride,
            m: hidden,
            d: scores,
            d_stride: width,
            n: width,
            c: &mut out.grads[grad_w.clone()],
            c_stride: width,
        });
        let bias = &mut out.grads[grad_b.clone()];
        for row in scores.chunks_exact(width).take(rows) {
            bias[..outputs].iter_mut().zip(row).for_each(|(b, d)| *b += d);
        }
    }

    /// What one reading counts in the loss of its sequence.
    fn share(&self, sequence: usize) -> f32 {
        match self.plan.net.readout {
            Readout::Last => 1.0 / self.batch.readings(sequence) as f32,
            Readout::Every => 1.0,
        }
    }

    fn backward(&self, space: &mut Workspace, mut every_state: bool, out: &mut TileOut) {
        let Workspace { steps, x, layers, dout, dx, .. } = space;
        for i in (0..layers.len()).rev() {
            let (below, this) = layers.split_at_mut(i);
            let input = self.input(x, below, steps);
            let needed = if i > 0 { steps.active.len() * steps.rows * input.stride } else { 0 };
            dx.reserve(needed);
            let from_above = if every_state { &dout[..] } else { &[] };
            self.layer(i, steps, input).backward(&mut this[0], from_above, dx, &mut out.grads);
            if let Some(next) = below.last_mut() {
                next.dh[..steps.rows * self.plan.layers[i - 1].width].fill(0.0);
            }
            std::mem::swap(dout, dx);
            every_state = true;
        }
    }
}
