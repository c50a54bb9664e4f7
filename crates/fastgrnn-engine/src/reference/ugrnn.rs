//! UGRNN: `z = g(W_z x + U_z h + b_z)`, `h̃ = f(W_h x + U_h h + b_h)`, `h' = z⊙h + (1−z)⊙h̃`.

use super::pointwise::{Memory, Pointwise, Unit};

fn gate_and_candidate(p: &Pointwise, k: usize, unit: &Unit) -> (f64, f64) {
    let z = p.gate(unit.wx[0] + unit.uh[0] + p.bias("b_z", k));
    let candidate = p.update(unit.wx[1] + unit.uh[1] + p.bias("b_h", k));
    (z, candidate)
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let (z, candidate) = gate_and_candidate(p, k, unit);
    Memory { h: z * unit.old.h + (1.0 - z) * candidate, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let (z, candidate) = gate_and_candidate(p, k, unit);
    let d_az = d.h * (unit.old.h - candidate) * p.gate_slope(z);
    let d_ah = d.h * (1.0 - z) * p.update_slope(candidate);
    p.add_bias(gradient, "b_z", k, d_az);
    p.add_bias(gradient, "b_h", k, d_ah);
    Unit { wx: [d_az, d_ah, 0.0, 0.0], uh: [d_az, d_ah, 0.0, 0.0], old: Memory { h: d.h * z, c: 0.0 } }
}
