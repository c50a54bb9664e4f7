//! RNN: `h' = f(Wx + Uh + b)`.

use super::rule::{Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};

pub(super) struct Rnn;

impl Rule for Rnn {
    const SAVED: usize = 1;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let h = p.update(unit.wx[0] + unit.uh[0] + p.bias("b", k));
        Memory { h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let h = Self::step(p, k, unit).h;
        let d_a = d.h * p.update_slope(h);
        p.add_bias(gradient, "b", k, d_a);
        Unit { wx: [d_a, 0.0, 0.0, 0.0], uh: [d_a, 0.0, 0.0, 0.0], old: Memory::default(), ..Unit::default() }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        for j in (0..width).step_by(S::LANES) {
            let b = s.load(&f.point.vectors[j..]);
            for row in 0..f.rows {
                let i = row * width + j;
                let h = apply(s, f.point.update, s.add(s.load(&f.pre[i..]), b));
                s.store(h, &mut f.saved[i..]);
                s.store(h, &mut f.h[i..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        let zero = s.splat(0.0);
        for j in (0..width).step_by(S::LANES) {
            let mut db = zero;
            for row in 0..b.rows {
                let i = row * width + j;
                let da = s.mul(s.load(&b.dh[i..]), slope(s, b.point.update, s.load(&b.saved[i..])));
                db = s.add(db, da);
                s.store(da, &mut b.dpre[i..]);
                s.store(zero, &mut b.dh[i..]);
            }
            accumulate(s, db, &mut b.grads[j..]);
        }
    }
}
