//! The training step: forward and backward through time on a batch.
//!
//! The engine differs from a tensor framework in its unit of work, a whole training step on flat
//! buffers instead of an operation on a graph. [`engine`] is the fast multi-threaded f32 version;
//! [`mod@reference`] computes the same in plain scalar f64, and every kernel is tested against it.
mod cells;
pub mod engine;
mod orthogonal;
pub mod reference;
#[doc(hidden)]
pub mod simd;

pub use orthogonal::materialised;
