//! How large a float model's values get on recorded data.

use super::QuantizeError;
use crate::model::Model;
use fastgrnn_core::cells::{Cell, MatrixForm};
use fastgrnn_core::window::Window;
use fastgrnn_data::data::Sequences;
use fastgrnn_runtime::float;

/// Sequences that calibration runs through the network.
const SEQUENCES: usize = 512;
/// Of these, so many are joined end to end: states grow on streams longer than training windows.
const JOINED: usize = 8;

/// Tokens of a text that are read without a break.
const PIECE: usize = 256;

/// The largest magnitudes that calibration saw.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranges {
    /// Each feature as it comes, over all sequences.
    pub(super) features: Vec<Feature>,
    /// Of the normalised input, over all features.
    pub(super) input: f32,
    pub(super) layers: Vec<LayerRanges>,
}

/// A feature in the data's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Feature {
    pub(super) low: f32,
    pub(super) high: f32,
    /// Whether all values are whole numbers.
    pub(super) whole: bool,
}

impl Feature {
    /// The largest magnitude.
    pub(super) fn largest(&self) -> f32 {
        self.high.max(-self.low)
    }

    /// Every feature of the sequences of `x` at `indices`.
    pub(super) fn all(x: &Sequences, indices: &[u32]) -> Vec<Self> {
        let none = Self { low: f32::INFINITY, high: f32::NEG_INFINITY, whole: true };
        let mut features = vec![none; x.dim()];
        for row in indices.iter().flat_map(|&i| x.get(i as usize).chunks_exact(x.dim().max(1))) {
            for (feature, &v) in features.iter_mut().zip(row) {
                feature.low = feature.low.min(v);
                feature.high = feature.high.max(v);
                feature.whole &= v == v.round();
            }
        }
        features
    }
}

/// The largest magnitudes within a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LayerRanges {
    /// The vector between W's factors.
    pub(super) projected_w: Largest,
    /// The vector between U's factors.
    pub(super) projected_u: Largest,
    /// A GRU's `U_n·h + b_hn`.
    pub(super) recurrent: Largest,
    pub(super) state: Largest,
    /// An LSTM's c.
    pub(super) memory: Largest,
}

/// The largest magnitude of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Largest {
    /// Within single sequences.
    pub(super) window: f32,
    /// Within several sequences joined end to end.
    pub(super) stream: f32,
}

/// A stream may need this many times the room of a window; a state that grows further integrates
/// without end, and room for it would leave windows too few bits.
const STREAM_ROOM: f32 = 4.0;

impl Largest {
    /// What a scale should have room for.
    pub(super) fn room(self, headroom: f32) -> f32 {
        (self.window * headroom).max(self.stream.min(STREAM_ROOM * self.window))
    }

    fn see(&mut self, joined: bool, values: &[f32]) {
        let top = if joined { &mut self.stream } else { &mut self.window };
        *top = values.iter().fold(*top, |top, v| top.max(v.abs()));
    }
}

/// Runs `model` over the sequences of `x` at `indices`.
pub(super) fn calibrate(model: &Model, x: &Sequences, indices: &[u32]) -> Result<Ranges, QuantizeError> {
    if indices.is_empty() {
        return Err(QuantizeError::NoData);
    }
    let mut ranges = Ranges {
        features: if x.has_tokens() { Vec::new() } else { Feature::all(x, indices) },
        input: 0.0,
        layers: vec![LayerRanges::default(); model.network.layers.len()],
    };
    let mut run = Run::new(model);
    if let Some(vectors) = model.vectors() {
        let width = model.network.input();
        let pieces = pieces(x, indices);
        for joined in [1, JOINED] {
            run.joined = joined > 1;
            for stream in pieces.chunks(joined) {
                run.reset(model, &mut ranges.layers);
                for &tokens in stream {
                    let vector = |&token: &u32| &vectors[token as usize * width..][..width];
                    let values: Vec<f32> = tokens.iter().flat_map(vector).copied().collect();
                    run.sequence(&values, &mut ranges.layers)?;
                }
            }
        }
        return Ok(ranges);
    }
    let mut normalized = Vec::new();
    let mut normalize = |i: u32, ranges: &mut Ranges| -> Result<Vec<f32>, QuantizeError> {
        normalized.clear();
        normalized.extend_from_slice(x.get(i as usize));
        model.normalizer.apply(&mut normalized, x.dim())?;
        ranges.input = normalized.iter().fold(ranges.input, |top, v| top.max(v.abs()));
        Ok(normalized.clone())
    };
    for &i in indices {
        normalize(i, &mut ranges)?;
    }
    let stride = indices.len().div_ceil(SEQUENCES);
    let chosen: Vec<u32> = indices.iter().copied().step_by(stride).collect();
    // Windows by themselves, then streams of several.
    for joined in [1, JOINED] {
        run.joined = joined > 1;
        for stream in chosen.chunks(joined) {
            run.reset(model, &mut ranges.layers);
            for &i in stream {
                run.sequence(&normalize(i, &mut ranges)?, &mut ranges.layers)?;
            }
        }
    }
    Ok(ranges)
}

/// At most [`SEQUENCES`] pieces of texts of at most [`PIECE`] tokens, spread over all texts.
fn pieces<'x>(x: &'x Sequences, indices: &[u32]) -> Vec<&'x [u32]> {
    let all: Vec<&[u32]> = indices.iter().flat_map(|&i| x.tokens(i as usize).chunks(PIECE)).collect();
    let stride = all.len().div_ceil(SEQUENCES).max(1);
    all.into_iter().step_by(stride).collect()
}

/// The float runtime on a model's parameters, watching intermediate values.
struct Run<'a> {
    layers: Vec<float::FloatLayer<'a>>,
    parts: Vec<Inner<'a>>,
    state: Vec<f32>,
    scratch: Vec<f32>,
    window: Window,
    /// Whether sequences are joined.
    joined: bool,
}

/// The parameters whose products the runtime keeps to itself.
struct Inner<'a> {
    cell: &'a Cell,
    /// Second factors, `inputs × rank`.
    w2: &'a [f32],
    u2: &'a [f32],
    /// U, its first factor or its diagonals, as they are stored.
    u1: &'a [f32],
    /// The bias of the last block of `U·h`, where the cell keeps that apart.
    recurrent_bias: Option<&'a [f32]>,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model) -> Self {
        let layout = model.network.layout();
        let of = |layer: usize, name: &str| {
            let view = layout.view(&format!("layer{layer}.{name}"));
            view.map_or(&[][..], |view| &model.params[view.range()])
        };
        let mut rest = &model.params[..];
        let (mut layers, mut parts) = (Vec::new(), Vec::new());
        for (i, cell) in model.network.layers.iter().enumerate() {
            let (layer, after) = float::FloatLayer::new(&cell.into(), rest)
                .expect("a model has as many parameters as its network needs");
            layers.push(layer);
            rest = after;
            let u1 = if cell.form_u.rank().is_some() { of(i, "u1") } else { of(i, "u") };
            let recurrent_bias = cell.kind.declaration().recurrent_bias().map(|name| of(i, name));
            parts.push(Inner { cell, w2: of(i, "w2"), u2: of(i, "u2"), u1, recurrent_bias });
        }
        let state = vec![0.0; layers.iter().map(float::FloatLayer::state_len).sum()];
        let scratch = vec![0.0; layers.iter().map(float::FloatLayer::scratch_len).max().unwrap_or(0)];
        Self { layers, parts, state, scratch, window: model.network.window, joined: false }
    }

    fn reset(&mut self, model: &Model, ranges: &mut [LayerRanges]) {
        self.state.fill(0.0);
        let mut start = model.start_states().into_iter();
        let mut rest = &mut self.state[..];
        for (layer, ranges) in self.layers.iter().zip(ranges) {
            let (own, after) = rest.split_at_mut(layer.state_len());
            own.iter_mut().zip(start.by_ref().take(layer.hidden())).for_each(|(h, v)| *h = v);
            ranges.state.see(self.joined, own);
            rest = after;
        }
    }

    /// Takes the steps of a sequence of frames. A window shows the frames of one sequence only.
    fn sequence(&mut self, x: &[f32], ranges: &mut [LayerRanges]) -> Result<(), QuantizeError> {
        let Some(first) = self.parts.first() else { return Ok(()) };
        let width = first.cell.input / self.window.frames;
        for t in 0..self.window.steps(x.len() / width) {
            let mut input = vec![0.0; first.cell.input];
            self.window.read(x, width, t, &mut input);
            let mut rest = &mut self.state[..];
            for ((layer, inner), ranges) in self.layers.iter().zip(&self.parts).zip(ranges.iter_mut()) {
                let (own, after) = rest.split_at_mut(layer.state_len());
                inner.watch(&input, &own[..layer.hidden()], self.joined, ranges);
                layer
                    .step(own, &input, &mut self.scratch)
                    .expect("the buffers have the lengths that the layer states");
                let (h, c) = own.split_at(layer.hidden());
                if let Some(&value) = h.iter().chain(c).find(|v| !v.is_finite()) {
                    return Err(QuantizeError::NotFinite { value });
                }
                ranges.state.see(self.joined, h);
                ranges.memory.see(self.joined, c);
                input = h.to_vec();
                rest = after;
            }
        }
        Ok(())
    }
}

impl Inner<'_> {
    /// Notes the products of a step from input `x` and old state `h`.
    fn watch(&self, x: &[f32], h: &[f32], joined: bool, ranges: &mut LayerRanges) {
        if let Some(rank) = self.cell.form_w.rank() {
            ranges.projected_w.see(joined, &transposed_times(self.w2, rank, x));
        }
        let mut projected = None;
        if let Some(rank) = self.cell.form_u.rank() {
            let m = transposed_times(self.u2, rank, h);
            ranges.projected_u.see(joined, &m);
            projected = Some(m);
        }
        if let Some(bias) = self.recurrent_bias {
            let before = (self.cell.blocks() - 1) * self.cell.hidden;
            let v = projected.as_deref().unwrap_or(h);
            let sums: Vec<f32> = match self.cell.form_u {
                MatrixForm::Absent => bias.to_vec(),
                MatrixForm::Diagonal => {
                    let last = self.u1[before..].iter().zip(v).zip(bias);
                    last.map(|((a, v), b)| b + a * v).collect()
                }
                MatrixForm::Full | MatrixForm::LowRank(_) => {
                    let rows = self.u1.chunks_exact(v.len().max(1)).skip(before).zip(bias);
                    rows.map(|(row, b)| b + row.iter().zip(v).map(|(a, v)| a * v).sum::<f32>()).collect()
                }
            };
            ranges.recurrent.see(joined, &sums);
        }
    }
}

fn transposed_times(a: &[f32], cols: usize, v: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; cols];
    for (row, &v) in a.chunks_exact(cols).zip(v) {
        out.iter_mut().zip(row).for_each(|(o, a)| *o += a * v);
    }
    out
}
