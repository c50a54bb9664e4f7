//! What is known of a package without compiling it.

use crate::c::FrontEndInfo;
use crate::golden::Golden;
use serde::Serialize;

/// Sizes, shape and origin of a package. Sizes are derived from the generated tables and buffers,
/// not measured: `fastgrnn board` measures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// As `--target` names it.
    pub target: &'static str,
    /// The prefix.
    pub name: String,
    /// `integer` or `float`.
    pub arithmetic: &'static str,
    /// The cell of the first layer.
    pub cell: &'static str,
    /// Counts in a frame.
    pub features: usize,
    /// Scores.
    pub outputs: usize,
    /// Names of the classes; none for numbers.
    pub labels: Vec<String>,
    /// Fraction bits of scores.
    pub score_bits: i32,
    /// Bytes of constants; of a Rust crate, the image.
    pub data_bytes: usize,
    /// Bytes of a state.
    pub state_bytes: usize,
    /// Bytes of the buffers of a step: on the stack in C, in `Memory` in Rust.
    pub scratch_bytes: usize,
    /// The audio front end that comes along; null where none does.
    pub front: Option<FrontEndInfo>,
    /// Multiplications with weights in a step.
    pub macs_per_step: usize,
    /// SHA-256 of the device image, which holds every number of the network.
    pub model_sha256: String,
    /// The golden vectors.
    pub golden: GoldenFacts,
}

/// Golden vectors in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoldenFacts {
    /// Windows.
    pub windows: usize,
    /// Steps of all windows.
    pub steps: usize,
    /// Bytes of flash.
    pub bytes: usize,
    /// The hash of all scores, in hexadecimal.
    pub hash: String,
    /// How far a score may be off.
    pub tolerance: u32,
    /// Where the windows come from.
    pub origin: String,
}

impl From<&Golden> for GoldenFacts {
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
