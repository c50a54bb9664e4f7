//! Eight lanes in plain Rust, which compilers turn into the baseline vectors of any CPU.

use super::{IntKernel, IntSimd, TABLE, Table};

/// The instruction set that is always there.
#[derive(Clone, Copy)]
pub struct PortableInt;

const LANES: usize = 8;

#[inline(always)]
fn map(a: [i32; LANES], b: [i32; LANES], f: impl Fn(i32, i32) -> i32) -> [i32; LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl IntSimd for PortableInt {
    type V = [i32; LANES];
    const LANES: usize = LANES;
    const REPEATS: bool = false;

    #[inline(never)]
    fn vectorize<K: IntKernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: i32) -> Self::V {
        [x; LANES]
    }

    #[inline(always)]
    unsafe fn read(self, from: *const i32) -> Self::V {
        // SAFETY: the caller promises `LANES` readable values; an array of i32 has their alignment.
        unsafe { *from.cast() }
    }

    #[inline(always)]
    unsafe fn write(self, v: Self::V, to: *mut i32) {
        // SAFETY: the caller promises `LANES` writable values; an array of i32 has their alignment.
        unsafe { *to.cast() = v }
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, i32::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, i32::wrapping_sub)
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, i32::wrapping_mul)
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, i32::min)
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, i32::max)
    }

    #[inline(always)]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x & y)
    }

    #[inline(always)]
    fn or(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x | y)
    }

    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        map(a, b, |x, y| x ^ y)
    }

    #[inline(always)]
    fn shl(self, v: Self::V, by: Self::V) -> Self::V {
        map(v, by, |v, by| v.wrapping_shl(by as u32))
    }

    #[inline(always)]
    fn shr(self, v: Self::V, by: Self::V) -> Self::V {
        map(v, by, |v, by| v.wrapping_shr(by as u32))
    }

    #[inline(always)]
    fn madd(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V {
        let low = map(a, b, |a, b| i32::from(a as i16) * i32::from(b as i16));
        let high = map(a, b, |a, b| (a >> 16).wrapping_mul(b >> 16));
        self.add(sum, self.add(low, high))
    }

    #[inline(always)]
    fn count(self, count: Self::V, a: Self::V, b: Self::V) -> Self::V {
        self.add(count, map(a, b, |a, b| i32::from(a != b)))
    }

    #[inline(always)]
    fn look_up(self, table: &Table, i: Self::V) -> (Self::V, Self::V) {
        let both: [u32; LANES] = std::array::from_fn(|lane| table.both[i[lane] as usize % TABLE]);
        (both.map(|v| (v & 0xFFFF) as i32), both.map(|v| (v >> 16) as i32))
    }
}
