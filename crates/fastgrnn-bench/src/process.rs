//! A Python process that answers requests: a JSON line for a JSON line.

use super::BenchError;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// How long importing torch or a few plain training steps may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// A program that the process runs; its own text documents the protocol.
#[derive(Clone, Copy)]
pub(super) struct Program {
    /// The name of its file.
    pub(super) name: &'static str,
    /// Its source.
    pub(super) source: &'static str,
}

/// A running Python process.
pub(super) struct Process {
    child: Child,
    /// Holds the program for as long as the process runs: TorchScript reads its source.
    _folder: TempDir,
    requests: ChildStdin,
    replies: Receiver<String>,
    complaints: Arc<Mutex<String>>,
}

impl Process {
    /// Starts a program with an argument, and waits for its first line.
    pub(super) fn start(
        python: &Path,
        program: Program,
        argument: &str,
    ) -> Result<(Self, Value), BenchError> {
        let failed = |source| BenchError::Start { python: python.to_path_buf(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join(program.name);
        std::fs::write(&path, program.source).map_err(failed)?;
        let mut child = Command::new(python)
            .arg(&path)
            .arg(argument)
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
        let mut process = Self { child, _folder: folder, requests, replies, complaints };
        let hello = process.reply(PATIENCE)?;
        Ok((process, hello))
    }

    /// The process id, to account for its CPU time.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The reply to a request, which may say that something failed (see [`failure_in`]).
    pub(super) fn ask(&mut self, request: &Value, patience: Duration) -> Result<Value, BenchError> {
        // A dead child is reported by the missing reply, with what it wrote to stderr.
        let _ = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        self.reply(patience)
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

/// What a reply says of a failure.
pub(super) fn failure_in(reply: &Value) -> Option<BenchError> {
    reply["error"].as_str().map(|what| BenchError::Torch { what: what.to_owned() })
}

impl Drop for Process {
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
