//! One layer's step: two products, then the cell's element-wise rule.

use super::matrix::FloatMatrix;
use super::{Shape, WrongLength, math, room, take};
use crate::cells::SHORTEST;
use crate::{Alphas, CellKind, MatrixForm, Scalar};

/// A layer on borrowed parameters.
#[derive(Clone, Copy, Debug)]
pub struct FloatLayer<'a> {
    shape: Shape,
    w: FloatMatrix<'a>,
    u: FloatMatrix<'a>,
    /// The cell's biases in layout order, each with an entry for every unit or pair of units.
    biases: [&'a [f32]; 4],
    /// The gain of each unit's gate; empty for a cell without.
    gain: &'a [f32],
    alpha: Alpha<'a>,
    /// FastRNN's β.
    beta: f32,
    zeta: f32,
    nu: f32,
}

/// FastRNN's α, or the raw vector of FastRNN-vector.
#[derive(Clone, Copy, Debug)]
enum Alpha<'a> {
    Same(f32),
    Raw(&'a [f32]),
}

impl Alpha<'_> {
    fn of(&self, unit: usize) -> f32 {
        match self {
            Self::Same(alpha) => *alpha,
            Self::Raw(raw) => math::sigmoid(raw[unit]),
        }
    }
}

/// Reads a scalar's value: from the front of `params` if it is learnt.
fn scalar(mode: Scalar, alpha: f32, params: &[f32]) -> Result<(f32, &[f32]), WrongLength> {
    match mode {
        Scalar::Learnt => take("the parameters", params, 1).map(|(raw, rest)| (math::sigmoid(raw[0]), rest)),
        Scalar::Fixed(value) => Ok((value, params)),
        Scalar::Tied => Ok((1.0 - alpha, params)),
    }
}

impl<'a> FloatLayer<'a> {
    /// Reads a layer from the front of `params`, in the training library's flat layout; returns
    /// what follows it.
    pub fn new(shape: &Shape, params: &'a [f32]) -> Result<(Self, &'a [f32]), WrongLength> {
        let cell = shape.kind.shape();
        let rows = shape.hidden.saturating_mul(cell.blocks);
        if shape.w == MatrixForm::Diagonal && shape.input != shape.hidden {
            let what = "the input of a diagonal matrix";
            return Err(WrongLength { what, found: shape.input, needed: shape.hidden });
        }
        if cell.has_pairs && shape.hidden % 2 == 1 {
            let (what, found) = ("a layer of pairs of units", shape.hidden);
            return Err(WrongLength { what, found, needed: found + 1 });
        }
        let (w, rest) = FloatMatrix::new(params, rows, shape.input, shape.w)?;
        let (u, mut rest) = FloatMatrix::new(rest, rows, shape.hidden, shape.u)?;
        let mut biases: [&[f32]; 4] = [&[]; 4];
        for bias in &mut biases[..cell.biases] {
            (*bias, rest) = take("the parameters", rest, cell.vector_len(shape.hidden))?;
        }
        let mut gain: &[f32] = &[];
        if cell.has_gain {
            (gain, rest) = take("the parameters", rest, shape.hidden)?;
        }
        let alpha = Alpha::Same(0.0);
        let mut layer = Self { shape: *shape, w, u, biases, gain, alpha, beta: 0.0, zeta: 0.0, nu: 0.0 };
        match (cell.alphas, shape.alpha) {
            (Alphas::None, _) => {}
            (Alphas::PerUnit, Scalar::Learnt | Scalar::Tied) => {
                let raw;
                (raw, rest) = take("the parameters", rest, shape.hidden)?;
                layer.alpha = Alpha::Raw(raw);
            }
            (Alphas::One | Alphas::PerUnit, mode) => {
                let alpha;
                (alpha, rest) = scalar(mode, 0.0, rest)?;
                layer.alpha = Alpha::Same(alpha);
            }
        }
        if cell.has_beta {
            (layer.beta, rest) = scalar(shape.beta, layer.alpha.of(0), rest)?;
        }
        if cell.has_zeta {
            (layer.zeta, rest) = scalar(shape.zeta, 0.0, rest)?;
            (layer.nu, rest) = scalar(shape.nu, 0.0, rest)?;
        }
        Ok((layer, rest))
    }

    /// Units: the entries of the state that the next layer and the head read.
    pub fn hidden(&self) -> usize {
        self.shape.hidden
    }

    /// Entries of the state: h, and for an LSTM c after it.
    pub fn state_len(&self) -> usize {
        self.shape.kind.shape().states * self.shape.hidden
    }

    /// Entries of the scratch buffer.
    pub fn scratch_len(&self) -> usize {
        self.sums_len() + self.w.scratch_len().max(self.u.scratch_len())
    }

    /// Stacked sums; a GRU keeps `U_n·h` apart from `W_n·x`.
    fn sums_len(&self) -> usize {
        self.shape.kind.shape().sums() * self.shape.hidden
    }

    /// Takes one step: reads `input` and replaces `state` by the next one.
    ///
    /// All zeros is the usual state to start from. What `scratch` holds does not matter.
    pub fn step(&self, state: &mut [f32], input: &[f32], scratch: &mut [f32]) -> Result<(), WrongLength> {
        let hidden = self.shape.hidden;
        let state = room("the state", state, self.state_len())?;
        let (input, _) = take("the input", input, self.shape.input)?;
        let (sums, inner) =
            room("the scratch buffer", scratch, self.scratch_len())?.split_at_mut(self.sums_len());
        let (h, c) = state.split_at_mut(hidden);

        sums.fill(0.0);
        let cell = self.shape.kind.shape();
        let stacked = cell.blocks * hidden;
        self.w.add_rows(0, self.w.project(input, inner), &mut sums[..stacked]);
        let projected = self.u.project(h, inner);
        let shared = stacked - if cell.keeps_apart { hidden } else { 0 };
        self.u.add_rows(0, projected, &mut sums[..shared]);
        self.u.add_rows(shared, projected, &mut sums[stacked..]);
        for (k, h) in h.iter_mut().enumerate() {
            let mut memory = c.get(k).copied().unwrap_or(0.0);
            *h = self.next(k, sums, *h, &mut memory);
            if let Some(c) = c.get_mut(k) {
                *c = memory;
            }
        }
        Ok(())
    }

    /// Unit `k`'s next h from its sums and old state; an LSTM replaces c as well.
    fn next(&self, k: usize, sums: &[f32], h: f32, c: &mut f32) -> f32 {
        let sum = |block: usize| sums[block * self.shape.hidden + k];
        let gate = |x: f32| math::nonlinearity(self.shape.gate, x);
        let update = |x: f32| math::nonlinearity(self.shape.update, x);
        let bias = |i: usize| self.biases[i][k];
        match self.shape.kind {
            CellKind::Rnn => update(sum(0) + bias(0)),
            CellKind::FastRnn => self.alpha.of(k) * update(sum(0) + bias(0)) + self.beta * h,
            CellKind::FastRnnVector => {
                let alpha = self.alpha.of(k);
                alpha * update(sum(0) + bias(0)) + (self.zeta * (1.0 - alpha) + self.nu) * h
            }
            CellKind::FastGrnn => {
                let z = gate(sum(0) + bias(0));
                (self.zeta * (1.0 - z) + self.nu) * update(sum(0) + bias(1)) + z * h
            }
            CellKind::FastGrnnGain => {
                let z = gate(self.gain[k] * sum(0) + bias(0));
                (self.zeta * (1.0 - z) + self.nu) * update(sum(0) + bias(1)) + z * h
            }
            CellKind::Ugrnn => {
                let z = gate(sum(0) + bias(0));
                z * h + (1.0 - z) * update(sum(1) + bias(1))
            }
            CellKind::Gru => {
                let (r, z) = (gate(sum(0) + bias(0)), gate(sum(1) + bias(1)));
                let n = update(sum(2) + bias(2) + r * (sum(3) + bias(3)));
                (1.0 - z) * n + z * h
            }
            CellKind::Lstm => {
                let (i, f, o) = (gate(sum(0) + bias(0)), gate(sum(1) + bias(1)), gate(sum(3) + bias(3)));
                *c = f * *c + i * update(sum(2) + bias(2));
                o * update(*c)
            }
            CellKind::MinGru => {
                let z = gate(sum(0) + bias(0));
                (1.0 - z) * h + z * update(sum(1) + bias(1))
            }
            CellKind::Eurnn => {
                let length = math::length(sums[k], sums[k ^ 1]);
                match length <= SHORTEST {
                    true => 0.0,
                    false => update(length + self.biases[0][k / 2]) * (sums[k] / length),
                }
            }
        }
    }
}

/// Takes one step of stacked layers whose states lie one after the other in `state`.
pub fn step_layers(
    layers: &[FloatLayer<'_>],
    state: &mut [f32],
    input: &[f32],
    scratch: &mut [f32],
) -> Result<(), WrongLength> {
    let needed = layers.iter().map(FloatLayer::state_len).sum();
    let mut rest = room("the state", state, needed)?;
    let mut input = input;
    for layer in layers {
        let (own, after) = rest.split_at_mut(layer.state_len());
        layer.step(own, input, scratch)?;
        input = &own[..layer.hidden()];
        rest = after;
    }
    Ok(())
}
