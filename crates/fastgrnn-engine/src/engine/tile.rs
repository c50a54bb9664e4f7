//! A tile: some sequences of a batch, taken through the whole network by one worker.

use super::dropped::Dropped;
use super::head::{Head, HeadRow, HeadWorkspace, WIDE_ROWS};
use super::layer::{Input, Layer, LayerWorkspace, Steps};
use super::loss::{Computation, Objective};
use super::plan::{EmbeddingPlan, LayerPlan, Plan};
use super::pooling::{LargestState, MeanState, Pooling, RowStates};
use super::tile_out::TileOut;
use super::tokens::TokenSlots;
use super::weights::Weights;
use crate::simd::{Buffer, Simd};
use fastgrnn_core::batch::Batch;
use fastgrnn_core::net::Readout;
use fastgrnn_core::regularize::Place;
use std::ops::Range;

/// Sequences a tile holds at most: enough rows for the matrix kernels, few enough that a batch of
/// 100 keeps four threads busy. Fixed, because gradients are added up tile by tile: the same bits
/// on any number of threads.
pub(super) const ROWS: usize = 32;
/// The same where the head reads every step and has many outputs: it is nearly all of the work and
/// finds its rows among the steps, so that small tiles keep more threads busy.
const ROWS_OF_WIDE_HEAD: usize = 8;

/// Number of tiles of a batch of `n`, which its size and the network decide: even, so that two threads
/// share it evenly, unless the batch is tiny.
pub(super) fn count(n: usize, plan: &Plan) -> usize {
    let is_wide = plan.head.is_wide() && plan.net.readout == Readout::Every;
    let (fewest, rows) = if is_wide { (2, ROWS_OF_WIDE_HEAD) } else { (8, ROWS) };
    if n < fewest { 1 } else { n.div_ceil(rows).next_multiple_of(2) }
}

/// The sequences of tile `i` of `tiles`.
pub(super) fn range(n: usize, tiles: usize, i: usize) -> Range<usize> {
    n * i / tiles..n * (i + 1) / tiles
}

/// A worker's buffers.
#[derive(Default)]
pub(super) struct Workspace {
    steps: Steps,
    /// Index in the batch of each row, longest sequence first.
    order: Vec<usize>,
    /// What the head reads.
    rows: Vec<HeadRow>,
    /// The data, `[t][row][feature]`.
    x: Buffer,
    layers: Vec<LayerWorkspace>,
    /// What of the input, and of the states of each layer, is dropped.
    dropped_input: Dropped,
    dropped: Vec<Dropped>,
    slots: TokenSlots,
    /// Gradient of every state of the layer above and of the one below.
    dout: Buffer,
    dx: Buffer,
    /// States that the head reads, where they are not side by side.
    last: Buffer,
    head: HeadWorkspace,
}

/// A tile at work.
pub(super) struct SequenceTile<'a, S> {
    pub(super) s: S,
    pub(super) plan: &'a Plan,
    pub(super) weights: &'a Weights,
    /// The vectors of the batch's tokens, step by step.
    pub(super) vectors: &'a [f32],
    pub(super) batch: &'a Batch,
    pub(super) sequences: Range<usize>,
    pub(super) computation: Computation,
}

impl<S: Simd> SequenceTile<'_, S> {
    /// Computes what is wanted.
    pub(super) fn run(&self, space: &mut Workspace, out: &mut TileOut) {
        self.gather(space);
        self.forward(space);
        let rows = match self.computation {
            Computation::Scores => self.first_row(self.sequences.end) - self.first_row(self.sequences.start),
            _ => 0,
        };
        out.scores.resize(rows * self.plan.head.outputs, 0.0);
        (out.loss, out.penalty, out.correct) = (0.0, 0.0, 0);
        if self.computation.is_gradient() {
            out.grads.reserve(self.plan.grads);
            out.grads.fill(0.0);
        }
        let every_state = self.readout(space, out);
        self.keep_states(space, out);
        if self.computation.is_gradient() {
            self.backward(space, every_state, out);
        }
    }

    /// Index of the first readout row of a sequence of the batch.
    fn first_row(&self, sequence: usize) -> usize {
        match self.plan.net.readout {
            Readout::Last | Readout::Mean | Readout::Max => sequence,
            Readout::Every if sequence == self.batch.len() => self.batch.total_steps(),
            Readout::Every => self.batch.first_step(sequence),
        }
    }

    /// The embedding, where sequences are tokens.
    fn embedding(&self) -> Option<&EmbeddingPlan> {
        self.plan.embedding.as_ref()
    }

    /// Sorts the rows by length, copies the data time-major and sets the first states.
    fn gather(&self, space: &mut Workspace) {
        let Workspace { steps, order, x, layers, dropped_input, .. } = space;
        let (batch, rows) = (self.batch, self.sequences.len());
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
        let (dim, stride) = (self.plan.net.step_input(), self.plan.input_stride());
        x.reserve(longest * rows * stride);
        for (row, &i) in order.iter().enumerate() {
            let place = |t: usize| (t * rows + row) * stride;
            match self.embedding() {
                Some(embedding) => self.look_up(embedding, i, x, place),
                None => {
                    for t in 0..batch.steps(i) {
                        batch.read_step(i, t, &mut x[place(t)..place(t) + dim]);
                    }
                }
            }
        }
        if self.computation.is_gradient() {
            dropped_input.draw(batch, Place::Input, order, rows, dim, stride);
            dropped_input.apply(x);
        }
        layers.resize_with(self.plan.layers.len(), LayerWorkspace::default);
        for (plan, layer) in self.plan.layers.iter().zip(layers.iter_mut()) {
            Layer::<S>::prepare(plan, steps, layer, self.computation.is_gradient());
        }
        self.set_first_states(order, layers);
    }

    /// Copies the vectors of the tokens of sequence `i`.
    fn look_up(&self, embedding: &EmbeddingPlan, i: usize, x: &mut [f32], place: impl Fn(usize) -> usize) {
        let dim = embedding.dim;
        for (t, &token) in self.batch.tokens(i).iter().enumerate() {
            let vector = &self.vectors[(self.batch.first_step(i) + t) * dim..][..dim];
            let to = &mut x[place(t)..place(t) + dim];
            to.copy_from_slice(vector);
            let factor = self.token_factor(token);
            if factor != 1.0 {
                to.iter_mut().for_each(|v| *v *= factor);
            }
        }
    }

    /// What dropout makes of the vector of a token.
    fn token_factor(&self, token: u32) -> f32 {
        match self.computation.is_gradient() {
            true => self.batch.regularization.dropout.of_token(token),
            false => 1.0,
        }
    }

    /// The states before the first step, where they are not zero.
    fn set_first_states(&self, order: &[usize], layers: &mut [LayerWorkspace]) {
        let (initial, carried) = (&self.batch.initial, &self.batch.carried);
        let of_h: usize = self.plan.layers.iter().map(|l| l.hidden).sum();
        let of_all = self.plan.net.state_len();
        let (mut first_h, mut first) = (0, 0);
        for (plan, layer) in self.plan.layers.iter().zip(layers) {
            let LayerPlan { hidden, width, .. } = *plan;
            for (row, &i) in order.iter().enumerate() {
                let at = row * width..row * width + hidden;
                if !initial.is_empty() {
                    layer.h[at.clone()].copy_from_slice(&initial[i * of_h + first_h..][..hidden]);
                }
                if !carried.is_empty() {
                    let from = &carried[i * of_all + first..][..plan.cell.state_len()];
                    layer.h[at.clone()].copy_from_slice(&from[..hidden]);
                    if plan.shape.has_c {
                        layer.c[at].copy_from_slice(&from[hidden..]);
                    }
                }
            }
            first_h += hidden;
            first += plan.cell.state_len();
        }
    }

    /// The states after the last step, for a batch that continues this one.
    fn keep_states(&self, space: &Workspace, out: &mut TileOut) {
        let length = self.plan.net.state_len();
        out.states.resize(self.sequences.len() * length, 0.0);
        for (row, &i) in space.order.iter().enumerate() {
            let mut to = &mut out.states[(i - self.sequences.start) * length..][..length];
            for (plan, layer) in self.plan.layers.iter().zip(&space.layers) {
                let at = (self.batch.steps(i) * space.steps.rows + row) * plan.width;
                let (h, rest) = to.split_at_mut(plan.hidden);
                h.copy_from_slice(&layer.h[at..at + plan.hidden]);
                to = rest;
                if plan.shape.has_c {
                    let (c, rest) = to.split_at_mut(plan.hidden);
                    c.copy_from_slice(&layer.c[at..at + plan.hidden]);
                    to = rest;
                }
            }
        }
    }

    fn forward(&self, space: &mut Workspace) {
        let Workspace { steps, order, x, layers, dropped, .. } = space;
        let is_gradient = self.computation.is_gradient();
        dropped.resize_with(layers.len(), Dropped::default);
        for i in 0..layers.len() {
            let (below, this) = layers.split_at_mut(i);
            let input = self.input(x, below, &dropped[..i], steps);
            self.layer(i, steps, input).forward(&mut this[0], is_gradient);
            let LayerPlan { hidden, width, .. } = self.plan.layers[i];
            if is_gradient {
                let place = if i + 1 < self.plan.layers.len() { Place::Layer(i) } else { Place::Output };
                dropped[i].draw(self.batch, place, order, steps.rows, hidden, width);
                dropped[i].copy(&this[0].h[steps.rows * width..]);
            } else {
                dropped[i].clear();
            }
        }
    }

    fn layer<'b>(&'b self, i: usize, steps: &'b Steps, input: Input<'b>) -> Layer<'b, S> {
        Layer { s: self.s, plan: &self.plan.layers[i], weights: &self.weights.layers[i], steps, input }
    }

    /// What the layer above `below` reads: the data, or the states of the layer under it.
    fn input<'b>(
        &self,
        x: &'b [f32],
        below: &'b [LayerWorkspace],
        dropped: &'b [Dropped],
        steps: &Steps,
    ) -> Input<'b> {
        match (below.last(), dropped.last()) {
            (Some(layer), Some(dropped)) => {
                let width = self.plan.layers[below.len() - 1].width;
                Input { x: dropped.or(&layer.h[steps.rows * width..]), stride: width }
            }
            _ => Input { x, stride: self.plan.input_stride() },
        }
    }

    /// The head of this tile.
    fn head(&self) -> Head<'_, S> {
        Head {
            s: self.s,
            plan: &self.plan.head,
            weights: &self.weights.head,
            batch: self.batch,
            computation: self.computation,
            first_row: self.first_row(self.sequences.start),
        }
    }

    /// Scores or losses and, if gradients are computed, those of the states; says whether these are in
    /// `space.dout` (of every state) rather than in the last layer's `dh`.
    fn readout(&self, space: &mut Workspace, out: &mut TileOut) -> bool {
        let is_every_state = match self.plan.net.readout {
            Readout::Last => self.read_last(space, out),
            Readout::Every => self.read_every(space, out),
            Readout::Mean => self.read_pooled(space, &MeanState, out),
            Readout::Max => self.read_pooled(space, &LargestState, out),
        };
        if let (Computation::Gradient(objective), true) = (self.computation, is_every_state) {
            let Workspace { steps, layers, dropped, dout, .. } = space;
            let width = self.plan.layers[layers.len() - 1].width;
            let top = layers.last_mut().expect("a network has a layer");
            dropped[self.plan.layers.len() - 1].apply(dout);
            self.penalise_changes(objective, steps, &top.h, dout, out);
            top.dh[..steps.rows * width].fill(0.0);
        }
        is_every_state
    }

    /// The head reads the last state of each sequence and, in training, some before it.
    fn read_last(&self, space: &mut Workspace, out: &mut TileOut) -> bool {
        let Workspace { steps, order, rows: read, layers, dropped, dout, last, head, .. } = space;
        let (rows, width) = (steps.rows, self.plan.layers[layers.len() - 1].width);
        let top = layers.last_mut().expect("a network has a layer");
        let states = dropped[dropped.len() - 1].or(&top.h[rows * width..]);
        let readings = |i: usize| match self.computation {
            Computation::Gradient(_) => self.batch.readings(i),
            _ => 1,
        };
        last.reserve(rows * width);
        let is_plain = match self.computation {
            Computation::Gradient(objective) => {
                self.batch.earlier.readings == 0
                    && dropped[dropped.len() - 1].is_empty()
                    && objective.temporal == 0.0
            }
            _ => true,
        };
        if !is_plain {
            dout.reserve(steps.active.len() * rows * width);
            dout[..steps.active.len() * rows * width].fill(0.0);
        }
        for k in 0.. {
            let back = k * self.batch.earlier.every;
            let at = |row: usize, i: usize| ((self.batch.steps(i) - back - 1) * rows + row) * width;
            let reading = || order.iter().copied().enumerate().filter(|&(_, i)| k < readings(i));
            read.clear();
            for (row, i) in reading() {
                let from = &states[at(row, i)..][..width];
                last[read.len() * width..][..width].copy_from_slice(from);
                let share = 1.0 / readings(i) as f32;
                read.push(HeadRow { sequence: i, row: i, share, is_scored: k == 0 });
            }
            if read.is_empty() {
                break;
            }
            self.head().run(&last[..read.len() * width], width, read, &mut top.dh, head, out);
            if !is_plain {
                let mut dh = top.dh.chunks_exact(width);
                for (row, i) in reading() {
                    let to = &mut dout[at(row, i)..][..width];
                    dh.next().into_iter().for_each(|dh| to.copy_from_slice(dh));
                }
            }
        }
        !is_plain
    }

    /// The head reads one vector of all states of each sequence.
    fn read_pooled(&self, space: &mut Workspace, pooling: &dyn Pooling, out: &mut TileOut) -> bool {
        let Workspace { steps, order, rows: read, layers, dropped, dout, last, head, .. } = space;
        let (rows, width) = (steps.rows, self.plan.layers[layers.len() - 1].width);
        let top = layers.last_mut().expect("a network has a layer");
        let states = dropped[dropped.len() - 1].or(&top.h[rows * width..]);
        last.reserve(rows * width);
        read.clear();
        for (row, &i) in order.iter().enumerate() {
            let of_row = RowStates { states, first: row * width, stride: rows * width, width };
            pooling.pool(&of_row, self.batch.steps(i), &mut last[row * width..][..width]);
            read.push(HeadRow { sequence: i, row: i, share: 1.0, is_scored: true });
        }
        self.head().run(&last[..rows * width], width, read, &mut top.dh, head, out);
        if !self.computation.is_gradient() {
            return false;
        }
        dout.reserve(steps.active.len() * rows * width);
        dout[..steps.active.len() * rows * width].fill(0.0);
        let states = dropped[dropped.len() - 1].or(&top.h[rows * width..]);
        for (row, &i) in order.iter().enumerate() {
            let of_row = RowStates { states, first: row * width, stride: rows * width, width };
            let (pooled, dh) = (&last[row * width..][..width], &top.dh[row * width..][..width]);
            pooling.spread(&of_row, self.batch.steps(i), pooled, dh, dout);
        }
        true
    }

    /// The head reads every state: many steps at a time as long as all sequences run.
    fn read_every(&self, space: &mut Workspace, out: &mut TileOut) -> bool {
        let Workspace { steps, order, rows: read, layers, dropped, dout, head, .. } = space;
        let (rows, width) = (steps.rows, self.plan.layers[layers.len() - 1].width);
        let top = layers.last().expect("a network has a layer");
        let states = dropped[dropped.len() - 1].or(&top.h[rows * width..]);
        if self.computation.is_gradient() {
            dout.reserve(steps.active.len() * rows * width);
        }
        let together = if self.plan.head.is_wide() { (WIDE_ROWS / rows.max(1)).max(1) } else { 1 };
        let mut t = 0;
        while t < steps.active.len() {
            let end = if t < steps.full { (t + together).min(steps.full) } else { t + 1 };
            read.clear();
            for (t, &n) in steps.active.iter().enumerate().take(end).skip(t) {
                let row = |&i: &usize| HeadRow {
                    sequence: i,
                    row: self.first_row(i) + t,
                    share: 1.0,
                    is_scored: true,
                };
                read.extend(order[..n].iter().map(row));
            }
            let at = t * rows * width;
            let dh = if self.computation.is_gradient() { &mut dout[at..] } else { &mut [][..] };
            self.head().run(&states[at..at + read.len() * width], width, read, dh, head, out);
            t = end;
        }
        self.computation.is_gradient()
    }

    /// The penalty on changes of the last layer's state from step to step.
    fn penalise_changes(
        &self,
        objective: Objective,
        steps: &Steps,
        h: &[f32],
        dout: &mut [f32],
        out: &mut TileOut,
    ) {
        if objective.temporal == 0.0 {
            return;
        }
        let (rows, width) = (steps.rows, self.plan.layers[self.plan.layers.len() - 1].width);
        let mut sum = 0.0;
        for (t, &n) in steps.active.iter().enumerate().skip(1) {
            let (before, after) = dout.split_at_mut(t * rows * width);
            let before = &mut before[(t - 1) * rows * width..];
            let (old, new) = (&h[t * rows * width..], &h[(t + 1) * rows * width..]);
            for k in 0..n * width {
                let change = new[k] - old[k];
                sum += f64::from(change * change);
                let slope = 2.0 * objective.temporal * change;
                after[k] += slope;
                before[k] -= slope;
            }
        }
        out.penalty += f64::from(objective.temporal) * sum;
    }

    fn backward(&self, space: &mut Workspace, mut every_state: bool, out: &mut TileOut) {
        let Workspace { steps, order, x, layers, dropped, dropped_input, slots, dout, dx, .. } = space;
        for i in (0..layers.len()).rev() {
            let (below, this) = layers.split_at_mut(i);
            let input = self.input(x, below, &dropped[..i], steps);
            let is_needed = self.plan.layers[i].needs_dx;
            dx.reserve(if is_needed { steps.active.len() * steps.rows * input.stride } else { 0 });
            let from_above = if every_state { &dout[..] } else { &[] };
            self.layer(i, steps, input).backward(&mut this[0], from_above, dx, &mut out.grads);
            if let (Some(next), Some(dropped)) = (below.last_mut(), dropped[..i].last()) {
                dropped.apply(dx);
                next.dh[..steps.rows * self.plan.layers[i - 1].width].fill(0.0);
            }
            std::mem::swap(dout, dx);
            every_state = true;
        }
        if let Some(embedding) = self.embedding() {
            // The last swap left the gradient of the input in `dout`.
            dropped_input.apply(dout);
            out.tokens.begin(embedding.dim);
            for (row, &i) in order.iter().enumerate() {
                for (t, &token) in self.batch.tokens(i).iter().enumerate() {
                    let at = (t * steps.rows + row) * embedding.width;
                    let gradient = &dout[at..at + embedding.dim];
                    out.tokens.add(slots, embedding.vocabulary, token, self.token_factor(token), gradient);
                }
            }
            out.tokens.finish(slots);
        }
    }
}
