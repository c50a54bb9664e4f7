//! Trained models: their file, their integer form, their footprint on a board.
//!
//! | module | contents |
//! | --- | --- |
//! | [`model`] | the trained float model and its file |
//! | [`quantize`] | integers instead of floats: grids, calibration, the device image |
//! | [`any`] | a model file of either kind |
//! | [`generate`] | text from a language model |
//! | [`device`] | boards, and whether a network fits one |
//! | [`settings`] | the settings of a training run, declared once |
//! | [`random`] | integer models of any shape with random weights, to measure before training |
//! | [`compare`] | two models on the same data: agreement, drift of states, saturation |
pub mod any;
pub mod compare;
pub mod device;
pub mod generate;
pub mod model;
pub mod quantize;
pub mod random;
pub mod settings;
