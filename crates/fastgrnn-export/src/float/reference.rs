//! What the soft-float C computes, in f64. It is the reference for tests and the source of the golden
//! vectors, so it is written to be obvious rather than fast.

use super::step::{input, scaled, sums_len};
use fastgrnn::cells::CellKind;
use fastgrnn::quantize::{IntegerFactors, IntegerLayer, IntegerMatrix, IntegerNetwork};

/// Scores after each step of `counts`, one row per step, as real numbers (not at the integer scale).
///
/// Weights, biases and the normalisation are exactly what the network's integers represent; nothing is
/// rounded or saturated.
pub fn scores(network: &IntegerNetwork, counts: &[i16]) -> Vec<Vec<f64>> {
    let scales = input(network);
    let mut states: Vec<Vec<f64>> = network.layers.iter().map(start).collect();
    let mut rows = Vec::new();
    for frame in counts.chunks_exact(scales.len().max(1)) {
        let scale = |(&n, &(factor, offset)): (&i16, &(f32, f32))| {
            f64::from(n) * f64::from(factor) - f64::from(offset)
        };
        let mut x: Vec<f64> = frame.iter().zip(&scales).map(scale).collect();
        for (layer, state) in network.layers.iter().zip(&mut states) {
            step(layer, state, &x);
            x = state[..layer.cell.hidden].to_vec();
        }
        let bits = network.head_shift as i32 - network.score_bits();
        let biases = network.head_biases.iter().map(|&b| f64::from(scaled(i32::from(b), bits)));
        rows.push(times(&network.head, &x).into_iter().zip(biases).map(|(s, b)| s + b).collect());
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
    let unit = f64::from(-matrix.grid.exponent).exp2();
    let rows = matrix.entries.chunks_exact(matrix.cols.max(1));
    rows.map(|row| unit * row.iter().zip(v).map(|(&a, v)| f64::from(a) * v).sum::<f64>()).collect()
}

fn product(factors: &IntegerFactors, v: &[f64]) -> Vec<f64> {
    let Some(second) = &factors.second else { return times(&factors.first, v) };
    let unit = f64::from(-second.grid.exponent).exp2();
    let mut between = vec![0.0; second.cols];
    for (row, v) in second.entries.chunks_exact(second.cols.max(1)).zip(v) {
        between.iter_mut().zip(row).for_each(|(m, &a)| *m += unit * f64::from(a) * v);
    }
    times(&factors.first, &between)
}

fn step(layer: &IntegerLayer, state: &mut [f64], x: &[f64]) {
    let cell = &layer.cell;
    let hidden = cell.hidden;
    let (h, c) = state.split_at_mut(hidden);
    let (p, q) = (product(&layer.w, x), product(&layer.u, h));
    debug_assert!(p.len() <= sums_len(cell));
    let bias_bits = layer.shifts.bias as i32 - layer.shifts.sums as i32;
    let bias = |vector: usize, k: usize| f64::from(scaled(i32::from(layer.biases[vector][k]), bias_bits));
    let g = |t| cell.gate.value(t);
    let f = |t| cell.update.value(t);
    let [zeta, nu] = [layer.zeta, layer.nu].map(|v| f64::from(v) / 16_384.0);
    let alpha =
        |k: usize| f64::from(layer.alpha.get(k).or(layer.alpha.first()).copied().unwrap_or(0)) / 32_768.0;
    for k in 0..hidden {
        let at =
            |block: usize, vector: usize| p[block * hidden + k] + q[block * hidden + k] + bias(vector, k);
        h[k] = match cell.kind {
            CellKind::Rnn => f(at(0, 0)),
            CellKind::FastRnn => alpha(k) * f(at(0, 0)) + f64::from(layer.beta) / 32_768.0 * h[k],
            CellKind::FastRnnVector => alpha(k) * f(at(0, 0)) + (zeta * (1.0 - alpha(k)) + nu) * h[k],
            CellKind::FastGrnn => {
                let z = g(at(0, 0));
                (zeta * (1.0 - z) + nu) * f(at(0, 1)) + z * h[k]
            }
            CellKind::Ugrnn => {
                let z = g(at(0, 0));
                (1.0 - z) * f(at(1, 1)) + z * h[k]
            }
            CellKind::Gru => {
                let (r, z) = (g(at(0, 0)), g(at(1, 1)));
                let n = f(p[2 * hidden + k] + bias(2, k) + r * (q[2 * hidden + k] + bias(3, k)));
                (1.0 - z) * n + z * h[k]
            }
            CellKind::Lstm => {
                let (i, keep, o) = (g(at(0, 0)), g(at(1, 1)), g(at(3, 3)));
                c[k] = i * f(at(2, 2)) + keep * c[k];
                o * f(c[k])
            }
        };
    }
}
