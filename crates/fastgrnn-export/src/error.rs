//! What can go wrong.

use fastgrnn_runtime::int::DetectorError;
use std::path::PathBuf;

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A name that C does not take.
    #[error(
        "'{name}' cannot be a name in C: lower-case letters, digits and _, starting with a letter, at most 40; \
         choose another one with --name"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A word of a language, or a name whose files would hide others.
    #[error(
        "'{name}' is a word of C, C++ or Rust, or the name of one of their files; choose another one with --name"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A target without a float version.
    #[error("there is no float version for {target}; every target but rust takes --float")]
    FloatTarget {
        /// The target.
        target: &'static str,
    },
    /// More RAM than allowed.
    #[error(
        "the model needs {needed} bytes of RAM (state, buffers of a step, a frame and scores), {most} are allowed; \
         train fewer units, or allow more with --max-ram"
    )]
    Ram {
        /// Bytes that it needs.
        needed: usize,
        /// Bytes allowed.
        most: usize,
    },
    /// Recorded windows of another width.
    #[error("a window of {found} counts is not a number of frames of {features} features")]
    Window {
        /// Counts.
        found: usize,
        /// Features of a frame.
        features: usize,
    },
    /// Recordings of another width.
    #[error("the data has {found} features a step, the model reads {expected}")]
    Features {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// A front end of another width.
    #[error("the front end {spec} makes {found} features a frame, the network reads {features}")]
    Front {
        /// The front end.
        spec: String,
        /// Features it makes.
        found: usize,
        /// Features of the network.
        features: usize,
    },
    /// A detector that the network cannot have.
    #[error("the detector does not fit the network: {0}")]
    Detector(#[from] DetectorError),
    /// Nothing to make golden vectors of.
    #[error("golden vectors need at least one window with at least one frame; ask for more with --golden")]
    NoWindow,
    /// A compiler that is not there.
    #[error("{tool} is missing, which makes WebAssembly of C ({cause}); scripts/setup-boards installs it")]
    Tool {
        /// The program.
        tool: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A compiler that failed.
    #[error("{tool} failed ({status}):\n{output}")]
    Compiler {
        /// The program.
        tool: &'static str,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// A folder that holds something.
    #[error(
        "{} is not empty; choose another folder with -o, or --force to move it aside and write a new one",
        path.display()
    )]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// Something else than a folder.
    #[error("{} is no folder; choose another one with -o", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder that the command runs in.
    #[error(
        "{} is the folder that this command runs in, or above it, and would be replaced; name a new one with -o",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}
