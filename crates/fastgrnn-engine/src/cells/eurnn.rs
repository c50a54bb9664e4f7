//! EURNN: `z = Wx + Uh`, `h' = f(|z| + b)·z/|z|`, where units 2k and 2k + 1 are the real and the imaginary part of complex
//! number k. With the nonlinearity `relu` this is modReLU.

use super::rule::{Backward, Forward, Memory, Parameters, Pointwise, Rule, Unit, accumulate};
use crate::simd::{Simd, apply, slope};
use fastgrnn_core::cells::SHORTEST;

pub(super) struct Eurnn;

/// A complex number in plain f64: the length, and the direction as the part of this unit and that of its partner. The
/// direction is 0 where the number is too short to have one.
struct Polar {
    length: f64,
    inverse: f64,
    own: f64,
    partner: f64,
}

fn polar(unit: &Unit) -> Polar {
    let own = unit.wx[0] + unit.uh[0];
    let length = (own * own + unit.partner * unit.partner).sqrt();
    let inverse = if length > f64::from(SHORTEST) { 1.0 / length } else { 0.0 };
    Polar { length, inverse, own: own * inverse, partner: unit.partner * inverse }
}

impl Rule for Eurnn {
    const SAVED: usize = 1;

    fn step(p: &dyn Parameters, k: usize, unit: &Unit) -> Memory {
        let z = polar(unit);
        // Near 0, a change by δ changes the derivative of the direction by δ/|z|².
        p.note_kink(0.1 * z.length * z.length);
        Memory { h: p.update(z.length + p.bias("b", k)) * z.own, c: 0.0 }
    }

    fn reverse(p: &Pointwise, k: usize, unit: &Unit, d: Memory, gradient: &mut [f64]) -> Unit {
        let z = polar(unit);
        let value = p.update(z.length + p.bias("b", k));
        // What changes the length, and what changes the direction.
        let radial = d.h * z.own;
        let (d_length, d_direction) = (radial * p.update_slope(value), value * z.inverse);
        p.add_bias(gradient, "b", k, d_length);
        let d_own = d_length * z.own + d_direction * (d.h - radial * z.own);
        let d_partner = d_length * z.partner - d_direction * radial * z.partner;
        Unit { wx: [d_own, 0.0, 0.0, 0.0], uh: [d_own, 0.0, 0.0, 0.0], partner: d_partner, ..Unit::default() }
    }

    #[inline(always)]
    fn forward<S: Simd>(s: S, f: Forward) {
        let width = f.point.width;
        for j in (0..width).step_by(S::LANES) {
            let b = s.load(&f.point.vectors[j..]);
            for row in 0..f.rows {
                let i = row * width + j;
                let z = s.load(&f.pre[i..]);
                let (length, inverse) = length_and_inverse(s, z);
                let value = apply(s, f.point.update, s.add(length, b));
                s.store(z, &mut f.saved[i..]);
                s.store(s.mul(z, s.mul(value, inverse)), &mut f.h[i..]);
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(s: S, b: Backward) {
        let width = b.point.width;
        let zero = s.splat(0.0);
        for j in (0..width).step_by(S::LANES) {
            let bias = s.load(&b.point.vectors[j..]);
            let mut db = zero;
            for row in 0..b.rows {
                let i = row * width + j;
                let (z, dh) = (s.load(&b.saved[i..]), s.load(&b.dh[i..]));
                let (length, inverse) = length_and_inverse(s, z);
                let value = apply(s, b.point.update, s.add(length, bias));
                let (direction, slope) = (s.mul(z, inverse), slope(s, b.point.update, value));
                // A lane's share of what changes the length, and the sum of both shares.
                let share = s.mul(dh, direction);
                let radial = s.add(share, s.swap_pairs(share));
                db = s.fma(slope, share, db);
                let along = s.mul(radial, direction);
                let across = s.mul(s.mul(value, inverse), s.sub(dh, along));
                s.store(s.fma(slope, along, across), &mut b.dpre[i..]);
                s.store(zero, &mut b.dh[i..]);
            }
            accumulate(s, db, &mut b.grads[j..]);
        }
    }
}

/// The lengths of the complex numbers that pairs of lanes are, and the inverse of each, which is 0 where a number is too
/// short to have a direction.
#[inline(always)]
fn length_and_inverse<S: Simd>(s: S, z: S::V) -> (S::V, S::V) {
    let squares = s.mul(z, z);
    let length = s.sqrt(s.add(squares, s.swap_pairs(squares)));
    let inverse = s.div(s.splat(1.0), s.max(length, s.splat(SHORTEST)));
    (length, s.between(length, SHORTEST, f32::INFINITY, inverse))
}
