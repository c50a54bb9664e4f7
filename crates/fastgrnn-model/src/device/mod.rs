//! The boards that networks are made for, and whether a network fits one before anything is built.
//!
//! [`Board`] has the facts: memory and clock. [`Load`] is what a network asks for, counted from its
//! shape alone; [`Estimate`] is that on one board: flash, RAM and time. Sizes are bounds, so that a
//! network that is said to fit does fit; times are a model, to be replaced by `fastgrnn board`'s
//! measurements where those are at hand. [`Limits`] holds a network to a board or to numbers.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! use fastgrnn_model::device::{Board, Load};
//! use fastgrnn_core::net::{Network, View};
//! let fits = |hidden| {
//!     let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 9, hidden)], 6);
//!     Load::of(&network, View::len).on(Board::Uno).fits()
//! };
//! assert!(fits(32) && !fits(400));
//! ```

mod costs;
mod estimate;
mod facts;
mod front;
mod limits;
mod load;

pub use estimate::{Estimate, Form, MOST_STRAIGHT};
pub use facts::{Board, Facts};
pub use limits::{Limits, LimitsError};
pub use load::Load;
