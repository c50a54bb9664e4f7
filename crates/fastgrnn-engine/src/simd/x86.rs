//! AVX2 with FMA, and AVX-512.

use super::{Kernel, Simd, intrinsics};
use std::arch::x86_64::*;

/// Proof that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Proof that the CPU has AVX-512F.
#[derive(Clone, Copy)]
pub struct Avx512(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

impl Avx512 {
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f") && Avx2::detect().is_some()).then_some(Self(()))
    }
}

/// The rest, which differs only in names and widths.
macro_rules! common {
    ($features:literal, $set1:ident, $loadu:ident, $storeu:ident) => {
        fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
            #[target_feature(enable = $features)]
            fn enabled<S: Simd, K: Kernel>(s: S, kernel: K) -> K::Output {
                kernel.run(s)
            }
            // SAFETY: `self` proves that the CPU has the features.
            unsafe { enabled(self, kernel) }
        }

        #[inline(always)]
        fn splat(self, x: f32) -> Self::V {
            // SAFETY: `self` proves that the CPU has the instruction.
            unsafe { $set1(x) }
        }

        #[inline(always)]
        fn load(self, from: &[f32]) -> Self::V {
            let from = &from[..Self::LANES];
            // SAFETY: the slice has `LANES` values.
            unsafe { self.read(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, v: Self::V, to: &mut [f32]) {
            let to = &mut to[..Self::LANES];
            // SAFETY: the slice has `LANES` values.
            unsafe { self.write(v, to.as_mut_ptr()) }
        }

        #[inline(always)]
        unsafe fn read(self, from: *const f32) -> Self::V {
            // SAFETY: `self` proves the instruction, the caller the address.
            unsafe { $loadu(from) }
        }

        #[inline(always)]
        unsafe fn write(self, v: Self::V, to: *mut f32) {
            // SAFETY: `self` proves the instruction, the caller the address.
            unsafe { $storeu(to, v) }
        }
    };
}

impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    const PANEL: usize = 2;

    common!("avx2,fma", _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps);

    intrinsics! {
        add(a, b) = _mm256_add_ps;
        sub(a, b) = _mm256_sub_ps;
        mul(a, b) = _mm256_mul_ps;
        div(a, b) = _mm256_div_ps;
        min(a, b) = _mm256_min_ps;
        max(a, b) = _mm256_max_ps;
        fma(a, b, c) = _mm256_fmadd_ps;
        sqrt(a) = _mm256_sqrt_ps;
    }

    #[inline(always)]
    fn swap_pairs(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves that the CPU has the instruction.
        unsafe { _mm256_permute_ps::<0b10_11_00_01>(a) }
    }

    #[inline(always)]
    fn between(self, x: __m256, low: f32, high: f32, value: __m256) -> __m256 {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(x, _mm256_set1_ps(low));
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(x, _mm256_set1_ps(high));
            _mm256_and_ps(_mm256_and_ps(above, below), value)
        }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m256) -> __m256 {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe {
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent))
        }
    }

    #[inline(always)]
    fn sum(self, v: __m256) -> f32 {
        let mut lanes = [0.0; 8];
        self.store(v, &mut lanes);
        lanes.iter().sum()
    }
}

impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    const PANEL: usize = 4;

    common!("avx512f,avx2,fma", _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps);

    intrinsics! {
        add(a, b) = _mm512_add_ps;
        sub(a, b) = _mm512_sub_ps;
        mul(a, b) = _mm512_mul_ps;
        div(a, b) = _mm512_div_ps;
        min(a, b) = _mm512_min_ps;
        max(a, b) = _mm512_max_ps;
        fma(a, b, c) = _mm512_fmadd_ps;
        sqrt(a) = _mm512_sqrt_ps;
    }

    #[inline(always)]
    fn swap_pairs(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves that the CPU has the instruction.
        unsafe { _mm512_permute_ps::<0b10_11_00_01>(a) }
    }

    #[inline(always)]
    fn between(self, x: __m512, low: f32, high: f32, value: __m512) -> __m512 {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe {
            let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_set1_ps(low));
            let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(above, x, _mm512_set1_ps(high));
            _mm512_maskz_mov_ps(inside, value)
        }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m512) -> __m512 {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe {
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent))
        }
    }

    #[inline(always)]
    fn sum(self, v: __m512) -> f32 {
        let mut lanes = [0.0; 16];
        self.store(v, &mut lanes);
        lanes.iter().sum()
    }
}
