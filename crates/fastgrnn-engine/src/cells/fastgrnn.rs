//! FastGRNN: `a = Wx + Uh`, `z = g(a + b_z)`, `h̃ = f(a + b_h)`,
//! `h' = (ζ(1−z) + ν)⊙h̃ + z⊙h`.
//!
//! FastGRNN-gain has a gain for each unit's gate: `z = g(γ⊙a + b_z)`.

use super::rule::{Backward, Forward, Memory, NU, Parameters, Pointwise, Rule, Unit, ZETA, accumulate};
use crate::simd::{Simd, apply, slope};

/// The rule without or with gains.
pub(super) struct FastGrnn<const HAS_GAIN: bool>;

impl<const HAS_GAIN: bool> FastGrnn<HAS_GAIN> {
    /// Vectors of parameters: b_z, b_h, γ.
    const VECTORS: usize = 2 + HAS_GAIN as usize;

    fn gain(p: &dyn Parameters, k: usize) -> f64 {
        if HAS_GAIN { p.gain("gamma", k) } else { 1.0 }
    }

    fn gate_and_candidate(p: &dyn Parameters, k: usize, unit: &Unit) -> (f64, f64) {
        let a = unit.wx[0] + unit.uh[0];
        (p.gate(Self::gain(p, k) * a + p.bias("b_z", k)), p.update(a + p.bias("b_h", k)))
    }
}

impl<const HAS_GAIN: bool> Rule for FastGrnn<HAS_GAIN> {
    // z, h̃; and a, which the gradient by γ needs.
    const SAVED: usize = 2 + HAS_GAIN as usize;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let (zeta, nu) = (p.scalar("zeta", k), p.scalar("nu", k));
        let (z, candidate) = Self::gate_and_candidate(p, k, unit);
        Memory { h: (zeta * (1.0 - z) + nu) * candidate + z * unit.old.h, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let (zeta, nu) = (p.scalar("zeta", k), p.scalar("nu", k));
        let (z, candidate) = Self::gate_and_candidate(p, k, unit);
        let d_candidate = d.h * (zeta * (1.0 - z) + nu);
        let d_z = d.h * (unit.old.h - zeta * candidate);
        let d_az = d_z * p.gate_slope(z);
        let d_ah = d_candidate * p.update_slope(candidate);
        p.add_bias(gradient, "b_z", k, d_az);
        p.add_bias(gradient, "b_h", k, d_ah);
        if HAS_GAIN {
            p.add_gain(gradient, "gamma", k, d_az * (unit.wx[0] + unit.uh[0]));
        }
        p.add_scalar(gradient, "zeta", k, d.h * (1.0 - z) * candidate);
        p.add_scalar(gradient, "nu", k, d.h * candidate);
        let d_a = Self::gain(p, k) * d_az + d_ah;
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
            let gain = if HAS_GAIN { s.load(&f.point.vectors[2 * width + j..]) } else { s.splat(1.0) };
            for row in 0..f.rows {
                let (i, save) = (row * width + j, row * Self::SAVED * width + j);
                let a = s.load(&f.pre[i..]);
                let before = if HAS_GAIN { s.fma(gain, a, b_z) } else { s.add(a, b_z) };
                let z = apply(s, f.point.gate, before);
                let update = apply(s, f.point.update, s.add(a, b_h));
                s.store(z, &mut f.saved[save..]);
                s.store(update, &mut f.saved[save + width..]);
                if HAS_GAIN {
                    s.store(a, &mut f.saved[save + 2 * width..]);
                }
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
            let (mut db_z, mut db_h, mut dgain) = (s.splat(0.0), s.splat(0.0), s.splat(0.0));
            let gain = if HAS_GAIN { s.load(&b.point.vectors[2 * width + j..]) } else { s.splat(1.0) };
            for row in 0..b.rows {
                let (i, save) = (row * width + j, row * Self::SAVED * width + j);
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
                let da = if HAS_GAIN {
                    dgain = s.fma(da_z, s.load(&b.saved[save + 2 * width..]), dgain);
                    s.fma(gain, da_z, da_h)
                } else {
                    s.add(da_z, da_h)
                };
                s.store(da, &mut b.dpre[i..]);
                s.store(s.mul(dh, z), &mut b.dh[i..]);
            }
            accumulate(s, db_z, &mut b.grads[j..]);
            accumulate(s, db_h, &mut b.grads[width + j..]);
            if HAS_GAIN {
                accumulate(s, dgain, &mut b.grads[2 * width + j..]);
            }
        }
        b.grads[Self::VECTORS * width + ZETA] += s.sum(dzeta);
        b.grads[Self::VECTORS * width + NU] += s.sum(dnu);
    }
}
