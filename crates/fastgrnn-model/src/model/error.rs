//! Every way in which a model file can be wrong, or not fit the data.

use fastgrnn_core::net::NetworkError;
use fastgrnn_data::data::DataError;
use fastgrnn_engine::engine::EngineError;
use std::path::PathBuf;

/// What is wrong with the bytes of a model file.
#[derive(Debug, thiserror::Error)]
pub enum ModelProblem {
    /// Not safetensors at all.
    #[error("not a safetensors file ({what}); models are written by `fastgrnn train`")]
    NotSafetensors {
        /// What the reader saw.
        what: String,
    },
    /// Safetensors from somewhere else.
    #[error(
        "a safetensors file, but not one of fastgrnn's: it has no `fastgrnn` metadata, {tensors} tensors such as {example}; \
         models are written by `fastgrnn train`"
    )]
    Foreign {
        /// Number of tensors.
        tensors: usize,
        /// Names of the first few.
        example: String,
    },
    /// The bytes are not those that were written.
    #[error(
        "the file is damaged: its contents do not match the digest that was written with them; copy it again, \
         or make it anew"
    )]
    Damaged,
    /// No digest, or not where it belongs.
    #[error(
        "the file has no digest of its contents (`sha256`), so damage could not be found; make it anew with \
         `fastgrnn train`, `quantize` or `new`"
    )]
    NoDigest,
    /// Written by a later release.
    #[error("the model has format {found}; this release reads up to {known}: update fastgrnn")]
    Newer {
        /// The file's format.
        found: u64,
        /// The latest format known here.
        known: u64,
    },
    /// Metadata that contradict themselves or are incomplete.
    #[error("the `fastgrnn` metadata are not usable: {what}")]
    Metadata {
        /// What is wrong.
        what: String,
    },
    /// Metadata that describe an impossible network.
    #[error("the `fastgrnn` metadata are not usable: {0}")]
    Network(#[from] NetworkError),
    /// A tensor is not there.
    #[error("tensor `{name}` is missing")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A tensor that the network does not have.
    #[error("tensor `{name}` does not belong to the network that the metadata describe")]
    Extra {
        /// Its name.
        name: String,
    },
    /// A tensor of the wrong shape.
    #[error("tensor `{name}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What the metadata say.
        expected: Vec<usize>,
    },
    /// A tensor of the wrong type.
    #[error("tensor `{name}` has type {found}, expected {expected}")]
    Type {
        /// Its name.
        name: String,
        /// Its type.
        found: String,
        /// What the metadata ask for.
        expected: String,
    },
    /// An integer model where a float one is needed.
    #[error(
        "this is an integer model, a float model is needed; a quantized run keeps it as model_float.safetensors"
    )]
    NotFloat,
    /// A float model where an integer one is needed.
    #[error("this is a float model, an integer model is needed; make one with `fastgrnn quantize`")]
    NotInteger,
    /// A value that is NaN or infinite.
    #[error("tensor `{name}`, entry {index}: {value} is not finite")]
    NotFinite {
        /// Its name.
        name: String,
        /// The entry, from 0.
        index: usize,
        /// The value.
        value: f32,
    },
}

/// A model that cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than any model.
    #[error("{}: {found} bytes are more than a model may have ({limit})", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The file's content is wrong.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: ModelProblem,
    },
    /// A model in memory that no file could hold.
    #[error("the model cannot be written: {0}")]
    Unwritable(ModelProblem),
    /// The data do not have the features that the model reads.
    #[error("the data has {found} features a step, the model reads {expected}{}", named(.names))]
    Dim {
        /// Features of the data.
        found: usize,
        /// Features of the model.
        expected: usize,
        /// Their names, where known.
        names: Option<Vec<String>>,
    },
    /// A sequence that is too short for a single step.
    #[error(
        "sequence {index} of the data has {}, but the model takes a step for every {stride} frames; \
         leave out sequences shorter than that",
        fastgrnn_core::format::quantity(*frames as u64, "frame")
    )]
    Short {
        /// The sequence, from 0.
        index: usize,
        /// Its frames.
        frames: usize,
        /// Frames from one step of the model to the next.
        stride: usize,
    },
    /// A label that the model does not know.
    #[error("the label '{label}' of the data is not one of the model's: {}", known.join(", "))]
    UnknownLabel {
        /// The label.
        label: String,
        /// The model's labels.
        known: Vec<String>,
    },
    /// A language model where labels or numbers are wanted.
    #[error(
        "a language model gives no answer about a whole text; `eval` measures how well it predicts one, `generate` continues it"
    )]
    NextToken,
    /// Labels of another kind, or none.
    #[error("the data's labels {found}; the model was trained on {expected}")]
    Labels {
        /// What the data have.
        found: &'static str,
        /// What the model needs.
        expected: &'static str,
    },
    /// The input cannot be normalised.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The engine refused a batch.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The network cannot be.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

fn named(names: &Option<Vec<String>>) -> String {
    names.as_ref().map_or(String::new(), |names| format!(" ({})", names.join(", ")))
}
