//! GRU: `r = g(W_r x + U_r h + b_r)`, `z = g(W_z x + U_z h + b_z)`,
//! `n = f(W_n x + b_n + r⊙(U_n h + b_hn))`, `h' = (1−z)⊙n + z⊙h`.

use super::rule::{Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct Gru;

fn gates_and_candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> (f64, f64, f64) {
    let r = p.gate(unit.wx[0] + unit.uh[0] + p.bias("b_r", k));
    let z = p.gate(unit.wx[1] + unit.uh[1] + p.bias("b_z", k));
    let n = p.update(unit.wx[2] + p.bias("b_n", k) + r * (unit.uh[2] + p.bias("b_hn", k)));
    (r, z, n)
}

impl Rule for Gru {
    const SAVED: usize = 4;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (_, z, n) = gates_and_candidate(p, k, unit);
        Memory { h: (1.0 - z) * n + z * unit.old.h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let (r, z, n) = gates_and_candidate(p, k, unit);
        let d_an = d.h * (1.0 - z) * p.update_slope(n);
        let d_az = d.h * (unit.old.h - n) * p.gate_slope(z);
        let d_ar = d_an * (unit.uh[2] + p.bias("b_hn", k)) * p.gate_slope(r);
        p.add_bias(gradient, "b_r", k, d_ar);
        p.add_bias(gradient, "b_z", k, d_az);
        p.add_bias(gradient, "b_n", k, d_an);
        p.add_bias(gradient, "b_hn", k, d_an * r);
        Unit {
            wx: [d_ar, d_az, d_an, 0.0],
            uh: [d_ar, d_az, d_an * r, 0.0],
            old: Memory { h: d.h * z, c: 0.0 },
            ..Unit::default()
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        for j in (0..width).step_by(S::LANES) {
            let b_r = s.load(&f.point.vectors[j..]);
            let b_z = s.load(&f.point.vectors[width + j..]);
            let b_n = s.load(&f.point.vectors[2 * width + j..]);
            let b_hn = s.load(&f.point.vectors[3 * width + j..]);
            for row in 0..f.rows {
                let (i, block) = (row * width + j, row * 4 * width + j);
                let r = apply(s, f.point.gate, s.add(s.load(&f.pre[block..]), b_r));
                let z = apply(s, f.point.gate, s.add(s.load(&f.pre[block + width..]), b_z));
                let m = s.add(s.load(&f.pre[block + 3 * width..]), b_hn);
                let a_n = s.fma(r, m, s.add(s.load(&f.pre[block + 2 * width..]), b_n));
                let n = apply(s, f.point.update, a_n);
                s.store(r, &mut f.saved[block..]);
                s.store(z, &mut f.saved[block + width..]);
                s.store(n, &mut f.saved[block + 2 * width..]);
                s.store(m, &mut f.saved[block + 3 * width..]);
                let h = s.fma(z, s.sub(s.load(&f.h_prev[i..]), n), n);
                s.store(h, &mut f.h[i..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        for j in (0..width).step_by(S::LANES) {
            let zero = s.splat(0.0);
            let (mut db_r, mut db_z, mut db_n, mut db_hn) = (zero, zero, zero, zero);
            for row in 0..b.rows {
                let (i, block) = (row * width + j, row * 4 * width + j);
                let dh = s.load(&b.dh[i..]);
                let (r, z) = (s.load(&b.saved[block..]), s.load(&b.saved[block + width..]));
                let (n, m) = (s.load(&b.saved[block + 2 * width..]), s.load(&b.saved[block + 3 * width..]));
                let dz = s.mul(dh, s.sub(s.load(&b.h_prev[i..]), n));
                let keep = s.mul(dh, z);
                let da_n = s.mul(s.sub(dh, keep), slope(s, b.point.update, n));
                let dm = s.mul(da_n, r);
                let da_r = s.mul(s.mul(da_n, m), slope(s, b.point.gate, r));
                let da_z = s.mul(dz, slope(s, b.point.gate, z));
                db_r = s.add(db_r, da_r);
                db_z = s.add(db_z, da_z);
                db_n = s.add(db_n, da_n);
                db_hn = s.add(db_hn, dm);
                s.store(da_r, &mut b.dpre[block..]);
                s.store(da_z, &mut b.dpre[block + width..]);
                s.store(da_n, &mut b.dpre[block + 2 * width..]);
                s.store(dm, &mut b.dpre[block + 3 * width..]);
                s.store(keep, &mut b.dh[i..]);
            }
            accumulate(s, db_r, &mut b.grads[j..]);
            accumulate(s, db_z, &mut b.grads[width + j..]);
            accumulate(s, db_n, &mut b.grads[2 * width + j..]);
            accumulate(s, db_hn, &mut b.grads[3 * width + j..]);
        }
    }
}
