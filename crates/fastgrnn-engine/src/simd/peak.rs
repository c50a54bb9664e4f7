//! The f32 multiply-add peak of this machine, measured: what fractions of peak refer to.

use super::{FlushDenormals, Kernel, Simd};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Independent accumulators: enough to cover the latency of two units, few enough for 16 registers.
const CHAINS: usize = 12;
/// Multiply-adds of each in a slice: well under a millisecond, so that some slices go undisturbed.
const ROUNDS: usize = 100_000;

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

/// GFLOP/s of `threads` threads together over about `time`: the best slice that all of them began and
/// ended together, so that moments in which something else ran do not count, nor those in which one
/// thread had the core to itself.
pub fn peak_gflops<S: Simd>(s: S, threads: usize, time: Duration) -> f64 {
    let slices = time.as_millis().clamp(1, 60_000);
    let barrier = Barrier::new(threads);
    let work = || {
        let _flush = FlushDenormals::start();
        let mut best = f64::INFINITY;
        for _ in 0..slices {
            barrier.wait();
            let start = Instant::now();
            std::hint::black_box(s.vectorize(Chains));
            barrier.wait();
            best = best.min(start.elapsed().as_secs_f64());
        }
        best
    };
    let seconds = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut best = work();
        for other in others {
            best = best.max(other.join().unwrap_or(best));
        }
        best
    });
    (2 * CHAINS * S::LANES * ROUNDS * threads) as f64 / seconds / 1e9
}
