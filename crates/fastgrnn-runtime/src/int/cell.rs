//! A layer's step: two products, then the cell's rule for each unit (sections 2 and 5).

use super::arithmetic::{ONE, multiplied, rounded, saturated};
use super::layer::Factors;
use super::{Layer, Place};
use crate::CellKind;

/// One of the two products of a step.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    W,
    U,
}

impl Layer<'_> {
    /// Replaces `state` by the next one. `projected` and `scratch` hold what
    /// [`Model::memory_len`](super::Model::memory_len) and `scratch_len` say; their contents do
    /// not matter.
    pub(super) fn step(
        &self,
        state: &mut [i16],
        input: &[i16],
        projected: &mut [i16],
        scratch: &mut [i32],
        cut: &mut impl FnMut(Place),
    ) {
        let hidden = self.hidden();
        let (sums, inner) = scratch.split_at_mut(self.sums_len());
        let (h, c) = state.split_at_mut(hidden);
        if self.multipliers() == [0, 0] {
            self.sums(h, input, projected, sums, inner, cut);
        } else {
            self.multiplied_sums(h, input, projected, sums, inner, cut);
        }
        for k in 0..hidden {
            let mut memory = c.get(k).copied().unwrap_or(0);
            h[k] = self.next(k, |block| sums[block * hidden + k], h[k], &mut memory, cut);
            if let Some(c) = c.get_mut(k) {
                *c = memory;
            }
        }
    }

    /// The shifted sums of both products.
    #[inline(always)]
    fn sums(
        &self,
        h: &[i16],
        input: &[i16],
        projected: &mut [i16],
        sums: &mut [i32],
        inner: &mut [i32],
        cut: &mut impl FnMut(Place),
    ) {
        let shifts = *self.shifts();
        // Both products share one row of sums: R(a, s) + R(b, t) = R(R(a, s)·2^t + b, t). With the
        // larger shift first, the left shift stays within the size of the first product.
        let w_first = shifts.w1 >= shifts.u1;
        let order = if w_first { [Side::W, Side::U] } else { [Side::U, Side::W] };
        sums.fill(0);
        for side in order {
            let v = match side {
                Side::W => self.w.project(input, shifts.w2, projected, inner, &mut || cut(Place::ProjectedW)),
                Side::U => self.u.project(h, shifts.u2, projected, inner, &mut || cut(Place::ProjectedU)),
            };
            self.add(side, v, sums);
            if side == order[0] {
                let (own, other) = if w_first { (shifts.w1, shifts.u1) } else { (shifts.u1, shifts.w1) };
                sums[..self.shared()].iter_mut().for_each(|sum| *sum = rounded(*sum, own) << other);
            }
        }
        let last = shifts.w1.min(shifts.u1);
        let (shared, apart) = sums.split_at_mut(self.shared());
        shared.iter_mut().for_each(|sum| *sum = rounded(*sum, last));
        let (w_apart, u_apart) = apart.split_at_mut(apart.len() / 2);
        w_apart.iter_mut().for_each(|sum| *sum = rounded(*sum, shifts.w1));
        u_apart.iter_mut().for_each(|sum| *sum = rounded(*sum, shifts.u1));
    }

    /// [`Layer::sums`] where W or U has a multiplier. It belongs to the sum of its own product, so a row
    /// is multiplied and shifted before it is added.
    fn multiplied_sums(
        &self,
        h: &[i16],
        input: &[i16],
        projected: &mut [i16],
        sums: &mut [i32],
        inner: &mut [i32],
        cut: &mut impl FnMut(Place),
    ) {
        let shifts = *self.shifts();
        sums.fill(0);
        // A product without a multiplier goes first: it adds entry by entry.
        let order = if self.w.multiplier == 0 { [Side::W, Side::U] } else { [Side::U, Side::W] };
        for side in order {
            let (factors, v, shift) = match side {
                Side::W => {
                    let cut = &mut || cut(Place::ProjectedW);
                    (&self.w, self.w.project(input, shifts.w2, projected, inner, cut), shifts.w1)
                }
                Side::U => {
                    let cut = &mut || cut(Place::ProjectedU);
                    (&self.u, self.u.project(h, shifts.u2, projected, inner, cut), shifts.u1)
                }
            };
            match factors.multiplier {
                0 => {
                    self.add(side, v, sums);
                    sums.iter_mut().for_each(|sum| *sum = rounded(*sum, shift));
                }
                multiplier => factors.first.four_bit_rows(v, |row, sum| {
                    sums[self.place(side, row)] += rounded(multiplied(sum, multiplier), shift);
                }),
            }
        }
    }

    /// Where the sum of a row stands: that of U's last block behind W's where they are kept apart.
    #[inline(always)]
    fn place(&self, side: Side, row: usize) -> usize {
        let apart = side == Side::U && self.kind().shape().keeps_apart && row >= self.shared();
        if apart { row + self.hidden() } else { row }
    }

    /// Sums that W's and U's products share; a GRU's n block keeps them apart, W's first.
    fn shared(&self) -> usize {
        let cell = self.kind().shape();
        (cell.blocks - usize::from(cell.keeps_apart)) * self.hidden()
    }

    /// Adds a product to its sums.
    fn add(&self, side: Side, v: &[i16], sums: &mut [i32]) {
        match side {
            Side::W => self.w.first.times(v, sums),
            Side::U if self.kind().shape().keeps_apart => {
                let place = |row| self.place(side, row);
                self.u.first.for_each(|r, c, a| sums[place(r)] += i32::from(a) * i32::from(v[c]));
            }
            Side::U => self.u.first.times(v, sums),
        }
    }

    /// Unit `k`'s next h from its sums and old state; an LSTM replaces c as well.
    #[inline(always)]
    fn next(
        &self,
        k: usize,
        sum: impl Fn(usize) -> i32,
        h: i16,
        c: &mut i16,
        cut: &mut impl FnMut(Place),
    ) -> i16 {
        let shifts = self.shifts();
        let h = i32::from(h);
        let bits = self.update.value_bits();
        let gate = |t: i32| self.gate.at(t).0;
        let bias = |vector: usize| self.bias(vector, k);
        let (next, overflowed) = match self.kind() {
            CellKind::Rnn => {
                let value = self.updated(sum(0) + bias(0), cut);
                saturated(rounded(value, bits - shifts.state))
            }
            CellKind::FastRnn => {
                let value = self.updated(sum(0) + bias(0), cut);
                let new = rounded(self.alpha(k) * value, bits - shifts.state);
                saturated(rounded(new + self.beta * h, 15))
            }
            CellKind::FastRnnVector => {
                let value = self.updated(sum(0) + bias(0), cut);
                let alpha = self.alpha(k);
                let beta = self.nu + rounded(self.zeta * (ONE - alpha), 15);
                let new = rounded(alpha * value, bits + 1 - shifts.state);
                saturated(rounded(new + beta * h, 14))
            }
            CellKind::FastGrnn | CellKind::FastGrnnGain => {
                let gained = match self.kind() {
                    CellKind::FastGrnnGain => self.gained(k, sum(0)),
                    _ => sum(0),
                };
                let z = gate(gained + bias(0));
                let value = self.updated(sum(0) + bias(1), cut);
                let share = self.nu + rounded(self.zeta * (ONE - z), 15);
                let new = rounded(share * value, bits - 1 - shifts.state);
                saturated(rounded(new + z * h, 15))
            }
            CellKind::Ugrnn => {
                let z = gate(sum(0) + bias(0));
                let value = self.updated(sum(1) + bias(1), cut);
                let new = rounded((ONE - z) * value, bits - shifts.state);
                saturated(rounded(new + z * h, 15))
            }
            CellKind::Gru => {
                let (r, z) = (gate(sum(0) + bias(0)), gate(sum(1) + bias(1)));
                let (recurrent, overflowed) = saturated(sum(3) + bias(3));
                if overflowed {
                    cut(Place::Recurrent);
                }
                let t = sum(2) + bias(2) + rounded(r * i32::from(recurrent), 15);
                let value = self.updated(t, cut);
                let new = rounded((ONE - z) * value, bits - shifts.state);
                saturated(rounded(new + z * h, 15))
            }
            CellKind::Lstm => {
                let (i, f, o) = (gate(sum(0) + bias(0)), gate(sum(1) + bias(1)), gate(sum(3) + bias(3)));
                let value = self.updated(sum(2) + bias(2), cut);
                let new = rounded(i * value, bits - shifts.memory);
                let overflowed;
                (*c, overflowed) = saturated(rounded(new + f * i32::from(*c), 15));
                if overflowed {
                    cut(Place::Memory);
                }
                let value = self.updated(i32::from(*c) << (shifts.sums - shifts.memory), cut);
                saturated(rounded(o * value, 15 + bits - shifts.state))
            }
            CellKind::MinGru => {
                let z = gate(sum(0) + bias(0));
                let value = self.updated(sum(1) + bias(1), cut);
                let new = rounded(z * value, bits - shifts.state);
                saturated(rounded(new + (ONE - z) * h, 15))
            }
            // No image holds it, because it has no code.
            CellKind::Eurnn => (0, false),
        };
        if overflowed {
            cut(Place::State);
        }
        next
    }

    #[inline(always)]
    fn updated(&self, t: i32, cut: &mut impl FnMut(Place)) -> i32 {
        let (value, overflowed) = self.update.at(t);
        if overflowed {
            cut(Place::Update);
        }
        value
    }
}

impl Factors<'_> {
    /// What the first factor is multiplied with: `v` itself, or the second factor's product with
    /// it, written to `projected`.
    fn project<'b>(
        &self,
        v: &'b [i16],
        shift: u32,
        projected: &'b mut [i16],
        sums: &mut [i32],
        cut: &mut impl FnMut(),
    ) -> &'b [i16] {
        let Some(second) = self.second else { return v };
        let rank = second.cols();
        let sums = &mut sums[..rank];
        sums.fill(0);
        second.transposed_times(v, sums);
        for (m, &sum) in projected.iter_mut().zip(sums.iter()) {
            let overflowed;
            (*m, overflowed) = saturated(rounded(sum, shift));
            if overflowed {
                cut();
            }
        }
        &projected[..rank]
    }
}
