//! What the soft-float C computes, in f64. It is the reference for tests and the source of the golden
//! vectors, so it is written to be obvious rather than fast.

use super::step::{gain, input, scaled};
use fastgrnn::cells::{MatrixForm, NonlinearityF64, ScalarName};
use fastgrnn::quantize::{IntegerFactors, IntegerLayer, IntegerMatrix, IntegerNetwork};
use fastgrnn::reference::{self, Memory, Parameters, Unit};

/// Scores after each frame of `counts`, one row per frame, as real numbers (not at the integer scale).
///
/// Weights, biases and the normalisation are exactly what the network's integers represent; nothing is
/// rounded or saturated.
pub fn scores(network: &IntegerNetwork, counts: &[i16]) -> Vec<Vec<f64>> {
    let scales = input(network);
    let scale =
        |(&n, &(factor, offset)): (&i16, &(f32, f32))| f64::from(n) * f64::from(factor) - f64::from(offset);
    let mut states: Vec<Vec<f64>> = network.layers.iter().map(start).collect();
    let (mut rows, mut frames) = (Vec::new(), Vec::new());
    let window = network.window;
    for (t, frame) in counts.chunks_exact(scales.len().max(1)).enumerate() {
        frames.push(frame.iter().zip(&scales).map(scale).collect::<Vec<f64>>());
        if (t + 1) % window.stride == 0 {
            // Frames before the first are 0.
            let zeros = vec![0.0; scales.len()];
            let read = |back: usize| (t + 1).checked_sub(back).map_or(&zeros, |at| &frames[at]);
            let mut x: Vec<f64> = (1..=window.frames).rev().flat_map(|back| read(back).clone()).collect();
            for (layer, state) in network.layers.iter().zip(&mut states) {
                step(layer, state, &x);
                x = state[..layer.cell.hidden].to_vec();
            }
        }
        let last = network.layers.last().zip(states.last());
        let x = last.map_or(&[][..], |(layer, state)| &state[..layer.cell.hidden]);
        let bits = network.head_shift as i32 - network.score_bits();
        let biases = network.head_biases.iter().map(|&b| f64::from(scaled(i32::from(b), bits)));
        rows.push(times(&network.head, x).into_iter().zip(biases).map(|(s, b)| s + b).collect());
    }
    rows
}

fn start(layer: &IntegerLayer) -> Vec<f64> {
    let hidden = layer.cell.hidden;
    let bits = |i: usize| if i < hidden { layer.shifts.state } else { layer.shifts.memory };
    let value = |i: usize| layer.start.get(i).map_or(0.0, |&v| f64::from(v) / f64::from(bits(i)).exp2());
    (0..layer.cell.state_len()).map(value).collect()
}

fn times(matrix: &IntegerMatrix, v: &[f64]) -> Vec<f64> {
    let unit = matrix.grid.unit();
    let rows = matrix.entries.chunks_exact(matrix.cols.max(1));
    rows.map(|row| unit * row.iter().zip(v).map(|(&a, v)| f64::from(a) * v).sum::<f64>()).collect()
}

fn product(form: MatrixForm, rows: usize, factors: &IntegerFactors, v: &[f64]) -> Vec<f64> {
    match form {
        MatrixForm::Full => times(&factors.first, v),
        MatrixForm::LowRank(_) => times(&factors.first, &between(factors, v)),
        MatrixForm::Diagonal => {
            let unit = factors.first.grid.unit();
            let entries = factors.first.entries.iter().enumerate();
            entries.map(|(i, &a)| unit * f64::from(a) * v[i % v.len()]).collect()
        }
        MatrixForm::Absent => vec![0.0; rows],
    }
}

/// The vector between two factors.
fn between(factors: &IntegerFactors, v: &[f64]) -> Vec<f64> {
    let second = factors.second.as_ref().expect("a low-rank matrix has two factors");
    let unit = second.grid.unit();
    let mut between = vec![0.0; second.cols];
    for (row, v) in second.entries.chunks_exact(second.cols.max(1)).zip(v) {
        between.iter_mut().zip(row).for_each(|(m, &a)| *m += unit * f64::from(a) * v);
    }
    between
}

/// What the integers of a layer represent, as parameters of the library's own rules in f64.
struct Values<'a>(&'a IntegerLayer);

impl Parameters for Values<'_> {
    fn bias(&self, name: &str, unit: usize) -> f64 {
        let Self(layer) = self;
        let bits = layer.shifts.bias as i32 - layer.shifts.sums as i32;
        let vector = layer.cell.kind.declaration().biases().position(|p| p.name == name);
        let vector = &layer.biases[vector.expect("a rule reads the biases of its declaration")];
        f64::from(scaled(i32::from(vector[unit]), bits))
    }

    fn gain(&self, _: &str, unit: usize) -> f64 {
        f64::from(gain(self.0.gains[unit]))
    }

    fn scalar(&self, name: &str, unit: usize) -> f64 {
        let own = ScalarName::ALL.into_iter().find(|scalar| scalar.name() == name);
        let own = own.expect("a rule reads the scalars of its declaration");
        let values = self.0.scalar(own);
        let value = values.get(unit).or(values.first()).copied().unwrap_or(0);
        f64::from(value) / f64::from(own.fraction_bits()).exp2()
    }

    fn gate(&self, x: f64) -> f64 {
        self.0.cell.gate.value(x)
    }

    fn update(&self, x: f64) -> f64 {
        self.0.cell.update.value(x)
    }
}

fn step(layer: &IntegerLayer, state: &mut [f64], x: &[f64]) {
    let cell = &layer.cell;
    let (hidden, rows) = (cell.hidden, cell.blocks() * cell.hidden);
    let (h, c) = state.split_at_mut(hidden);
    let p = product(cell.form_w, rows, &layer.w, x);
    let q = product(cell.form_u, rows, &layer.u, h);
    for k in 0..hidden {
        let mut unit =
            Unit { old: Memory { h: h[k], c: c.get(k).copied().unwrap_or(0.0) }, ..Unit::default() };
        for block in 0..cell.blocks() {
            unit.wx[block] = p[block * hidden + k];
            unit.uh[block] = q[block * hidden + k];
        }
        let next = reference::step(cell.kind, &Values(layer), k, &unit);
        h[k] = next.h;
        if let Some(c) = c.get_mut(k) {
            *c = next.c;
        }
    }
}
