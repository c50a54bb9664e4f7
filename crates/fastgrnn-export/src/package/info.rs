//! What is known about a package without compiling it.

use crate::c::FrontEndInfo;
use crate::golden::Golden;
use serde::Serialize;

/// Sizes, shape and origin of a package. Sizes are derived from the generated tables and buffers;
/// `fastgrnn board` measures them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackageInfo {
    /// The name of the target.
    pub target: &'static str,
    /// The prefix of all C names.
    pub name: String,
    /// `integer` or `float`.
    pub arithmetic: &'static str,
    /// The cell of the first layer.
    pub cell: &'static str,
    /// Counts in a frame.
    pub features: usize,
    /// Scores.
    pub outputs: usize,
    /// Names of the classes; empty for regression.
    pub labels: Vec<String>,
    /// Fraction bits of scores.
    pub score_bits: i32,
    /// Bytes of constants; for a Rust crate, of the image.
    pub data_bytes: usize,
    /// Bytes of a state.
    pub state_bytes: usize,
    /// Bytes of the buffers of a step: on the stack in C, in `Memory` in Rust.
    pub scratch_bytes: usize,
    /// The audio front end, if the package contains one.
    pub front: Option<FrontEndInfo>,
    /// Multiplications with weights in a step.
    pub macs_per_step: usize,
    /// SHA-256 of the device image, which contains every number of the network.
    pub model_sha256: String,
    /// The golden vectors in short.
    pub golden: GoldenInfo,
}

/// A summary of golden vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoldenInfo {
    /// Number of windows.
    pub windows: usize,
    /// Steps of all windows.
    pub steps: usize,
    /// Bytes of flash.
    pub bytes: usize,
    /// The hash of all scores, in hexadecimal.
    pub hash: String,
    /// The largest error of a score that is accepted.
    pub tolerance: u32,
    /// Where the windows come from.
    pub origin: String,
}

impl From<&Golden> for GoldenInfo {
    fn from(golden: &Golden) -> Self {
        Self {
            windows: golden.windows.len(),
            steps: golden.steps(),
            bytes: golden.bytes(),
            hash: format!("{:08x}", golden.hash),
            tolerance: golden.tolerance,
            origin: golden.origin.clone(),
        }
    }
}
