//! AVX2, AVX-512, and AVX-512 with the multiply-add made for 16-bit numbers.

use super::super::intrinsics;
use super::{IntKernel, IntSimd, TABLE, Table};
use std::arch::x86_64::*;

/// Proof that the CPU has AVX2.
#[derive(Clone, Copy)]
pub struct Avx2Int(());

/// Proof that the CPU has AVX-512F and AVX-512BW.
#[derive(Clone, Copy)]
pub struct Avx512Int(());

/// Proof that the CPU has AVX-512F, AVX-512BW and AVX-512 VNNI.
#[derive(Clone, Copy)]
pub struct Avx512Vnni(());

impl Avx2Int {
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

impl Avx512Int {
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        (has && Avx2Int::detect().is_some()).then_some(Self(()))
    }
}

impl Avx512Vnni {
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512vnni") && Avx512Int::detect().is_some();
        has.then_some(Self(()))
    }
}

/// The rest, which differs only in names and widths.
macro_rules! common {
    ($features:literal, $set1:ident, $loadu:ident, $storeu:ident) => {
        fn vectorize<K: IntKernel>(self, kernel: K) -> K::Output {
            #[target_feature(enable = $features)]
            #[inline(never)]
            fn enabled<S: IntSimd, K: IntKernel>(s: S, kernel: K) -> K::Output {
                kernel.run(s)
            }
            // SAFETY: `self` proves that the CPU has the features.
            unsafe { enabled(self, kernel) }
        }

        #[inline(always)]
        fn splat(self, x: i32) -> Self::V {
            // SAFETY: `self` proves that the CPU has the instruction.
            unsafe { $set1(x) }
        }

        #[inline(always)]
        unsafe fn read(self, from: *const i32) -> Self::V {
            // SAFETY: `self` proves the instruction, the caller the address.
            unsafe { $loadu(from.cast()) }
        }

        #[inline(always)]
        unsafe fn write(self, v: Self::V, to: *mut i32) {
            // SAFETY: `self` proves the instruction, the caller the address.
            unsafe { $storeu(to.cast(), v) }
        }
    };
}

impl IntSimd for Avx2Int {
    type V = __m256i;
    const LANES: usize = 8;

    common!("avx2", _mm256_set1_epi32, _mm256_loadu_si256, _mm256_storeu_si256);

    intrinsics! {
        add(a, b) = _mm256_add_epi32;
        sub(a, b) = _mm256_sub_epi32;
        mul(a, b) = _mm256_mullo_epi32;
        min(a, b) = _mm256_min_epi32;
        max(a, b) = _mm256_max_epi32;
        and(a, b) = _mm256_and_si256;
        or(a, b) = _mm256_or_si256;
        xor(a, b) = _mm256_xor_si256;
        shl(v, by) = _mm256_sllv_epi32;
        shr(v, by) = _mm256_srav_epi32;
    }

    #[inline(always)]
    fn madd(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)) }
    }

    #[inline(always)]
    fn count(self, count: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe {
            let equal = _mm256_cmpeq_epi32(a, b);
            _mm256_add_epi32(count, _mm256_add_epi32(equal, _mm256_set1_epi32(1)))
        }
    }

    #[inline(always)]
    fn look_up(self, table: &Table, i: __m256i) -> (__m256i, __m256i) {
        // SAFETY: `self` proves the instructions; the mask keeps each index within the table.
        unsafe {
            let i = _mm256_and_si256(i, _mm256_set1_epi32(TABLE as i32 - 1));
            let both = _mm256_i32gather_epi32::<4>(table.both.as_ptr().cast(), i);
            (_mm256_and_si256(both, _mm256_set1_epi32(0xFFFF)), _mm256_srli_epi32::<16>(both))
        }
    }
}

/// What both kinds of AVX-512 share.
macro_rules! avx512 {
    ($features:literal) => {
        type V = __m512i;
        const LANES: usize = 16;

        common!($features, _mm512_set1_epi32, _mm512_loadu_si512, _mm512_storeu_si512);

        intrinsics! {
            add(a, b) = _mm512_add_epi32;
            sub(a, b) = _mm512_sub_epi32;
            mul(a, b) = _mm512_mullo_epi32;
            min(a, b) = _mm512_min_epi32;
            max(a, b) = _mm512_max_epi32;
            and(a, b) = _mm512_and_si512;
            or(a, b) = _mm512_or_si512;
            xor(a, b) = _mm512_xor_si512;
            shl(v, by) = _mm512_sllv_epi32;
            shr(v, by) = _mm512_srav_epi32;
        }

        #[inline(always)]
        fn count(self, count: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: `self` proves that the CPU has the instructions.
            unsafe {
                let differ = _mm512_cmpneq_epi32_mask(a, b);
                _mm512_mask_add_epi32(count, differ, count, _mm512_set1_epi32(1))
            }
        }

        #[inline(always)]
        fn look_up(self, table: &Table, i: __m512i) -> (__m512i, __m512i) {
            // Only the low half of each lane is an index and a result.
            const LOW_HALVES: __mmask32 = 0x5555_5555;
            // SAFETY: `self` proves the instructions; the tables have 64 entries of 16 bits, two
            // vectors of 32; the instruction takes six bits of each index.
            unsafe {
                let entry = |of: &[u16; TABLE]| {
                    let (first, second) = of.split_at(TABLE / 2);
                    let first = _mm512_loadu_si512(first.as_ptr().cast());
                    let second = _mm512_loadu_si512(second.as_ptr().cast());
                    _mm512_maskz_permutex2var_epi16(LOW_HALVES, first, i, second)
                };
                (entry(&table.low), entry(&table.rise))
            }
        }
    };
}

impl IntSimd for Avx512Int {
    avx512!("avx512f,avx512bw,avx2");

    #[inline(always)]
    fn madd(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the CPU has the instructions.
        unsafe { _mm512_add_epi32(sum, _mm512_madd_epi16(a, b)) }
    }
}

impl IntSimd for Avx512Vnni {
    avx512!("avx512f,avx512bw,avx512vnni,avx2");

    intrinsics! {
        madd(sum, a, b) = _mm512_dpwssd_epi32;
    }
}
