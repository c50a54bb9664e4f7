//! Finds a Python that imports torch, or makes one in the user's cache folder.

use super::BenchError;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Pauses between attempts to download torch.
const PAUSES: [u64; 4] = [5, 20, 60, 120];

/// The Python to measure: the given one, else one on the path, else our own with torch installed.
pub(super) fn with_torch(
    given: Option<&Path>,
    deadline: Instant,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BenchError> {
    if let Some(python) = given {
        return match import_torch(python) {
            Ok(()) => Ok(python.to_path_buf()),
            Err(why) => Err(BenchError::NoTorch { python: python.to_path_buf(), why }),
        };
    }
    let on_path = ["python3", "python"].map(PathBuf::from);
    progress("looking for a python3 that imports torch");
    if let Some(python) = on_path.iter().find(|python| import_torch(python).is_ok()) {
        return Ok(python.clone());
    }
    let folder = cache_folder().ok_or(BenchError::NoCache)?.join("fastgrnn").join("torch-venv");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if import_torch(&python).is_ok() {
        return Ok(python);
    }
    progress(&format!("no python3 imports torch; installing it in {} (gigabytes, once)", folder.display()));
    make_environment(&on_path, &folder)?;
    install(&python, deadline, progress)?;
    import_torch(&python).map_err(|why| BenchError::NoTorch { python: python.clone(), why })?;
    Ok(python)
}

/// Whether `python` runs and imports torch; if not, why.
fn import_torch(python: &Path) -> Result<(), String> {
    let output = Command::new(python)
        .args(["-c", "import torch"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(last_line(&output.stderr)) }
}

fn make_environment(pythons: &[PathBuf], folder: &Path) -> Result<(), BenchError> {
    let mut why = String::from("there is no python3 on the path");
    for python in pythons {
        match Command::new(python).args(["-m", "venv", "--clear"]).arg(folder).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(()),
            // venv explains on stdout what a distribution left out of its Python.
            Ok(output) => why = [last_line(&output.stdout), last_line(&output.stderr)].join(" "),
            Err(_) => {}
        }
    }
    Err(BenchError::Environment { folder: folder.to_path_buf(), why: why.trim().to_owned() })
}

fn install(python: &Path, deadline: Instant, progress: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
    let mut why = String::new();
    for attempt in 0..=PAUSES.len() {
        // The pip that comes with a Python may be too old to report raw progress.
        let newest_pip =
            pip_install(python, &["--progress-bar", "off", "--upgrade", "pip"], deadline, progress);
        let with_progress = ["--progress-bar", "raw", "torch", "numpy"];
        match newest_pip.and_then(|()| pip_install(python, &with_progress, deadline, progress)) {
            Ok(()) => return Ok(()),
            Err(error) => why = error,
        }
        if Instant::now() >= deadline {
            break;
        }
        if let Some(&pause) = PAUSES.get(attempt) {
            progress(&format!("installing torch failed ({why}); trying again in {pause} s"));
            std::thread::sleep(Duration::from_secs(pause));
        }
    }
    Err(BenchError::Install { python: python.to_path_buf(), why })
}

/// Runs pip, and ends it at the deadline.
fn pip_install(
    python: &Path,
    what: &[&str],
    deadline: Instant,
    progress: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let mut child = Command::new(python)
        .args(["-m", "pip", "install", "--retries", "5", "--timeout", "60"])
        .args(what)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut last = String::new();
    let stdout = child.stdout.take();
    let child = Arc::new(Mutex::new(child));
    kill_at(deadline, &child);
    if let Some(stdout) = stdout {
        let mut tenth = 0;
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            match download_tenths(&line) {
                Some(tenths) if tenths == tenth => continue,
                Some(tenths) => {
                    tenth = tenths;
                    progress(&format!("pip: {}0 %", tenths));
                }
                None => progress(&format!("pip: {line}")),
            }
            last = line;
        }
    }
    let status = child.lock().map_err(|e| e.to_string())?.wait().map_err(|error| error.to_string())?;
    if Instant::now() >= deadline {
        return Err("the time for the benchmark is over; run it again, what was downloaded is kept".into());
    }
    if status.success() { Ok(()) } else { Err(format!("pip ended with {status} after: {last}")) }
}

/// Kills `child` at the deadline, unless all its other owners have let go of it by then.
fn kill_at(deadline: Instant, child: &Arc<Mutex<Child>>) {
    let child = Arc::downgrade(child);
    std::thread::spawn(move || {
        while Instant::now() < deadline && child.strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(200));
        }
        if let Some(child) = child.upgrade()
            && let Ok(mut child) = child.lock()
        {
            // It may have ended by itself.
            let _ = child.kill();
        }
    });
}

/// Tenths done in a line of pip's raw progress, `Progress 1234 of 5678`.
fn download_tenths(line: &str) -> Option<u64> {
    let (done, total) = line.trim().strip_prefix("Progress ")?.split_once(" of ")?;
    let (done, total): (u64, u64) = (done.parse().ok()?, total.parse().ok()?);
    (10 * done).checked_div(total)
}

/// The folder for files that can be made again, by the operating system's convention.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return folder("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return folder("HOME").map(|home| home.join("Library/Caches"));
    }
    folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
}

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_progress_is_read_in_tenths() {
        assert_eq!(download_tenths("Progress 55 of 100"), Some(5));
        assert_eq!(download_tenths("Progress 0 of 0"), None);
        assert_eq!(download_tenths("Collecting torch"), None);
    }

    #[test]
    fn a_given_python_that_does_not_exist_is_named() {
        let path = Path::new("no-such-python");
        let error = with_torch(Some(path), Instant::now(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("no-such-python"), "{error}");
    }
}
