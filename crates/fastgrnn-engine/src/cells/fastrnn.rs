//! FastRNN: `h̃ = f(Wx + Uh + b)`, `h' = α·h̃ + β·h`.

use super::rule::{ALPHA, BETA, Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct FastRnn;

fn candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> f64 {
    p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k))
}

impl Rule for FastRnn {
    const SAVED: usize = 1;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (alpha, beta) = (p.scalar("alpha", k), p.scalar("beta", k));
        Memory { h: alpha * candidate(p, k, unit) + beta * unit.old.h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let (alpha, beta) = (p.scalar("alpha", k), p.scalar("beta", k));
        let candidate = candidate(p, k, unit);
        let d_a = d.h * alpha * p.update_slope(candidate);
        p.add_bias(gradient, "b", k, d_a);
        p.add_scalar(gradient, "alpha", k, d.h * candidate);
        p.add_scalar(gradient, "beta", k, d.h * unit.old.h);
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
        let (alpha, beta) = (s.splat(f.point.scalars[ALPHA]), s.splat(f.point.scalars[BETA]));
        for j in (0..width).step_by(S::LANES) {
            let b = s.load(&f.point.vectors[j..]);
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
        let (alpha, beta) = (s.splat(b.point.scalars[ALPHA]), s.splat(b.point.scalars[BETA]));
        let (mut dalpha, mut dbeta) = (s.splat(0.0), s.splat(0.0));
        for j in (0..width).step_by(S::LANES) {
            let mut db = s.splat(0.0);
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
            accumulate(s, db, &mut b.grads[j..]);
        }
        b.grads[width + ALPHA] += s.sum(dalpha);
        b.grads[width + BETA] += s.sum(dbeta);
    }
}
