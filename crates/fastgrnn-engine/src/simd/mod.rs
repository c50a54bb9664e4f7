//! Vector arithmetic in three widths, chosen at run time.
//!
//! A [`Simd`] value is a token: it exists only if the CPU has the instructions, so its methods are
//! safe to call. Kernels are written once, generic over the token, and enter through
//! [`Simd::vectorize`], which compiles them with the token's instructions enabled. Everything a
//! kernel calls must be `#[inline(always)]`, or it is compiled without them and runs many times
//! slower (the result is the same).
mod buffer;
mod denormals;
mod gemm;
pub mod int;
mod math;
mod peak;
mod portable;
mod prefetch;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use buffer::Buffer;
pub use denormals::FlushDenormals;
pub use gemm::{AddTo, Gemm, Outer, Packed, Segment};
pub use math::{apply, exp, ln_1p, slope};
pub use peak::peak_gflops;
pub use portable::Portable;
use prefetch::Ahead;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

/// Methods that are one intrinsic each, for tokens of float and of integer vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! intrinsics {
    ($($name:ident($($arg:ident),+) = $intrinsic:ident;)+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: Self::V),+) -> Self::V {
            // SAFETY: `self` proves that the CPU has the instruction.
            unsafe { $intrinsic($($arg),+) }
        }
    )+};
}

#[cfg(target_arch = "x86_64")]
pub(crate) use intrinsics;

/// Work to be compiled for each instruction set.
pub trait Kernel {
    type Output;
    /// Does the work; implementations are `#[inline(always)]`.
    fn run<S: Simd>(self, s: S) -> Self::Output;
}

/// An instruction set that this CPU has.
pub trait Simd: Copy + Send + Sync + 'static {
    /// A vector of [`Simd::LANES`] f32 values.
    type V: Copy;
    const LANES: usize;
    /// Vectors of columns that a matrix kernel holds at once; with as many rows as fit, they must
    /// leave room in the register file.
    const PANEL: usize;

    /// Runs `kernel` compiled for this instruction set.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;

    fn splat(self, x: f32) -> Self::V;
    /// The first `LANES` values of `from`; panics if there are fewer.
    fn load(self, from: &[f32]) -> Self::V;
    /// Writes the first `LANES` values of `to`; panics if there are fewer.
    fn store(self, v: Self::V, to: &mut [f32]);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller one; `b` if either is NaN.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// The larger one; `b` if either is NaN.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a·b + c`
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `value` in the lanes where `low < x < high`, 0 elsewhere.
    fn between(self, x: Self::V, low: f32, high: f32, value: Self::V) -> Self::V;
    /// The square root.
    fn sqrt(self, a: Self::V) -> Self::V;
    /// Every two lanes, the first one and its neighbour, exchanged.
    fn swap_pairs(self, a: Self::V) -> Self::V;
    /// 2 to the power of whole numbers from −126 to 127.
    fn power_of_two(self, n: Self::V) -> Self::V;
    /// The sum of the lanes, in a fixed order.
    fn sum(self, v: Self::V) -> f32;

    /// The `LANES` values from `from` on.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn read(self, from: *const f32) -> Self::V;
    /// Writes the `LANES` values from `to` on.
    ///
    /// # Safety
    /// They must be writable.
    unsafe fn write(self, v: Self::V, to: *mut f32);
}

/// `n` rounded up to whole vectors.
pub fn padded<S: Simd>(n: usize) -> usize {
    n.next_multiple_of(S::LANES)
}
