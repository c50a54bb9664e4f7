//! LSTM: `i, f, o = g(…)`, `c̃ = u(W_g x + U_g h + b_g)`, `c' = f⊙c + i⊙c̃`, `h' = o⊙u(c')`.

use super::rule::{Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct Lstm;

struct Gates {
    i: f64,
    f: f64,
    candidate: f64,
    o: f64,
}

fn gates(p: &dyn Parameters, k: usize, unit: &Unit) -> Gates {
    let argument = |block: usize, bias: &str| unit.wx[block] + unit.uh[block] + p.bias(bias, k);
    Gates {
        i: p.gate(argument(0, "b_i")),
        f: p.gate(argument(1, "b_f")),
        candidate: p.update(argument(2, "b_g")),
        o: p.gate(argument(3, "b_o")),
    }
}

impl Rule for Lstm {
    const SAVED: usize = 4;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let Gates { i, f, candidate, o } = gates(p, k, unit);
        let c = f * unit.old.c + i * candidate;
        Memory { h: o * p.update(c), c }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
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
        Unit {
            wx: [d_i, d_f, d_g, d_o],
            uh: [d_i, d_f, d_g, d_o],
            old: Memory { h: 0.0, c: d_c * f },
            ..Unit::default()
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        let Forward { pre, saved, .. } = f;
        for j in (0..width).step_by(S::LANES) {
            let b_i = s.load(&f.point.vectors[j..]);
            let b_f = s.load(&f.point.vectors[width + j..]);
            let b_g = s.load(&f.point.vectors[2 * width + j..]);
            let b_o = s.load(&f.point.vectors[3 * width + j..]);
            for row in 0..f.rows {
                let (at, block) = (row * width + j, row * 4 * width + j);
                let i = apply(s, f.point.gate, s.add(s.load(&pre[block..]), b_i));
                let forget = apply(s, f.point.gate, s.add(s.load(&pre[block + width..]), b_f));
                let g = apply(s, f.point.update, s.add(s.load(&pre[block + 2 * width..]), b_g));
                let o = apply(s, f.point.gate, s.add(s.load(&pre[block + 3 * width..]), b_o));
                s.store(i, &mut saved[block..]);
                s.store(forget, &mut saved[block + width..]);
                s.store(g, &mut saved[block + 2 * width..]);
                s.store(o, &mut saved[block + 3 * width..]);
                let c = s.fma(forget, s.load(&f.c_prev[at..]), s.mul(i, g));
                s.store(c, &mut f.c[at..]);
                s.store(s.mul(o, apply(s, f.point.update, c)), &mut f.h[at..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        let Backward { saved, dpre, .. } = b;
        for j in (0..width).step_by(S::LANES) {
            let zero = s.splat(0.0);
            let (mut db_i, mut db_f, mut db_g, mut db_o) = (zero, zero, zero, zero);
            for row in 0..b.rows {
                let (at, block) = (row * width + j, row * 4 * width + j);
                let dh = s.load(&b.dh[at..]);
                let (i, f) = (s.load(&saved[block..]), s.load(&saved[block + width..]));
                let (g, o) = (s.load(&saved[block + 2 * width..]), s.load(&saved[block + 3 * width..]));
                // Computed again: cheaper than a fifth saved vector going to memory and back.
                let u = apply(s, b.point.update, s.load(&b.c[at..]));
                let dc = s.fma(s.mul(dh, o), slope(s, b.point.update, u), s.load(&b.dc[at..]));
                let da_o = s.mul(s.mul(dh, u), slope(s, b.point.gate, o));
                let da_i = s.mul(s.mul(dc, g), slope(s, b.point.gate, i));
                let da_f = s.mul(s.mul(dc, s.load(&b.c_prev[at..])), slope(s, b.point.gate, f));
                let da_g = s.mul(s.mul(dc, i), slope(s, b.point.update, g));
                db_i = s.add(db_i, da_i);
                db_f = s.add(db_f, da_f);
                db_g = s.add(db_g, da_g);
                db_o = s.add(db_o, da_o);
                s.store(da_i, &mut dpre[block..]);
                s.store(da_f, &mut dpre[block + width..]);
                s.store(da_g, &mut dpre[block + 2 * width..]);
                s.store(da_o, &mut dpre[block + 3 * width..]);
                s.store(s.mul(dc, f), &mut b.dc[at..]);
                s.store(zero, &mut b.dh[at..]);
            }
            accumulate(s, db_i, &mut b.grads[j..]);
            accumulate(s, db_f, &mut b.grads[width + j..]);
            accumulate(s, db_g, &mut b.grads[2 * width + j..]);
            accumulate(s, db_o, &mut b.grads[3 * width + j..]);
        }
    }
}
