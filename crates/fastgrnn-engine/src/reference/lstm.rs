//! LSTM: `i, f, o = g(…)`, `c̃ = u(W_g x + U_g h + b_g)`, `c' = f⊙c + i⊙c̃`, `h' = o⊙u(c')`.

use super::pointwise::{Memory, Pointwise, Unit};

struct Gates {
    i: f64,
    f: f64,
    candidate: f64,
    o: f64,
}

fn gates(p: &Pointwise, k: usize, unit: &Unit) -> Gates {
    let argument = |block: usize, bias: &str| unit.wx[block] + unit.uh[block] + p.bias(bias, k);
    Gates {
        i: p.gate(argument(0, "b_i")),
        f: p.gate(argument(1, "b_f")),
        candidate: p.update(argument(2, "b_g")),
        o: p.gate(argument(3, "b_o")),
    }
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let Gates { i, f, candidate, o } = gates(p, k, unit);
    let c = f * unit.old.c + i * candidate;
    Memory { h: o * p.update(c), c }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let Gates { i, f, candidate, o } = gates(p, k, unit);
    let shown = p.update(f * unit.old.c + i * candidate);
    let d_c = d.c + d.h * o * p.update_slope(shown);
    let d_i = d_c * candidate * p.gate_slope(i);
    let d_f = d_c * unit.old.c * p.gate_slope(f);
    let d_g = d_c * i * p.update_slope(candidate);
    let d_o = d.h * shown * p.gate_slope(o);
    p.add_bias(gradient, "b_i", k, d_i);
    p.add_bias(gradient, "b_f", k, d_f);
    p.add_bias(gradient, "b_g", k, d_g);
    p.add_bias(gradient, "b_o", k, d_o);
    Unit { wx: [d_i, d_f, d_g, d_o], uh: [d_i, d_f, d_g, d_o], old: Memory { h: 0.0, c: d_c * f } }
}
