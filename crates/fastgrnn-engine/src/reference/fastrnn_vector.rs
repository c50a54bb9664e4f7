//! FastRNN with one α a unit: `h̃ = f(Wx + Uh + b)`, `h' = α⊙h̃ + (ζ(1−α) + ν)⊙h`.

use super::pointwise::{Memory, Pointwise, Unit};

fn candidate(p: &Pointwise, k: usize, unit: &Unit) -> f64 {
    p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k))
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let (alpha, zeta, nu) = (p.scalar("alpha", k), p.scalar("zeta", k), p.scalar("nu", k));
    let beta = zeta * (1.0 - alpha) + nu;
    Memory { h: alpha * candidate(p, k, unit) + beta * unit.old.h, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let (alpha, zeta, nu) = (p.scalar("alpha", k), p.scalar("zeta", k), p.scalar("nu", k));
    let beta = zeta * (1.0 - alpha) + nu;
    let candidate = candidate(p, k, unit);
    let d_a = d.h * alpha * p.update_slope(candidate);
    let d_beta = d.h * unit.old.h;
    p.add_bias(gradient, "b", k, d_a);
    p.add_scalar(gradient, "alpha", k, d.h * candidate - d_beta * zeta);
    p.add_scalar(gradient, "zeta", k, d_beta * (1.0 - alpha));
    p.add_scalar(gradient, "nu", k, d_beta);
    Unit { wx: [d_a, 0.0, 0.0, 0.0], uh: [d_a, 0.0, 0.0, 0.0], old: Memory { h: d.h * beta, c: 0.0 } }
}
