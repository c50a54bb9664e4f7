//! Builds firmware for a board, runs it in an emulator and compares it with the host bit for bit.
//!
//! A network that was exported to C ([`fastgrnn_export::c_source`]) is linked twice: as an application,
//! whose size is reported, and as a test image that reads windows from the host. The test image runs
//! in an emulator. Every score, class and confidence that it computes is compared with the host's, and
//! instructions and cycles are counted. The cycles of the Arduino Uno are exact. For the other boards,
//! instructions are exact and cycles come from a model (`docs/board-models.md` in the repository).
//! Nothing is measured on real hardware.
//!
//! Compilers and emulators must be installed on the system; `scripts/setup-boards` does that.
//!
//! ```no_run
//! use fastgrnn::device::Board;
//! use fastgrnn::quantize::IntegerModel;
//! use fastgrnn_boards::{Arithmetic, Inputs, MeasureOptions, measure_model, outcomes};
//! # fn of(model: IntegerModel, windows: Vec<Vec<i16>>) -> Result<(), Box<dyn std::error::Error>> {
//! let expected = outcomes(&model, &windows);
//! let inputs = Inputs { windows: &windows, expected: &expected, recordings: &[] };
//! let report = measure_model(Board::M0plus, &model, Arithmetic::Integer, &inputs, &MeasureOptions::default())?;
//! assert_eq!(report.mismatches, 0);
//! println!("{:?} ms per window", report.ms_per_inference);
//! # Ok(()) }
//! ```

mod counts;
mod elf;
mod emulate;
mod error;
mod files;
mod firmware;
mod measure;
mod model;
mod optimization;
mod outcome;
mod platform;
mod report;
mod sound;
mod text;
mod tools;
mod work;

pub use error::BoardError;
pub use measure::{MeasureOptions, has_wait_states, measure};
pub use model::{Arithmetic, Inputs, measure_model};
pub use optimization::{choose_optimization, default_optimization};
pub use outcome::{Outcome, hash, outcomes, outcomes_of};
pub use platform::missing_tools;
pub use report::{BoardReport, Compare, Mismatch, SoundReport, TextReport};
pub use sound::measure_sound;
pub use tools::stop;
