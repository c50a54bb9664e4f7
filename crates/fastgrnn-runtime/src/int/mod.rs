//! Inference in integers only: no float is computed, stored or linked.
//!
//! `docs/integer-arithmetic.md` in the repository defines every value. A [`Model`] is a view of a
//! byte image that stays where it is (flash); [`Model::read`] accepts an image only if nothing in
//! it can make a step fail, overflow or read elsewhere. State and scratch are the caller's.
//!
//! ```
//! # fn image() -> Vec<u8> { include_bytes!("../../tests/fixtures/tiny.image").to_vec() }
//! use fastgrnn_runtime::int::Model;
//!
//! let image = image();
//! let model: Model = Model::read(&image).unwrap();
//! let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
//! let mut state = model.start(&mut memory, &mut scratch).unwrap();
//! for count in [120, -35, 4_000] {
//!     model.step(&mut state, &[count]).unwrap();
//! }
//! let mut scores = vec![0; model.outputs()];
//! model.scores(&state, &mut scores).unwrap();
//! let decision = model.decide(&scores);
//! assert!(decision.class < model.outputs());
//! ```

pub(crate) mod arithmetic;
mod bias;
mod bytes;
mod cell;
mod checksum;
mod decision;
mod detector;
mod error;
mod image;
mod input;
mod layer;
mod matrix;
mod nonlinear;
mod sample;
mod state;
mod watch;
mod window;

pub use checksum::checksum;
pub use decision::{Decision, Meaning, Posteriors};
pub use detector::{Detection, Detector, DetectorError, DetectorState, Reset};
pub use error::{EXTENDED_VERSION, ImageError, TOKEN_VERSION, VERSION};
pub use image::Model;
pub use layer::{Layer, NO_GATE, Shifts};
pub use matrix::{Matrix, Storage};
pub use nonlinear::TABLE_LEN;
pub use sample::{Draw, TokenSampler};
pub use state::State;
pub use watch::{Place, Unwatched, Watch};
pub use window::Window;

pub use crate::float::WrongLength;

/// A number that may be at most `most`.
fn at_most(what: &'static str, value: u8, most: u32) -> Result<u32, ImageError> {
    let value = u32::from(value);
    if value <= most { Ok(value) } else { Err(ImageError::Range { what, value, least: 0, most }) }
}
