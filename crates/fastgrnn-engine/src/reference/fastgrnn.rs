//! FastGRNN: `a = Wx + Uh`, `z = g(a + b_z)`, `h̃ = f(a + b_h)`,
//! `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`.

use super::pointwise::{Memory, Pointwise, Unit};

fn gate_and_candidate(p: &Pointwise, k: usize, unit: &Unit) -> (f64, f64) {
    let a = unit.wx[0] + unit.uh[0];
    (p.gate(a + p.bias("b_z", k)), p.update(a + p.bias("b_h", k)))
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let (zeta, nu) = (p.scalar("zeta", k), p.scalar("nu", k));
    let (z, candidate) = gate_and_candidate(p, k, unit);
    Memory { h: (zeta * (1.0 - z) + nu) * candidate + z * unit.old.h, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let (zeta, nu) = (p.scalar("zeta", k), p.scalar("nu", k));
    let (z, candidate) = gate_and_candidate(p, k, unit);
    let d_candidate = d.h * (zeta * (1.0 - z) + nu);
    let d_z = d.h * (unit.old.h - zeta * candidate);
    let d_az = d_z * p.gate_slope(z);
    let d_ah = d_candidate * p.update_slope(candidate);
    p.add_bias(gradient, "b_z", k, d_az);
    p.add_bias(gradient, "b_h", k, d_ah);
    p.add_scalar(gradient, "zeta", k, d.h * (1.0 - z) * candidate);
    p.add_scalar(gradient, "nu", k, d.h * candidate);
    let d_a = d_az + d_ah;
    Unit { wx: [d_a, 0.0, 0.0, 0.0], uh: [d_a, 0.0, 0.0, 0.0], old: Memory { h: d.h * z, c: 0.0 } }
}
