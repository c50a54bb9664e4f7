//! Eight lanes in plain Rust, which compilers turn into the baseline vectors of any CPU.

use super::{Kernel, Simd};

/// The instruction set that is always there.
#[derive(Clone, Copy)]
pub struct Portable;

const LANES: usize = 8;

#[inline(always)]
fn map(a: [f32; LANES], b: [f32; LANES], f: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl Simd for Portable {
    type V = [f32; LANES];
    const LANES: usize = LANES;
    const PANEL: usize = 1;

    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        [x; LANES]
    }

    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::V {
        std::array::from_fn(|i| from[..LANES][i])
    }

    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f32]) {
        to[..LANES].copy_from_slice(&v);
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x - y)
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x * y)
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x / y)
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| if x < y { x } else { y })
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| if x > y { x } else { y })
    }

    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // Where a fused multiply-add is not in the baseline, `mul_add` would be a library call.
        if cfg!(target_arch = "aarch64") {
            std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
        } else {
            std::array::from_fn(|i| a[i] * b[i] + c[i])
        }
    }

    #[inline(always)]
    fn between(self, x: Self::V, low: f32, high: f32, value: Self::V) -> Self::V {
        map(x, value, |x, v| if x > low && x < high { v } else { 0.0 })
    }

    #[inline(always)]
    fn sqrt(self, a: Self::V) -> Self::V {
        a.map(f32::sqrt)
    }

    #[inline(always)]
    fn swap_pairs(self, a: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i ^ 1])
    }

    #[inline(always)]
    fn power_of_two(self, n: Self::V) -> Self::V {
        n.map(|n| f32::from_bits(((n as i32 + 127) as u32) << 23))
    }

    #[inline(always)]
    fn sum(self, v: Self::V) -> f32 {
        v.iter().sum()
    }

    #[inline(always)]
    unsafe fn read(self, from: *const f32) -> Self::V {
        // SAFETY: the caller promises `LANES` readable values; an array of f32 has their alignment.
        unsafe { *from.cast() }
    }

    #[inline(always)]
    unsafe fn write(self, v: Self::V, to: *mut f32) {
        // SAFETY: the caller promises `LANES` writable values; an array of f32 has their alignment.
        unsafe { *to.cast() = v }
    }
}
