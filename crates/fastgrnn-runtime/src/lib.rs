//! Inference of kilobyte recurrent networks on devices: `no_std`, no allocation, no dependency.
//!
//! The training library computes whole batches; this crate computes one step of one sequence,
//! which is what a microcontroller does. It reads weights where they lie (flash) and keeps state
//! and scratch in buffers that the caller owns, so RAM is what [`float::FloatLayer::state_len`] and
//! [`float::FloatLayer::scratch_len`] say and nothing else.
//!
//! ```
//! use fastgrnn_runtime::CellKind;
//! use fastgrnn_runtime::float::{FloatLayer, Head, Shape, argmax};
//!
//! // A FastGRNN of 2 units on 1 feature: w, u, b_z, b_h, zeta, nu; then the head of 2 classes.
//! const PARAMS: [f32; 12] = [0.5, -0.5, 0.1, 0.2, 0.3, 0.4, 1.0, 1.0, 0.0, 0.0, 1.0, -4.0];
//! const HEAD: [f32; 6] = [1.0, -1.0, -1.0, 1.0, 0.0, 0.0];
//!
//! let (layer, rest) = FloatLayer::new(&Shape::new(CellKind::FastGrnn, 1, 2), &PARAMS).unwrap();
//! assert!(rest.is_empty());
//! let (head, _) = Head::new(2, 2, &HEAD).unwrap();
//! let (mut state, mut scratch, mut scores) = ([0.0; 2], [0.0; 2], [0.0; 2]);
//! for sample in [0.5, 1.0, 1.0] {
//!     layer.step(&mut state, &[sample], &mut scratch).unwrap();
//! }
//! head.scores(&state, &mut scores).unwrap();
//! assert_eq!(argmax(&scores), 0);
//! ```
#![no_std]
#![forbid(unsafe_code)]

pub mod audio;
pub mod cells;
pub mod float;
pub mod int;
mod matrix_form;
mod nonlinearity;
#[cfg(feature = "source")]
pub mod source;

pub use cells::{Alphas, CellKind, Scalar};
pub use matrix_form::MatrixForm;
pub use nonlinearity::Nonlinearity;
