//! Starting values of the parameters.

use super::{Cell, MatrixForm, NonlinearityF64, Param, Role, SlowStart};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// How parameters start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// As in the authors' code: matrices and factors 0.1·N(0, 1), classifier N(0, 1), the rest as
    /// declared: biases 1, raw ζ 1, ν −4, α −3, β 3.
    Authors,
    /// Matrices and factors with orthonormal columns × 0.7, and as declared a gate that starts slow
    /// in proportion to the sequence length T: each unit keeps its state with `z = 1 − 1/u`,
    /// u uniform in (1.5, T). FastRNN starts with `α = 8/(8 + T)`, `β = 1 − α`; other biases at 0.
    #[default]
    Slow,
}

impl Start {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Authors, Self::Slow];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Authors => "authors",
            Self::Slow => "slow",
        }
    }

    /// Fills `out` with the start of `param` of `cell`, for sequences of about `steps` steps.
    pub fn fill(self, cell: &Cell, param: &Param, steps: usize, rng: &mut Rng, out: &mut [f32]) {
        if let (Some(orthogonal), Role::Basis) = (cell.orthogonal_u, param.role) {
            return fill(out, || orthogonal.first_value(param.name, cell.hidden, rng));
        }
        match self {
            Self::Authors => authors(param, rng, out),
            Self::Slow => slow(cell, param, steps, rng, out),
        }
    }

    /// Fills `out` with the start of the head's weights (`outputs × hidden`).
    pub fn fill_head(self, hidden: usize, rng: &mut Rng, out: &mut [f32]) {
        let scale = match self {
            Self::Authors => 1.0,
            Self::Slow => 1.0 / (hidden as f64).sqrt(),
        };
        fill(out, || scale * rng.normal());
    }

    /// Fills `out` with the start of the vectors of tokens, which have this deviation.
    pub fn fill_embedding(self, deviation: f64, rng: &mut Rng, out: &mut [f32]) {
        fill(out, || deviation * rng.normal());
    }
}

fn fill(out: &mut [f32], mut next: impl FnMut() -> f64) {
    out.iter_mut().for_each(|o| *o = next() as f32);
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

fn authors(param: &Param, rng: &mut Rng, out: &mut [f32]) {
    match param.pointwise {
        None => fill(out, || 0.1 * rng.normal()),
        Some(p) => out.fill(p.authors),
    }
}

fn slow(cell: &Cell, param: &Param, steps: usize, rng: &mut Rng, out: &mut [f32]) {
    // The share of the old state that a unit keeps, such that it remembers about u steps.
    let longest = (steps as f64).max(2.0);
    let mut keep = || 1.0 - 1.0 / rng.range(1.5, longest);
    let alpha = 8.0 / (8.0 + steps as f64);
    match param.pointwise.map(|p| p.slow) {
        None if is_diagonal(cell, param) => {
            // The orthonormal diagonals are those of signs.
            fill(out, || 0.7 * rng.normal().signum());
        }
        None => {
            // A stack of gate blocks is a stack of square matrices: each starts orthonormal.
            let block_rows =
                if matches!(param.name, "w" | "w1" | "u" | "u1") { cell.hidden } else { param.rows };
            for block in out.chunks_mut(block_rows * param.cols) {
                orthonormal(block, block_rows, param.cols, 0.7, rng);
            }
        }
        Some(SlowStart::Value(value)) => out.fill(value),
        Some(SlowStart::Keep) => fill(out, || cell.gate.inverse(keep())),
        Some(SlowStart::Admit) => fill(out, || cell.gate.inverse(1.0 - keep())),
        Some(SlowStart::Alpha) => out.fill(logit(alpha) as f32),
        Some(SlowStart::Beta) => out.fill(logit(1.0 - alpha) as f32),
    }
}

fn is_diagonal(cell: &Cell, param: &Param) -> bool {
    let form = if param.name.starts_with('w') { cell.form_w } else { cell.form_u };
    form == MatrixForm::Diagonal
}

/// Fills the row-major `rows × cols` matrix with `scale` times orthonormal columns (or rows, if
/// there are fewer of them), by Gram-Schmidt on normal draws.
fn orthonormal(out: &mut [f32], rows: usize, cols: usize, scale: f64, rng: &mut Rng) {
    let (count, length) = (rows.min(cols), rows.max(cols));
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(count);
    while vectors.len() < count {
        let mut v: Vec<f64> = (0..length).map(|_| rng.normal()).collect();
        for u in &vectors {
            let dot: f64 = u.iter().zip(&v).map(|(a, b)| a * b).sum();
            v.iter_mut().zip(u).for_each(|(a, b)| *a -= dot * b);
        }
        let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 1e-6 {
            v.iter_mut().for_each(|a| *a /= norm);
            vectors.push(v);
        }
    }
    for (i, v) in vectors.iter().enumerate() {
        for (j, &a) in v.iter().enumerate() {
            let (row, col) = if cols <= rows { (j, i) } else { (i, j) };
            out[row * cols + col] = (scale * a) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::CellKind;
    use crate::net::Network;

    #[test]
    fn an_lstm_starts_admitting_what_it_forgets() {
        let net = Network::new(vec![Cell::new(CellKind::Lstm, 1, 8)], 2);
        let (layout, params) = (net.layout(), net.start(Start::Slow, 50, 0));
        let of = |name| &params[layout.view(name).unwrap().range()];
        for (i, f) in of("layer0.b_i").iter().zip(of("layer0.b_f")) {
            assert!((i + f).abs() < 1e-5, "{i} {f}");
        }
    }

    #[test]
    fn orthonormal_columns_have_unit_products() {
        for (rows, cols) in [(7, 3), (3, 7), (5, 5)] {
            let mut m = vec![0.0; rows * cols];
            orthonormal(&mut m, rows, cols, 1.0, &mut Rng::new(3));
            let (count, at): (usize, Box<dyn Fn(usize, usize) -> f32>) = if cols <= rows {
                (cols, Box::new(|v, k| m[k * cols + v]))
            } else {
                (rows, Box::new(|v, k| m[v * cols + k]))
            };
            for a in 0..count {
                for b in 0..count {
                    let dot: f32 = (0..rows.max(cols)).map(|k| at(a, k) * at(b, k)).sum();
                    assert!((dot - f32::from(u8::from(a == b))).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn slow_gate_keeps_its_state() {
        let cell = Cell::new(CellKind::FastGrnn, 1, 64);
        let param = cell.params().into_iter().find(|p| p.name == "b_z").unwrap();
        let mut out = vec![0.0; 64];
        Start::Slow.fill(&cell, &param, 784, &mut Rng::new(0), &mut out);
        let kept: Vec<f64> = out.iter().map(|&b| cell.gate.value(f64::from(b))).collect();
        assert!(kept.iter().all(|&z| z > 0.3 && z < 1.0));
        assert!(kept.iter().sum::<f64>() / 64.0 > 0.95);
    }
}
