//! minGRU: `z = g(W_z x + b_z)`, `h̃ = f(W_h x + b_h)`, `h' = (1−z)⊙h + z⊙h̃`.

use super::rule::{Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct MinGru;

fn gate_and_candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> (f64, f64) {
    (p.gate(unit.wx[0] + p.bias("b_z", k)), p.update(unit.wx[1] + p.bias("b_h", k)))
}

impl Rule for MinGru {
    const SAVED: usize = 2;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (z, candidate) = gate_and_candidate(p, k, unit);
        Memory { h: (1.0 - z) * unit.old.h + z * candidate, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let (z, candidate) = gate_and_candidate(p, k, unit);
        let d_az = d.h * (candidate - unit.old.h) * p.gate_slope(z);
        let d_ah = d.h * z * p.update_slope(candidate);
        p.add_bias(gradient, "b_z", k, d_az);
        p.add_bias(gradient, "b_h", k, d_ah);
        Unit {
            wx: [d_az, d_ah, 0.0, 0.0],
            uh: [0.0; 4],
            old: Memory { h: d.h * (1.0 - z), c: 0.0 },
            ..Unit::default()
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        for j in (0..width).step_by(S::LANES) {
            let b_z = s.load(&f.point.vectors[j..]);
            let b_h = s.load(&f.point.vectors[width + j..]);
            for row in 0..f.rows {
                let (i, block) = (row * width + j, row * 2 * width + j);
                let z = apply(s, f.point.gate, s.add(s.load(&f.pre[block..]), b_z));
                let update = apply(s, f.point.update, s.add(s.load(&f.pre[block + width..]), b_h));
                s.store(z, &mut f.saved[block..]);
                s.store(update, &mut f.saved[block + width..]);
                let h = s.load(&f.h_prev[i..]);
                s.store(s.fma(z, s.sub(update, h), h), &mut f.h[i..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        for j in (0..width).step_by(S::LANES) {
            let (mut db_z, mut db_h) = (s.splat(0.0), s.splat(0.0));
            for row in 0..b.rows {
                let (i, block) = (row * width + j, row * 2 * width + j);
                let dh = s.load(&b.dh[i..]);
                let (z, update) = (s.load(&b.saved[block..]), s.load(&b.saved[block + width..]));
                let dz = s.mul(dh, s.sub(update, s.load(&b.h_prev[i..])));
                let admitted = s.mul(dh, z);
                let da_z = s.mul(dz, slope(s, b.point.gate, z));
                let da_h = s.mul(admitted, slope(s, b.point.update, update));
                db_z = s.add(db_z, da_z);
                db_h = s.add(db_h, da_h);
                s.store(da_z, &mut b.dpre[block..]);
                s.store(da_h, &mut b.dpre[block + width..]);
                s.store(s.sub(dh, admitted), &mut b.dh[i..]);
            }
            accumulate(s, db_z, &mut b.grads[j..]);
            accumulate(s, db_h, &mut b.grads[width + j..]);
        }
    }
}
