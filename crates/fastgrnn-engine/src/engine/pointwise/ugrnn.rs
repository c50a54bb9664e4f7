//! `z = g(a_z + b_z)`, `h̃ = f(a_h + b_h)`, `h' = z⊙h + (1−z)⊙h̃`

use super::{Backward, Forward, Rule, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct Ugrnn;

impl Rule for Ugrnn {
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
                let h = s.fma(z, s.sub(s.load(&f.h_prev[i..]), update), update);
                s.store(h, &mut f.h[i..]);
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
                let dz = s.mul(dh, s.sub(s.load(&b.h_prev[i..]), update));
                let keep = s.mul(dh, z);
                let da_z = s.mul(dz, slope(s, b.point.gate, z));
                let da_h = s.mul(s.sub(dh, keep), slope(s, b.point.update, update));
                db_z = s.add(db_z, da_z);
                db_h = s.add(db_h, da_h);
                s.store(da_z, &mut b.dpre[block..]);
                s.store(da_h, &mut b.dpre[block + width..]);
                s.store(keep, &mut b.dh[i..]);
            }
            accumulate(s, db_z, &mut b.grads[j..]);
            accumulate(s, db_h, &mut b.grads[width + j..]);
        }
    }
}
