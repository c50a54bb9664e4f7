//! Growable f32 memory that starts on a cache line, so that aligned vectors never straddle two.

use bytemuck::{Pod, Zeroable};
use std::ops::{Deref, DerefMut};

const LINE: usize = 16;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

/// A `Vec<f32>` aligned to 64 bytes; its length is rounded up to whole cache lines.
#[derive(Clone, Default)]
pub(crate) struct Buffer(Vec<Line>);

impl Buffer {
    /// `n` zeros, rounded up.
    pub(crate) fn zeros(n: usize) -> Self {
        let mut new = Self::default();
        new.reserve(n);
        new
    }

    /// Makes it at least `n` long; what is there stays, what is new is 0.
    pub(crate) fn reserve(&mut self, n: usize) {
        let lines = n.div_ceil(LINE);
        if self.0.len() < lines {
            self.0.resize(lines, Line::zeroed());
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
