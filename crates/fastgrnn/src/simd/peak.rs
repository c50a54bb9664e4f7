//! The f32 multiply-add peak of this machine, measured: what fractions of peak refer to.

use super::{FlushDenormals, Kernel, Simd};
use std::time::{Duration, Instant};

/// Independent accumulators: enough to cover the latency of two units, few enough for 16 registers.
const CHAINS: usize = 12;
const ROUNDS: usize = 20_000;

struct Chains;

impl Kernel for Chains {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f32 {
        let (x, y) = (s.splat(std::hint::black_box(0.999)), s.splat(std::hint::black_box(1e-3)));
        let mut acc = [y; CHAINS];
        for _ in 0..ROUNDS {
            for a in &mut acc {
                *a = s.fma(*a, x, y);
            }
        }
        let mut total = acc[0];
        for a in &acc[1..] {
            total = s.add(total, *a);
        }
        s.sum(total)
    }
}

/// GFLOP/s of one thread over about `time`: the best of many short slices, so that moments in which
/// something else ran do not count.
pub(crate) fn peak_gflops<S: Simd>(s: S, time: Duration) -> f64 {
    let _flush = FlushDenormals::new();
    let flops = (2 * CHAINS * S::LANES * ROUNDS) as f64;
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < time {
        let slice = Instant::now();
        std::hint::black_box(s.vectorize(Chains));
        best = best.min(slice.elapsed().as_secs_f64());
    }
    flops / best / 1e9
}
