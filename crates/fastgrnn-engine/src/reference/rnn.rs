//! RNN: `h' = f(Wx + Uh + b)`.

use super::pointwise::{Memory, Pointwise, Unit};

pub(super) fn step(p: &Pointwise, k: usize, unit: &Unit) -> Memory {
    let h = p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k));
    Memory { h, c: 0.0 }
}

pub(super) fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
    let h = step(p, k, unit).h;
    let d_a = d.h * p.update_slope(h);
    p.add_bias(gradient, "b", k, d_a);
    Unit { wx: [d_a, 0.0, 0.0, 0.0], uh: [d_a, 0.0, 0.0, 0.0], old: Memory::default() }
}
