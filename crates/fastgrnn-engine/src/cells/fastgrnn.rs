//! FastGRNN: `a = Wx + Uh`, `z = g(a + b_z)`, `h̃ = f(a + b_h)`,
//! `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`.

use super::rule::{Backward, Forward, Memory, NU, Parameters, Pointwise, Rule, Unit, ZETA, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct FastGrnn;

fn gate_and_candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> (f64, f64) {
    let a = unit.wx[0] + unit.uh[0];
    (p.gate(a + p.bias("b_z", k)), p.update(a + p.bias("b_h", k)))
}

impl Rule for FastGrnn {
    const SAVED: usize = 2;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (zeta, nu) = (p.scalar("zeta", k), p.scalar("nu", k));
        let (z, candidate) = gate_and_candidate(p, k, unit);
        Memory { h: (zeta * (1.0 - z) + nu) * candidate + z * unit.old.h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
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
        Unit {
            wx: [d_a, 0.0, 0.0, 0.0],
            uh: [d_a, 0.0, 0.0, 0.0],
            old: Memory { h: d.h * z, c: 0.0 },
            ..Unit::default()
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        let (zeta, nu) = (s.splat(f.point.scalars[ZETA]), s.splat(f.point.scalars[NU]));
        for j in (0..width).step_by(S::LANES) {
            let b_z = s.load(&f.point.vectors[j..]);
            let b_h = s.load(&f.point.vectors[width + j..]);
            for row in 0..f.rows {
                let (i, save) = (row * width + j, row * 2 * width + j);
                let a = s.load(&f.pre[i..]);
                let z = apply(s, f.point.gate, s.add(a, b_z));
                let update = apply(s, f.point.update, s.add(a, b_h));
                s.store(z, &mut f.saved[save..]);
                s.store(update, &mut f.saved[save + width..]);
                let weight = s.fma(zeta, s.sub(s.splat(1.0), z), nu);
                let h = s.fma(weight, update, s.mul(z, s.load(&f.h_prev[i..])));
                s.store(h, &mut f.h[i..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        let (zeta, nu) = (s.splat(b.point.scalars[ZETA]), s.splat(b.point.scalars[NU]));
        let (mut dzeta, mut dnu) = (s.splat(0.0), s.splat(0.0));
        for j in (0..width).step_by(S::LANES) {
            let (mut db_z, mut db_h) = (s.splat(0.0), s.splat(0.0));
            for row in 0..b.rows {
                let (i, save) = (row * width + j, row * 2 * width + j);
                let dh = s.load(&b.dh[i..]);
                let (z, update) = (s.load(&b.saved[save..]), s.load(&b.saved[save + width..]));
                let rest = s.sub(s.splat(1.0), z);
                let weight = s.fma(zeta, rest, nu);
                let dh_update = s.mul(dh, update);
                dzeta = s.fma(dh_update, rest, dzeta);
                dnu = s.add(dnu, dh_update);
                let dz = s.sub(s.mul(dh, s.load(&b.h_prev[i..])), s.mul(zeta, dh_update));
                let da_z = s.mul(dz, slope(s, b.point.gate, z));
                let da_h = s.mul(s.mul(dh, weight), slope(s, b.point.update, update));
                db_z = s.add(db_z, da_z);
                db_h = s.add(db_h, da_h);
                s.store(s.add(da_z, da_h), &mut b.dpre[i..]);
                s.store(s.mul(dh, z), &mut b.dh[i..]);
            }
            accumulate(s, db_z, &mut b.grads[j..]);
            accumulate(s, db_h, &mut b.grads[width + j..]);
        }
        b.grads[2 * width + ZETA] += s.sum(dzeta);
        b.grads[2 * width + NU] += s.sum(dnu);
    }
}
