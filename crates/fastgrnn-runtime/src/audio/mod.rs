//! The audio front end in integers only: PCM in, rows of log-mel (or MFCC) counts out.
//!
//! `docs/integer-features.md` in the repository defines every bit. It is made for a core with a
//! 32-bit multiplier and nothing more (a Cortex-M0+): every product fits 32 bits, nothing is divided,
//! and there is no block exponent, because a 32-bit transform has room for any 16-bit sound. Tables
//! come from a tool on the host and stay in flash; buffers are the caller's. [`Front::new`] accepts
//! only tables with which nothing can overflow, so a frame has no error path.
//!
//! ```
//! # mod generated { use fastgrnn_runtime::audio::Tables; include!("../../tests/fixtures/front.rs"); }
//! use fastgrnn_runtime::audio::Front;
//! use generated::TABLES; // 40 samples every 16, 4 filters
//!
//! let front = Front::new(TABLES).unwrap();
//! let (mut samples, mut spectrum, mut row) = ([0; 41], [0; 64], [0; 4]);
//! let mut stream = front.start(&mut samples, &mut spectrum, &mut row).unwrap();
//! let mut frames = 0;
//! for chunk in [[120, -35, 4_000, 7, 0]; 20] {
//!     front.push(&mut stream, &chunk, &mut |row| frames += usize::from(row.len() == 4));
//! }
//! front.finish(&mut stream, &mut |_| frames += 1);
//! assert_eq!(frames, 5);
//! ```

mod fft;
mod frame;
mod mel;
mod stream;
mod tables;

pub use fft::input_position;
pub use mel::LOG_TABLE;
pub use stream::{Front, Position, Stream};
pub use tables::{Tables, TablesError};

pub use crate::float::WrongLength;
