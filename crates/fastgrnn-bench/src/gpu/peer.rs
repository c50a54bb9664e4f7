//! PyTorch's side on a GPU: a child process that measures on request, and starts anew after a failure.

use super::options::{GpuCase, GpuOptions};
use super::report::TorchVersions;
use crate::BenchError;
use crate::process::{Process, Program, failure_in};
use fastgrnn_core::cells::CellKind;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PROGRAM: Program =
    Program { name: "torch_bench_cuda.py", source: include_str!("../torch_bench_cuda.py") };

/// How long a request that was begun may take although the budget is spent.
const GRACE: Duration = Duration::from_secs(15);

/// PyTorch on a GPU.
pub(super) struct GpuTorch {
    python: PathBuf,
    device: usize,
    deadline: Instant,
    block: Duration,
    blocks: usize,
    /// Missing after a failure that it may not have survived.
    process: Option<Process>,
    /// What it runs on.
    pub(super) versions: TorchVersions,
}

impl GpuTorch {
    /// Starts `python` and waits until it has found its GPU.
    pub(super) fn start(
        python: PathBuf,
        options: &GpuOptions,
        deadline: Instant,
    ) -> Result<Self, BenchError> {
        let mut torch = Self {
            python,
            device: options.device,
            deadline,
            block: options.block,
            blocks: options.blocks,
            process: None,
            versions: TorchVersions::default(),
        };
        torch.start_process()?;
        Ok(torch)
    }

    fn start_process(&mut self) -> Result<(), BenchError> {
        let (process, hello) = Process::start(&self.python, PROGRAM, &self.device.to_string())?;
        if let Some(failure) = failure_in(&hello) {
            return Err(failure);
        }
        self.versions = TorchVersions::from_reply(&hello);
        self.process = Some(process);
        Ok(())
    }

    /// The microseconds of a step of `networks` networks of the case's shape in each block: of a GRU or LSTM by cuDNN,
    /// or of a compiled FastGRNN. Each of several networks has a stream of its own.
    pub(super) fn run(
        &mut self,
        case: &GpuCase,
        cell: CellKind,
        networks: usize,
    ) -> Result<Vec<f64>, BenchError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(BenchError::NoTime);
        }
        if self.process.is_none() {
            self.start_process()?;
        }
        let shape = &case.shape;
        let request = json!({
            "cell": cell.name(), "networks": networks, "t": shape.steps, "d": shape.input, "h": shape.hidden,
            "classes": shape.classes, "batch": shape.batch,
            "block": self.block.as_secs_f64(), "blocks": self.blocks,
        });
        let Some(process) = &mut self.process else { return Err(BenchError::NoTime) };
        let reply = process.ask(&request, left.max(GRACE));
        // A process that did not answer may do so later, to another request.
        if reply.as_ref().map_or(true, |reply| reply["ended"] == true) {
            self.process = None;
        }
        let reply = reply?;
        if let Some(failure) = failure_in(&reply) {
            return Err(failure);
        }
        let times: Vec<f64> =
            reply["us"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        if times.is_empty() {
            return Err(BenchError::Torch { what: format!("an answer without times: {reply}") });
        }
        Ok(times)
    }
}
