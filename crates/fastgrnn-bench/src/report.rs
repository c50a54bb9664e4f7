//! The result of a benchmark: its JSON is a contract, its text a table.

use super::options::BenchOptions;
use super::variant::{Mode, Variant};
use fastgrnn_core::cells::CellKind;
use fastgrnn_engine::engine;
use serde::Serialize;
use std::fmt;

/// What `fastgrnn bench train --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// The f32 multiply-add peak of as many threads, the best of several measurements.
    pub fma_peak_gflops: f64,
    /// A row a shape and cell.
    pub rows: Vec<Row>,
    /// Threads of either side.
    pub threads: usize,
    /// Our instruction set.
    pub isa: String,
    /// Version of PyTorch, if it was measured.
    pub torch_version: Option<String>,
    /// The cost of a time step in a long and in a short sequence.
    pub linear_in_t: Option<LinearInT>,
}

/// One measured training step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the shape.
    pub shape: &'static str,
    /// Sequences in a batch.
    pub batch: usize,
    /// Our cell.
    pub cell: CellKind,
    /// Whether it is low-rank.
    pub rank: RankName,
    /// Our time.
    pub ms: f64,
    /// PyTorch's times for the same cell at the same rank.
    pub torch: Option<Vec<TorchTime>>,
    /// How many times as fast as the fastest of them ours is.
    pub ratio_vs_fastest_torch: Option<f64>,
    /// Our rate, counting the matrix products only.
    pub gflops: f64,
    /// The same over `fma_peak_gflops`.
    pub fraction_of_peak: f64,
    /// Our CPU time over wall time × threads.
    pub on_cpu: Option<f64>,
    /// Blocks measured while others were quiet; with 0 the least disturbed blocks stand in.
    pub blocks: usize,
    /// Blocks thrown away because others were not quiet.
    pub blocks_discarded: usize,
    /// Whether every side, PyTorch's included, had undisturbed blocks; if not, the least disturbed ones
    /// were taken.
    pub quiet: bool,
    /// Time steps of a sequence.
    #[serde(skip)]
    pub(super) steps: usize,
}

/// The time of one of PyTorch's variants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TorchTime {
    /// The variant.
    #[serde(flatten)]
    pub variant: Variant,
    /// Milliseconds; missing if it failed or could not be compiled in time.
    pub ms: Option<f64>,
}

impl Row {
    /// The fastest of PyTorch's variants and its milliseconds.
    pub fn fastest_torch(&self) -> Option<(Variant, f64)> {
        self.fastest_of(|_| true)
    }

    fn fastest_of(&self, wanted: impl Fn(&Variant) -> bool) -> Option<(Variant, f64)> {
        let measured = self.torch.iter().flatten().filter(|time| wanted(&time.variant));
        measured.filter_map(|t| Some((t.variant, t.ms?))).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Whether W and U are low-rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RankName {
    /// At the shape's ranks.
    Low,
    /// Full.
    Full,
}

impl RankName {
    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Full => "full",
        }
    }
}

/// Microseconds a time step of low-rank FastGRNN at Pixel-MNIST's sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearInT {
    /// In sequences of 98 steps.
    pub us_per_step_98: f64,
    /// In sequences of 784 steps.
    pub us_per_step_784: Option<f64>,
    /// The second over the first; 1 if the cost is linear in T.
    pub ratio: Option<f64>,
}

impl BenchReport {
    pub(super) fn new(options: &BenchOptions) -> Self {
        Self {
            fma_peak_gflops: 0.0,
            rows: Vec::new(),
            threads: options.threads,
            isa: engine::best_isa().name().to_owned(),
            torch_version: None,
            linear_in_t: None,
        }
    }

    pub(super) fn note_peak(&mut self, gflops: f64) {
        self.fma_peak_gflops = self.fma_peak_gflops.max(gflops);
    }

    pub(super) fn note_short(&mut self, us_per_step: f64) {
        self.linear_in_t =
            Some(LinearInT { us_per_step_98: us_per_step, us_per_step_784: None, ratio: None });
    }

    /// Fills in what depends on all measurements.
    pub(super) fn finish(&mut self) {
        for row in &mut self.rows {
            row.fraction_of_peak = row.gflops / self.fma_peak_gflops;
        }
        let long = self.rows.iter().find(|row| row.shape == "pixelmnist" && row.rank == RankName::Low);
        if let Some((linear, row)) = self.linear_in_t.as_mut().zip(long) {
            let us = 1e3 * row.ms / row.steps as f64;
            linear.us_per_step_784 = Some(us);
            linear.ratio = Some(us / linear.us_per_step_98);
        }
    }
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        writeln!(
            f,
            "training steps on {} threads ({}); FMA peak {:.0} GFLOP/s",
            self.threads, self.isa, self.fma_peak_gflops
        )?;
        if let Some(version) = &self.torch_version {
            writeln!(
                f,
                "against PyTorch {version}; times in ms, of each mode with its fastest way to hold the weights and to compute the loss"
            )?;
        }
        write!(f, "{:<11} {:>5} {:<9} {:<5} {:>8}", "shape", "batch", "cell", "rank", "ms")?;
        if self.torch_version.is_some() {
            Mode::ALL.into_iter().try_for_each(|mode| write!(f, " {:>9}", mode.name()))?;
            write!(f, " {:>7} {:<26}", "ratio", "over")?;
        }
        writeln!(f, " {:>8} {:>6} {:>7} {:>7}", "GFLOP/s", "peak", "on_cpu", "blocks")?;
        for row in &self.rows {
            let Row { shape, batch, cell, rank, ms, .. } = row;
            write!(f, "{shape:<11} {batch:>5} {cell:<9} {:<5} {ms:>8.2}", rank.name())?;
            if self.torch_version.is_some() {
                for mode in Mode::ALL {
                    let fastest = row.fastest_of(|variant| variant.mode == mode);
                    write!(f, " {:>9}", number(fastest.map(|(_, ms)| ms), 2))?;
                }
                let over = row.fastest_torch().map_or_else(String::new, |(variant, _)| {
                    let Variant { mode, weights, softmax, .. } = variant;
                    format!("{}, {}, {}", mode.name(), weights.name(), softmax.name())
                });
                write!(f, " {:>7} {over:<26}", number(row.ratio_vs_fastest_torch, 2))?;
            }
            writeln!(
                f,
                " {:>8.1} {:>5.0}% {:>7} {:>7}{}",
                row.gflops,
                100.0 * row.fraction_of_peak,
                number(row.on_cpu, 2),
                format!("{}/{}", row.blocks, row.blocks + row.blocks_discarded),
                if row.quiet { "" } else { "  disturbed: measure again on an idle machine" },
            )?;
        }
        if let Some(LinearInT { us_per_step_98, us_per_step_784: Some(long), ratio: Some(ratio) }) =
            &self.linear_in_t
        {
            writeln!(f, "a time step at T 784 / T 98: {long:.2} / {us_per_step_98:.2} us, ratio {ratio:.3}")?;
        }
        Ok(())
    }
}
