//! Choosing every scale, and rounding a float model to integers.

use super::calibrate::{LayerRanges, calibrate};
use super::input_scale::{MOST, bits_for, input_scale};
use super::network::{meaning, scaled, stored_scalars};
use super::{
    BiasBits, EntryGrid, Grid, InputScale, IntegerEmbedding, IntegerFactors, IntegerLayer, IntegerMatrix,
    IntegerNetwork, QuantizeError, StepGrid,
};
use crate::model::Model;
use fastgrnn_core::cells::{
    Cell, CellMatrix, MatrixForm, Nonlinearity, NonlinearityF64, Role, Scalar, ScalarName,
};
use fastgrnn_core::net::{EMBEDDING, InitialState, Layout, Network, View};
use fastgrnn_data::data::{Normalize, Sequences};
use fastgrnn_runtime::int::Shifts;
use std::borrow::Cow;

/// How a model is made integer.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What one count of each feature is worth in the data's units (one value stands for all
    /// features); chosen from the calibration data if not given.
    pub input_lsb: Option<Vec<f32>>,
    /// How much larger than in single calibration sequences the state, and what lies between
    /// factors, may become before it saturates. Streams longer than those get more room if they
    /// need it, at the price of at most two bits.
    pub headroom: f32,
    /// Bits of biases; if not given, 8 where a matrix of the network has 4 bits, and 16 otherwise.
    pub bias_bits: Option<BiasBits>,
}

impl Default for Options {
    fn default() -> Self {
        Self { input_lsb: None, headroom: 1.5, bias_bits: None }
    }
}

impl Options {
    fn bias_bits(&self, network: &Network) -> BiasBits {
        self.bias_bits.unwrap_or(BiasBits::usual(network))
    }
}

/// Most products that are added up.
pub const MOST_TERMS: usize = 511;
/// Most layers of an integer model on the host.
pub(super) const MAX_INTEGER_LAYERS: usize = 8;
/// A matrix whose largest weight is below this has fewer than 4 bits on the finest grid.
const LEAST_WEIGHT: f32 = 1e-5;

/// The integer network of `model`, its scales chosen by running it on sequences of `x`.
pub(super) fn build(
    model: &Model,
    x: &Sequences,
    indices: &[u32],
    options: &Options,
) -> Result<IntegerNetwork, QuantizeError> {
    check(model, x)?;
    let stride = model.network.window.stride;
    if !indices.is_empty() && indices.iter().all(|&i| x.steps(i as usize) < stride) {
        return Err(QuantizeError::Short { stride });
    }
    let ranges = calibrate(&with_stored_gains(model), x, indices)?;
    let layout = model.network.layout();
    // How far the last state reaches is known before the layers are built.
    let last = model.network.layers.last().zip(ranges.layers.last());
    let state_bits = last.map_or(0, |(cell, ranges)| state_bits(cell, ranges, options.headroom));
    let head_bias_bits = options.bias_bits(&model.network);
    for (matrix, step) in layout.stepped() {
        let log_step = model.params[step.offset];
        if !StepGrid::STEPS.contains(&StepGrid::of_log_step(log_step).step) {
            let (name, step) = (matrix.name.clone(), log_step.exp());
            return Err(QuantizeError::Step { name, step });
        }
    }
    let (head, head_biases, head_shift) = head(model, &layout, state_bits, head_bias_bits);
    let embedding = embedding(model, &layout, &head);
    let input = match (&embedding, &options.input_lsb) {
        (Some(_), Some(_)) => return Err(QuantizeError::LsbOfText),
        (Some((_, grid)), None) => InputScale::of_tokens(*grid),
        (None, lsb) => input_scale(model, &ranges, lsb.as_deref())?,
    };
    let mut layers: Vec<IntegerLayer> = Vec::new();
    let starts = model.start_states();
    let mut first_unit = 0;
    for (index, (cell, ranges)) in model.network.layers.iter().zip(&ranges.layers).enumerate() {
        let bits = layers.last().map_or(input.bits, |below| below.shifts.state);
        let tensors = Tensors { model, layout: &layout, layer: index };
        let mut layer = tensors.layer(cell, bits, ranges, options)?;
        let start = starts.get(first_unit..first_unit + cell.hidden).unwrap_or(&[]);
        if start.iter().any(|&v| v != 0.0) {
            layer.start = start.iter().map(|&v| word(v, layer.shifts.state as i32)).collect();
            layer.start.resize(cell.state_len(), 0);
        }
        first_unit += cell.hidden;
        layers.push(layer);
    }
    let meaning = meaning(&model.task, model.loss, model.network.outputs);
    for view in layout.views().iter().filter(|view| matches!(view.role, Role::Weight | Role::Embedding)) {
        if layout.stepped().any(|(matrix, _)| matrix == view) {
            continue;
        }
        let largest = model.params[view.range()].iter().fold(0f32, |top, v| top.max(v.abs()));
        if largest > 0.0 && largest < LEAST_WEIGHT {
            return Err(QuantizeError::Vanishing { name: view.name.clone(), largest });
        }
    }
    let embedding = embedding.map(|(embedding, _)| embedding);
    let window = model.network.window;
    Ok(IntegerNetwork {
        embedding,
        input,
        window,
        layers,
        head,
        head_biases,
        head_bias_bits,
        head_shift,
        meaning,
    })
}

/// The model with the gains that a device can store: those beyond the reach of a byte are cut off.
fn with_stored_gains(model: &Model) -> Cow<'_, Model> {
    let (layout, most) = (model.network.layout(), Grid::OF_GAINS.limit());
    let gains = || layout.views().iter().filter(|view| view.role == Role::Gain).flat_map(View::range);
    if gains().all(|i| model.params[i].abs() <= most) {
        return Cow::Borrowed(model);
    }
    let mut model = model.clone();
    gains().for_each(|i| model.params[i] = model.params[i].clamp(-most, most));
    Cow::Owned(model)
}

fn check(model: &Model, x: &Sequences) -> Result<(), QuantizeError> {
    let net = &model.network;
    if let Some(&value) = model.params.iter().find(|v| !v.is_finite()) {
        return Err(QuantizeError::NotFinite { value });
    }
    let kind = |is_text: bool| if is_text { "texts" } else { "numbers" };
    if x.has_tokens() != net.embedding.is_some() {
        let (found, expected) = (kind(x.has_tokens()), kind(net.embedding.is_some()));
        return Err(QuantizeError::Kind { found, expected });
    }
    if !x.has_tokens() && x.dim() != net.input() {
        return Err(QuantizeError::Dim { found: x.dim(), expected: net.input() });
    }
    check_form(net, model.normalizer.mode, &model.initial_state)
}

/// Whether a network has an integer form, whatever its parameters.
pub fn check_form(net: &Network, normalize: Normalize, initial: &InitialState) -> Result<(), QuantizeError> {
    if let Some(cell) = net.layers.iter().find(|cell| !cell.kind.declaration().has_integers()) {
        return Err(QuantizeError::Cell { cell: cell.kind });
    }
    if net.readout.is_pooled() {
        return Err(QuantizeError::Pooled);
    }
    if normalize == Normalize::PerCoordinate {
        return Err(QuantizeError::PerCoordinate);
    }
    if *initial == InitialState::Random {
        return Err(QuantizeError::RandomState);
    }
    if net.layers.len() > MAX_INTEGER_LAYERS {
        return Err(QuantizeError::Layers { found: net.layers.len(), most: MAX_INTEGER_LAYERS });
    }
    let sizes = net.layers.iter().flat_map(|c| [("an input", c.input), ("a number of units", c.hidden)]);
    let tokens = net.embedding.map(|embedding| ("a vocabulary", embedding.vocabulary));
    for (what, found) in sizes.chain([("a number of outputs", net.outputs)]).chain(tokens) {
        if found > usize::from(u16::MAX) {
            return Err(QuantizeError::Size { what, found, most: usize::from(u16::MAX) });
        }
    }
    for (layer, cell) in net.layers.iter().enumerate() {
        // A unit's sums share 32 bits; so do a second factor's and the head's.
        let read = cell.form_w.terms(cell.input) + cell.form_u.terms(cell.hidden);
        let factors = [cell.w(), cell.u()].map(|m| m.form.rank().map(|_| m.cols));
        let found = factors.into_iter().flatten().chain([read, cell.hidden]).max().unwrap_or(0);
        if found > MOST_TERMS {
            return Err(QuantizeError::Terms { layer, found, most: MOST_TERMS });
        }
        let declaration = cell.kind.declaration();
        let refused = !cell.gate.is_bounded() || (cell.gate.is_signed() && !declaration.signed_gates);
        if declaration.gated() && refused {
            return Err(QuantizeError::Gate { cell: cell.kind, gate: cell.gate });
        }
    }
    Ok(())
}

/// Fraction bits of a layer's state, F_h.
fn state_bits(cell: &Cell, ranges: &LayerRanges, headroom: f32) -> i32 {
    let most = cell.kind.shape().most_state_bits(cell.update.value_bits(), cell.gate) as i32;
    bits_for(ranges.state.room(headroom)).clamp(0, 14.min(most))
}

/// `v` with this many fraction bits, saturated.
fn word(v: f32, bits: i32) -> i16 {
    scaled(v, bits).round_ties_even().clamp(-32_768.0, MOST) as i16
}

/// The parameters of one layer.
struct Tensors<'a> {
    model: &'a Model,
    layout: &'a Layout,
    layer: usize,
}

/// A matrix with its shifts: what its product's sums have before the last shift.
struct Scaled {
    factors: IntegerFactors,
    inner: i32,
    /// Fraction bits of the last sums; none where the matrix is absent.
    bits: Option<i32>,
}

impl Scaled {
    /// The shift after which sums have `sums` fraction bits.
    fn shift(&self, sums: i32) -> i32 {
        self.bits.map_or(0, |bits| bits - sums)
    }
}

impl Tensors<'_> {
    fn values(&self, name: &str) -> &[f32] {
        let view = self.layout.view(&format!("layer{}.{name}", self.layer));
        view.map_or(&[], |view| &self.model.params[view.range()])
    }

    fn matrix(&self, name: &str) -> IntegerMatrix {
        match self.layout.view(&format!("layer{}.{name}", self.layer)) {
            Some(view) => matrix(self.model, self.layout, view),
            None => IntegerMatrix::of(0, 0, &[]),
        }
    }

    /// W or U, reading values with `bits` fraction bits, `between` the largest between its factors.
    fn factors(&self, matrix: &CellMatrix, bits: i32, between: f32) -> Scaled {
        let name = matrix.letter;
        match matrix.form {
            MatrixForm::Full | MatrixForm::Diagonal => {
                let first = self.matrix(&name.to_string());
                let factors = IntegerFactors { first, second: None };
                let bits = Some(factors.product_scale().bits + bits);
                return Scaled { factors, inner: 0, bits };
            }
            MatrixForm::Absent => return Scaled { factors: IntegerFactors::absent(), inner: 0, bits: None },
            MatrixForm::LowRank(_) => {}
        }
        let (first, second) = (self.matrix(&format!("{name}1")), self.matrix(&format!("{name}2")));
        // What lies between the factors has a power of two as its unit only if the second factor has. Otherwise
        // it counts in units that are smaller by less than half, and the multiplier makes up for it.
        let second_bits = -second.grid.unit().log2().ceil() as i32;
        let unit = second.grid.unit() * f64::from(second_bits).exp2();
        let between = (f64::from(between) / unit) as f32;
        let factors = IntegerFactors { first, second: Some(second) };
        let first_bits = factors.product_scale().bits - second_bits;
        let sum_bits = second_bits + bits;
        // Sums of the first factor need no more than 30 bits below the point.
        let most = (30 - first_bits).min(sum_bits);
        let between_bits = bits_for(between).min(most).max(sum_bits - 30);
        Scaled { factors, inner: sum_bits - between_bits, bits: Some(first_bits + between_bits) }
    }

    fn layer(
        &self,
        cell: &Cell,
        input_bits: u32,
        ranges: &LayerRanges,
        options: &Options,
    ) -> Result<IntegerLayer, QuantizeError> {
        let (headroom, bias_bits) = (options.headroom, options.bias_bits(&self.model.network));
        let shape = cell.kind.shape();
        let value_bits = cell.update.value_bits() as i32;
        let state = state_bits(cell, ranges, headroom);
        let w = self.factors(&cell.w(), input_bits as i32, ranges.projected_w.room(headroom));
        let u = self.factors(&cell.u(), state, ranges.projected_u.room(headroom));
        let wide = [cell.gate, cell.update].contains(&Nonlinearity::QuantSigm4);
        let mut sums = [w.bits, u.bits].into_iter().flatten().fold(14, i32::min);
        if wide {
            sums = sums.min(13);
        }
        if shape.keeps_apart {
            sums = sums.min(bits_for(ranges.recurrent.room(headroom)));
        }
        let biases: Vec<&[f32]> =
            cell.params().iter().filter(|p| p.role == Role::Bias).map(|p| self.values(p.name)).collect();
        let largest_bias = biases.iter().copied().flatten().fold(0f32, |top, b| top.max(b.abs()));
        let mut why = format!("{sums} fraction bits are fewer than 4");
        while sums >= 4 {
            let bias = (sums - bias_fraction(largest_bias, bias_bits)).clamp(0, 14);
            let terms = [(&w, w.shift(sums)), (&u, u.shift(sums))];
            match overflow(&terms, bias_bits.count() as i32 - 1 + bias) {
                Some(what) => why = what,
                None => {
                    let memory =
                        bits_for(ranges.memory.room(headroom)).clamp(0, 14.min(value_bits - 1).min(sums));
                    let memory = if shape.states > 1 { memory } else { 0 };
                    let number = |v: i32| v as u32;
                    let shifts = Shifts {
                        sums: number(sums),
                        state: number(state),
                        memory: number(memory),
                        bias: number(bias),
                        w2: number(w.inner),
                        w1: number(w.shift(sums)),
                        u2: number(u.inner),
                        u1: number(u.shift(sums)),
                    };
                    let rounded =
                        |b: &&[f32]| b.iter().map(|&v| rounded_bias(v, sums - bias, bias_bits)).collect();
                    let (biases, scalars) = (biases.iter().map(rounded).collect(), self.scalars(cell));
                    let (w, u, cell) = (w.factors, u.factors, cell.clone());
                    return Ok(IntegerLayer { shifts, w, u, biases, bias_bits, cell, ..scalars });
                }
            }
            sums -= 1;
        }
        Err(QuantizeError::NoScale { layer: self.layer, why })
    }

    /// The bytes of the gains.
    fn gains(&self, cell: &Cell) -> Vec<i8> {
        let values = cell.kind.declaration().gains().flat_map(|p| self.values(p.name));
        values.map(|&v| Grid::OF_GAINS.byte(v)).collect()
    }

    /// A layer of nothing but gains, α, β, ζ and ν.
    fn scalars(&self, cell: &Cell) -> IntegerLayer {
        let mut layer = IntegerLayer {
            cell: cell.clone(),
            shifts: Shifts::default(),
            w: IntegerFactors::absent(),
            u: IntegerFactors::absent(),
            biases: Vec::new(),
            gains: self.gains(cell),
            bias_bits: BiasBits::default(),
            alpha: Vec::new(),
            beta: 0,
            zeta: 0,
            nu: 0,
            start: Vec::new(),
        };
        for (name, entries) in stored_scalars(cell) {
            let one = f64::from(name.fraction_bits()).exp2();
            let whole = |v: f64| (v * one).round().clamp(0.0, one) as u16;
            let mut values: Vec<u16> = self.scalar(cell, name).into_iter().map(whole).collect();
            if let [same] = values[..] {
                values = vec![same; entries];
            }
            layer.set_scalar(name, values);
        }
        layer
    }

    /// The values of α, β, ζ or ν; one where all units share it.
    fn scalar(&self, cell: &Cell, name: ScalarName) -> Vec<f64> {
        match cell.scalars.mode(name.name()) {
            Scalar::Learnt => {
                let raw = self.values(name.name()).iter();
                raw.map(|&raw| Nonlinearity::Sigmoid.value(f64::from(raw))).collect()
            }
            Scalar::Fixed(value) => vec![f64::from(value)],
            Scalar::Tied => self.scalar(cell, ScalarName::Alpha).into_iter().map(|v| 1.0 - v).collect(),
        }
    }
}

/// A weight matrix on its own grid: the step that the network has for it, or the best of those of bytes.
fn matrix(model: &Model, layout: &Layout, view: &View) -> IntegerMatrix {
    let values = &model.params[view.range()];
    let step = layout.stepped().find(|(matrix, _)| *matrix == view);
    let grid = match step {
        Some((_, step)) => EntryGrid::FourBits(StepGrid::of_log_step(model.params[step.offset])),
        None => EntryGrid::Bytes(Grid::of(values)),
    };
    IntegerMatrix::on(grid, view.rows, view.cols, values)
}

/// The most fraction bits with which the largest bias fits.
fn bias_fraction(largest: f32, bits: BiasBits) -> i32 {
    bits_for(largest) + bits.count() as i32 - 16
}

/// `v` with this many fraction bits, saturated.
fn rounded_bias(v: f32, fraction: i32, bits: BiasBits) -> i16 {
    let most = bits.largest();
    word(v, fraction).clamp(-most - 1, most)
}

/// The condition of the document's last section that these shifts break, if any, where biases are at most
/// 2^`bias`.
fn overflow(terms: &[(&Scaled, i32)], bias: i32) -> Option<String> {
    let cols = |s: &Scaled| s.factors.first.cols as u64;
    let mut products = (1u64 << bias) + (1 << 17);
    let mut all = 0;
    let mut longest = 0;
    for &(matrix, shift) in terms {
        if !(0..=30).contains(&shift) {
            return Some(format!("a shift of {shift}"));
        }
        let inner = matrix.factors.second.as_ref().map_or(0, |second| second.rows as u64);
        for (terms, shift) in [(inner, matrix.inner), (cols(matrix), shift)] {
            if (terms << 22) + (1 << shift) >= 1 << 31 {
                return Some(format!("a sum of {terms} products"));
            }
        }
        products += (cols(matrix) << 22) >> shift;
        all += cols(matrix);
        longest = longest.max(shift);
    }
    if products >= 1 << 30 || (all << 22) + (1 << longest) >= 1 << 31 {
        return Some(format!("{all} values read by a unit"));
    }
    None
}

/// The vectors of tokens on their grid, which is always one of bytes; tied ones are the head's matrix.
fn embedding(model: &Model, layout: &Layout, head: &IntegerMatrix) -> Option<(IntegerEmbedding, Grid)> {
    let (view, tied) = (layout.view(EMBEDDING)?, model.network.is_tied());
    let vectors = match tied {
        true => head.clone(),
        false => IntegerMatrix::of(view.rows, view.cols, &model.params[view.range()]),
    };
    let EntryGrid::Bytes(grid) = vectors.grid else { return None };
    Some((IntegerEmbedding { vectors, tied }, grid))
}

/// The head on a grid whose scores leave room for its biases.
fn head(
    model: &Model,
    layout: &Layout,
    state_bits: i32,
    bias_bits: BiasBits,
) -> (IntegerMatrix, Vec<i16>, u32) {
    let of = |name: &str| layout.view(name).map_or(&[][..], |view| &model.params[view.range()]);
    let (rows, cols) = (model.network.outputs, model.network.hidden());
    let name = if model.network.is_tied() { EMBEDDING } else { "head.w" };
    let mut head = match layout.view(name) {
        Some(view) => matrix(model, layout, view),
        None => IntegerMatrix::of(rows, cols, &[]),
    };
    let largest = of("head.b").iter().fold(0f32, |top, b| top.max(b.abs()));
    let most = bias_bits.most_head_shift();
    let shift =
        |head: &IntegerMatrix| head.product_scale().bits + state_bits - bias_fraction(largest, bias_bits);
    let overflows = |shift: i32| {
        ((cols as u64) << 22) + (1 << (bias_bits.count() as i32 - 1 + shift.clamp(0, most))) >= 1 << 31
    };
    while let EntryGrid::Bytes(Grid { exponent }) = head.grid
        && (shift(&head) > most || overflows(shift(&head)))
        && exponent > Grid::COARSEST
    {
        let grid = EntryGrid::Bytes(Grid { exponent: exponent - 1 });
        head = IntegerMatrix::on(grid, rows, cols, of(name));
    }
    let mut head_shift = shift(&head).clamp(0, most);
    // The scale of entries of 4 bits is given: rather saturate a bias than overflow.
    while overflows(head_shift) && head_shift > 0 {
        head_shift -= 1;
    }
    let bits = head.product_scale().bits + state_bits - head_shift;
    let biases = of("head.b").iter().map(|&b| rounded_bias(b, bits, bias_bits)).collect();
    (head, biases, head_shift as u32)
}
