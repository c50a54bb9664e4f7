//! PyTorch's side of the comparison on the CPU: a child process that trains on request.

use super::BenchError;
use super::process::{PATIENCE, Process, Program, failure_in};
use super::shape::{Shape, ShapeKind};
use super::variant::{Variant, Weights};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PROGRAM: Program = Program { name: "torch_bench.py", source: include_str!("torch_bench.py") };

/// A Python process with torch loaded.
pub(super) struct Torch {
    process: Process,
    /// Version of torch.
    pub(super) version: String,
}

impl Torch {
    /// Starts `python` and waits until it has imported torch.
    pub(super) fn start(python: &Path, threads: usize) -> Result<Self, BenchError> {
        let (process, hello) = Process::start(python, PROGRAM, &threads.to_string())?;
        Ok(Self { process, version: hello["torch"].as_str().unwrap_or("unknown").to_owned() })
    }

    /// The process id, to account for its CPU time.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Builds and warms up a variant; `patience` covers compiling it.
    pub(super) fn prepare(
        &mut self,
        variant: &Variant,
        shape: &Shape,
        patience: Duration,
    ) -> Result<(), BenchError> {
        let rank = |rank: usize| if variant.weights.is_low_rank() { json!(rank) } else { Value::Null };
        self.ask(
            &json!({
                "do": "prepare", "id": variant.id(), "cell": variant.cell.name(), "mode": variant.mode.name(),
                "merged": variant.weights == Weights::Merged, "t": shape.steps, "d": shape.input, "h": shape.hidden,
                "rank_w": rank(shape.rank_w), "rank_u": rank(shape.rank_u),
                "classes": shape.classes, "batch": shape.batch,
                "language": shape.kind == ShapeKind::LanguageModel, "softmax": variant.softmax.name(),
            }),
            patience,
        )
        .map(|_| ())
    }

    /// The seconds of each step that a variant takes within `time`; at least one.
    pub(super) fn run(&mut self, variant: &Variant, time: Duration) -> Result<Vec<f64>, BenchError> {
        let request = json!({"do": "run", "id": variant.id(), "seconds": time.as_secs_f64()});
        let reply = self.ask(&request, PATIENCE)?;
        let times = reply["times"].as_array().map(|times| times.iter().filter_map(Value::as_f64).collect());
        times.ok_or_else(|| BenchError::Torch { what: format!("an answer without times: {reply}") })
    }

    fn ask(&mut self, request: &Value, patience: Duration) -> Result<Value, BenchError> {
        let reply = self.process.ask(request, patience)?;
        failure_in(&reply).map_or(Ok(reply), Err)
    }
}
