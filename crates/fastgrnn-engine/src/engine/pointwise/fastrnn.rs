//! `h̃ = f(a + b)`, `h' = α·h̃ + β·h`

use super::{ALPHA, BETA, Backward, Forward, Rule, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct FastRnn;

impl Rule for FastRnn {
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
