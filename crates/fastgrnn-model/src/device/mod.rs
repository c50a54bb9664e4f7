//! The boards that networks are made for, and whether a network fits one before anything is built.
//!
//! [`Board`] names a board and [`BoardInfo`] holds its facts. [`Footprint`] is what a network needs,
//! counted from its shape alone; [`Estimate`] is what that comes to on one board: flash, RAM and time.
//! Sizes are upper bounds, so that a network that is said to fit does fit. Times are a model; use the
//! measurements of `fastgrnn board` where they are available. [`Limits`] restricts a network to a
//! board or to given numbers.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind};
//! use fastgrnn_model::device::{Board, Footprint};
//! use fastgrnn_core::net::{Network, View};
//! let fits = |hidden| {
//!     let network = Network::new(vec![Cell::new(CellKind::FastGrnn, 9, hidden)], 6);
//!     Footprint::of(&network, View::len).estimate(Board::Uno).fits()
//! };
//! assert!(fits(32) && !fits(400));
//! ```

mod boards;
mod costs;
mod estimate;
mod footprint;
mod front_end;
mod info;
mod limits;

pub use boards::Board;
pub use costs::{CodeBytes, CodeCosts, Costs, CycleCosts, FrontEndCosts};
pub use estimate::{CodeForm, Estimate, MAX_STRAIGHT_WEIGHTS};
pub use footprint::Footprint;
pub use info::{
    BoardInfo, Compiler, Core, Emulator, FlashBuffer, FlashTiming, MemoryMap, Overhead, QemuMachine,
    QemuSystem, Toolchain,
};
pub use limits::{Limits, LimitsError, LimitsRecipe};
