//! The integer network on the host: whole sets of sequences, the device's bits.
//!
//! What [`fastgrnn_runtime::int`] computes for one sequence is computed here for many at once: each
//! lane of a vector is a sequence, and a group of them takes its steps together. Integers have one
//! result, so every [`IntegerEngine`] gives the same scores and the same counts of saturations.
mod cell;
mod counts;
mod curve;
mod group;
mod layer;
mod plan;
mod scalar;

use super::{IntegerModel, Saturations};
use fastgrnn_data::data::Sequences;
#[cfg(target_arch = "x86_64")]
use fastgrnn_engine::simd::int::{Avx2Int, Avx512Int, Avx512Vnni, DoubleWidth};
use fastgrnn_engine::simd::int::{IntSimd, PortableInt};
use group::Group;
use plan::Plan;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scores of sequences, and what saturated on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerScores {
    /// One row of outputs a sequence.
    pub scores: Vec<i32>,
    /// What saturated.
    pub saturations: Saturations,
}

/// Ways to compute an integer network on the host; all give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntegerEngine {
    /// The runtime's own code, one sequence after the other.
    Scalar,
    /// Vectors in plain Rust, any CPU.
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512F and BW.
    Avx512,
    /// AVX-512F, BW and VNNI.
    Avx512Vnni,
}

impl IntegerEngine {
    /// Those that this CPU can run, the fastest last.
    ///
    /// ```
    /// use fastgrnn_model::quantize::IntegerEngine;
    /// assert_eq!(IntegerEngine::available()[0], IntegerEngine::Scalar);
    /// ```
    pub fn available() -> Vec<Self> {
        let mut all = vec![Self::Scalar, Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx2Int::detect().map(|_| Self::Avx2));
            all.extend(Avx512Int::detect().map(|_| Self::Avx512));
            all.extend(Avx512Vnni::detect().map(|_| Self::Avx512Vnni));
        }
        all
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512-vnni",
        }
    }

    /// The one that suits `sequences` sequences on each thread.
    fn for_set(sequences: usize) -> Self {
        let all = Self::available();
        let best = all.last().copied().unwrap_or(Self::Scalar);
        // Few sequences leave most lanes of wide vectors empty.
        match sequences {
            0 => Self::Scalar,
            1..=16 if all.contains(&Self::Avx2) => Self::Avx2,
            1..8 if best == Self::Portable => Self::Scalar,
            _ => best,
        }
    }
}

impl IntegerModel {
    /// Scores the sequences of `x` at `indices`, in the data's units, on `threads` threads.
    ///
    /// Exactly what [`fastgrnn_runtime::int::Model::step`] gives when folded over the counts of
    /// each sequence.
    pub fn scores(&self, x: &Sequences, indices: &[u32], threads: usize) -> IntegerScores {
        let engine = IntegerEngine::for_set(indices.len().div_ceil(threads.max(1)));
        match self.scores_by(engine, x, indices, threads) {
            Some(scores) => scores,
            None => self.scores_scalar(x, indices, threads),
        }
    }

    /// [`IntegerModel::scores`] by a given engine, for comparisons; `None` if this CPU lacks it.
    pub fn scores_by(
        &self,
        engine: IntegerEngine,
        x: &Sequences,
        indices: &[u32],
        threads: usize,
    ) -> Option<IntegerScores> {
        let view = self.view();
        let lsb = &self.network.input.lsb;
        // Networks made by hand may hold another number of units of counts than inputs. The vectors have no
        // code for tokens.
        if engine == IntegerEngine::Scalar || lsb.len() != view.inputs() || view.tokens().is_some() {
            return Some(self.scores_scalar(x, indices, threads));
        }
        let job = Job { plan: Plan::new(&view, lsb), x, indices, threads };
        match engine {
            IntegerEngine::Scalar => None,
            IntegerEngine::Portable => Some(job.run(PortableInt)),
            #[cfg(target_arch = "x86_64")]
            IntegerEngine::Avx2 => Avx2Int::detect().map(|s| job.run(s)),
            #[cfg(target_arch = "x86_64")]
            IntegerEngine::Avx512 => Avx512Int::detect().map(|s| job.run(DoubleWidth(s))),
            #[cfg(target_arch = "x86_64")]
            IntegerEngine::Avx512Vnni => Avx512Vnni::detect().map(|s| job.run(DoubleWidth(s))),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}

/// Sequences to be scored.
struct Job<'a> {
    plan: Plan,
    x: &'a Sequences,
    indices: &'a [u32],
    threads: usize,
}

impl Job<'_> {
    fn run<S: IntSimd>(&self, s: S) -> IntegerScores {
        let plan = &self.plan;
        let steps = |at: usize| self.x.get(self.indices[at] as usize).len() / plan.inputs();
        // Positions in `indices`, the longest sequences first: lanes of a group end together.
        let mut order: Vec<usize> = (0..self.indices.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(steps(at)));
        let groups: &Vec<&[usize]> = &order.chunks(S::LANES).collect();
        let next = &AtomicUsize::new(0);
        let work = move || {
            let mut group = Group::<S>::new(s, plan);
            let mut done = Vec::new();
            while let Some(&members) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let sequences: Vec<&[f32]> =
                    members.iter().map(|&at| self.x.get(self.indices[at] as usize)).collect();
                done.push((members, group.scores(&sequences)));
            }
            (done, group.saturations)
        };
        let workers = self.threads.clamp(1, groups.len().max(1));
        let results = std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            let mut results = vec![work()];
            for other in others {
                results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results
        });
        let outputs = plan.outputs();
        let mut all = IntegerScores {
            scores: vec![0; self.indices.len() * outputs],
            saturations: Saturations::new(plan.layers()),
        };
        for (done, saturations) in results {
            all.saturations.add(&saturations);
            for (&at, row) in
                done.iter().flat_map(|(members, rows)| members.iter().zip(rows.chunks_exact(outputs)))
            {
                all.scores[at * outputs..][..outputs].copy_from_slice(row);
            }
        }
        all
    }
}
