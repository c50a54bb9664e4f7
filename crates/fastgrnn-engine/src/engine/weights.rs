//! Parameters as the kernels read them, and gradients back into the flat layout.

use super::materialise::{Materialised, MatrixGradient, copy_rows};
use super::plan::{Evaluation, HeadPlan, LINE, LayerPlan, Matrix, Plan, Source, W_BLOCKS};
use super::spread;
use crate::simd::{Buffer, Packed, Simd};

/// The packed parameters of a network.
pub(super) struct Weights {
    pub(super) layers: Vec<LayerWeights>,
    pub(super) head: HeadWeights,
}

/// The packed parameters of a layer.
pub(super) struct LayerWeights {
    /// For each group of blocks: U's rows, then W's, `k × blocks·width`.
    pub(super) groups: Vec<Packed>,
    pub(super) u: MatrixWeights,
    pub(super) w: MatrixWeights,
    /// The declared vectors, sigmoids taken.
    pub(super) vectors: Buffer,
    /// α, β, ζ, ν, sigmoids taken.
    pub(super) scalars: [f32; 4],
}

/// What W or U needs besides the forward product.
#[derive(Default)]
pub(super) struct MatrixWeights {
    /// The main product's matrix the other way, `stacked × k`: gradients of what it reads.
    pub(super) back: Packed,
    /// The second factor, `inputs × rank`, if factored.
    pub(super) second: Packed,
    /// Its transpose, `rank × inputs`, if factored.
    pub(super) second_t: Packed,
    /// The diagonals, if that is what there is.
    pub(super) diagonal: Buffer,
    /// The full matrix that is made from the parameters, if it is evaluated that way.
    materialised: Option<Materialised>,
}

/// The packed head, block by block.
pub(super) struct HeadWeights {
    /// `hidden × outputs`
    pub(super) forward: Vec<Packed>,
    /// `outputs × hidden`
    pub(super) back: Vec<Packed>,
    /// Biases, those of each block padded.
    pub(super) bias: Buffer,
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Weights {
    pub(super) fn new<S: Simd>(plan: &Plan) -> Self {
        let head = &plan.head;
        Self {
            layers: plan.layers.iter().map(LayerWeights::new::<S>).collect(),
            head: HeadWeights {
                forward: head.blocks().map(|block| Packed::new::<S>(head.hidden, block.len())).collect(),
                back: head.blocks().map(|block| Packed::new::<S>(block.len(), head.hidden)).collect(),
                bias: Buffer::zeros(head.blocks().len() * head.width),
            },
        }
    }

    /// Takes over `params`; `training` packs what only backward reads, too.
    pub(super) fn pack<S: Simd>(
        &mut self,
        s: S,
        plan: &Plan,
        params: &[f32],
        training: bool,
        threads: usize,
    ) {
        for (layer, weights) in plan.layers.iter().zip(&mut self.layers) {
            weights.pack(s, layer, params, training);
        }
        self.head.pack::<S>(&plan.head, params, training, threads);
    }

    /// Writes the gathered gradient `grads` into the flat `out`, but for the weights of a wide head.
    pub(super) fn unpack<S: Simd>(
        &mut self,
        s: S,
        plan: &Plan,
        grads: &[f32],
        params: &[f32],
        out: &mut [f32],
    ) {
        for (layer, weights) in plan.layers.iter().zip(&mut self.layers) {
            weights.unpack(s, layer, grads, params, out);
        }
        let HeadPlan { hidden, hidden_width, ref grad_w, ref grad_b, ref w, ref b, .. } = plan.head;
        if !plan.head.is_wide() {
            copy_rows(&grads[grad_w.clone()], hidden_width, &mut out[w.clone()], hidden);
        }
        out[b.clone()].copy_from_slice(&grads[grad_b.clone()]);
    }
}

/// Writes the gathered gradients of the weights of a block of a wide head, `outputs × hidden`.
pub(super) fn unpack_block(plan: &HeadPlan, grads: &[f32], out: &mut [f32]) {
    let hidden = plan.hidden;
    let outputs = out.len() / hidden;
    for panel in plan.panels(outputs) {
        let from = &grads[panel.gradients()];
        let outputs = panel.width.min(outputs - panel.first);
        let to = &mut out[panel.first * hidden..];
        // In squares, so that both sides stay in the first cache.
        for units in (0..hidden).step_by(LINE) {
            for first in (0..outputs).step_by(LINE) {
                for o in first..outputs.min(first + LINE) {
                    for i in units..hidden.min(units + LINE) {
                        to[o * hidden + i] = from[i * panel.width + o];
                    }
                }
            }
        }
    }
}

impl HeadWeights {
    fn pack<S: Simd>(&mut self, plan: &HeadPlan, params: &[f32], training: bool, threads: usize) {
        let HeadPlan { hidden, width, .. } = *plan;
        let (w, b) = (&params[plan.w.clone()], &params[plan.b.clone()]);
        let packed = self.forward.iter_mut().zip(&mut self.back).zip(self.bias.chunks_mut(width));
        let threads = if plan.is_wide() { threads } else { 1 };
        spread::for_each(threads, plan.blocks().zip(packed), |(block, ((forward, back), bias))| {
            let outputs = block.len();
            let w = &w[block.start * hidden..block.end * hidden];
            forward.fill::<S>(0, hidden, 0, outputs, |i, o| w[o * hidden + i]);
            if training {
                back.fill::<S>(0, outputs, 0, hidden, |o, i| w[o * hidden + i]);
            }
            bias[..outputs].copy_from_slice(&b[block]);
        });
    }
}

impl LayerWeights {
    fn new<S: Simd>(plan: &LayerPlan) -> Self {
        let group_k = |reads: bool, matrix: &Matrix| if reads { matrix.k } else { 0 };
        let groups = plan.groups.iter().map(|g| {
            Packed::new::<S>(group_k(g.reads_h, &plan.u) + group_k(g.reads_x, &plan.w), g.blocks * plan.width)
        });
        let stacked = plan.cell.blocks() * plan.hidden;
        Self {
            groups: groups.collect(),
            u: MatrixWeights::new::<S>(&plan.u, stacked),
            w: MatrixWeights::new::<S>(&plan.w, stacked),
            vectors: Buffer::zeros(plan.vectors.len() * plan.width),
            scalars: [0.0; 4],
        }
    }

    fn pack<S: Simd>(&mut self, s: S, plan: &LayerPlan, params: &[f32], training: bool) {
        let stacked = plan.cell.blocks() * plan.hidden;
        self.u.pack(s, &plan.u, stacked, params, training);
        let w_back = training && (plan.needs_dx || plan.w.evaluation == Evaluation::Factored);
        self.w.pack(s, &plan.w, stacked, params, w_back);
        let (u, u_stride) = self.u.main(&plan.u, params);
        let (w, w_stride) = self.w.main(&plan.w, params);
        for (group, packed) in plan.groups.iter().zip(&mut self.groups) {
            for block in 0..group.blocks {
                let column = block * plan.width;
                let in_pre = group.first + block;
                let mut row = 0;
                if let Some(b) = plan.shape.u_blocks.iter().position(|&b| group.reads_h && b == in_pre) {
                    let from = &u[b * plan.hidden * u_stride..];
                    packed.fill::<S>(0, plan.u.k, column, plan.hidden, |k, i| from[i * u_stride + k]);
                    row = plan.u.k;
                }
                if group.reads_x {
                    let from = &w[in_pre * plan.hidden * w_stride..];
                    packed.fill::<S>(row, plan.w.k, column, plan.hidden, |k, i| from[i * w_stride + k]);
                }
            }
        }
        self.pack_point(plan, params);
    }

    fn pack_point(&mut self, plan: &LayerPlan, params: &[f32]) {
        for (source, vector) in plan.vectors.iter().zip(self.vectors.chunks_mut(plan.width)) {
            match source {
                Source::Params { at, raw } => {
                    let units = plan.hidden / at.len();
                    for (to, &value) in vector.chunks_exact_mut(units).zip(&params[at.clone()]) {
                        to.fill(if *raw { sigmoid(value) } else { value });
                    }
                }
                Source::Fixed(value) => vector[..plan.hidden].fill(*value),
                Source::Tied | Source::Absent => {}
            }
        }
        for i in 0..4 {
            self.scalars[i] = match &plan.scalars[i] {
                Source::Params { at, .. } => sigmoid(params[at.start]),
                Source::Fixed(value) => *value,
                Source::Tied => 1.0 - self.scalars[0],
                Source::Absent => 0.0,
            };
        }
    }

    fn unpack<S: Simd>(&mut self, s: S, plan: &LayerPlan, grads: &[f32], params: &[f32], out: &mut [f32]) {
        let w_blocks = &W_BLOCKS[..plan.cell.blocks()];
        self.u.unpack(s, &plan.u, plan, &plan.shape.u_blocks, grads, out);
        self.w.unpack(s, &plan.w, plan, w_blocks, grads, out);
        let point = &grads[plan.grad_point.clone()];
        for (source, (g, value)) in
            plan.vectors.iter().zip(point.chunks(plan.width).zip(self.vectors.chunks(plan.width)))
        {
            if let Source::Params { at, raw } = source {
                // An entry belongs to a unit, or to the units of a pair.
                let units = plan.hidden / at.len();
                for (i, to) in out[at.clone()].iter_mut().enumerate() {
                    let (value, units) = (value[i * units], i * units..(i + 1) * units);
                    let by_value: f32 = g[units].iter().sum();
                    *to = if *raw { by_value * value * (1.0 - value) } else { by_value };
                }
            }
        }
        let scalars = &point[plan.vectors.len() * plan.width..];
        for (i, source) in plan.scalars.iter().enumerate() {
            if let Source::Params { at, .. } = source {
                // α also moves a tied β the other way.
                let tied = if i == 0 && matches!(plan.scalars[1], Source::Tied) { scalars[1] } else { 0.0 };
                let value = sigmoid(params[at.start]);
                out[at.start] = (scalars[i] - tied) * value * (1.0 - value);
            }
        }
    }
}

impl MatrixWeights {
    fn new<S: Simd>(plan: &Matrix, stacked: usize) -> Self {
        let mut new = Self { back: Packed::new::<S>(stacked, plan.k), ..Self::default() };
        match plan.evaluation {
            Evaluation::Direct | Evaluation::Absent => {}
            Evaluation::Factored => {
                new.second = Packed::new::<S>(plan.inputs, plan.rank);
                new.second_t = Packed::new::<S>(plan.rank, plan.inputs);
            }
            Evaluation::Materialised => new.materialised = Some(Materialised::new::<S>(plan, stacked)),
            Evaluation::Diagonal => new.diagonal = Buffer::zeros(stacked),
        }
        new
    }

    /// The matrix of the main product, `stacked × k`, and the stride of its rows.
    fn main<'a>(&'a self, plan: &Matrix, params: &'a [f32]) -> (&'a [f32], usize) {
        match &self.materialised {
            Some(materialised) => materialised.matrix(),
            None => (&params[plan.first.clone()], plan.k),
        }
    }

    fn pack<S: Simd>(&mut self, s: S, plan: &Matrix, stacked: usize, params: &[f32], back: bool) {
        let Matrix { inputs, rank, .. } = *plan;
        match plan.evaluation {
            Evaluation::Direct | Evaluation::Absent => {}
            Evaluation::Factored => {
                let second = &params[plan.second.clone()];
                self.second_t.fill::<S>(0, rank, 0, inputs, |r, j| second[j * rank + r]);
                self.second.fill::<S>(0, inputs, 0, rank, |j, r| second[j * rank + r]);
            }
            Evaluation::Materialised => {
                self.materialised.iter_mut().for_each(|m| m.materialise(s, plan, params));
            }
            Evaluation::Diagonal => self.diagonal[..stacked].copy_from_slice(&params[plan.first.clone()]),
        }
        if back && plan.evaluation.is_product() {
            let mut packed = std::mem::take(&mut self.back);
            let (main, stride) = self.main(plan, params);
            packed.fill::<S>(0, stacked, 0, plan.k, |i, k| main[i * stride + k]);
            self.back = packed;
        }
    }

    /// Flat gradients from the gathered ones; `blocks` are this matrix's blocks of `pre`.
    fn unpack<S: Simd>(
        &mut self,
        s: S,
        plan: &Matrix,
        layer: &LayerPlan,
        blocks: &[usize],
        grads: &[f32],
        out: &mut [f32],
    ) {
        let (hidden, width, stride) = (layer.hidden, layer.width, layer.pre_width());
        let g = &grads[plan.grad_first.clone()];
        if let Some(materialised) = &mut self.materialised {
            let gradient = MatrixGradient { values: g, stride, hidden, width, blocks };
            materialised.pull_back(s, plan, gradient, out);
            return;
        }
        if plan.evaluation == Evaluation::Diagonal {
            out[plan.first.clone()].copy_from_slice(g);
            return;
        }
        let first = &mut out[plan.first.clone()];
        for (b, &block) in blocks.iter().enumerate().filter(|_| plan.k > 0) {
            let rows = first[b * hidden * plan.k..(b + 1) * hidden * plan.k].chunks_mut(plan.k);
            for (i, row) in rows.enumerate() {
                let column = block * width + i;
                row.iter_mut().enumerate().for_each(|(k, value)| *value = g[k * stride + column]);
            }
        }
        if plan.evaluation == Evaluation::Factored {
            let from = &grads[plan.grad_second.clone()];
            copy_rows(from, plan.rank_width, &mut out[plan.second.clone()], plan.rank);
        }
    }
}
