//! FastRNN: `h̃ = f(Wx + Uh + b)`, `h' = α·h̃ + β·h`.

use super::pointwise::{Memory, Pointwise, Unit};

fn candidate(p: &Pointwise, k: usize, unit: &Unit) -> f64 {
    p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k))
}

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let (alpha, beta) = (p.scalar("alpha", k), p.scalar("beta", k));
    Memory { h: alpha * candidate(p, k, unit) + beta * unit.old.h, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let (alpha, beta) = (p.scalar("alpha", k), p.scalar("beta", k));
    let candidate = candidate(p, k, unit);
    let d_a = d.h * alpha * p.update_slope(candidate);
    p.add_bias(gradient, "b", k, d_a);
    p.add_scalar(gradient, "alpha", k, d.h * candidate);
    p.add_scalar(gradient, "beta", k, d.h * unit.old.h);
    Unit { wx: [d_a, 0.0, 0.0, 0.0], uh: [d_a, 0.0, 0.0, 0.0], old: Memory { h: d.h * beta, c: 0.0 } }
}
