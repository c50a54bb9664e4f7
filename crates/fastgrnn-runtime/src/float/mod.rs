//! Single-precision inference, for devices with a float unit and as the yardstick for integers.
//!
//! The equations are those of the training library's cells and the flat parameter layout is its
//! layout, so a trained buffer is used as it is: layer by layer, then the head.
mod head;
mod layer;
pub mod math;
mod matrix;
mod shape;

pub use head::{Head, argmax};
pub use layer::{FloatLayer, step_layers};
pub use shape::Shape;

/// A buffer whose length does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLength {
    /// Which buffer.
    pub what: &'static str,
    /// Its entries.
    pub found: usize,
    /// What it needs at least.
    pub needed: usize,
}

impl core::fmt::Display for WrongLength {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} has {} entries but needs {}", self.what, self.found, self.needed)
    }
}

impl core::error::Error for WrongLength {}

/// The first `needed` entries of `values` and the rest.
fn take<'a>(
    what: &'static str,
    values: &'a [f32],
    needed: usize,
) -> Result<(&'a [f32], &'a [f32]), WrongLength> {
    values.split_at_checked(needed).ok_or(WrongLength { what, found: values.len(), needed })
}

/// The first `needed` entries of `values`, to be written.
fn room<'a>(what: &'static str, values: &'a mut [f32], needed: usize) -> Result<&'a mut [f32], WrongLength> {
    let found = values.len();
    values.get_mut(..needed).ok_or(WrongLength { what, found, needed })
}
