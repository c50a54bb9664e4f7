//! GRU: `r = g(W_r x + U_r h + b_r)`, `z = g(W_z x + U_z h + b_z)`,
//! `n = f(W_n x + b_n + r⊙(U_n h + b_hn))`, `h' = (1−z)⊙n + z⊙h`.

use super::pointwise::{Memory, Pointwise, Unit};

fn gates_and_candidate(p: &Pointwise, k: usize, unit: &Unit) -> (f64, f64, f64) {
    let r = p.gate(unit.wx[0] + unit.uh[0] + p.bias("b_r", k));
    let z = p.gate(unit.wx[1] + unit.uh[1] + p.bias("b_z", k));
    let n = p.update(unit.wx[2] + p.bias("b_n", k) + r * (unit.uh[2] + p.bias("b_hn", k)));
    (r, z, n)
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let (_, z, n) = gates_and_candidate(p, k, unit);
    Memory { h: (1.0 - z) * n + z * unit.old.h, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let (r, z, n) = gates_and_candidate(p, k, unit);
    let d_an = d.h * (1.0 - z) * p.update_slope(n);
    let d_az = d.h * (unit.old.h - n) * p.gate_slope(z);
    let d_ar = d_an * (unit.uh[2] + p.bias("b_hn", k)) * p.gate_slope(r);
    p.add_bias(gradient, "b_r", k, d_ar);
    p.add_bias(gradient, "b_z", k, d_az);
    p.add_bias(gradient, "b_n", k, d_an);
    p.add_bias(gradient, "b_hn", k, d_an * r);
    Unit { wx: [d_ar, d_az, d_an, 0.0], uh: [d_ar, d_az, d_an * r, 0.0], old: Memory { h: d.h * z, c: 0.0 } }
}
