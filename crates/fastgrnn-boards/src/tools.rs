//! Programs of the system: finding them, and running them with a time limit.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, io, thread};

pub(crate) fn have_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

pub(crate) fn have_file(path: &str) -> bool {
    Path::new(path).is_file()
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Ends the compiler or emulator that is running, and every [`measure`](crate::measure) of this process:
/// each returns an error and removes its folder. Call it from a handler of Ctrl-C.
pub fn stop() {
    STOPPED.store(true, Ordering::SeqCst);
}

/// How a program ended.
pub(crate) struct ProgramOutput {
    /// `None` if the program was stopped because it exceeded its time limit.
    pub(crate) status: Option<ExitStatus>,
    /// The output on both streams, shortened.
    pub(crate) output: String,
}

/// The most characters of a program's output that are shown.
const SHOWN: usize = 4000;

/// Runs a program in `folder`, with its output in the file `log` there.
pub(crate) fn run(
    program: &str,
    args: &[String],
    folder: &Path,
    log: &str,
    limit: Duration,
) -> io::Result<ProgramOutput> {
    let path = folder.join(log);
    let out = File::create(&path)?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(out.try_clone()?)
        .stdout(out)
        .spawn()?;
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if STOPPED.load(Ordering::SeqCst) {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by request"));
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    Ok(ProgramOutput { status, output: shortened(&String::from_utf8_lossy(&std::fs::read(&path)?)) })
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n… ({} bytes more)", &text[..end], text.len() - end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let ran = run("sleep", &["60".into()], folder.path(), "log", Duration::from_millis(50)).unwrap();
        assert!(ran.status.is_none());
    }

    #[test]
    fn output_of_both_streams_comes_back_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo to stderr >&2; head -c 9000 /dev/zero | tr '\\0' x; exit 3".to_owned();
        let ran = run("sh", &["-c".into(), script], folder.path(), "log", Duration::from_secs(20)).unwrap();
        assert_eq!(ran.status.unwrap().code(), Some(3));
        assert!(
            ran.output.starts_with("to stderr\nxxx") && ran.output.ends_with("bytes more)"),
            "{}",
            ran.output
        );
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(have_program("sh"));
        assert!(!have_program("a-program-that-nobody-has"));
    }
}
