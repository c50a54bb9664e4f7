//! Firmware built for a board, run in an emulator and compared with the host bit for bit.
//!
//! A network that was exported to C ([`fastgrnn_export::c_source`]) is compiled twice with the
//! board's cross compiler: as an application, whose size is reported, and with code around it that
//! feeds it windows from the host. The second runs in an emulator; every score, class and
//! confidence it computes is compared with the host's, and what it took is counted. Cycles of the
//! Arduino Uno are exact; of the other boards instructions are exact and cycles come from a model
//! (`docs/board-models.md` in the repository). Nothing is measured on silicon.
//!
//! The tools are the system's: `scripts/setup-boards` installs them.
//!
//! ```no_run
//! use fastgrnn::device::Board;
//! use fastgrnn::quantize::IntegerModel;
//! use fastgrnn_boards::{Arithmetic, Inputs, Options, measure_model, outcomes};
//! # fn of(model: IntegerModel, windows: Vec<Vec<i16>>) -> Result<(), Box<dyn std::error::Error>> {
//! let expected = outcomes(&model, &windows);
//! let inputs = Inputs { windows: &windows, expected: &expected, recordings: &[] };
//! let report = measure_model(Board::M0plus, &model, Arithmetic::Integer, &inputs, &Options::default())?;
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
mod tools;
mod work;

pub use error::BoardError;
pub use measure::{Options, has_wait_states, measure};
pub use model::{Arithmetic, Inputs, measure_model};
pub use optimization::{choose_optimization, default_optimization};
pub use outcome::{Outcome, hash, outcomes, outcomes_of};
pub use platform::missing_tools;
pub use report::{BoardReport, Compare, Mismatch};
pub use sound::{SoundReport, measure_sound};
pub use tools::stop;
