//! Integer vectors, for the integer network: lanes are sequences.
//!
//! As with the f32 vectors, an [`IntSimd`] value proves that the CPU has the instructions, and a
//! kernel is written once and compiled for each through [`IntSimd::vectorize`]. A lane is one
//! 32-bit number, or a *pair* of 16-bit numbers, the first in the low half: one multiply-add
//! takes both. Arithmetic wraps; the integer network never lets it.
//!
//! Everything a kernel calls must be `#[inline(always)]`. Loops count instead of zipping slices:
//! `Zip` is not always inlined, which makes a kernel several times as slow.
#[cfg(target_arch = "x86_64")]
mod double_width;
mod portable;
mod product;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub use double_width::DoubleWidth;
pub use portable::PortableInt;
pub use product::{ROWS, Rows, Term};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2Int, Avx512Int, Avx512Vnni};

/// Work to be compiled for each instruction set.
pub trait IntKernel {
    type Output;
    /// Does the work; implementations are `#[inline(always)]`.
    fn run<S: IntSimd>(self, s: S) -> Self::Output;
}

/// Entries of a [`Table`].
pub const TABLE: usize = 64;

/// Values and their differences to the next, for linear interpolation.
#[derive(Clone, Debug)]
pub struct Table {
    pub low: [u16; TABLE],
    pub rise: [u16; TABLE],
    /// `low` in the low half, `rise` in the high one.
    pub both: [u32; TABLE],
}

impl Table {
    /// The 64 steps between 65 rising values.
    pub fn new(at: impl Fn(usize) -> u16) -> Self {
        let low = std::array::from_fn(&at);
        let rise = std::array::from_fn(|i| at(i + 1).wrapping_sub(at(i)));
        let both = std::array::from_fn(|i| u32::from(low[i]) | u32::from(rise[i]) << 16);
        Self { low, rise, both }
    }
}

/// An instruction set that this CPU has.
pub trait IntSimd: Copy + Send + Sync + 'static {
    /// A vector of [`IntSimd::LANES`] i32 values.
    type V: Copy;
    const LANES: usize;
    /// Whether a kernel may repeat its code instead of looping twice. That is a tenth faster; the
    /// arrays of [`PortableInt`] take the compiler too long.
    const REPEATS: bool = true;

    /// Runs `kernel` compiled for this instruction set.
    fn vectorize<K: IntKernel>(self, kernel: K) -> K::Output;

    fn splat(self, x: i32) -> Self::V;
    /// The `LANES` values from `from` on.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn read(self, from: *const i32) -> Self::V;
    /// Writes the `LANES` values from `to` on.
    ///
    /// # Safety
    /// They must be writable.
    unsafe fn write(self, v: Self::V, to: *mut i32);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `v · 2^by`, `by` less than 32.
    fn shl(self, v: Self::V, by: Self::V) -> Self::V;
    /// The floor of `v / 2^by`, `by` less than 32.
    fn shr(self, v: Self::V, by: Self::V) -> Self::V;
    /// `sum` plus the products of the low and of the high halves of two pairs.
    fn madd(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `count`, one more in lanes where `a` and `b` differ.
    fn count(self, count: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Value and rise of each lane's entry, `i` between 0 and 63.
    fn look_up(self, table: &Table, i: Self::V) -> (Self::V, Self::V);

    /// The first `LANES` values of `from`; panics if there are fewer.
    #[inline(always)]
    fn load(self, from: &[i32]) -> Self::V {
        let from = &from[..Self::LANES];
        // SAFETY: the slice has `LANES` values.
        unsafe { self.read(from.as_ptr()) }
    }

    /// Writes the first `LANES` values of `to`; panics if there are fewer.
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [i32]) {
        let to = &mut to[..Self::LANES];
        // SAFETY: the slice has `LANES` values.
        unsafe { self.write(v, to.as_mut_ptr()) }
    }

    /// Two 16-bit numbers as a pair.
    #[inline(always)]
    fn pair(self, low: Self::V, high: Self::V) -> Self::V {
        self.or(self.and(low, self.splat(0xFFFF)), self.shl(high, self.splat(16)))
    }

    /// The size of numbers, of which none is the least there is.
    #[inline(always)]
    fn abs(self, v: Self::V) -> Self::V {
        self.max(v, self.sub(self.splat(0), v))
    }

    /// The low half of a pair.
    #[inline(always)]
    fn low(self, pair: Self::V) -> Self::V {
        self.shr(self.shl(pair, self.splat(16)), self.splat(16))
    }

    /// The high half of a pair.
    #[inline(always)]
    fn high(self, pair: Self::V) -> Self::V {
        self.shr(pair, self.splat(16))
    }
}

/// `v / 2^shift` rounded, halves up: floor((v + 2^(shift−1)) / 2^shift), or v for a shift of 0.
#[derive(Clone, Copy)]
pub struct Rounding<S: IntSimd> {
    /// What is added before the shift.
    half: S::V,
    by: S::V,
    shift: u32,
}

impl<S: IntSimd> Rounding<S> {
    #[inline(always)]
    pub fn new(s: S, shift: u32) -> Self {
        Self::plus(s, shift, 0)
    }

    /// The rounded quotient plus a constant, at no cost.
    #[inline(always)]
    pub fn plus(s: S, shift: u32, constant: i32) -> Self {
        let half = ((1 << shift) >> 1) + (constant << shift);
        Self { half: s.splat(half), by: s.splat(shift as i32), shift }
    }

    #[inline(always)]
    pub fn of(self, s: S, v: S::V) -> S::V {
        s.shr(s.add(v, self.half), self.by)
    }
}
