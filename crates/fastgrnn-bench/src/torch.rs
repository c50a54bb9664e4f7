//! PyTorch's side of the comparison: a child process that trains on request.

use super::BenchError;
use super::shape::{Shape, ShapeKind};
use super::variant::{Variant, Weights};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// The program the child runs; its own text documents the protocol.
const SCRIPT: &str = include_str!("torch_bench.py");

/// How long importing torch or a few plain training steps may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// A Python process with torch loaded.
pub(super) struct Torch {
    child: Child,
    /// Holds the program for as long as the process runs: TorchScript reads its source.
    _folder: TempDir,
    requests: ChildStdin,
    replies: Receiver<String>,
    complaints: Arc<Mutex<String>>,
    /// Version of torch.
    pub(super) version: String,
}

impl Torch {
    /// Starts `python` and waits until it has imported torch.
    pub(super) fn start(python: &Path, threads: usize) -> Result<Self, BenchError> {
        let failed = |source| BenchError::Start { python: python.to_path_buf(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let program = folder.path().join("torch_bench.py");
        std::fs::write(&program, SCRIPT).map_err(failed)?;
        let mut child = Command::new(python)
            .arg(&program)
            .arg(threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let missing = || failed(std::io::Error::other("no pipe to the process"));
        let requests = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let complaints = Arc::new(Mutex::new(String::new()));
        let (sender, replies) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        keep_tail(stderr, Arc::clone(&complaints));
        let mut torch =
            Self { child, _folder: folder, requests, replies, complaints, version: String::new() };
        let hello = torch.reply(PATIENCE)?;
        torch.version = hello["torch"].as_str().unwrap_or("unknown").to_owned();
        Ok(torch)
    }

    /// The process id, to account for its CPU time.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
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
        // A dead child is reported by the missing reply, with what it wrote to stderr.
        let _ = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        let reply = self.reply(patience)?;
        match reply["error"].as_str() {
            Some(what) => Err(BenchError::Torch { what: what.to_owned() }),
            None => Ok(reply),
        }
    }

    fn reply(&mut self, patience: Duration) -> Result<Value, BenchError> {
        let line = match self.replies.recv_timeout(patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err(BenchError::Slow { seconds: patience.as_secs() }),
            Err(RecvTimeoutError::Disconnected) => {
                let what = self.complaints.lock().map(|tail| tail.clone()).unwrap_or_default();
                return Err(BenchError::Torch { what: format!("the process ended: {}", what.trim()) });
            }
        };
        serde_json::from_str(&line).map_err(|_| BenchError::Torch { what: format!("not an answer: {line}") })
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the last lines that come through a pipe, so that the child never blocks on it.
fn keep_tail(mut pipe: impl Read + Send + 'static, tail: Arc<Mutex<String>>) {
    const KEPT: usize = 2000;
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = pipe.read(&mut buffer) {
            let Ok(mut tail) = tail.lock() else { return };
            tail.push_str(&String::from_utf8_lossy(&buffer[..n]));
            let excess = tail.len().saturating_sub(KEPT);
            let cut = (excess..=tail.len()).find(|&i| tail.is_char_boundary(i)).unwrap_or(0);
            tail.drain(..cut);
        }
    });
}
