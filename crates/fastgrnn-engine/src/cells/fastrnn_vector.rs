//! FastRNN with one α a unit: `h̃ = f(Wx + Uh + b)`, `h' = α⊙h̃ + (ζ(1−α) + ν)⊙h`.

use super::rule::{Backward, Forward, Memory, NU, Parameters, Pointwise, Rule, Unit, ZETA, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct FastRnnVector;

fn candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> f64 {
    p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k))
}

impl Rule for FastRnnVector {
    const SAVED: usize = 1;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (alpha, zeta, nu) = (p.scalar("alpha", k), p.scalar("zeta", k), p.scalar("nu", k));
        let beta = zeta * (1.0 - alpha) + nu;
        Memory { h: alpha * candidate(p, k, unit) + beta * unit.old.h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let (alpha, zeta, nu) = (p.scalar("alpha", k), p.scalar("zeta", k), p.scalar("nu", k));
        let beta = zeta * (1.0 - alpha) + nu;
        let candidate = candidate(p, k, unit);
        let d_a = d.h * alpha * p.update_slope(candidate);
        let d_beta = d.h * unit.old.h;
        p.add_bias(gradient, "b", k, d_a);
        p.add_scalar(gradient, "alpha", k, d.h * candidate - d_beta * zeta);
        p.add_scalar(gradient, "zeta", k, d_beta * (1.0 - alpha));
        p.add_scalar(gradient, "nu", k, d_beta);
        Unit {
            wx: [d_a, 0.0, 0.0, 0.0],
            uh: [d_a, 0.0, 0.0, 0.0],
            old: Memory { h: d.h * beta, c: 0.0 },
            ..Unit::default()
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        let (zeta, nu) = (s.splat(f.point.scalars[ZETA]), s.splat(f.point.scalars[NU]));
        for j in (0..width).step_by(S::LANES) {
            let b = s.load(&f.point.vectors[j..]);
            let alpha = s.load(&f.point.vectors[width + j..]);
            let beta = s.fma(zeta, s.sub(s.splat(1.0), alpha), nu);
            for row in 0..f.rows {
                let i = row * width + j;
                let update = apply(s, f.point.update, s.add(s.load(&f.pre[i..]), b));
                s.store(update, &mut f.saved[i..]);
                let h = s.fma(alpha, update, s.mul(beta, s.load(&f.h_prev[i..])));
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
            let alpha = s.load(&b.point.vectors[width + j..]);
            let rest = s.sub(s.splat(1.0), alpha);
            let beta = s.fma(zeta, rest, nu);
            let (mut db, mut dalpha, mut dbeta) = (s.splat(0.0), s.splat(0.0), s.splat(0.0));
            for row in 0..b.rows {
                let i = row * width + j;
                let (dh, update) = (s.load(&b.dh[i..]), s.load(&b.saved[i..]));
                dalpha = s.fma(dh, update, dalpha);
                dbeta = s.fma(dh, s.load(&b.h_prev[i..]), dbeta);
                let da = s.mul(s.mul(dh, alpha), slope(s, b.point.update, update));
                db = s.add(db, da);
                s.store(da, &mut b.dpre[i..]);
                s.store(s.mul(dh, beta), &mut b.dh[i..]);
            }
            dzeta = s.fma(dbeta, rest, dzeta);
            dnu = s.add(dnu, dbeta);
            accumulate(s, db, &mut b.grads[j..]);
            accumulate(s, s.sub(dalpha, s.mul(zeta, dbeta)), &mut b.grads[width + j..]);
        }
        b.grads[2 * width + ZETA] += s.sum(dzeta);
        b.grads[2 * width + NU] += s.sum(dnu);
    }
}
