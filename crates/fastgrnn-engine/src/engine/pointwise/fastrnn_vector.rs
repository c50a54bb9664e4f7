//! `h̃ = f(a + b)`, `h' = α⊙h̃ + (ζ(1−α) + ν)⊙h` with a vector α

use super::{Backward, Forward, NU, Rule, ZETA, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct FastRnnVector;

impl Rule for FastRnnVector {
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
