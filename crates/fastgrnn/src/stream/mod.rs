//! Listening: a network that never stops, and what it detects.
//!
//! Prediction takes whole sequences; a [`Listener`] takes sound, feature frames or sensor rows as
//! they come, keeps the network's state from one to the next, and reports what the model's
//! [`Detector`](fastgrnn_model::quantize::Detector) finds. It computes what a device computes and nothing
//! else: the integer front end, the integer network, the integer detector. Chunks may have any
//! size; the bits are the same.
//!
//! ```
//! use fastgrnn::cells::{Cell, CellKind};
//! use fastgrnn::random::RandomModel;
//! use fastgrnn::stream::Listener;
//! let model = RandomModel::new(Cell::new(CellKind::FastGrnn, 2, 8), 3, 20).build()?;
//! let mut listener = Listener::new(&model, &model.detector_or_default()?)?;
//! for counts in [[100, -20], [80, 35]] {
//!     if let Some(heard) = listener.frame(&counts)? {
//!         println!("class {} in frame {}", heard.class, heard.frame);
//!     }
//! }
//! assert_eq!(listener.frames(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub mod eval;
mod listener;

pub use error::StreamError;
pub use listener::{Heard, Listener};
