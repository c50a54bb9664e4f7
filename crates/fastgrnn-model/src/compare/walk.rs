//! The states of a model along a sequence, in real units.

use crate::any::AnyModel;
use crate::model::Model;
use crate::quantize::IntegerModel;
use fastgrnn_core::net::Network;
use fastgrnn_data::data::{DataError, Sequences};
use fastgrnn_runtime::float;

/// Which part of the states a stretch of entries is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) layer: usize,
    /// `h`, or an LSTM's `c`.
    pub(super) name: &'static str,
    pub(super) entries: usize,
}

/// What the states of a network are, in their order.
pub(super) fn values(network: &Network) -> Vec<Value> {
    let mut values = Vec::new();
    for (layer, cell) in network.layers.iter().enumerate() {
        values.push(Value { layer, name: "h", entries: cell.hidden });
        if cell.state_len() > cell.hidden {
            values.push(Value { layer, name: "c", entries: cell.hidden });
        }
    }
    values
}

/// The states after each step of sequence `i`, one row a step.
pub(super) fn states(model: &AnyModel, x: &Sequences, i: usize) -> Result<Vec<f32>, DataError> {
    match model {
        AnyModel::Float(model) => float_states(model, x, i),
        AnyModel::Integer(integer) => Ok(integer_states(integer, x, i)),
    }
}

/// The most steps of a sequence whose states are followed.
pub(super) const FOLLOWED: usize = 10_000;

fn float_states(model: &Model, x: &Sequences, i: usize) -> Result<Vec<f32>, DataError> {
    let mut batch = model.network.empty_batch();
    model.push(&mut batch, x, i)?;
    let steps = batch.steps(0).min(FOLLOWED);
    let (width, table) = (model.network.step_input(), model.vectors());
    let read = |t: usize, row: &mut [f32]| match table {
        Some(table) => row.copy_from_slice(&table[x.tokens(i)[t] as usize * width..][..width]),
        None => batch.read_step(0, t, row),
    };
    let mut rest = &model.params[..];
    let (mut layers, mut state) = (Vec::new(), Vec::new());
    let mut initial = batch.initial.iter();
    for cell in &model.network.layers {
        let (layer, after) =
            float::FloatLayer::new(&cell.into(), rest).expect("a model has the parameters of its network");
        let start = (0..cell.hidden).map(|_| initial.next().copied().unwrap_or(0.0));
        state.extend(start.chain(std::iter::repeat_n(0.0, layer.state_len() - cell.hidden)));
        layers.push(layer);
        rest = after;
    }
    let mut scratch = vec![0.0; layers.iter().map(float::FloatLayer::scratch_len).max().unwrap_or(0)];
    let mut all = Vec::with_capacity(steps * state.len());
    let mut row = vec![0.0; width];
    for t in 0..steps {
        read(t, &mut row);
        float::step_layers(&layers, &mut state, &row, &mut scratch)
            .expect("the buffers have the lengths that the layers ask for");
        all.extend_from_slice(&state);
    }
    Ok(all)
}

fn integer_states(integer: &IntegerModel, x: &Sequences, i: usize) -> Vec<f32> {
    let view = integer.view();
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let (mut counts, mut all) = (Vec::new(), Vec::new());
    integer.sequence_counts(x, i, &mut counts);
    let sized = "the buffers have the lengths that the model needs";
    let mut state = view.start(&mut memory, &mut scratch).expect(sized);
    let frames = integer.model.network.window.frames_of(FOLLOWED);
    for row in counts.chunks_exact(view.inputs()).take(frames) {
        if !view.step(&mut state, row).expect(sized) {
            continue;
        }
        for (k, layer) in integer.network.layers.iter().enumerate() {
            let (h, c) = view.layer_state(&state, k).split_at(layer.cell.hidden);
            for (words, bits) in [(h, layer.shifts.state), (c, layer.shifts.memory)] {
                let unit = (-(bits as f32)).exp2();
                all.extend(words.iter().map(|&w| f32::from(w) * unit));
            }
        }
    }
    all
}
