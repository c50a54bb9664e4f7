//! Tells the command which commit it was built from, if it was built inside a Git repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A copy of the sources may lie in the repository of another project.
    if git(&["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    // Both files change with every commit and checkout. A file that is missing would cause a rebuild every time.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) {
        println!("cargo:rustc-env=FASTGRNN_COMMIT={commit}");
    }
}

/// What a Git command prints, or `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
