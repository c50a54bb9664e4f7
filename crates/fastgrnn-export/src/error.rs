//! The errors of this crate.

use fastgrnn_runtime::int::DetectorError;
use std::path::PathBuf;

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The name is not a valid identifier.
    #[error(
        "'{name}' cannot be a name in C: a name starts with a lower-case letter and has at most 40 lower-case \
         letters, digits and underscores"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The name is a keyword, or its files would hide others.
    #[error("'{name}' is a keyword of C, C++ or Rust, or the name of one of their files")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The target has no soft-float version.
    #[error("the target {target} has no soft-float version")]
    FloatTarget {
        /// The target.
        target: &'static str,
    },
    /// The target has no form for models that read texts.
    #[error("a model that reads texts can be exported for the target c, not for {target}")]
    TextTarget {
        /// The target.
        target: &'static str,
    },
    /// Soft float has no code for tokens.
    #[error("a model that reads texts has no soft-float version")]
    FloatText,
    /// The model needs more RAM than `max_ram` allows.
    #[error(
        "the model needs {needed} bytes of RAM (state, buffers of a step, a frame and scores), but max-ram is {most}; \
         a model with fewer units needs less"
    )]
    Ram {
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are allowed.
        most: usize,
    },
    /// A window does not consist of whole frames.
    #[error("a window of {found} counts is not a number of frames of {features} features")]
    Window {
        /// Counts in the window.
        found: usize,
        /// Features of a frame.
        features: usize,
    },
    /// The data has another number of features than the model.
    #[error("the data has {found} features per step, but the model reads {expected}")]
    Features {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// The front end computes another number of features than the network reads.
    #[error("the front end {spec} computes {found} features per frame, but the network reads {features}")]
    Front {
        /// The front end.
        spec: String,
        /// Features that it computes.
        found: usize,
        /// Features of the network.
        features: usize,
    },
    /// The detector does not match the network.
    #[error("the detector does not fit the network: {0}")]
    Detector(#[from] DetectorError),
    /// There is no window for the golden vectors.
    #[error("golden vectors need at least one window with at least one frame")]
    NoWindow,
    /// A compiler is not installed.
    #[error(
        "{tool}, which compiles C to WebAssembly, cannot be run ({cause}); scripts/setup-boards installs it"
    )]
    Tool {
        /// The program.
        tool: &'static str,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A compiler failed.
    #[error("{tool} failed ({status}):\n{output}")]
    Compiler {
        /// The program.
        tool: &'static str,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// The folder is not empty.
    #[error("the folder {} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The path is not a folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder is the current one, or contains it.
    #[error("{} is the current folder or contains it, and would be replaced", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
}
